"""What takes back something that was said: a mistake that is owned, and a denial of no more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from reconciler.domain.reconciling.rule import decide
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy, SourceKind
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.reading.guard import takes_back
from reconciler.reading.kinds import Category
from tests.tables import every, grouped

NOON = datetime(2026, 1, 9, 12, tzinfo=UTC)
_CITIES = ("London", "Paris")
TAKEN_BACK = "I misspoke, I do not have a sister."


def decided(text: str = TAKEN_BACK, fact: dict[str, Any] | None = None, **note: Any) -> Verdict:
    known = {"fact_id": "one", "text": "Has a sister.", "cosine": 0.66, "valid_from": NOON}
    said = {"scope": Scope("acme", "crm", "ada"), "said_at": NOON + timedelta(days=1)}
    policy = ReconcilePolicy(guard=note.pop("guard", True))
    return decide(Note(**said | {"text": text} | note), [Neighbour(**known | (fact or {}))], policy)


@every(
    ("note", "fact", "expected"),
    grouped(
        {
            True: [
                # A mistake that is owned and denied is taken back.
                (TAKEN_BACK, "Has a sister."),
                (TAKEN_BACK, "The contact has a sister."),
                ("The contact misspoke: the contact has no sister.", "The contact has a sister."),
                ("Scratch that, I have no sister.", "I have a sister."),
                ("Sorry, I was wrong about that: I don't play the violin.", "Plays the violin."),
                ("I'm not vegetarian, that was a mistake.", "Is vegetarian."),
                ("What I said earlier was wrong. I do not work at Globex.", "Works at Globex."),
            ],
            False: [
                # What denies less or more or owns no mistake takes nothing back.
                ("I do not have a sister.", "Has a sister."),
                ("I misspoke.", "Has a sister."),
                ("I misspoke, I have a brother.", "Has a sister."),
                ("I misspoke, I do not have a brother.", "Has a sister."),
                ("I misspoke, I do not have a sister.", "Has two sisters."),
                ("I misspoke, I do not have a sister.", "Has a sister in Pune."),
                ("I misspoke, I do not have a sister in Pune.", "Has a sister."),
                ("I misspoke, I do not have a sister.", "Does not have a sister."),
                ("I misspoke, I do not have a dog.", "Has a dog allergy."),
                ("I misspoke, my wife does not have a sister.", "Has a sister."),
                ("He misspoke, I do not have a sister.", "Has a sister."),
            ],
        }
    ),
)
def test_a_mistake_that_is_owned_and_denied_is_taken_back(
    note: str, fact: str, expected: bool
) -> None:
    assert takes_back(note, fact) is expected


def test_what_is_taken_back_ends_as_never_true_and_nothing_takes_its_place() -> None:
    verdict = decided()
    assert (verdict.action, verdict.decided_by) == (Action.REVOKE, DecidedBy.RETRACTION)
    assert verdict.voided == verdict.targets
    assert not verdict.can_be_arbitrated


@every(
    "given",
    [
        {"source_kind": SourceKind.OPERATOR},
        {"is_hedged": True},
        {"said_at": NOON - timedelta(days=1)},
        {"guard": False},
        {"fact": {"category": Category.DECISION}},
    ],
)
def test_a_lower_or_older_word_a_guess_and_a_bare_rule_take_nothing_back(
    given: dict[str, Any],
) -> None:
    assert decided(**given).action is Action.ADD


START = NOON - timedelta(days=3)


@every(
    ("begins", "is_given", "is_void"),
    [
        (START, True, True),
        (START + timedelta(hours=1), True, False),
        (START, False, False),
        (None, True, False),
    ],
)
def test_another_value_from_the_same_past_start_says_that_the_first_never_held(
    begins: datetime | None, is_given: bool, is_void: bool
) -> None:
    """A fact that holds since it was said has changed, and was no mistake."""
    city = {"attribute": "city", "subject": "contact", "is_single_valued": True}
    london, paris = (Slot(**city, value=name, value_key=name.lower()) for name in _CITIES)
    fact = {"text": "Lives in London.", "slot": london, "valid_from": START}
    known = fact | {"is_start_given": is_given}
    verdict = decided("Lives in Paris.", known, slot=paris, valid_from=begins)
    assert verdict.action is Action.UPDATE
    assert bool(verdict.voided) is is_void
