from __future__ import annotations

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "gedaechtnis.web"
    label = "web"
