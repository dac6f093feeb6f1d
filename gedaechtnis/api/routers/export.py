"""Taking one's memory along, and bringing it."""

from __future__ import annotations

from typing import IO, cast
from uuid import UUID

from django.http import StreamingHttpResponse
from ninja import Router, Status

from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.api.schemas.export import ImportOut
from gedaechtnis.common.streams import pieces
from gedaechtnis.memory.answers import ImportView
from gedaechtnis.memory.selectors import export
from gedaechtnis.memory.transfer import archives

router = Router(tags=["export"])
import_router = Router(tags=["export"])

_CONTENT = {export.MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}
_JSON_LINES = {"responses": {200: {"description": "One JSON object a line", "content": _CONTENT}}}
_FILE = {"requestBody": {"required": True, "content": _CONTENT}}


@router.get("", summary="Everything in one's own scope", openapi_extra=_JSON_LINES)
def export_own(request: ApiRequest) -> StreamingHttpResponse:
    """JSON Lines: a header, one line a row of every table with its history, and a last line with how many there were.

    What lies above the token's clearance is left out; the header says how far it reaches.
    """
    return StreamingHttpResponse(pieces(export.export_own(principal=request.auth)), content_type=export.MEDIA_TYPE)


@import_router.post("", response={202: ImportOut}, summary="Bring a memory from elsewhere", openapi_extra=_FILE)
def import_memory(request: ApiRequest) -> Status[ImportView]:
    """An export of a person's scope, into one's own that is still new. It is checked at once and written by and by.

    Until it is done nobody else writes in the scope, and what it answers is incomplete.
    """
    own = request.auth.read_scopes[0]
    received = archives.receive(principal=request.auth, file=cast(IO[bytes], request), scope_ref=own)
    return Status(202, received)


@import_router.get("/{import_id}", response=ImportOut, summary="How far an import is")
def get_import(request: ApiRequest, import_id: UUID) -> ImportView:
    """`running`, `done`, or `refused`: then nothing of it was kept."""
    return archives.get_import(principal=request.auth, import_id=import_id)
