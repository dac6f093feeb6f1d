from __future__ import annotations

from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "gedaechtnis.chat"
    label = "chat"

    def ready(self) -> None:
        from gedaechtnis.chat import episodes, quotes, reviews  # noqa: PLC0415 (apps must be loaded first)
        from gedaechtnis.chat.imports import service  # noqa: PLC0415
        from gedaechtnis.memory import ports  # noqa: PLC0415

        ports.bind_quote_finder(quotes.find_quote)
        ports.bind_quote_classifier(quotes.classify_quoted)
        reviews.register()
        service.register()
        episodes.register()
