"""Exports and backups bent by hand: an error that says so, nothing changed."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reconciler import Memory, ops
from reconciler.errors import GraphStorageError, InvalidArchiveError
from reconciler.service.checking.lines import KEY_OF, LINKS, PropertyTypes, load_export_schema
from reconciler.testing import HashingEmbedder
from tests.submissions import call_about

EMBEDDER = HashingEmbedder(16)
Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an export and a backup of one store."""
    folder = tmp_path_factory.mktemp("made")
    path = folder / "memory.lbug"
    with Memory.open(embedder=EMBEDDER, graph="embedded", embedded_path=path) as memory:
        for contact_id in ("alice", "bob"):
            memory.add_contact_note("crm", contact_id, "Keeps two cats.", tags=["pets"])
            for city in ("Pune", "Goa"):
                memory.add_contact_note(
                    "crm", contact_id, f"Lives in {city}.", attribute="city", value=city
                )
        memory.contact("crm", "bob").submit_session(
            "chat-17", [{"role": "user", "content": "Hello."}]
        )
        ops.export(memory, folder / "all.jsonl", keys=True, vectors=True)
        ops.backup(memory, folder / "memory.zip")
    return folder


def refused(path: Path, folder: Path, match: str = ".") -> None:
    """A file is refused, and nothing is there afterwards that was not there before."""
    target = folder / "target" / "memory.lbug"
    with pytest.raises(InvalidArchiveError, match=match):
        ops.restore(path, embedder=EMBEDDER, graph="embedded", embedded_path=target)
    assert not target.parent.exists() or list(target.parent.iterdir()) == []


def sealed(lines: Lines, path: Path) -> Path:
    """A file of these lines, as a forger writes it: the last one has their count and hash."""
    body = b"".join(json.dumps(each).encode() + b"\n" for each in lines[:-1])
    end = lines[-1] | {"sha256": hashlib.sha256(body).hexdigest()}
    for kind, name in (("node", "nodes"), ("link", "links")):
        named = [str(each[kind]) for each in lines[1:-1] if kind in each]
        end[name] = {each: named.count(each) for each in named}
    path.write_bytes(body + json.dumps(end).encode() + b"\n")
    return path


def lines_of(made: Path) -> Lines:
    return [json.loads(line) for line in (made / "all.jsonl").read_text().splitlines()]


def first(lines: Lines, name: str) -> dict[str, Any]:
    return next(each for each in lines if name in (each.get("node"), each.get("link")))


def superseded(lines: Lines) -> dict[str, Any]:
    """What the first fact that gave way to another one holds."""
    old_id = first(lines, "SUPERSEDES")["to"]
    return next(
        held for each in lines if (held := each.get("properties", {})).get("fact_id") == old_id
    )


def swapped(lines: Lines) -> None:
    lines[1:-1] = random.Random(3).sample(lines[1:-1], len(lines) - 2)


def naive(lines: Lines) -> None:
    first(lines, "Fact")["properties"]["recorded_at"] = "2026-03-09T12:00:00"


def of_another(lines: Lines) -> None:
    first(lines, "Session")["properties"]["session_key"] = "default/crm/carol/s"


def with_a_newer_property(lines: Lines) -> None:
    first(lines, "Fact")["properties"]["mood"] = "good"


def with_a_vector(vector: Any) -> Callable[[Lines], None]:
    def bend(lines: Lines) -> None:
        facts = [each for each in lines if each.get("node") == "Fact"]
        facts[-1]["vector"] = base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode()

    return bend


def with_a_value(label: str, name: str, value: Any) -> Callable[[Lines], None]:
    return lambda lines: first(lines, label)["properties"].__setitem__(name, value)


def with_a_record(**bent: Any) -> Callable[[Lines], None]:
    def bend(lines: Lines) -> None:
        held = first(lines, "Decision")["properties"]
        held["record"] = json.dumps(json.loads(held["record"]) | bent)

    return bend


