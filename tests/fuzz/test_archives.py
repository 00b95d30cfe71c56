"""Exports, backups, and other systems' memories, bent: restored as a whole, or refused in words."""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import json
import random
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory, load_settings, ops
from reconciler.errors import GraphError, InvalidArchiveError
from reconciler.settings import Settings
from reconciler.testing import HashingEmbedder
from tests.engines import embedded_engine
from tests.fuzz.bench import WHO, Bench, check_ledger, settings_of
from tests.fuzz.bending import bent, bent_bytes, bent_lines
from tests.fuzz.trying import each_number, refusal
from tests.whole_graph import links_of, nodes_of

pytestmark = pytest.mark.faults

PEERS = Path(__file__).parents[1] / "peer_exports"
EMBEDDER = HashingEmbedder(16)


class Place:
    """Where archives are restored to: an empty folder each time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count()

    def restored(self, door: str, file: Path) -> None:
        """Restore a file: a memory that is in order, or nothing at all."""
        folder = self._folder / str(next(self._numbers))
        engine = embedded_engine(folder)
        settings = load_settings(**settings_of(engine))
        refused = refusal(door, lambda: ops.restore(file, settings=settings, embedder=EMBEDDER))
        if refused is None:
            if door == "exports":
                check_ledger(nodes_of(engine), links_of(engine))
                read(settings)
            else:  # a store that was altered inside says so where it is read, in words
                with contextlib.suppress(GraphError):
                    read(settings)
        elif isinstance(refused, InvalidArchiveError):
            assert not folder.exists() or not list(folder.iterdir()), (
                f"something is left: {refused}"
            )
        shutil.rmtree(folder, ignore_errors=True)


def read(settings: Settings) -> None:
    """Read all that a memory holds, as it is kept and as it is shown."""
    with Memory.open(settings, embedder=EMBEDDER) as memory:
        ops.export(memory, io.BytesIO(), vectors=True)
        memory.agent("crm").decisions(limit=1000)
        memory.contact(*WHO).recall("Where does she live?")
        memory.contact(*WHO).history()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("restored"))


@pytest.fixture(scope="module")
def archives(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an export and a backup of the bench's store."""
    folder = tmp_path_factory.mktemp("archives")
    ops.export(bench.memory, folder / "all.jsonl", keys=True, vectors=True)
    ops.backup(bench.memory, folder / "memory.zip")
    return folder


# Exports


def sealed(data: bytes) -> bytes:
    """The lines with a last one that counts them and has their hash, where they can be counted."""
    lines = data.split(b"\n")
    body = b"".join(line + b"\n" for line in lines[:-1])
    try:
        read = [json.loads(line) for line in lines]
        end = dict(read[-1]) | {"sha256": hashlib.sha256(body).hexdigest()}
        for kind, name in (("node", "nodes"), ("link", "links")):
            named = [str(each[kind]) for each in read[1:-1] if kind in each]
            end[name] = {each: named.count(each) for each in named}
    except (ValueError, TypeError, IndexError):
        return data
    return body + json.dumps(end).encode() + b"\n"


def bent_within(lines: list[Any], chance: random.Random) -> list[Any]:
    """The lines with one of them bent, or the JSON text inside one of them."""
    made = list(lines)
    at = chance.randrange(len(made))
    line = bent(made[at], chance)
    held = line.get("properties") if isinstance(line, dict) else None
    if isinstance(held, dict) and isinstance(held.get("record"), str) and chance.random() < 0.7:
        held["record"] = json.dumps(bent(json.loads(made[at]["properties"]["record"]), chance))
    made[at] = line
    return made


def export(seed: int, archives: Path, place: Place, tmp_path: Path) -> None:
    chance = random.Random(seed)
    lines = [json.loads(line) for line in (archives / "all.jsonl").read_text().splitlines()]
    if chance.random() < 0.8:
        data = "\n".join(map(json.dumps, bent_within(lines, chance))).encode(
            "utf-8", "surrogatepass"
        )
    else:
        data = bent_lines(lines, chance)
    file = tmp_path / "bent.jsonl"
    file.write_bytes(sealed(data) if chance.random() < 0.9 else data)
    place.restored("exports", file)


