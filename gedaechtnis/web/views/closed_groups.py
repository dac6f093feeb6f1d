"""Settings, closed groups: their owners take an export, or have them erased before their time."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_safe

from gedaechtnis.common.text import slugify
from gedaechtnis.identity import closed_groups
from gedaechtnis.memory.selectors import export
from gedaechtnis.memory.services import erasure
from gedaechtnis.web.http import PersonRequest, download, only_posted, private, show


@require_safe
@private
def detail(request: PersonRequest, group_id: UUID) -> HttpResponse:
    """How long it is kept, and what may still be done."""
    group = closed_groups.get_closed_group(user=request.user, group_id=group_id)
    context = {"nav": "settings", "section": "groups", "group": group}
    return show(request, "groups/closed.html", "closed-group", context)


@require_GET
@private
def download_group(request: PersonRequest, group_id: UUID) -> StreamingHttpResponse:
    """The group as a file."""
    group = closed_groups.get_closed_group(user=request.user, group_id=group_id)
    file = export.export_closed_group(user=request.user, group_id=group_id)
    return download(file, f"{slugify(group.name) or 'gruppe'}.jsonl")


@only_posted
@private
def erase(request: PersonRequest, group_id: UUID) -> HttpResponse:
    """Do not wait."""
    erasure.erase_group(user=request.user, group_id=group_id)
    messages.success(request, _("The group is erased."))
    return redirect("groups")
