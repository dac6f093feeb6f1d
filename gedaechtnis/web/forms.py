"""Forms that hold more than one field."""

from __future__ import annotations

from typing import ClassVar
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from gedaechtnis.identity.models import User


class Theme(forms.ChoiceField):
    """Light, dark, or as the system has it."""

    CHOICES = (("auto", _("as on your device")), ("light", _("light")), ("dark", _("dark")))

    def __init__(self) -> None:
        super().__init__(label=_("Appearance"), choices=self.CHOICES, widget=forms.RadioSelect)


class SettingsForm(forms.ModelForm[User]):
    """What a person sets for themselves; the theme stays in the browser it was chosen in."""

    language = forms.ChoiceField(label=_("Language"), choices=settings.LANGUAGES, widget=forms.RadioSelect)
    time_zone = forms.ChoiceField(label=_("Time zone"))
    theme = Theme()

    class Meta:
        model = User
        fields: ClassVar = ["language", "time_zone"]

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        zones = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
        names = sorted({*zones, "UTC", self.instance.time_zone})
        self.fields["time_zone"].choices = [(name, name.replace("_", " ")) for name in names]  # type: ignore[attr-defined]
