"""The pages people see: server-rendered HTML, refined by HTMX. Reads and writes only through memory and chat."""