def test_an_export_is_restored_or_refused_as_a_whole(
    archives: Path, place: Place, tmp_path: Path
) -> None:
    each_number(3, "exports", lambda seed: export(seed, archives, place, tmp_path))


# Backups


def backup(seed: int, archives: Path, place: Place, tmp_path: Path) -> None:
    chance = random.Random(seed)
    file = tmp_path / "bent.zip"
    if chance.random() < 0.3:
        file.write_bytes(bent_bytes((archives / "memory.zip").read_bytes(), chance))
    else:
        packed_again(archives / "memory.zip", file, chance)
    place.restored("backups", file)


def packed_again(made: Path, file: Path, chance: random.Random) -> None:
    """The archive with its manifest or a member bent, and the hashes that it tells made good."""
    with zipfile.ZipFile(made) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    name = chance.choice(list(members))
    if name == "manifest.json":
        manifest = bent(manifest, chance)
    else:
        bend = bent_in_a_text if name == "memory.lbug" else bent_bytes
        members[name] = bend(members[name], chance)
        told = {"sha256": hashlib.sha256(members[name]).hexdigest(), "bytes": len(members[name])}
        manifest["members"][name] = told
    members["manifest.json"] = json.dumps(manifest).encode("utf-8", "surrogatepass")
    with zipfile.ZipFile(
        file, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    ) as archive:
        for name, held in members.items():
            archive.writestr(name, held)


_IN_NO_TEXT = (0xC0, 0xC1, *range(0xF5, 0x100))
"""Bytes that UTF-8 has nowhere."""


def bent_in_a_text(store: bytes, chance: random.Random) -> bytes:
    """A store with bytes in one of its texts that are in no text.

    Of others nothing is promised (docs/limits.md): one may be taken for a length, and the engine
    asks for more memory than there is; or it makes another text, which no list of words has.
    """
    text = chance.choice([each.span() for each in re.finditer(rb"[ -~]{8,}", store)])
    start = chance.randrange(*text)
    end = min(start + chance.randint(1, 8), text[1])
    put = bytes(chance.choices(_IN_NO_TEXT, k=end - start))
    return store[:start] + put + store[end:]


def test_a_backup_is_restored_or_refused_as_a_whole(
    archives: Path, place: Place, tmp_path: Path
) -> None:
    each_number(2, "backups", lambda seed: backup(seed, archives, place, tmp_path))


# Other systems


def peer(seed: int, bench: Bench, tmp_path: Path) -> None:
    chance = random.Random(seed)
    system = chance.choice(list(PEER_FILES))
    file = tmp_path / "peer"
    file.unlink(missing_ok=True)
    records = PEER_FILES[system]()
    if chance.random() < 0.5 and isinstance(records, list):
        file.write_bytes(bent_lines(records, chance))
    else:
        data = json.dumps(bent(records, chance)).encode("utf-8", "surrogatepass")
        file.write_bytes(bent_bytes(data, chance) if chance.random() < 0.2 else data)
    bench.attempt(
        "peer memories",
        lambda memory: ops.import_from(memory.agent("crm"), system, file),
    )


def json_lines(name: str) -> Callable[[], Any]:
    return lambda: [json.loads(line) for line in (PEERS / name).read_text().splitlines()][:4]


def mem0() -> Any:
    read = json.loads((PEERS / "mem0.json").read_text())
    return {"results": read["results"][:4]}


PEER_FILES: dict[str, Callable[[], Any]] = {
    "mem0": mem0,
    "graphiti": json_lines("graphiti.jsonl"),
    "neo4j-agent-memory": json_lines("neo4j_agent_memory.jsonl"),
    "langmem": json_lines("langmem.jsonl"),
}


def test_another_systems_memory_is_imported_or_refused(bench: Bench, tmp_path: Path) -> None:
    each_number(8, "peers", lambda seed: peer(seed, bench, tmp_path))
