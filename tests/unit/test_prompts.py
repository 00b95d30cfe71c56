"""Prompts: the text that a model is told, read from a file that a person may have edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconciler.adapters.structured_calls import read_prompt
from reconciler.errors import ConfigurationError


def test_a_prompt_is_its_version_and_the_text_below_it(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("version: 3\n\nJudge.\n")
    prompt = read_prompt(tmp_path / "prompt.md")
    assert (prompt.name, prompt.text) == ("prompt-v3", "Judge.")


def test_a_prompt_that_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_bytes("version: 3\nJudge.".encode("utf-16"))
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_prompt(tmp_path / "prompt.md")
