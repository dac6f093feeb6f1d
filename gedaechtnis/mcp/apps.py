from __future__ import annotations

from django.apps import AppConfig


class McpConfig(AppConfig):
    name = "gedaechtnis.mcp"
    label = "mcp"
