"""Every call of the facade with made-up arguments; the facade itself says which there are."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest
from hypothesis import strategies as st

from reconciler import Memory
from reconciler.bound_memory import AgentMemory, ContactMemory
from reconciler.domain.recalling.filtering import FilterFields
from reconciler.domain.records.kinds import (
    Disposal,
    GateReason,
    JobState,
    Relation,
    SourceKind,
)
from reconciler.reading.kinds import Category
from tests.fuzz.bench import WHO, Bench
from tests.fuzz.texts import ODD, TEXTS, TIMES, sometimes
from tests.fuzz.trying import each_of

pytestmark = pytest.mark.faults

ELSEWHERE = {
    *("open", "close", "restore", "backup", "export", "import_from", "import_notes", "reembed"),
    *("cancel_reembed", "propose", "submit_session", "add_contact_note", "note", "check_policy"),
    *("worker", "start_worker", "stop_workers", "warm_up"),
}
"""Doors of their own, and what takes no input that could be made up."""

TASK_CALLS = ("deciding", "tool_returned", "observed", "succeed", "fail", "interrupt", "resume")

USUAL: dict[str, st.SearchStrategy[Any]] = {
    "agent_id": st.sampled_from(("crm", "crm", "crm", "sales", "c/r%m")),
    "contact_id": st.sampled_from(("priya", "priya", "bob", "nobody", "İ")),
    "tenant": st.sampled_from((None, "default", "default", "other")),
    "text": TEXTS,
    "query": TEXTS,
    "name": TEXTS,
    "about": TEXTS,
    "account": st.sampled_from(("acme", "globex", "a:b", "")),
    "by": st.sampled_from(("contact", "operator", "dana", "agent:crm")),
    "reason": TEXTS,
    "attribute": st.sampled_from(("city", "employer", "allergy", "mood", "Home City")),
    "subject": st.sampled_from((None, "wife", "contact", "her boss")),
    "value": TEXTS,
    "single_valued": st.booleans(),
    "relation": st.sampled_from((*Relation, "same")),
    "state": st.sampled_from((*JobState, "open", None)),
    "disposal": st.sampled_from((*Disposal, None)),
    "door": st.sampled_from(("live", "proposal", None)),
    "source_kind": st.sampled_from(list(SourceKind)),
    "trust": st.sampled_from(list(SourceKind)),
    "category": st.sampled_from(list(Category)),
    "profile": st.sampled_from(("seed", "minilm", "../seed", "x.toml")),
    "session_id": st.sampled_from(("chat-17", "chat-18", None)),
    "task_id": st.sampled_from(("task-1", "task-2")),
    "goal": TEXTS,
    "tags": st.lists(st.sampled_from(("home", "x")), max_size=2),
    "limit": st.integers(-1, 20),
    "budget_tokens": st.integers(-1, 2000),
    "days": st.floats(-1, 1e6),
    "floor": st.floats(0, 1),
    "min_score": st.floats(-1, 2),
    "min_confidence": st.floats(0, 1),
    "topic": st.sampled_from(("work", "pets")),
}
TIMES_OF = ("as_of", "valid_at", "at", "since", "until", "said_at", "started_at")
FLAGS = (
    "never",
    "dry_run",
    "and_later",
    "unfinished",
    "can_recall",
    "keeps_outcome",
)


VIEWS: dict[str, tuple[type, tuple[str, ...]]] = {
    "memory": (Memory, ()),
    "agent": (AgentMemory, ("agent_id", "tenant")),
    "contact": (ContactMemory, ("agent_id", "contact_id", "tenant")),
}
"""Where calls are, and what a memory needs to hand each out."""


def calls() -> dict[tuple[str, str], inspect.Signature]:
    """The public calls of a memory and its views that are tried here, by view and name."""
    return {
        (view, name): inspect.signature(call)
        for view, (kind, _) in VIEWS.items()
        for name, call in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_") and name not in ELSEWHERE
    }


def usual(name: str, bench: Bench) -> st.SearchStrategy[Any]:
    """What a parameter of this name mostly gets."""
    if name in TIMES_OF:
        return TIMES
    if name in FLAGS:
        return st.booleans()
    if name in bench.ids:
        return st.sampled_from([*bench.ids[name], "none"])
    if name == "keep":
        return st.sampled_from(bench.ids["fact_id"]) | st.lists(
            st.sampled_from(bench.ids["fact_id"]), max_size=2
        )
    if name == "reason" or name in USUAL:
        return USUAL[name]
    return ODD


@st.composite
def made_calls(draw: st.DrawFn, bench: Bench) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    """A call with its view's scope, the arguments that it needs, and some that it may have."""
    view, name = draw(st.sampled_from(sorted(calls())))
    taken = list(calls()[view, name].parameters.values())[1:]
    named = [
        each for each in taken if each.kind is not each.VAR_KEYWORD and each.name != "on_progress"
    ]
    wanted = [each.name for each in named if each.default is each.empty]
    free = [each.name for each in named if each.default is not each.empty]
    if any(each.kind is each.VAR_KEYWORD for each in taken):
        free += [*get_type_hints(FilterFields)]
    if free:
        wanted += draw(st.lists(st.sampled_from(free), max_size=3, unique=True))
    whose = {each: draw(sometimes(USUAL[each])) for each in VIEWS[view][1]}
    return view, name, whose, {each: draw(sometimes(_for(name, each, bench))) for each in wanted}