def holding_again(lines: Lines) -> None:
    held = superseded(lines)
    held["state"] = "live"
    del held["valid_to"]


def without(name: str) -> Callable[[Lines], None]:
    return lambda lines: lines.remove(first(lines, name))


def without_value(label: str, name: str) -> Callable[[Lines], None]:
    return lambda lines: first(lines, label)["properties"].__delitem__(name)


def twice(name: str) -> Callable[[Lines], None]:
    return lambda lines: lines.insert(lines.index(first(lines, name)), first(lines, name))


def turned_round(lines: Lines) -> None:
    link = first(lines, "SUPERSEDES")
    link["from"], link["to"] = link["to"], link["from"]


def all_shorter(lines: Lines) -> None:
    for line in lines:
        if "vector" in line:
            line["vector"] = base64.b64encode(np.eye(1, 12, dtype="<f4").tobytes()).decode()


UNIT = np.eye(1, 16)[0]
READ = "Decision .*cannot be read"
HEADS: dict[str, Any] = {
    "a version in words": {"version": "two"},
    "no schema": {"schema_version": None},
    "a schema in words": {"schema_version": "8"},
    "a schema of far ahead": {"schema_version": 10**9},
    "a key of ids that is none": {"id_key": "not hexadecimal"},
    "a key of hashes that is a number": {"hash_key": 7},
}
BENT: dict[str, tuple[Callable[[Lines], None], str]] = {
    "shuffled": (swapped, "."),
    "a line twice": (lambda lines: lines.insert(2, lines[2]), "twice"),
    "a contact twice": (lambda lines: lines.insert(-1, first(lines, "Contact")), "twice"),
    "a naive time": (naive, "should have timezone info"),
    "an id of another scope": (of_another, "belongs to another contact"),
    "an unknown property": (with_a_newer_property, "no property 'mood'"),
    "a vector with a NaN": (with_a_vector([np.nan, *UNIT[1:]]), r"line \d+: .*length nan"),
    "an infinite vector": (with_a_vector([np.inf, *UNIT[1:]]), r"line \d+: .*length inf"),
    "a vector of zeros": (with_a_vector(0 * UNIT), r"line \d+: .*length 0, not 1"),
    "a long vector": (with_a_vector(1e30 * UNIT), r"line \d+: .*length 1e\+30"),
    "a vector of fewer numbers": (with_a_vector(UNIT[:12]), r"line \d+: .*12 numbers.*16"),
    "vectors that are all too short": (all_shorter, r"line \d+ .*12 numbers.*vectors of 16"),
    "an unknown state": (with_a_value("Fact", "state", "undead"), r"line \d+: .*state.*'live'"),
    "a state that is a list": (with_a_value("Fact", "state", ["live"]), r"line \d+: .*state"),
    "an unknown action": (with_a_value("Decision", "action", "MULTIPLY"), r"line \d+: .*action"),
    "an unknown trust": (with_a_value("Fact", "trust", "god"), r"line \d+: .*trust"),
    "a record that is no JSON": (
        with_a_value("Decision", "record", "{"),
        READ,
    ),
    "a record that is a list": (
        with_a_value("Decision", "record", "[]"),
        READ,
    ),
    "a deep record": (with_a_value("Decision", "record", "[" * 9_000), READ),
    "a record without a note": (with_a_record(note=None), "Decision .*cannot be read.*note"),
    "another's record": (with_a_record(decision_id="d-0"), "belongs to another contact"),
    "an unknown label": (lambda lines: lines.insert(-1, {"node": "Ghost"}), "called 'Ghost'"),
    "a label that is a list": (lambda lines: lines.insert(-1, {"node": []}), "."),
    "another's action": (
        with_a_value("Decision", "action", "REJECT"),
        "belongs to another contact",
    ),
    "no record": (without_value("Decision", "record"), "Decision .*record"),
    "a fact without its state": (without_value("Fact", "state"), "fact .* has no state"),
    "a fact without its time": (
        without_value("Fact", "recorded_at"),
        "cannot be read.*recorded_at",
    ),
    "a fact without its text": (without_value("Fact", "text"), "cannot be read.*text"),
    "a live fact that was superseded": (holding_again, "still holds, although .* replaced it"),
    "a live fact that has ended": (
        lambda lines: superseded(lines).__setitem__("state", "live"),
        "is live, and has ended",
    ),
    "a live fact above another": (turned_round, "still holds, although .* replaced it"),
    "a fact that was superseded twice": (twice("SUPERSEDES"), "both replaced"),
    "a fact that nobody wrote": (without("WROTE"), "no decision wrote fact"),
    "a fact that was written twice": (twice("WROTE"), "writes no fact, or wrote another one"),
    "an episode in no session": (without("IN"), "Episode .* lacks its IN"),
    "an episode in two": (twice("IN"), "has more than one IN"),
    "a session with nobody": (without("WITH"), "Session .* lacks its WITH or PART_OF"),
    "a job that reads nothing": (without("READS"), "Job .* lacks its READS"),
    "a blank span": (with_a_value("JUDGED", "span", "  "), "JUDGED .*quotes words that are blank"),
    "a span that is blank in part": (with_a_value("EVIDENCED_BY", "span", "two … "), "blank"),
    "a blank text": (with_a_value("Episode", "text", " "), "Episode .*cannot be read.*blank"),
    "a time out of bounds in a record": (
        with_a_record(at="9999-12-31T23:59:59-20:00"),
        "Decision .*out of bounds",
    ),
    "a number out of bounds in a record": (
        with_a_record(version=10**40),
        "Decision .*cannot be read",
    ),
    "no contact": (lambda lines: lines.__delitem__(1), "second line"),
}


