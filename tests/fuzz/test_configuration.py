"""What an operator writes, bent: settings, policy, attributes, lexicons, prompts, and more."""

from __future__ import annotations

import itertools
import json
import random
import tomllib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from reconciler import Memory
from reconciler.adapters.structured_calls import read_prompt
from reconciler.config_files import BookChoice, load_attribute_book, load_gate_policy, load_profile
from reconciler.ops.calibration import read_pairs
from reconciler.reading.lexicon import Cues, read_lexicon
from reconciler.resources import resource_path
from reconciler.serve.access.tokens import TokenFile
from reconciler.service.json_lines import read_lines
from reconciler.settings import Settings, load_settings
from tests.engines import embedded_engine
from tests.fuzz.bench import settings_of
from tests.fuzz.bending import bent, bent_bytes, bent_lines, bent_text
from tests.fuzz.texts import SENTENCES
from tests.fuzz.trying import each_number, refusal
from tests.mcp_server import granted

pytestmark = pytest.mark.faults

CONFIG = resource_path("config")
VALUES = (
    *("", " ", "0", "1", "-1", "0.5", "1e400", "nan", "inf", "on", "off", "true", "x", "9" * 5000),
    *("{}", "[]", "{", '{"a": 1}', "null", "\udcff", "../x", "/dev/null", "~nobody/x", "embedded"),
    *("neo4j", "bolt://[", "neo4j://localhost:99999", "İ", "[" * 2000, '{"model": 7}'),
)


def written(file: Path, text: str, chance: random.Random) -> Path:
    """The text in the file, seldom as bytes that are no longer a text."""
    data = text.encode("utf-8", "surrogatepass")
    file.write_bytes(bent_bytes(data, chance) if chance.random() < 0.1 else data)
    return file


# Settings


def variables() -> list[str]:
    """Every variable that a setting is read from, and some that none is."""
    names = []
    for name, field in Settings.model_fields.items():
        kind = field.annotation
        inner = kind.model_fields if isinstance(kind, type) and issubclass(kind, BaseModel) else {}
        names += [
            f"RECONCILER_{name}".upper(),
            *(f"RECONCILER_{name}__{each}".upper() for each in inner),
        ]
    odd = (
        "RECONCILER_",
        "RECONCILER___",
        "RECONCILER_NEO4J__URI__X",
        "RECONCILER_NOTHING",
        "NEO4J_URI",
    )
    return [*names, *odd, "NEO4J_PASSWORD", "ANTHROPIC_API_KEY", "NEO4J_DATABASE"]


