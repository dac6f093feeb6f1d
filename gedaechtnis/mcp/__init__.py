"""The MCP door: the tools for programs that speak the Model Context Protocol."""