def places_of(*types: str) -> list[tuple[str, str]]:
    """Every property that an export has a place for, of these types, with its label or type."""
    schema = load_export_schema()["$defs"]
    return [
        (name, key)
        for name in (*KEY_OF, *LINKS)
        for key, told in schema[name]["properties"]["properties"]["properties"].items()
        if {told["type"], told.get("format")} & set(types)
    ]


NUMBERS = (10**400, -(10**400), 2**63, 10**30, float("nan"), float("inf"), "1", True, [])
TIMES = ("9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59+00:00")


@pytest.mark.parametrize(
    ("types", "values"),
    [(("integer", "number"), NUMBERS), (("date-time",), (*TIMES, "soon", 7, ""))],
    ids=["numbers", "times"],
)
def test_no_number_and_no_time_of_an_export_is_out_of_bounds(
    types: tuple[str, ...], values: tuple[Any, ...]
) -> None:
    read = PropertyTypes(load_export_schema()).read
    for name, key in places_of(*types):
        for value in values:
            with pytest.raises(InvalidArchiveError, match=f"has a {key} that cannot be"):
                read(name, {key: value})


@pytest.mark.parametrize("value", [10**400, 2**63, float("nan"), 1e308])
def test_a_number_out_of_bounds_is_refused_before_anything_is_written(
    made: Path, tmp_path: Path, value: float
) -> None:
    for label, name in (("Fact", "confidence"), ("Contact", "version"), ("COMPARED_WITH", "rank")):
        lines = lines_of(made)
        first(lines, label)["properties"][name] = value
        refused(sealed(lines, tmp_path / "bent.jsonl"), tmp_path, "cannot be")


@pytest.mark.parametrize("name", HEADS)
def test_a_first_line_that_cannot_be_is_refused(made: Path, tmp_path: Path, name: str) -> None:
    lines = lines_of(made)
    lines[0] |= HEADS[name]
    refused(sealed(lines, tmp_path / "bent.jsonl"), tmp_path)


@pytest.mark.parametrize("name", BENT)
def test_an_export_that_was_bent_and_sealed_again_is_refused(
    made: Path, tmp_path: Path, name: str
) -> None:
    bend, said = BENT[name]
    lines = lines_of(made)
    bend(lines)
    refused(sealed(lines, tmp_path / "bent.jsonl"), tmp_path, said)


