"""The order of telling does not matter: the same dated words in any order give the same memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count, permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from reconciler import Action, ContactMemory, Decision, Memory
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Relation
from reconciler.domain.records.notes import Note
from reconciler.floats import Floats
from reconciler.service.writing.memory_reconciler import MemoryReconciler
from reconciler.testing import HashingEmbedder, TableEmbedder
from tests import faults
from tests.engines import embedded_engine
from tests.integration.memory_model import DIMENSION, FROM_MOST_TRUSTED, TEXTS

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)

Told = str | tuple[str, dict[str, Any]]


def one(attribute: str, value: str, text: str) -> Told:
    return text, {"attribute": attribute, "value": value, "single_valued": True}


def many(attribute: str, value: str, text: str) -> Told:
    return text, {"attribute": attribute, "value": value, "single_valued": False}


STORIES: list[list[Told]] = [
    # An end, in words.
    ["Owns a canoe.", "Sold the canoe."],
    ["Uses Basecamp.", "No longer uses Basecamp."],
    ["Is a smoker.", "Is not a smoker any more."],
    ["Likes rye bread.", "Does not like rye bread any more."],
    ["Has a service contract.", "Cancelled the service contract."],
    ["Works with Blue Heron Data.", "Stopped working with Blue Heron Data."],
    ["Has a tenant in the attic.", "The attic stands empty, the tenant moved out."],
    ["Plays the oboe.", "Gave up the oboe.", "Plays the oboe again."],
    # A change, in words.
    ["Uses Trac.", "Moved from Trac to Redmine."],
    ["Uses Trac.", "Moved from Trac to Redmine.", "Moved from Redmine to YouTrack."],
    ["Lives in Graz.", "Moved from Graz to Linz.", "Moved from Linz to Wels."],
    ["Prefers letters.", "Prefers phone calls now.", "Prefers e-mails now."],
    ["The team has six people.", "The team has eight people now."],
    ["Pays 40 euros a month.", "Pays 55 euros a month now.", "Pays 40 euros a month again."],
    ["The renewal is due on 3 May.", "The renewal was moved to 9 June."],
    # A value in a slot.
    [one("city", "Graz", "Lives in Graz."), one("city", "Linz", "Home is Linz.")],
    [one("plan", "Basic", "On Basic."), one("plan", "Pro", "Pro."), one("plan", "Team", "Team.")],
    [one("city", "Graz", "Graz."), one("city", "Linz", "Linz."), one("city", "Graz", "Graz!")],
    [one("diet", "vegan", "Is vegan."), one("diet", "vegan", "Eats nothing from animals.")],
    [many("language", "Czech", "Speaks Czech."), many("language", "Thai", "Speaks Thai.")],
    [one("title", "Buyer", "Is a buyer."), "Likes rowing.", one("title", "CFO", "Is the CFO.")],
    [one("city", "Graz", "Lives in Graz."), "Moved away from Graz.", "Moved to Linz."],
    # A retraction.
    ["Has a parrot.", "Has no parrot; the parrot was a mistake."],
    ["Has a parrot.", "Has no parrot; the parrot was a mistake.", "Has a canary."],
    ["Is allergic to celery.", "Is not allergic to celery; that was a mistake."],
    ["Speaks Basque.", "He never spoke Basque.", "Speaks Catalan."],
    ["Has a boat.", "Likes figs.", "Has no boat; the boat was a mistake."],
    # The same again, in more, fewer or other words.
    ["Owns a mule.", "He owns a mule."],
    ["Lives in Graz with her aunt Ida.", "Lives in Graz.", "Moved from Graz to Linz."],
    [
        one("city", "Graz", "Lives in Graz, with her aunt Ida since 2019."),
        one("city", "Linz", "Lives in Linz."),
        one("city", "Graz", "Lives in Graz."),
    ],
    ["Owns a red canoe.", "Sold the red canoe.", "Owns a canoe."],
    ["Owns a canoe.", "Owns a red canoe.", "Sold the red canoe."],
    ["Is a retired nurse.", "Is a nurse, retired.", "Is a retired nurse."],
    ["Uses Basecamp.", "Uses Basecamp.", "No longer uses Basecamp.", "Uses Basecamp."],
    ["Wants no calls.", "Wants no calls.", "Wants calls again."],
    # What holds side by side, and what only looks alike.
    ["Owns a canoe.", "Owns a tent."],
    ["Invoice 1042 is unpaid.", "Invoice 1043 is unpaid.", "Invoice 1042 is paid."],
    ["Has a son, Emil.", "Has a daughter, Ute.", "Emil moved out."],
    ["Her aunt lives in Graz.", "Lives in Graz.", "Moved from Graz to Linz."],
    ["Plays darts on Mondays.", "Plays chess on Mondays.", "No longer plays chess."],
    # Guesses and several things at once.
    ["Probably lives in Graz.", "Lives in Linz."],
    ["Owns a canoe.", "Maybe sold the canoe.", "Sold the canoe."],
    ["Has a dog.", "Sold the van.", "Has a dog and a cat."],
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path = tmp_path_factory.mktemp("orders")
    with Memory.open(**embedded_engine(path).settings_arguments, clock=lambda: NOW) as opened:
        yield opened


def tell(contact: ContactMemory, story: Sequence[Told], order: Sequence[int]) -> list[Decision]:
    """Tell the notes of a story, each said ten days after the one before it, in some order."""
    made = []
    for place in order:
        text, slot = (told, {}) if isinstance(told := story[place], str) else told
        made.append(contact.note(text, said_at=NOW - (300 - 10 * place) * DAY, **slot))
    return made


def known(memory: Memory, contact: ContactMemory) -> tuple[Any, ...]:
    """The live texts, the facts in dispute, the values, and when each fact ended."""
    facts = memory._services.fact_store.list_facts(contact.scope)
    return (
        Counter(fact.text for fact in facts if not fact.has_ended),
        Counter(frozenset(fact.text for fact in one.facts) for one in contact.disputes()),
        {value.attribute: value.value for value in contact.profile()},
        Counter((fact.text, fact.valid_to) for fact in facts if fact.has_ended and fact.valid_to),
    )


@pytest.mark.parametrize("story", STORIES, ids=str)
def test_a_story_told_in_any_order_gives_the_same_memory(memory: Memory, story: list[Told]) -> None:
    orders = list(permutations(range(len(story))))
    if not faults.EVERY_CALL:  # in order, the newest first, and one between
        orders = list(
            dict.fromkeys([orders[0], orders[-1], orders[STORIES.index(story) % len(orders)]])
        )
    contacts = {order: memory.contact("crm", f"{STORIES.index(story)} {order}") for order in orders}
    for order, contact in contacts.items():
        tell(contact, story, order)
    in_order, *others = (known(memory, contact)[:3] for contact in contacts.values())
    assert others == [in_order] * len(others)


def test_most_of_these_stories_end_or_dispute_something(memory: Memory) -> None:
    changing = 0
    for number, story in enumerate(STORIES):
        contact = memory.contact("crm", f"{number} {tuple(range(len(story)))}")
        if not contact.decisions(limit=1):  # the test above has told it
            tell(contact, story, range(len(story)))
        live, disputes, *_ = known(memory, contact)
        changing += live.total() < len(story) or bool(disputes)
    assert changing > 30


class Replacing:
    """A judge that says of each note that it replaces the nearest fact."""

    name = "replacing"

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        self.asked.append((note.text, [fact.text for fact in neighbours]))
        return Judgement(
            reasoning="it is one question",
            relation=Relation.REPLACES,
            target=1,
            action=Action.UPDATE,
        )

    def close(self) -> None:
        """Nothing to close."""


def test_a_judge_is_asked_about_the_newer_words_although_they_came_first(tmp_path: Path) -> None:
    judge, engine = Replacing(), embedded_engine(tmp_path)
    arguments = {**engine.settings_arguments, "arbiter": judge, "clock": lambda: NOW}
    with Memory.open(**arguments) as opened:
        contact = opened.contact("crm", "Ida")
        tell(contact, ["Rents a flat in Graz.", "Bought a house in Graz."], [1, 0])
        live, disputes, *_ = known(opened, contact)
    assert (live, disputes) == (Counter(["Bought a house in Graz."]), Counter())
    assert ("Bought a house in Graz.", ["Rents a flat in Graz."]) in judge.asked


AUNT = [
    one("city", "Graz", "Lives in Graz, with her aunt Ida since 2019."),
    one("city", "Linz", "Lives in Linz."),
    one("city", "Graz", "Lives in Graz."),
]


@pytest.mark.parametrize("order", [(0, 2, 1), (2, 0, 1)])
def test_words_that_only_counted_are_a_fact_once_a_late_note_ends_what_they_repeated(
    memory: Memory, order: Sequence[int]
) -> None:
    contact = memory.contact("crm", f"counted {order}")
    tell(contact, AUNT, order[:2])
    assert known(memory, contact)[0] == Counter(["Lives in Graz, with her aunt Ida since 2019."])
    tell(contact, AUNT, order[2:])
    assert known(memory, contact)[0] == Counter(["Lives in Graz."])


@pytest.mark.parametrize("order", [(0, 2, 1), (1, 2, 0), (2, 1, 0)])
def test_what_a_late_note_changed_is_undone_with_it(memory: Memory, order: tuple[int, ...]) -> None:
    story = ["Uses Trac.", "Moved from Trac to Redmine.", "Moved from Redmine to YouTrack."]
    contact = memory.contact("crm", f"reverted {order}")
    tell(contact, story, order[:-1])
    before = known(memory, contact)
    [made] = tell(contact, story, order[-1:])
    contact.revert(made.decision_id, by="ops", reason="It was another customer.")
    assert known(memory, contact)[:3] == before[:3]


def test_what_a_person_ended_stays_ended_whatever_comes_late(memory: Memory) -> None:
    contact = memory.contact("crm", "revoked")
    tell(contact, ["Likes figs.", "Uses Trac.", "Moved from Trac to Redmine."], [2])
    [fact] = contact.recall()
    contact.revoke(fact.fact.fact_id, by="ops", reason="Never did.")
    tell(contact, ["Likes figs.", "Uses Trac.", "Moved from Trac to Redmine."], [1, 0])
    assert "Moved from Trac to Redmine." not in known(memory, contact)[0]


def test_an_import_in_any_order_leaves_what_the_same_lines_leave_in_order(memory: Memory) -> None:
    lines = [
        f'{{"contact_id": "%s", "text": "{text}", "said_at": "{NOW - days * DAY:%Y-%m-%dT12:00Z}"}}'
        for days, text in ((90, "Uses Trac."), (60, "Moved from Trac to Redmine."), (30, "No ham."))
    ]
    left = []
    for order in [(0, 1, 2), (1, 2, 0), (2, 1, 0)]:
        contact_id = f"imported {order}"
        for place in order:
            report = memory.import_notes([lines[place] % contact_id], agent_id="crm")
            assert not report.errors
        left.append(known(memory, memory.contact("crm", contact_id)))
    assert left == left[:1] * 3


def test_a_note_that_is_newer_than_all_facts_tells_nothing_again(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    contact = memory.contact("crm", "newer")
    tell(contact, AUNT, [0])
    monkeypatch.delattr(type(memory._services.reconciler._retelling), "plan")
    tell(contact, AUNT, [1])
    contact.note("Lives in Wels.")
    with pytest.raises(AttributeError):
        tell(contact, ["Lived in Graz."], [0])


class Counted(HashingEmbedder):
    """An embedder that keeps what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Floats:
        self.texts += texts
        return super().embed(texts)