def settings_from(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        for name in chance.sample(variables(), chance.randint(0, 3)):
            patch.setenv(name, chance.choice(VALUES))
        if chance.random() < 0.7:
            text = bent_text((CONFIG / "reconciler.toml").read_text(), chance)
            patch.setenv("RECONCILER_CONFIG_FILE", str(written(folder / "own.toml", text, chance)))
        refusal("settings", load_settings)


def test_settings_are_loaded_or_refused(tmp_path: Path) -> None:
    each_number(20, "settings", lambda seed: settings_from(seed, tmp_path))


# Tables


def toml(tables: Any) -> str:
    """The tables as TOML, as far as it can say them."""
    return "".join(_toml_lines(tables, ""))


def _toml_lines(table: Any, path: str) -> Iterable[str]:
    if not isinstance(table, dict):
        return
    for name, value in table.items():
        if not isinstance(value, dict):
            yield f"{json.dumps(str(name))} = {_toml_value(value)}\n"
    for name, value in table.items():
        if isinstance(value, dict):
            inner = f"{path}.{json.dumps(str(name))}" if path else json.dumps(str(name))
            yield f"[{inner}]\n"
            yield from _toml_lines(value, inner)


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        held = ", ".join(
            f"{json.dumps(str(name))} = {_toml_value(each)}" for name, each in value.items()
        )
        return f"{{{held}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    return str(value).lower() if isinstance(value, bool | float) else json.dumps(value)


@cache
def tables_of(name: str) -> dict[str, Any]:
    return tomllib.loads((CONFIG / name).read_text("utf-8"))


def policy(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    tables = bent(tables_of("policy.toml"), chance)
    file = written(folder / "policy.toml", toml(tables), chance)
    refusal("policies", lambda: load_gate_policy(file))


def test_a_policy_is_loaded_or_refused(tmp_path: Path) -> None:
    each_number(3, "policies", lambda seed: policy(seed, tmp_path))


def attributes(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    shipped = tables_of("attributes.toml")
    some = {name: shipped[name] for name in chance.sample(sorted(shipped), 2)}
    name = chance.choice([name for name, table in shipped.items() if "says" in table])
    one = dict(shipped[name]) | {"says": chance.sample(shipped[name]["says"], 1)}
    tables = bent(some | {name: one}, chance)
    file = written(folder / "attributes.toml", toml(tables), chance)

    def loaded() -> None:
        book = load_attribute_book(BookChoice(file))
        for said in SENTENCES[:3]:
            book.reader.read(said)

    refusal("attributes and what they say", loaded)


def test_attributes_and_what_they_say_are_loaded_or_refused(tmp_path: Path) -> None:
    each_number(2, "attributes", lambda seed: attributes(seed, tmp_path))


LEXICONS = sorted(each.stem for each in (CONFIG / "lexicon").glob("*.toml"))


def lexicon_of(seed: int) -> None:
    chance = random.Random(seed)
    tables = dict(tables_of(f"lexicon/{chance.choice(LEXICONS)}.toml"))
    words = tables.pop("lists")
    some: dict[str, Any] = {"lists": dict(words)}
    for name in chance.sample(sorted(tables), min(2, len(tables))):
        some[name] = chance.sample(tables[name], min(3, len(tables[name])))
    for name in chance.sample(sorted(words), min(1, len(words))):
        some["lists"][name] = bent_text(words[name], chance)

    tables = bent(some, chance)

    def tried() -> None:
        made = read_lexicon("own.toml", tables if isinstance(tables, dict) else {})
        cues = Cues(made)
        for name, listed in made.cues.items():
            for number in range(len(listed)):
                cues.pattern(name, number)
        for said in SENTENCES[:3]:
            for name in made.cues:
                list(cues.read(said).matches(name))

    refusal("lexicons", tried)


def test_a_lexicon_is_read_or_refused() -> None:
    each_number(20, "lexicons", lexicon_of)


# Small files


def profile(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    tables = bent(tables_of("profiles/minilm.toml"), chance)
    file = written(folder / "profile.toml", toml(tables), chance)
    refusal("profiles", lambda: load_profile(str(file)))


def prompt(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    shipped = (CONFIG / "prompts" / chance.choice(("arbiter.md", "extractor.md"))).read_text()
    file = written(folder / "prompt.md", bent_text(shipped, chance), chance)
    refusal("prompts", lambda: read_prompt(file))


def tokens(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    file = folder / "tokens.json"
    file.unlink(missing_ok=True)
    grant = granted("agent", "crm", contact_id="priya")
    secret = TokenFile(file).create(grant, datetime(2100, 1, 1, tzinfo=UTC))[1]
    held = json.dumps(bent(json.loads(file.read_text()), chance)).encode("utf-8", "surrogatepass")
    file.write_bytes(bent_bytes(held, chance) if chance.random() < 0.3 else held)

    def used() -> None:
        found = TokenFile(file)
        found.find(secret)
        for token in found.all():
            found.revoke(token.token_id)

    refusal("token files", used)


PAIRS = [
    {"fact": "Lives in Pune.", "note": "Lives in Goa.", "label": "update", "id": 7},
    {"a": "x", "b": "y", "label": "add", "fact_slot": {"attribute": "city", "value": "Pune"}},
]


def pairs(seed: int, _: Path) -> None:
    chance = random.Random(seed)
    data = bent_lines(PAIRS, chance)
    refusal("labelled pairs", lambda: read_pairs(read_lines(BytesIO(data))))


SMALL: dict[str, Callable[[int, Path], None]] = {
    each.__name__: each for each in (profile, prompt, tokens, pairs)
}


@pytest.mark.parametrize("name", SMALL)
def test_a_small_file_is_read_or_refused(tmp_path: Path, name: str) -> None:
    each_number(20, name, lambda seed: SMALL[name](seed, tmp_path))


# What was accepted can be used


NUMBERS = itertools.count()


def memory_with(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    engine = embedded_engine(folder / str(next(NUMBERS)))
    given = bent(
        settings_of(engine)
        | {"reconcile": {"cosine_update_min": 0.95}, "recall": {"limit": 3, "floor": "off"}}
        | {"tenant": "default", "jobs": {"attempts_max": 1}, "embedder": {"model": "noop"}},
        chance,
    )

    def used() -> None:
        with Memory.open(load_settings(**given)) as memory:
            memory.add_contact_note("crm", "priya", chance.choice(SENTENCES))
            memory.contact("crm", "priya").recall("where")

    if isinstance(given, dict) and given.get("graph") == "embedded":
        at = given.get("embedded_path")
        if isinstance(at, Path) and at.is_relative_to(folder):
            refusal("memories with odd settings", used)


def test_a_memory_with_odd_settings_works_or_does_not_open(tmp_path: Path) -> None:
    each_number(1, "odd memories", lambda seed: memory_with(seed, tmp_path))