def test_vectors_that_the_model_does_not_make_are_refused_and_no_store_is_made(
    made: Path, tmp_path: Path
) -> None:
    lines = lines_of(made)
    all_shorter(lines)
    lines[0]["embedding_dimension"] = 12
    given = {"embedder": EMBEDDER, "graph": "embedded", "embedded_path": tmp_path / "memory.lbug"}
    with pytest.raises(InvalidArchiveError, match=r"line \d+ .*12 numbers.*vectors of 16"):
        ops.restore(sealed(lines, tmp_path / "bent.jsonl"), **given)
    assert [each.name for each in tmp_path.iterdir()] == ["bent.jsonl"]


@pytest.mark.parametrize(
    "line",
    [b"[" * 20_000, b'{"a":' * 20_000, b"\xff\xfe", b"9" * 9_000, b"null"],
    ids=["lists", "objects", "bytes", "digits", "null"],
)
@pytest.mark.parametrize("place", [0, 3, -1])
def test_a_line_that_no_reader_follows_is_refused(
    made: Path, tmp_path: Path, line: bytes, place: int
) -> None:
    lines = (made / "all.jsonl").read_bytes().splitlines()
    lines[place] = line
    path = tmp_path / "bent.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    refused(path, tmp_path)


@pytest.mark.parametrize("counts", [{"nodes": []}, {"nodes": {"Fact": "x"}}, {"links": None}])
def test_counts_that_are_none_are_refused(
    made: Path, tmp_path: Path, counts: dict[str, Any]
) -> None:
    lines = (made / "all.jsonl").read_bytes().splitlines()
    lines[-1] = json.dumps(json.loads(lines[-1]) | counts).encode()
    path = tmp_path / "bent.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    refused(path, tmp_path, "changed or damaged")


@pytest.mark.parametrize("name", ["all.jsonl", "memory.zip"])
def test_half_a_file_is_refused_wherever_it_ends(made: Path, tmp_path: Path, name: str) -> None:
    whole = (made / name).read_bytes()
    cuts = random.Random(7).sample(range(len(whole) - 1), 15)
    for length in [0, 1, 3, 4, 5, len(whole) - 2, *cuts]:
        path = tmp_path / name
        path.write_bytes(whole[:length])
        refused(path, tmp_path)


def test_a_backup_with_one_byte_changed_is_refused_or_the_same(made: Path, tmp_path: Path) -> None:
    """Compressed data has bits that nothing reads: such a change may pass, and changes nothing."""
    whole = (made / "memory.zip").read_bytes()
    with zipfile.ZipFile(made / "memory.zip") as archive:
        held = archive.getinfo("memory.lbug")
    places = range(held.header_offset + 60, held.header_offset + held.compress_size)
    passed = 0
    for number, place in enumerate(random.Random(11).sample(places, 10)):
        bent = bytearray(whole)
        bent[place] ^= 0x55
        path = tmp_path / "bent.zip"
        path.write_bytes(bent)
        try:
            refused(path, tmp_path)
        except pytest.fail.Exception:
            store = {"graph": "embedded", "embedded_path": tmp_path / f"{number}.lbug"}
            ops.restore(path, embedder=EMBEDDER, **store)
            with Memory.open(embedder=EMBEDDER, **store) as memory:
                ops.export(memory, tmp_path / f"{number}.jsonl", keys=True, vectors=True)
            again = (tmp_path / f"{number}.jsonl").read_text().splitlines()[1:-1]
            assert again == (made / "all.jsonl").read_text().splitlines()[1:-1]
            shutil.rmtree(tmp_path / "target")
            passed += 1
    assert passed <= 2


def rewritten(
    made: Path,
    path: Path,
    bend: Callable[[dict[str, bytes], dict[str, Any]], None],
    kind: int = zipfile.ZIP_DEFLATED,
) -> Path:
    """The backup, packed again after its members and its manifest were bent."""
    with zipfile.ZipFile(made / "memory.zip") as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    bend(members, manifest)
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr("manifest.json", members.pop("manifest.json", json.dumps(manifest)))
        for name, held in members.items():
            archive.writestr(name, held)
    return path


