"""No time in the settings is longer than a timer can wait: a thread that cannot would end."""

from __future__ import annotations

import pytest

from reconciler.errors import ConfigurationError
from reconciler.settings import Settings, load_settings

SECONDS = [
    (group, name)
    for group, field in Settings.model_fields.items()
    for name in getattr(field.annotation, "model_fields", {})
    if name.endswith(("seconds", "seconds_max"))
]


@pytest.mark.parametrize(("group", "name"), SECONDS)
def test_seconds_beyond_a_year_are_refused(group: str, name: str) -> None:
    assert load_settings(**{group: {name: 86_400 * 365}})
    with pytest.raises(ConfigurationError, match=rf"{group}\.{name}: .*less than or equal"):
        load_settings(**{group: {name: 2**63}})
