"""One module per page: request → principal → selector or service → template."""