def climbing(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
    members["../../evil"] = b"x"
    manifest["members"]["../../evil"] = manifest["members"]["memory.lbug"]


def bomb(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
    members["memory.lbug"] = b"\0" * (64 << 20)


def declared_bomb(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
    manifest["members"]["memory.lbug"]["bytes"] = 1 << 60


def nested(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
    members["manifest.json"] = b"[" * 60_000


def told_in_words(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
    manifest["schema_version"] = "8"


def of_a_list(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
    manifest["members"] = ["memory.lbug"]


def of_words(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
    manifest["members"]["memory.lbug"] = "whole"


def no_store(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
    held = b"no store at all" * 1000
    members["memory.lbug"] = held
    told = {"sha256": hashlib.sha256(held).hexdigest(), "bytes": len(held)}
    manifest["members"]["memory.lbug"] = told


def altered(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
    """A text that is not UTF-8, hashed again."""
    held = members["memory.lbug"].replace(b"two cats", b"two \xff\xfets")
    members["memory.lbug"] = held
    manifest["members"]["memory.lbug"]["sha256"] = hashlib.sha256(held).hexdigest()


def untold(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
    del manifest["made_at"], manifest["hash_key"]


BENDS = (climbing, bomb, declared_bomb, nested, told_in_words, of_a_list, of_words, no_store)


@pytest.mark.parametrize("bend", [*BENDS, untold])
def test_a_backup_that_was_packed_by_hand_is_refused_and_nothing_lies_elsewhere(
    made: Path, tmp_path: Path, bend: Callable[[dict[str, bytes], dict[str, Any]], None]
) -> None:
    refused(rewritten(made, tmp_path / "bent.zip", bend), tmp_path)
    assert {each.name for each in tmp_path.iterdir()} <= {"bent.zip", "target"}
    assert not (tmp_path.parent / "evil").exists()


def test_a_store_whose_bytes_were_altered_says_so_where_they_are_read(
    made: Path, tmp_path: Path
) -> None:
    store = {"embedder": EMBEDDER, "graph": "embedded", "embedded_path": tmp_path / "memory.lbug"}
    ops.restore(rewritten(made, tmp_path / "bent.zip", altered), **store)
    with Memory.open(**store) as memory:
        for read in (
            call_about(memory, "recall"),
            call_about(memory, "history"),
            call_about(memory, "profile"),
        ):
            with pytest.raises(GraphStorageError, match=r"is damaged.*restore a backup"):
                read("crm", "alice")
        with pytest.raises(GraphStorageError, match="is damaged"):
            ops.export(memory, tmp_path / "all.jsonl")
        assert not list(tmp_path.glob("all.jsonl"))
        assert memory.add_contact_note("crm", "carol", "Keeps a dog.").action == "ADD"


def test_a_backup_that_is_encrypted_is_refused(made: Path, tmp_path: Path) -> None:
    whole = bytearray((made / "memory.zip").read_bytes())
    for signature, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        place = -1
        while (place := whole.find(signature, place + 1)) >= 0:
            whole[place + offset] |= 1
    (tmp_path / "bent.zip").write_bytes(whole)
    refused(tmp_path / "bent.zip", tmp_path)


@pytest.mark.parametrize("method", [9, 97, 14, 12])
def test_a_backup_packed_in_a_way_that_nobody_reads_is_refused(
    made: Path, tmp_path: Path, method: int
) -> None:
    whole = bytearray((made / "memory.zip").read_bytes())
    for signature, offset in ((b"PK\x01\x02", 10), (b"PK\x03\x04", 8)):
        place = -1
        while (place := whole.find(signature, place + 1)) >= 0:
            whole[place + offset] = method
    (tmp_path / "bent.zip").write_bytes(whole)
    refused(tmp_path / "bent.zip", tmp_path)
