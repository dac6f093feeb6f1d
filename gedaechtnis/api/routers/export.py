"""Taking one's memory along."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from ninja import Router

from gedaechtnis.api.auth import ApiRequest
from gedaechtnis.common.streams import pieces
from gedaechtnis.memory.selectors import export

router = Router(tags=["export"])

_JSON_LINES = {"responses": {200: {"description": "One JSON object a line", "content": {export.MEDIA_TYPE: {}}}}}


@router.get("", summary="Everything in one's own scope", openapi_extra=_JSON_LINES)
def export_own(request: ApiRequest) -> StreamingHttpResponse:
    """JSON Lines: a header, one line a row of every table with its history, and a last line with how many there were.

    What lies above the token's clearance is left out; the header says how far it reaches.
    """
    return StreamingHttpResponse(pieces(export.export_own(principal=request.auth)), content_type=export.MEDIA_TYPE)