class Apart(Replacing):
    """A judge that says of each note that it holds beside the facts."""

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        super().judge(note, neighbours)
        return Judgement(
            reasoning="two matters",
            relation=Relation.COEXISTS,
            target=None,
            action=Action.ADD,
        )


VISITS = [f"Visited the fair in week {number} with a friend." for number in range(12)]


@pytest.mark.parametrize("is_free", [True, False], ids=["free", "paid"])
def test_a_late_note_plans_each_note_of_its_story_at_most_twice_and_embeds_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_free: bool
) -> None:
    judge, embedder, planned = Apart(), Counted(), Counter[str]()
    plan = MemoryReconciler._plan

    def counted(*given: Any, **named: Any) -> object:
        made = plan(*given, **named)
        planned[type(made).__name__] += 1
        return made

    told = {"arbiter": judge, "embedder": embedder, "clock": lambda: NOW}
    with Memory.open(**embedded_engine(tmp_path).settings_arguments, **told) as opened:
        arbitration = opened._services.reconciler.arbitration
        assert arbitration is not None
        arbitration.is_free = is_free
        contact = opened.contact("crm", "Ida")
        tell(contact, VISITS, range(1, len(VISITS)))
        arbitration.forget()
        embedder.texts.clear()
        judge.asked.clear()
        monkeypatch.setattr(MemoryReconciler, "_plan", counted)
        tell(contact, VISITS, [0])
    assert embedder.texts == [VISITS[0]]
    asked, most = len(judge.asked), 2 * len(VISITS)
    assert len(VISITS) <= asked < most
    assert planned["_Question"] == (0 if is_free else asked)
    # The late note itself is planned again whenever it comes back with an answer.
    assert planned["Commit"] <= most + planned["_Question"]


