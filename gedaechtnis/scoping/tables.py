"""Which tables stand outside row-level security, and why; which functions may run as their owner."""

from __future__ import annotations

from django.apps import apps

from gedaechtnis.scoping.models import ScopedModel

UNSCOPED_TABLES = {
    "account_emailaddress": "of django-allauth; stays empty, as no e-mail address is kept",
    "account_emailconfirmation": "of django-allauth; stays empty, as no e-mail address is kept",
    "auth_group": "Django's permission groups for the admin; no memory",
    "auth_group_permissions": "Django's permission groups for the admin; no memory",
    "auth_permission": "Django's permissions for the admin; no memory",
    "django_admin_log": "who changed which registry entry in the admin",
    "django_content_type": "Django's list of models",
    "django_migrations": "which migrations ran",
    "django_session": "sign-in sessions, read before anyone is known",
    "identity_auditentry": "the security log: ids and codes of sign-ins, tokens and memberships; no memory",
    "identity_claimedgroup": "which group an identity provider's claim means, needed at sign-in",
    "identity_group": "names of groups and orgs, needed to find out what may be read",
    "identity_groupmembership": "who is in which group, needed to find out what may be read",
    "identity_org": "names of groups and orgs, needed to find out what may be read",
    "identity_orgmembership": "who is in which org, needed to find out what may be read",
    "identity_token": "digests of tokens, read before anyone is known",
    "identity_user": "who can sign in, read before anyone is known",
    "identity_user_groups": "Django's permission groups for the admin; no memory",
    "identity_user_user_permissions": "Django's permissions for the admin; no memory",
    "registry_entitykind": "vocabulary, the same for all",
    "registry_eventtype": "vocabulary, the same for all",
    "registry_predicate": "vocabulary, the same for all",
    "scopes": "clocks of scopes: ticks, no content",
    "socialaccount_socialaccount": "issuer and subject of people, read before anyone is known",
    "socialaccount_socialapp": "of django-allauth; stays empty, as providers come from the settings",
    "socialaccount_socialtoken": "of django-allauth; stays empty, as tokens of providers are not kept",
    "vector_spaces": "names of embedding models, the same for all; no memory",
    "work": "ids of waiting work, found without reading across scopes",
}

APPEND_ONLY_TABLES = frozenset({"identity_auditentry"})
"""Unscoped tables that the application adds to and never changes."""

DEFINER_FUNCTIONS = {
    "world_classify": "belief rows and evidence cannot be updated, but who may see them may change",
    "world_check_references": "the reference rule must see entities that the writer cannot read",
    "world_find_names_as_definer": "name search where the trigram operators cannot be made leakproof",
    "world_find_alike_as_definer": "words spelt alike where the trigram operators cannot be made leakproof",
    "scoping_erase": "the application may not delete from append-only tables, nor reach a scope nobody reads any more",
    "world_follow_classification": "projections follow the row they show, whoever may change who sees it",
    "world_follow_merge": "a merge lets scopes follow that nobody who merges may read",
    "world_clear_for_import": "an import begins with nothing and leaves nothing when refused; others delete no beliefs",
    "world_ensure_event_partition": "partitions belong to the owner; the application may not make tables",
    "world_follow_predicate": "when a predicate changes, scopes follow that nobody who governs it may read",
    "world_freeze_predicate": "a predicate is frozen by facts of scopes that nobody who governs it may read",
    "world_kind_usage": "who governs the vocabulary may know how often a kind is used, and nothing else",
    "world_predicate_usage": "who governs the vocabulary may know how often a predicate is used, and nothing else",
}

CALLED_BY_THE_APPLICATION = frozenset(
    {
        "scoping_erase",
        "world_classify",
        "world_clear_for_import",
        "world_ensure_event_partition",
        "world_find_alike_as_definer",
        "world_find_names_as_definer",
        "world_follow_merge",
        "world_follow_predicate",
        "world_kind_usage",
        "world_predicate_usage",
    }
)
"""Of these functions, those that are not called by triggers alone."""


def scoped_models() -> list[type[ScopedModel]]:
    """Every concrete scoped model, by table name."""
    models = [model for model in apps.get_models() if issubclass(model, ScopedModel)]
    return sorted(models, key=lambda model: model._meta.db_table)


def owned_tables() -> frozenset[str]:
    """The tables whose rows belong to one person in their scope."""
    return frozenset(model._meta.db_table for model in scoped_models() if model.owned)
