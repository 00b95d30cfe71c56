"""What the benchmarks read: JSON lines as they are, whatever characters stand in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import data


@pytest.mark.parametrize("inside", ["\u2028", "\u2029", "\u0085"])
def test_a_line_ends_at_a_line_feed_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    monkeypatch.setattr(data, "DATA", tmp_path)
    turns = [{"text": f"one{inside}line"}, {"text": "another"}]
    lines = [json.dumps(turn, ensure_ascii=False) for turn in turns]
    (tmp_path / "turns.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert data.rows("turns.jsonl") == turns
