"""The API as a whole: its routers, who is let in, how it describes itself."""

from __future__ import annotations

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from gedaechtnis.api import errors
from gedaechtnis.api.auth import BearerToken, PageSession
from gedaechtnis.api.http import StrictJson, known_parameters_only
from gedaechtnis.api.reads import recorded
from gedaechtnis.api.routers import (
    aliases,
    chats,
    effects,
    entities,
    export,
    facts,
    grants,
    merges,
    notes,
    policies,
    preamble,
    proposals,
    recall,
    resolve,
    tools,
    vocabulary,
)
from gedaechtnis.api.schemas.common import ProblemOut

_PROBLEM = {
    "description": "A problem document (RFC 9457)",
    "content": {errors.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


class Api(NinjaAPI):
    """Operations are named after their functions, and each may answer with a problem document."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        schema = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
        schema["components"]["schemas"].update(ProblemOut.components())
        for methods in schema["paths"].values():
            for operation in methods.values():
                operation["responses"]["default"] = _PROBLEM
                for body in operation.get("requestBody", {}).get("content", {}).values():
                    body["schema"].pop("default", None)  # a body that may be missing says so by `required`
        return schema


api = Api(
    title="Gedächtnis",
    version="1",
    description="A memory in two times: what held in the world, and what was known when.",
    urls_namespace="api",
    docs_url=None,
    auth=[BearerToken(), PageSession()],
    parser=StrictJson(),
)
api.add_decorator(known_parameters_only, mode="view")
api.add_decorator(recorded, mode="view")
api.add_router("/world", vocabulary.router)
api.add_router("/world", entities.router)
api.add_router("/world", resolve.router)
api.add_router("/world", recall.router)
api.add_router("/world", aliases.router)
api.add_router("/world", merges.router)
api.add_router("/world", effects.router)
api.add_router("/world/facts", facts.router)
api.add_router("/world/proposals", proposals.router)
api.add_router("/chats", chats.router)
api.add_router("/review-items", proposals.review_router)
api.add_router("/knowledge", notes.router)
api.add_router("/knowledge", grants.router)
api.add_router("/knowledge", preamble.router)
api.add_router("/tools", tools.router)
api.add_router("/knowledge/policies", policies.router)
api.add_router("/export", export.router)
api.add_router("/import", export.import_router)
errors.install(api)
