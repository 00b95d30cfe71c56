"""No call of a door answers a wrong argument with an error of Python's.

Every public call of what a builder holds is made once for each of its arguments and each wrong
value: a new call, or a new argument, is tried without being listed here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from reconciler import AsyncMemory, Memory, load_settings, ops
from reconciler.domain.records.notes import Scope
from reconciler.errors import ConfigurationError, InvalidRequestError, ReconcilerError
from reconciler.service.tasks.memory_context import MemoryContext
from reconciler.service.writing.doors import NoteFields
from reconciler.testing import HashingEmbedder
from tests.ops_calls import OPS, call_of, ops_of
from tests.tables import every

WHO = ("crm", "priya")
WRONG: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, float("nan"), 10**400, "", "\0", "\ud800", b"x", object()),
    *([], {}, [None], ["\ud800"], {"a": object()}),
)
NOT_CALLED = {
    *("open", "close", "worker", "start_worker", "stop_workers", "run", "stop"),
    *("interrupt", "deciding", "tool_returned"),
    *("observed", "succeed", "fail", "resume"),
}
"""What opens, ends or begins something; ``open`` has tests of its own."""


def task_at(memory: Memory, *steps: str) -> MemoryContext:
    """A task that took these steps."""
    task = memory.contact(*WHO).task("-".join(("task", *steps)), goal="Move the delivery")
    for step in steps if task.state == "start" else ():
        getattr(task, step)()
    return task


DOORS: dict[str, Callable[[Memory], Any]] = {
    "memory": lambda memory: memory,
    "contact": lambda memory: memory.contact(*WHO),
    "agent": lambda memory: memory.agent("crm"),
    "task": task_at,
    "task with a result": lambda memory: task_at(memory, "observed"),
    "failed task": lambda memory: task_at(memory, "deciding", "tool_returned", "fail"),
    "finished task": lambda memory: task_at(memory, "deciding", "tool_returned", "succeed"),
    "tools": lambda memory: memory.agent_tools(*WHO),
    "worker": lambda memory: memory.worker(),
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("store")
    settings = load_settings(
        embedded_path=str(folder / "memory.lbug"), extractor={"mode": "explicit"}
    )
    with Memory.open(settings, embedder=HashingEmbedder(16)) as memory:
        memory.add_contact_note(*WHO, "Lives in Pune.")
        yield memory


def usual(memory: Memory, folder: Path) -> dict[str, Any]:
    """What the other arguments get, by name, so that the wrong one is what is refused."""
    [fact] = memory.contact(*WHO).history()[0].facts
    [decision] = memory.contact(*WHO).decisions(limit=1)
    return {
        **{"agent_id": "crm", "contact_id": "priya", "tenant": "default", "task_id": "task-1"},
        **{"text": "Likes tea.", "query": "tea", "name": "Pune", "about": "Pune", "entity": "Pune"},
        **{"attribute": "city", "value": "Goa", "by": "operator", "reason": "because"},
        **{"fact_id": fact.fact_id, "decision_id": decision.decision_id, "keep": fact.fact_id},
        **{"session_id": "chat-18", "turns": [], "lines": [], "cited": [], "episodes": []},
        **{"path": str(folder / "backup"), "out": str(folder / "export"), "source": "none"},
        **{"scope": Scope("default", *WHO), "wanted": None, "limit": 5, "budget_tokens": 20},
        **{"job_id": "none", "system": "mem0", "relation": "same", "model": "noop"},
    }


def refusals_of_python(door: Any, given: dict[str, Any]) -> Iterator[str]:
    """The calls that a wrong value makes fail with anything but an error of ours."""
    names = dict(inspect.getmembers(type(door), inspect.isfunction)) | ops_of(type(door))
    for name in names:
        if name.startswith("_") or name in NOT_CALLED:
            continue
        call = call_of(door, name)
        parameters = inspect.signature(call).parameters.values()
        named = [each for each in parameters if each.kind is not each.VAR_KEYWORD]
        needed = {each.name: given.get(each.name) for each in named if each.default is each.empty}
        for argument in named:
            for wrong in WRONG:
                try:
                    answer = call(**needed | {argument.name: wrong})
                    list(answer) if isinstance(answer, Iterator) else None
                except ReconcilerError:
                    continue
                except Exception as error:  # noqa: BLE001 - what it is, is what is looked for
                    yield f"{name}({argument.name}={wrong!r:.20}): {error!r:.90}"


@pytest.mark.parametrize("door", DOORS)
def test_a_wrong_argument_is_refused_in_our_words(
    memory: Memory, door: str, tmp_path: Path
) -> None:
    found = list(refusals_of_python(DOORS[door](memory), usual(memory, tmp_path)))
    assert not found, "\n".join(found)


def test_an_unknown_field_of_a_note_is_answered_with_all_that_there_are(memory: Memory) -> None:
    with pytest.raises(TypeError, match=r"^a note takes no colour; ") as told:
        memory.contact(*WHO).note("Likes tea.", colour="red")  # type: ignore[call-arg]
    listed = str(told.value).rpartition(" takes ")[2].split(", ")
    assert set(listed) == get_type_hints(NoteFields).keys() >= {"valid_to", "replaces", "ends"}


@every(
    ("given", "told"),
    [
        ("abc", "has no fact abc; name a fact by its id, or by its handle, such as #a2ck"),
        (["abc"], "has no fact abc; name a fact by its id, or by its handle, such as #a2ck"),
        ({"abc"}, "replaces must be a list of facts, each by its id or handle"),
        ([7], "the id or handle of a fact must be a string, not int"),
    ],
)
def test_facts_to_replace_that_are_no_list_of_them_are_told_what_to_give(
    memory: Memory, given: Any, told: str
) -> None:
    contact = memory.contact("crm", "mara")
    lives = contact.note("Lives in Pune.", idempotency_key="pune")
    for call in (partial(contact.note, "Has a dog."), partial(contact.relate, lives.fact_id)):
        with pytest.raises(InvalidRequestError, match=told):
            call(replaces=given)


def test_plain_episodes_are_no_citations(memory: Memory) -> None:
    task = task_at(memory, "deciding", "tool_returned", "fail")
    with pytest.raises(ReconcilerError, match="each of cited must be a Cited, not dict"):
        task.propose_reflection("The address was wrong.", [{"text": "No."}])


def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    memory = Memory.open(embedded_path=str(tmp_path / "memory.lbug"))
    contact = memory.contact(*WHO)
    memory.close()
    given = {"note": ["Likes tea."], "task": ["task-1"], "export": [str(tmp_path / "out")]}
    for name in (*given, "recall", "history", "tools"):
        with pytest.raises(ReconcilerError, match="was closed by this program; open it again"):
            call_of(contact, name)(*given.get(name, ()))


@pytest.mark.parametrize("call", ["open", "restore"])
@pytest.mark.parametrize(
    "given",
    [{"embedder": 5}, {"embedder": {}}, {"clock": 5}, {"settings": 5}],
    ids=lambda given: "-".join(given),
)
def test_a_part_that_is_none_is_refused_in_our_words(
    tmp_path: Path, call: str, given: dict[str, Any]
) -> None:
    if call == "restore":
        given = given | {"path": tmp_path / "all.jsonl"}
    where = {} if "settings" in given else {"embedded_path": tmp_path / "m.lbug"}
    with pytest.raises(ConfigurationError, match=r"must be|takes settings"):
        (Memory.open if call == "open" else ops.restore)(**given, **where)


def test_lines_that_cannot_be_read_are_refused_in_our_words(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_bytes(b"\xff\xfe")
    with file.open(encoding="utf-8") as lines, pytest.raises(InvalidRequestError, match="UTF-8"):
        memory.import_notes(lines)
    with pytest.raises(InvalidRequestError, match="closed file"):
        memory.import_notes(lines)


@every("name", sorted({name for names in OPS.values() for name in names}))
def test_what_no_function_of_ops_takes_is_refused_in_our_words(memory: Memory, name: str) -> None:
    kinds = [kind for kind in OPS if name in OPS[kind]]
    held = (memory, memory.agent("crm"), memory.contact(*WHO), AsyncMemory(memory), Memory, None)
    given = {"path": "backup", "out": "export", "model": "noop", "profile": "seed"}
    given |= {"system": "mem0", "source": "none", "name": "crm"}
    taken = inspect.signature(getattr(ops, name)).parameters
    for wrong in (each for each in held if type(each) not in kinds):
        with pytest.raises(InvalidRequestError, match=r"^pass (an open Memory|memory\.)"):
            getattr(ops, name)(wrong, **{each: given[each] for each in given if each in taken})
