"""Forms that hold more than one field."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, cast
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from gedaechtnis.identity.models import User
from gedaechtnis.identity.tokens import AGENT_ROLE

TOKEN_DAYS = ((30, _("in 30 days")), (90, _("in 90 days")), (365, _("in a year")), (0, _("never")))
TOKEN_CLEARANCES = (
    (3, _("everything that I see")),
    (2, _("nothing sensitive (health, money)")),
    (1, _("nothing personal")),
    (0, _("only what is public")),
)
SENSITIVITIES = (_("for every agent"), _("ordinary"), _("personal"), _("sensitive"))
"""How sensitive a statement is, by level."""
THEMES = (("auto", _("as on your device")), ("light", _("light")), ("dark", _("dark")))


def _zones() -> list[tuple[str, str]]:
    names = {name for name in available_timezones() if "/" in name and not name.startswith("Etc/")}
    return [(name, name.replace("_", " ")) for name in sorted(names | {"UTC"})]


class SettingsForm(forms.Form):
    """What a person sets for themselves; the theme stays in the browser it was chosen in."""

    language = forms.ChoiceField(label=_("Language"), choices=settings.LANGUAGES, widget=forms.RadioSelect)
    theme = forms.ChoiceField(label=_("Appearance"), choices=THEMES, widget=forms.RadioSelect)
    time_zone = forms.ChoiceField(label=_("Time zone"), choices=_zones)

    def save(self, user: User) -> None:
        """Keep language and time zone with the person."""
        user.language = self.cleaned_data["language"]
        user.time_zone = self.cleaned_data["time_zone"]
        user.save(update_fields=["language", "time_zone"])


class DeletionForm(forms.Form):
    """A person's word that they mean it: their password, or their user name if they sign in elsewhere."""

    def __init__(self, request: HttpRequest, data: Any = None) -> None:
        super().__init__(data)
        self._request, self._user = request, cast(User, request.user)
        if self._user.has_usable_password():
            widget = forms.PasswordInput(attrs={"autocomplete": "current-password"})
            self.fields["password"] = forms.CharField(label=_("Your password"), widget=widget, strip=False)
        else:
            plain = forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"})
            self.fields["username"] = forms.CharField(label=_("Your user name"), widget=plain)

    def clean_password(self) -> None:
        """Counted like a sign-in, so that nobody guesses it at an open page."""
        name, password = self._user.get_username(), self.cleaned_data["password"]
        if authenticate(self._request, username=name, password=password) != self._user:
            raise forms.ValidationError(_("This is not your password."))

    def clean_username(self) -> None:
        if self.cleaned_data["username"] != self._user.get_username():
            raise forms.ValidationError(_("This is not your user name."))


class TokenForm(forms.Form):
    """A new token and its limits. `places` are the scopes it may be confined to write in."""

    name = forms.CharField(label=_("Name"), max_length=100)
    agent_role = forms.RegexField(
        f"^{AGENT_ROLE.pattern}$",
        label=_("Role of the agent"),
        max_length=50,
        required=False,
        initial="assistant",
        error_messages={"invalid": _("Only small letters, digits, “-” and “_”, a letter first.")},
    )
    clearance = forms.TypedChoiceField(label=_("Sees"), choices=TOKEN_CLEARANCES, coerce=int, initial=3)
    trusted_writer = forms.BooleanField(label=_("is trusted: what it states counts without asking me"), required=False)
    read_only = forms.BooleanField(label=_("may only read"), required=False)
    days = forms.TypedChoiceField(label=_("Ends"), choices=TOKEN_DAYS, coerce=int, initial=90)

    def __init__(self, *args: Any, places: Iterable[tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["write_scope"] = forms.ChoiceField(
            label=_("May write"), required=False, choices=[("", _("wherever I may")), *places]
        )

    def options(self, now: datetime) -> dict[str, Any]:
        """The form as arguments of `create_token`."""
        chosen = dict(self.cleaned_data)
        days = chosen.pop("days")
        return {**chosen, "expires_at": now + timedelta(days=days) if days else None}