def _for(call: str, name: str, bench: Bench) -> st.SearchStrategy[Any]:
    if name == "reason" and call == "decisions":
        return st.sampled_from((*GateReason, None))
    return usual(name, bench)


def called(
    view: str, name: str, whose: dict[str, Any], given: dict[str, Any], bench: Bench
) -> None:
    def call(memory: Memory) -> None:
        asked = memory if view == "memory" else getattr(memory, view)(**whose)
        found = getattr(asked, name)(**given)
        if isinstance(found, Iterator):
            list(found)

    bench.attempt("calls", call)


def test_a_call_answers_or_refuses(bench: Bench) -> None:
    each_of(8, "calls", made_calls(bench), lambda call: called(*call, bench))


def test_a_policy_is_checked_for_any_text(bench: Bench) -> None:
    inputs = st.fixed_dictionaries(
        {"text": sometimes(TEXTS)},
        optional={name: sometimes(USUAL[name]) for name in ("source_kind", "category", "topic")},
    )
    each_of(
        10,
        "policy checks",
        inputs,
        lambda given: bench.attempt(
            "policy checks", lambda memory: memory.agent("any").check_policy(**given)
        ),
    )


# Tasks

STEPS = st.one_of(
    st.tuples(st.sampled_from(TASK_CALLS), st.just(())),
    st.tuples(st.just("recall"), st.tuples(sometimes(TEXTS))),
    st.tuples(st.just("recall_about"), st.tuples(sometimes(TEXTS))),
    st.tuples(
        st.just("log_episode"),
        st.tuples(
            st.fixed_dictionaries(
                {
                    "role": sometimes(st.sampled_from(("user", "assistant", "tool"))),
                    "content": sometimes(TEXTS),
                }
            )
            | ODD
        ),
    ),
    st.tuples(st.just("propose_durable"), st.just(([],))),
    st.tuples(
        st.just("propose_procedure"),
        st.tuples(sometimes(TEXTS), sometimes(st.lists(TEXTS, max_size=3)), st.just([])),
    ),
    st.tuples(st.just("propose_reflection"), st.tuples(sometimes(TEXTS), st.just([]))),
    st.tuples(st.sampled_from(("working", "procedures", "episodes")), st.just(())),
    st.tuples(st.sampled_from(("mark_done", "set_blocker")), st.tuples(sometimes(TEXTS))),
    st.tuples(st.just("checkpoint"), st.tuples(sometimes(st.lists(TEXTS, max_size=3)))),
)


def stepped(steps: list[tuple[str, tuple[Any, ...]]], bench: Bench) -> None:
    memory = bench.memory
    task = memory.contact(*WHO).task("task-1", goal="Move the delivery")
    for name, given in steps:
        if bench.memory is not memory:
            return  # it was made again, and the task is of the one before

        def step(_: Memory, name: str = name, given: tuple[Any, ...] = given) -> None:
            extra = {"budget_tokens": 100} if name.startswith("recall") else {}
            holder = task if hasattr(task, name) else task.task_memory
            getattr(holder, name)(*given, **extra)

        bench.attempt("steps of tasks", step)


def test_a_tasks_steps_are_taken_or_refused(bench: Bench) -> None:
    each_of(2, "tasks", st.lists(STEPS, max_size=4), lambda steps: stepped(steps, bench))
