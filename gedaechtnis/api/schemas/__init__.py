"""What comes in and what goes out, one module per resource."""
