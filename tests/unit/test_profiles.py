"""Profiles: thresholds in a file that a person may have edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconciler.config_files import load_profile
from reconciler.errors import ConfigurationError

WRITTEN = 'name = "own"\ncosine_update_min = 0.95\ncosine_add_max = 0.8\ncosine_cut = {cut}\n'


@pytest.mark.parametrize("cut", ["1" + "0" * 400, "nan", "inf", "true", "'0.9'"])
def test_a_threshold_that_cannot_be_compared_is_refused(tmp_path: Path, cut: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(WRITTEN.format(cut=cut))
    with pytest.raises(ConfigurationError, match="is not a profile"):
        load_profile(str(file))
