"""Which facts an answer used, and which answers a decision corrects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reconciler import Action, Decision, Memory, ops
from reconciler.bound_memory import ContactMemory
from reconciler.domain.recalling.prompting import as_prompt
from reconciler.domain.records.facts import handle_of
from reconciler.errors import InvalidRequestError, UnknownDecisionError, UnknownFactError
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.testing import HashingEmbedder
from tests.clocks import Clock
from tests.engines import EngineUnderTest
from tests.whole_graph import links_of, nodes_of

BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
CITY, JOB = "city", "employer"


def on(day: int) -> datetime:
    """The morning of a day, counted from the first."""
    return BEGIN + timedelta(days=day)


@pytest.fixture
def clock() -> Clock:
    return Clock(BEGIN)


@pytest.fixture
def memory(kept_engine: EngineUnderTest, clock: Clock) -> Iterator[Memory]:
    with Memory.open(
        embedder=HashingEmbedder(), clock=clock, **kept_engine.settings_arguments
    ) as opened:
        yield opened


@pytest.fixture
def priya(memory: Memory) -> ContactMemory:
    return memory.contact("crm", "priya")


def lives(value: str, **given: Any) -> dict[str, Any]:
    return {"text": f"Lives in {value}.", "attribute": CITY, "value": value} | given


def works(value: str, **given: Any) -> dict[str, Any]:
    return {"text": f"Works at {value}.", "attribute": JOB, "value": value} | given


def fact_of(priya: ContactMemory, text: str) -> str:
    """The newest fact of these words."""
    facts = [fact for chain in priya.history() for fact in chain.facts if fact.text == text]
    return max(facts, key=lambda fact: fact.recorded_at).fact_id


def answer(priya: ContactMemory, reference: str, *texts: str, **asked: Any) -> Decision:
    """Recall, and use the facts of these words."""
    recalled = priya.recall(**asked)
    ids = {hit.fact.text: hit.fact.fact_id for hit in recalled}
    return priya.record_answer(recalled.recall_id, reference, used=[ids[text] for text in texts])


PUNE, DELHI, MUMBAI = "Lives in Pune.", "Lives in Delhi.", "Lives in Mumbai."
ACME = "Works at Acme."
WRONG = {"by": "anna", "reason": "It was typed wrongly."}

Step = Callable[[ContactMemory], Decision]


def say(**note: Any) -> Step:
    return lambda priya: priya.note(**note)


def amend(old: str, **given: Any) -> Step:
    return lambda priya: priya.amend(
        given["text"],
        fact_id=fact_of(priya, old),
        value=given["value"],
        said_at=given.get("said_at"),
        **WRONG,
    )


def revoke(text: str, *, never: bool = False) -> Step:
    return lambda priya: priya.revoke(fact_of(priya, text), never=never, **WRONG)


def use(reference: str, *texts: str, **asked: Any) -> Step:
    return lambda priya: answer(priya, reference, *texts, **asked)


def undo(step: int = -1) -> Step:
    """Revert an earlier step; the steps before it are in ``priya.decided``."""
    return lambda priya: priya.revert(DECIDED[step].decision_id, **WRONG)


def keep(text: str) -> Step:
    return lambda priya: priya.resolve(fact_of(priya, text), **WRONG)


DECIDED: list[Decision] = []

CONVERSATIONS: dict[str, tuple[list[tuple[int, Step]], set[str]]] = {
    "amended without a date": (
        [
            (0, say(**lives("Pune"))),
            (1, use("a", PUNE)),
            (2, use("b", PUNE)),
            (3, amend(PUNE, **lives("Mumbai"))),
        ],
        {"a", "b"},
    ),
    "amended from its beginning": (
        [
            (0, say(**lives("Pune"))),
            (1, use("a", PUNE)),
            (3, amend(PUNE, **lives("Mumbai", said_at=on(0)))),
        ],
        {"a"},
    ),
    "amended from a day on": (
        [
            (0, say(**lives("Pune"))),
            (1, use("before", PUNE)),
            (5, use("after", PUNE)),
            (9, amend(PUNE, **lives("Mumbai", said_at=on(4)))),
        ],
        {"after"},
    ),
    "moved today": (
        [(0, say(**lives("Pune"))), (1, use("a", PUNE)), (9, say(**lives("Mumbai")))],
        set(),
    ),
    "moved, and said so late": (
        [
            (0, say(**lives("Pune"))),
            (1, use("before", PUNE)),
            (5, use("after", PUNE)),
            (9, say(**lives("Mumbai", valid_from=on(4)))),
        ],
        {"after"},
    ),
    "moved on the day of the answer": (
        [
            (0, say(**lives("Pune"))),
            (4, use("then", PUNE)),
            (9, say(**lives("Mumbai", valid_from=on(4)))),
        ],
        {"then"},
    ),
    "moves next month": (
        [
            (0, say(**lives("Pune"))),
            (1, use("a", PUNE)),
            (9, say(**lives("Mumbai", valid_from=on(40)))),
        ],
        set(),
    ),
    "an answer about a time after the planned move": (
        [
            (0, say(**lives("Pune"))),
            (1, use("now", PUNE)),
            (1, use("then", PUNE, valid_at=on(60))),
            (9, say(**lives("Mumbai", valid_from=on(40)))),
        ],
        {"then"},
    ),
    "an answer about the time before the move": (
        [
            (0, say(**lives("Pune"))),
            (8, use("now", PUNE)),
            (8, use("then", PUNE, valid_at=on(2))),
            (9, say(**lives("Mumbai", valid_from=on(4)))),
        ],
        {"now"},
    ),
    "said again": (
        [(0, say(**lives("Pune"))), (1, use("a", PUNE)), (2, say(**lives("Pune")))],
        set(),
    ),
    "revoked": (
        [(0, say(**lives("Pune"))), (1, use("a", PUNE)), (2, revoke(PUNE))],
        {"a"},
    ),
    "never held": (
        [(0, say(**lives("Pune"))), (1, use("a", PUNE)), (2, revoke(PUNE, never=True))],
        {"a"},
    ),
    "another fact was revoked": (
        [
            (0, say(**lives("Pune"))),
            (0, say(**works("Acme"))),
            (1, use("city", PUNE)),
            (1, use("both", PUNE, ACME)),
            (2, revoke(ACME)),
        ],
        {"both"},
    ),
    "the note was undone": (
        [
            (0, say(**lives("Pune"))),
            (1, say(**lives("Delhi"))),
            (2, use("a", DELHI)),
            (3, undo(1)),
        ],
        {"a"},
    ),
    "the move was undone": (
        [
            (0, say(**lives("Pune"))),
            (1, use("before", PUNE)),
            (2, say(**lives("Delhi"))),
            (3, use("after", DELHI)),
            (4, undo(2)),
        ],
        {"after"},
    ),
    "the undoing was undone": (
        [
            (0, say(**lives("Pune"))),
            (1, use("first", PUNE)),
            (2, say(**lives("Delhi"))),
            (3, use("second", DELHI)),
            (4, undo(2)),
            (5, use("third", PUNE)),
            (6, undo(4)),
        ],
        {"third"},
    ),
    "a revocation was undone": (
        [
            (0, say(**lives("Pune"))),
            (1, use("a", PUNE)),
            (2, revoke(PUNE)),
            (3, undo(2)),
        ],
        set(),
    ),
    "amended twice": (
        [
            (0, say(**lives("Pune"))),
            (1, use("first", PUNE)),
            (2, amend(PUNE, **lives("Delhi"))),
            (3, use("second", DELHI)),
            (4, amend(DELHI, **lives("Mumbai"))),
        ],
        {"second"},
    ),
    "rejected in a dispute": (
        [
            (0, say(**lives("Pune"))),
            (1, say(**lives("Delhi", source_kind="operator"))),
            (2, use("pune", PUNE)),
            (2, use("delhi", DELHI)),
            (3, keep(DELHI)),
        ],
        {"pune"},
    ),
    "told late, between two homes": (
        [
            (0, say(**lives("Pune"))),
            (1, use("first", PUNE)),
            (5, use("second", PUNE)),
            (9, say(**lives("Delhi"))),
            (10, use("third", DELHI)),
            (12, say(**lives("Mumbai", said_at=on(3)))),
        ],
        {"second"},
    ),
    "denied in the contact's words": (
        [
            (0, say(text="Allergic to nuts.")),
            (1, use("a", "Allergic to nuts.")),
            (9, say(text="That was a mistake: I was never allergic to nuts.")),
        ],
        {"a"},
    ),
    "a later move corrects no older answer": (
        [
            (0, say(**lives("Pune"))),
            (1, use("first", PUNE)),
            (2, say(**lives("Delhi"))),
            (3, use("second", DELHI)),
            (9, say(**lives("Mumbai", valid_from=on(5)))),
        ],
        set(),
    ),
    "amended in the wording of a repetition": (
        [
            (0, say(text="Lives in Pune.", attribute=CITY, value="Pune")),
            (1, use("old", PUNE)),
            (2, say(text="Lives in Pune, India, near the river.", attribute=CITY, value="Pune")),
            (3, use("new", "Lives in Pune, India, near the river.")),
            (4, amend("Lives in Pune, India, near the river.", **lives("Mumbai"))),
        ],
        {"old", "new"},
    ),
}


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_decision_names_all_and_only_the_answers_that_it_corrects(
    priya: ContactMemory, clock: Clock, name: str
) -> None:
    steps, corrected = CONVERSATIONS[name]
    DECIDED.clear()
    for day, step in steps:
        clock.now = on(day)
        DECIDED.append(step(priya))
    found = priya.impact(decision_id=DECIDED[-1].decision_id)
    assert {each.reference for each in found} == corrected


def test_a_recall_writes_nothing_and_no_model_sees_its_id(
    kept_engine: EngineUnderTest, priya: ContactMemory
) -> None:
    priya.note(**lives("Pune"))
    version, nodes = priya.version(), nodes_of(kept_engine)
    recalled = priya.recall("Where does she live?")
    context = priya.context([{"role": "user", "content": "Where do I live?"}])
    assert (priya.version(), nodes_of(kept_engine).keys()) == (version, nodes.keys())
    assert recalled.recall_id
    assert context.recall_id
    for recall_id in (recalled.recall_id, context.recall_id):
        assert recall_id not in as_prompt(recalled) + context.text


def test_a_context_names_all_that_the_conversation_was_shown(priya: ContactMemory) -> None:
    city, job = (str(priya.note(**note).fact_id) for note in (lives("Pune"), works("Acme")))
    first = priya.context([{"role": "user", "content": "Hello!"}])
    later = priya.context([{"role": "user", "content": "Where do I live?"}], shown=first.shown)
    assert later.facts == []
    kept = priya.record_answer(later.recall_id, "reply-7", used=[city, job])
    assert [fact.text for fact in kept.compared_with] == [PUNE, ACME]


def test_an_answer_is_a_decision_that_changes_no_fact(priya: ContactMemory) -> None:
    priya.note(**lives("Pune"))
    before = priya.history()
    kept = answer(priya, "reply-7", PUNE)
    assert (kept.action, kept.door, kept.text) == (Action.CITE, "answer", "reply-7")
    assert priya.history() == before
    assert priya.decision(kept.decision_id).compared_with == kept.compared_with
    assert [made.text for made in priya.decisions(door="answer")] == ["reply-7"]
    assert "reference of a reply" in priya.explain(kept.decision_id).outcome
    assert priya.impact(decision_id=kept.decision_id) == []
    with pytest.raises(InvalidRequestError, match="nothing to revert"):
        priya.revert(kept.decision_id, **WRONG)
    with pytest.raises(InvalidRequestError, match="no relation to set"):
        priya.correct(kept.decision_id, "same")


def test_the_same_reference_is_kept_once(priya: ContactMemory, clock: Clock) -> None:
    priya.note(**lives("Pune"))
    priya.note(**works("Acme"))
    kept = answer(priya, "reply-7", PUNE)
    clock.on()
    assert answer(priya, "reply-7", PUNE).as_replay() == kept.as_replay()
    assert answer(priya, "reply-7", PUNE).replayed
    version = priya.version()
    with pytest.raises(InvalidRequestError, match="on record with other facts"):
        answer(priya, "reply-7", PUNE, ACME)
    assert priya.version() == version


def test_the_same_reference_about_another_contact_is_another_answer(memory: Memory) -> None:
    for name in ("priya", "bea"):
        memory.contact("crm", name).note(**lives("Pune"))
        assert not answer(memory.contact("crm", name), "reply-7", PUNE).replayed


def test_two_writers_of_one_answer_keep_it_once(priya: ContactMemory) -> None:
    priya.note(**lives("Pune"))
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: answer(priya, "reply-7", PUNE), range(8)))
    assert len({each.decision_id for each in made}) == 1
    assert sum(not each.replayed for each in made) == 1
    assert len(priya.impact(fact_of(priya, PUNE))) == 1


def test_a_fact_lists_the_answers_in_any_wording_newest_first(
    priya: ContactMemory, clock: Clock
) -> None:
    near = "Lives in Pune, India, near the river."
    priya.note(**lives("Pune"))
    answer(priya, "first", PUNE)
    clock.on()
    priya.note(near, attribute=CITY, value="Pune")
    answer(priya, "second", near)
    told = [("second", near, BEGIN + timedelta(hours=1)), ("first", PUNE, BEGIN)]
    for name in (fact_of(priya, PUNE), fact_of(priya, near), handle_of(fact_of(priya, near))):
        found = priya.impact(name)
        assert [(each.reference, each.text, each.at) for each in found] == told


def test_a_fact_may_be_named_by_its_handle(priya: ContactMemory) -> None:
    fact_id = str(priya.note(**lives("Pune")).fact_id)
    recalled = priya.recall()
    priya.record_answer(recalled.recall_id, "reply-7", used=handle_of(fact_id))
    assert [each.fact_id for each in priya.impact(handle_of(fact_id))] == [fact_id]


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "another contact's recall": ({"recall_id": "other"}, InvalidRequestError, "no recall about"),
    "a garbled id": ({"recall_id": "garbled"}, InvalidRequestError, "no recall about"),
    "a made-up id": ({"recall_id": "x"}, InvalidRequestError, "no recall about"),
    "an empty id": ({"recall_id": ""}, InvalidRequestError, "recall_id is blank"),
    "an id of another type": ({"recall_id": 7}, InvalidRequestError, "recall_id must be"),
    "a blank reference": ({"reference": "  "}, InvalidRequestError, "reference is empty"),
    "a reference of marks": ({"reference": "—"}, InvalidRequestError, "text is blank"),
    "a long reference": ({"reference": "x" * 600}, InvalidRequestError, "at most"),
    "a secret": ({"reference": "4111 1111 1111 1111"}, InvalidRequestError, "reference"),
    "no fact": ({"used": []}, UnknownFactError, "it names none"),
    "an unknown fact": ({"used": ["nothing"]}, UnknownFactError, "it names nothing"),
    "an unknown handle": ({"used": ["#zzzz"]}, UnknownFactError, "#zzzz"),
    "a fact that was not shown": ({"used": "later"}, UnknownFactError, "it names [0-9a-f-]{36}"),
    "no text": ({"used": [["x"]]}, UnknownFactError, "used must be a string"),
    "no list": ({"used": 7}, InvalidRequestError, "used must be"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_says_what_to_do_and_writes_nothing(
    memory: Memory, priya: ContactMemory, name: str
) -> None:
    changed, error, words = REFUSED[name]
    fact_id = priya.note(**lives("Pune")).fact_id
    recall_id = priya.recall().recall_id
    later = str(priya.note(**works("Acme")).fact_id)
    memory.contact("crm", "bea").note(**lives("Pune"))
    other = memory.contact("crm", "bea").recall().recall_id
    known = {"other": other, "garbled": recall_id[:-1] + "x", "later": later}
    given: dict[str, Any] = {"recall_id": recall_id, "reference": "reply-7", "used": [fact_id]}
    for key, value in changed.items():
        given[key] = known.get(value, value) if isinstance(value, str) else value
    version = priya.version()
    with pytest.raises(error, match=words):
        priya.record_answer(given.pop("recall_id"), given.pop("reference"), **given)
    assert priya.version() == version


def test_no_id_of_a_decision_signs_a_recall(priya: ContactMemory) -> None:
    priya.note(**lives("Pune"))
    told = priya.recall().recall_id.rpartition("/")[0]
    forged = priya.note("Likes tea.", idempotency_key=told).decision_id
    with pytest.raises(InvalidRequestError, match="no recall about"):
        priya.record_answer(f"{told}/{forged}", "reply-7", used=fact_of(priya, PUNE))


def test_an_unknown_fact_or_decision_is_refused(priya: ContactMemory) -> None:
    priya.note(**lives("Pune"))
    for name in ("nothing", "#zzzz"):
        with pytest.raises(UnknownFactError):
            priya.impact(name)
    with pytest.raises(UnknownDecisionError):
        priya.impact(decision_id="nothing")
    for given in ({}, {"fact": "x", "decision_id": "y"}):
        with pytest.raises(InvalidRequestError, match="give either"):
            priya.impact(**given)


def test_recorded_answers_are_no_conversation(priya: ContactMemory, clock: Clock) -> None:
    held = priya.note("Is diabetic.")
    priya.note(**lives("Pune"))
    for day in range(1, 5):
        clock.now = on(day)
        answer(priya, f"reply-{day}", PUNE)
    assert priya.briefing().put_by == ()
    assert [each.decision_id for each in priya.pending()] == [held.decision_id]


def test_an_erased_fact_takes_its_link_and_leaves_the_other_facts_of_the_answer(
    kept_engine: EngineUnderTest, priya: ContactMemory
) -> None:
    city, job = (str(priya.note(**note).fact_id) for note in (lives("Pune"), works("Acme")))
    kept = answer(priya, "both", PUNE, ACME)
    answer(priya, "city", PUNE)
    priya.forget(fact_id=city, by="contact", reason="She asked.")
    assert priya.impact(city) == []
    assert [(each.reference, each.text) for each in priya.impact(job)] == [("both", ACME)]
    left = priya.decision(kept.decision_id)
    assert (left.text, [fact.fact_id for fact in left.compared_with]) == ("both", [job])
    answers = {made.decision_id for made in priya.decisions(door="answer")}
    ends = [ends for link in links_of(kept_engine) if answers & {*(ends := link[1:3])}]
    assert not [each for each in ends if ("Fact", city) in each or city in each]
    with pytest.raises(UnknownFactError, match="not erased"):
        priya.record_answer(priya.recall().recall_id, "later", used=[city])


def test_an_erased_contact_takes_all_answers(
    kept_engine: EngineUnderTest, priya: ContactMemory
) -> None:
    fact_id = str(priya.note(**lives("Pune")).fact_id)
    priya.note(**works("Acme"))
    kept = answer(priya, "ticket-4711", PUNE, ACME)
    receipt = priya.forget(by="contact", reason="She asked.").receipt
    assert receipt.is_clean
    assert "ticket-4711" not in str(nodes_of(kept_engine))
    assert priya.impact(fact_id) == []
    assert priya.decision(kept.decision_id).compared_with == ()


def test_an_export_keeps_the_answers(
    priya: ContactMemory, clock: Clock, memory: Memory, tmp_path: Path
) -> None:
    priya.note(**lives("Pune"))
    answer(priya, "before", PUNE)
    answer(priya, "planned", PUNE, valid_at=on(400))
    recall_id = priya.recall().recall_id
    ops.export(memory, tmp_path / "memory.jsonl", vectors=True, keys=True)
    target = {"embedded_path": tmp_path / "there" / "memory.lbug"}
    (tmp_path / "there").mkdir()
    ops.restore(tmp_path / "memory.jsonl", embedder=HashingEmbedder(), **target)
    fact_id = fact_of(priya, PUNE)
    with Memory.open(embedder=HashingEmbedder(), clock=clock, **target) as arrived:
        there = arrived.contact("crm", "priya")
        assert there.impact(fact_id) == priya.impact(fact_id)
        assert len(there.impact(fact_id)) == 2
        assert not there.record_answer(recall_id, "after", used=fact_id).replayed
        assert ops.health(there, check_records=True).total.damaged == 0


def test_a_killed_writer_leaves_all_or_nothing(
    priya: ContactMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    priya.note(**lives("Pune"))
    with monkeypatch.context() as broken:
        broken.setattr(DecisionStore, "commit_decisions", cut_off)
        with pytest.raises(KeyboardInterrupt):
            answer(priya, "reply-7", PUNE)
    assert priya.impact(fact_of(priya, PUNE)) == []
    assert not answer(priya, "reply-7", PUNE).replayed


def cut_off(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt
