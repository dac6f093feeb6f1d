"""What holds for every address of the API: strict input, problem documents, nothing kept by caches."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import Any, NoReturn, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import quote_etag
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.operation import Operation
from ninja.parser import Parser

from gedaechtnis.api import errors
from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.selectors import export

View = Callable[..., HttpResponse]

_MAX_DEPTH = 64
_JSON = "application/json"
_OTHER_BODIES = {"/api/import": export.MEDIA_TYPE, "/api/chats/import": "application/octet-stream"}
"""Addresses whose bodies are read as a file, piece by piece."""


def door(api: NinjaAPI, view: View) -> View:
    """Wrap a view of the API: what it raises becomes a problem document, in the language of the request."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with translation.override(translation.get_language() or settings.LANGUAGE_CODE):
            try:
                _check_address(request)
                _check_content_type(request)
                response = view(request, *args, **kwargs)
            except Exception as error:
                response = api.on_exception(request, error)
            if response.status_code == 405:
                response = errors.method_not_allowed(response.headers["Allow"])
            response.headers.setdefault("Content-Language", translation.get_language() or "")
        response = _unless_known(request, response)
        response.headers["Cache-Control"] = "no-store"
        patch_vary_headers(response, ["Authorization", "Cookie", "Accept-Language"])
        return response

    # Tokens need no CSRF check, and sessions are checked where they are let in.
    guarded.csrf_exempt = True  # type: ignore[attr-defined]
    return guarded


def _unless_known(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Mark an answer by its body; 304 without one for who has it already.

    What an answer was cut to (`valid_at`, `known_at`) stands in it, so only answers about fixed instants come again.
    """
    if request.method != "GET" or response.status_code != 200 or response.streaming:
        return response
    etag = quote_etag(hashlib.sha256(response.content).hexdigest()[:32])
    response.headers["ETag"] = etag
    return cast(HttpResponse, get_conditional_response(request, etag=etag, response=response))


def _check_address(request: HttpRequest) -> None:
    """No NUL in path or query: PostgreSQL refuses it wherever it would end up."""
    if "\x00" in request.path_info:
        raise _nul("path")
    for name, values in request.GET.lists():
        if "\x00" in name or any("\x00" in value for value in values):
            raise _nul(name.replace("\x00", ""))


def _check_content_type(request: HttpRequest) -> None:
    has_body = request.headers.get("Content-Length", "0") not in {"", "0"}
    expected = _OTHER_BODIES.get(request.path_info, _JSON)
    if has_body and request.content_type not in {"", expected}:
        detail = _("The body must be sent with Content-Type: %(type)s.") % {"type": expected}
        raise Problem("unsupported_media_type", detail, 415)


def _nul(field: str) -> Problem:
    return Problem("invalid_text", _("The text contains a NUL character, which cannot be stored."), field=field)


def known_parameters_only(run: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Refuse query parameters that the operation does not know or that come twice: a typo must not widen a question.

    Decorates the `run` method of an operation.
    """
    operation: Operation = unwrap(run).__self__
    known = {
        name
        for model in operation.models
        if model.__ninja_param_source__ == "query"
        for name in model.__ninja_flatten_map__
    }

    @wraps(run)
    def checked(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        for name, values in request.GET.lists():
            if name not in known:
                raise Problem(
                    "unknown_parameter",
                    _("There is no parameter “%(name)s” here.") % {"name": name[:60]},
                    field=name[:60],
                )
            if len(values) > 1:
                raise Problem(
                    "repeated_parameter",
                    _("The parameter “%(name)s” comes more than once.") % {"name": name},
                    field=name,
                )
        return run(request, **kwargs)

    return checked


class StrictJson(Parser):
    """JSON without what other readers take otherwise: NaN, names that come twice, NUL, endless nesting."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The value of the body.

        Raises:
            Problem: `invalid_json` (400), `too_deep`, or `invalid_text` naming the dotted path.
        """
        try:
            value = json.loads(request.body, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
        except RecursionError as error:
            raise _too_deep() from error
        except ValueError as error:
            raise Problem("invalid_json", _("The body is not JSON: %(why)s.") % {"why": error}, 400) from error
        _check_texts(value, ())
        return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name comes twice in one object")
    return members


def _check_texts(value: Any, path: tuple[str, ...]) -> None:
    if len(path) > _MAX_DEPTH:
        raise _too_deep()
    if isinstance(value, str) and "\x00" in value:
        raise _nul(".".join(path) or "body")
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_texts(name, (*path, name.replace("\x00", "")[:60]))
            _check_texts(inner, (*path, name[:60]))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _check_texts(inner, (*path, str(index)))


def _too_deep() -> Problem:
    return Problem("too_deep", _("The body is nested too deeply."), field="body")
