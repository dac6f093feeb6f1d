"""Static files from this process, fit for ASGI."""

from __future__ import annotations

from contextlib import ExitStack

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc] # has no types
    """WhiteNoise with whole answers: its streams are synchronous, which Django under ASGI only bears with a warning.

    The files are small (the largest is a font of some hundred kilobytes).
    """

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """The answer to GET, HEAD and conditional or range requests for a file."""
        found = static_file.get_response(request.method, request.META)
        with ExitStack() as stack:
            body = stack.enter_context(found.file).read() if found.file else b""
        response = HttpResponse(body, status=int(found.status))
        del response["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        return response
