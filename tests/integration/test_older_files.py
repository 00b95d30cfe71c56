"""A backup, an export and a settings file that an older version made are still of use.

``tests/older_files`` has those of 27 November 2026, schema 2, made by its own commands: one contact
with a value that was replaced, a standing fact, a token for a card and a question about her health,
one with a replaced value, and one who was forgotten.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from reconciler import Memory, load_settings, ops
from reconciler.domain.records.kinds import Action
from tests.engines import EngineUnderTest, embedded_engine

OLDER = Path(__file__).parents[1] / "older_files"
YARA = {
    *("Moved to Goa.", "Is allergic to sesame.", "Prefers email.", "Has a dog named Milo."),
    *("Her card is [credit_card:73c8b56b668f].", "Order 17 is late."),
}


def test_an_older_backup_opens_once_it_is_migrated(tmp_path: Path) -> None:
    engine = embedded_engine(tmp_path)
    ops.restore(OLDER / "backup.zip", **engine.settings_arguments)
    with Memory.open(migrate=True, **engine.settings_arguments) as memory:
        _holds_what_it_held(memory)
        again = memory.add_contact_note("crm", "omar", "Lives in Oslo.")
        assert again.action is Action.HOLD  # its key came along, so the erased words are known


def test_an_older_export_is_restored_into_each_engine(engine: EngineUnderTest) -> None:
    ops.restore(OLDER / "export.jsonl", **engine.settings_arguments)
    with Memory.open(**engine.settings_arguments) as memory:
        _holds_what_it_held(memory)


def _holds_what_it_held(memory: Memory) -> None:
    yara, priya, omar = (memory.contact("crm", each) for each in ("yara", "priya", "omar"))
    chains = yara.history()
    facts = [fact for chain in chains for fact in chain.facts]
    assert {fact.text for fact in facts if not fact.has_ended} == YARA
    assert [fact.text for fact in facts if fact.has_ended] == ["Lives in Pune."]
    assert [link.is_restatement for each in chains for link in each.supersessions] == [False]
    assert [each.text for each in yara.pending()] == ["Has diabetes."]
    assert yara.recall("Where does she live?")[0].fact.text == "Moved to Goa."
    assert [each.value for each in priya.value("employer")] == ["Globex"]
    assert [fact.text for each in omar.history() for fact in each.facts] == ["[erased]"]
    moved = yara.note("Lives in Delhi now.", attribute="city", value="Delhi")
    assert moved.action is Action.UPDATE
    assert [each.value for each in yara.value("city")] == ["Delhi"]


def test_an_older_settings_file_sets_what_it_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "settings.toml"
    older = (OLDER / "settings.toml").read_text(encoding="utf-8")
    file.write_text(older.replace("\nlimit = 8\n", "\nlimit = 3\n"), encoding="utf-8")
    monkeypatch.setenv("RECONCILER_CONFIG_FILE", str(file))
    monkeypatch.delenv("RECONCILER_ARBITER__MODE", raising=False)
    known = json.loads(load_settings().model_dump_json())
    given = tomllib.loads(file.read_text(encoding="utf-8"))
    tables = {name: held for name, held in given.items() if isinstance(held, dict)}
    assert known["recall"]["limit"] == tables["recall"]["limit"] == 3
    gone = {
        f"{table}.{name}"
        for table, held in tables.items()
        for name, value in held.items()
        if name not in known[table] or known[table][name] != value
    }
    assert gone == {"extractor.fallback"}