NUMBERS = count()
SAYINGS = st.lists(
    st.tuples(
        st.sampled_from(list(TEXTS)),
        st.sampled_from(FROM_MOST_TRUSTED),
        st.sampled_from(["Pune", "Goa", None, None]),
    ),
    min_size=2,
    max_size=5,
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    engine = embedded_engine(tmp_path_factory.mktemp("sayings"))
    arguments = {**engine.settings_arguments, "reconcile": {"guard": "off"}}
    embedder = TableEmbedder(TEXTS, DIMENSION)
    with Memory.open(**arguments, embedder=embedder, clock=lambda: NOW) as opened:
        yield opened


@settings(max_examples=faults.times(10, 200), deadline=None)
@given(sayings=SAYINGS, chance=st.randoms(use_true_random=False))
def test_whatever_is_said_by_whomever_gives_the_same_memory_in_any_order(
    plain: Memory, sayings: list[tuple[str, str, str | None]], chance: Random
) -> None:
    in_order = range(len(sayings))
    left = []
    for order in (in_order, chance.sample(in_order, len(sayings))):
        contact = plain.contact("crm", f"told {next(NUMBERS)}")  # also if an example comes again
        for place in order:
            text, source, city = sayings[place]
            slot = {} if city is None else {"attribute": "city", "value": city}
            said_at = NOW - (90 - 10 * place) * DAY
            contact.note(text, said_at=said_at, source_kind=source, **slot)
        left.append(known(plain, contact)[:3])
    assert left[0] == left[1]
