"""Addresses of the pages. Acts are POST only and stand below what they act on."""

from __future__ import annotations

from django.urls import path

from gedaechtnis.web.views import (
    chat,
    entity,
    explorer,
    facts,
    groups,
    proposals,
    security,
    session,
    settings,
    shell,
    tokens,
)

urlpatterns = [
    path("", chat.home, name="home"),
    path("nachrichten/", chat.post, name="message-post"),
    path("kurator/", chat.curator, name="curator"),
    path("kurator/jetzt/", chat.curate, name="curate-now"),
    path("wissen/", explorer.index, name="explorer"),
    path("wissen/neu/", explorer.create, name="entity-new"),
    path("wissen/<str:ref>/", entity.detail, name="entity"),
    path("wissen/<str:ref>/notiz/", entity.note, name="entity-note"),
    path("tatsachen/<uuid:fact_id>/", facts.detail, name="fact"),
    path("tatsachen/<uuid:fact_id>/zuruecknehmen/", facts.retract, name="fact-retract"),
    path("tatsachen/<uuid:fact_id>/beenden/", facts.end, name="fact-end"),
    path("tatsachen/<uuid:fact_id>/korrigieren/", facts.correct, name="fact-correct"),
    path("vorschlaege/<uuid:proposal_id>/annehmen/", proposals.accept, name="proposal-accept"),
    path("vorschlaege/<uuid:proposal_id>/ablehnen/", proposals.reject, name="proposal-reject"),
    path("stand/", shell.totals, name="totals"),
    path("einstellungen/", settings.edit, name="settings"),
    path("einstellungen/protokoll/", security.log, name="security-log"),
    path("einstellungen/gruppen/", groups.index, name="groups"),
    path("einstellungen/gruppen/<uuid:group_id>/", groups.detail, name="group"),
    path("einstellungen/gruppen/<uuid:group_id>/umbenennen/", groups.rename, name="group-rename"),
    path("einstellungen/gruppen/<uuid:group_id>/aufnehmen/", groups.add, name="group-add"),
    path("einstellungen/gruppen/<uuid:group_id>/verlassen/", groups.leave, name="group-leave"),
    path("einstellungen/gruppen/<uuid:group_id>/schliessen/", groups.close, name="group-close"),
    path("einstellungen/gruppen/<uuid:group_id>/<uuid:sub>/rolle/", groups.change_role, name="group-role"),
    path("einstellungen/gruppen/<uuid:group_id>/<uuid:sub>/entfernen/", groups.remove, name="group-remove"),
    path("einstellungen/zugaenge/", tokens.index, name="tokens"),
    path("einstellungen/zugaenge/<uuid:token_id>/widerrufen/", tokens.revoke, name="token-revoke"),
    path("sprache/", session.language, name="language"),
    path("anmelden/", session.SignIn.as_view(), name="login"),
    path("abmelden/", session.SignOut.as_view(), name="logout"),
]
