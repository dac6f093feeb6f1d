"""Forms that hold more than one field."""

from __future__ import annotations

from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from gedaechtnis.identity.models import User

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
