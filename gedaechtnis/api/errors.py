"""Every refusal as a problem document (RFC 9457), whatever raised it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, get_args

from django.core.exceptions import DisallowedHost, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from gedaechtnis.common.form_errors import worded
from gedaechtnis.common.problems import Problem
from gedaechtnis.memory.schemas import Operation

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
MAX_BODY_BYTES = 2_621_440

_OPERATION_TAGS = frozenset(model.model_fields["op"].default for model in get_args(get_args(Operation)[0]))
"""Stand in the location of an error inside a proposal, but are no part of the caller's path."""


def problem_response(
    problem: Problem, *, errors: Sequence[Mapping[str, str]] | None = None, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """The document of one problem; `errors` where there is more than the one the problem names."""
    if errors is None:
        errors = [{"field": problem.field, "code": problem.code, "detail": problem.detail}] if problem.field else []
    document = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        "errors": list(errors),
    }
    document |= {name: value for name, value in problem.extra.items() if name not in document}
    return JsonResponse(document, status=problem.status, content_type=MEDIA_TYPE, headers=headers)


def no_such_route() -> Problem:
    return Problem("not_found", _("There is nothing at this address."), 404)


def method_not_allowed(allowed: str) -> HttpResponse:
    """`allowed`: the methods that exist here, as the `Allow` header lists them."""
    problem = Problem("method_not_allowed", _("This address knows only: %(methods)s.") % {"methods": allowed}, 405)
    return problem_response(problem, headers={"Allow": allowed})


def refused_at_the_gate(error: Exception) -> HttpResponse:
    """The answer to what is refused before any route is looked for: a wrong `Host`, say."""
    if isinstance(error, DisallowedHost):
        problem = Problem("unknown_host", _("This server does not go by the name it was called."), 400)
    else:
        problem = _unreadable()
    return problem_response(problem, headers={"Cache-Control": "no-store"})


def install(api: NinjaAPI) -> None:
    """Answer every exception of the API with a problem document."""
    api.add_exception_handler(Problem, _problem)
    api.add_exception_handler(ValidationError, _invalid_input)
    api.add_exception_handler(AuthenticationError, _unauthenticated)
    api.add_exception_handler(HttpError, _http_error)
    api.add_exception_handler(Http404, lambda _request, _error: problem_response(no_such_route()))
    api.add_exception_handler(RequestDataTooBig, _too_large)
    api.add_exception_handler(SuspiciousOperation, _suspicious)
    api.add_exception_handler(Exception, _unexpected)


def _problem(_request: HttpRequest, problem: Any) -> HttpResponse:
    retry_after = problem.extra.get("retry_after")
    return problem_response(problem, headers={"Retry-After": str(retry_after)} if retry_after else None)


def _invalid_input(_request: HttpRequest, error: Any) -> HttpResponse:
    errors = [_entry(entry) for entry in error.errors]
    first = errors[0]
    return problem_response(Problem(first["code"], f"{first['field']}: {first['detail']}"), errors=errors)


def _entry(error: dict[str, Any]) -> dict[str, str]:
    code, detail = worded(error)
    return {"field": _path(error["loc"]), "code": code, "detail": detail}


def _path(location: Sequence[str | int]) -> str:
    """The caller's dotted path: without the name of the view's parameter that takes the body."""
    source, *parts = location
    if source == "body":
        parts = parts[1:]
    return ".".join(str(part) for part in parts if part not in _OPERATION_TAGS) or str(source)


def _unauthenticated(request: HttpRequest, _error: Any) -> HttpResponse:
    challenge = 'Bearer realm="gedaechtnis"'
    if "Authorization" in request.headers:
        problem = Problem("invalid_token", _("This token is not valid, or no longer."), 401)
        challenge += ', error="invalid_token"'
    else:
        problem = Problem("authentication_required", _("Sign in, or send a token."), 401)
    return problem_response(problem, headers={"WWW-Authenticate": challenge})


def _http_error(_request: HttpRequest, error: Any) -> HttpResponse:
    """The framework wraps what the body's parser raised; the problem inside says more."""
    cause = error.__cause__
    if isinstance(cause, Problem):
        return problem_response(cause)
    return problem_response(_unreadable(int(error.status_code)))


def _too_large(_request: HttpRequest, _error: Any) -> HttpResponse:
    detail = _("The request is too large: at most %(bytes)s bytes are allowed.") % {"bytes": MAX_BODY_BYTES}
    return problem_response(Problem("too_large", detail, 413))


def _suspicious(_request: HttpRequest, _error: Any) -> HttpResponse:
    return problem_response(_unreadable())


def _unreadable(status: int = 400) -> Problem:
    return Problem("bad_request", _("This request cannot be read."), status)


def _unexpected(_request: HttpRequest, error: Any) -> HttpResponse:
    """What nobody foresaw: told in the log, never to the caller."""
    logger.error("an API request failed", exc_info=error)
    return problem_response(Problem("internal", _("Something went wrong on our side."), 500))
