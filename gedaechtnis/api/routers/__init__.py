"""The addresses of the API, one module per resource: read input, call the memory or the chat, answer."""
