"""What extractors read: counted over windows, and made into candidates for the gate."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from reconciler.domain.records.candidates import Candidate, Role
from reconciler.domain.records.facts import RELATED_MAX, Fact, Relations
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.sessions import Episode
from reconciler.domain.sessions.extraction import (
    Citation,
    Claim,
    Extracted,
    Extraction,
    SessionEpisodes,
    Window,
    candidate_from,
    capped,
    merged,
)
from reconciler.reading.kinds import Category, Speech
from tests.tables import every

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
ALICE = Scope("acme", "crm", "alice")
ROLES = [Role.CONTACT, Role.AGENT, Role.CONTACT, Role.TOOL]
EPISODES = [
    Episode(
        episode_id=f"e{number}",
        session_id="chat",
        role=role,
        text=f"Text of {number}.",
        said_at=NOON + timedelta(minutes=number),
        position=number,
    )
    for number, role in enumerate(ROLES)
]


def window(first: int = 0, count: int = 4, new: Sequence[int] | None = None) -> Window:
    shown = EPISODES[first : first + count]
    fresh = [each.position for each in shown] if new is None else new
    return Window(episodes=tuple(shown), new_ids=frozenset(f"e{number}" for number in fresh))


def extracted(*episodes: int, **changed: Any) -> Extracted:
    given = {
        "text": "Prefers tea.",
        "category": Category.PREFERENCE,
        "importance": 0.5,
        "confidence": 0.8,
        "citations": tuple(Citation(episode=number, span="Text") for number in episodes),
    }
    return Extracted(**given | changed)


def read(*found: tuple[Window, Extracted]) -> list[Claim]:
    return merged((shown, Extraction(candidates=(each,))) for shown, each in found)


def candidate(proposal: Claim) -> Candidate:
    return candidate_from(
        proposal,
        SessionEpisodes(ALICE, "chat", EPISODES),
        slot=None,
        idempotency_key="key",
        proposed_by="somebody-v1",
    )


@every("speech", [each for each in Speech if each is not Speech.LITERAL])
@every(("given", "kept"), [(0.9, 0.3), (0.3, 0.3), (0.1, 0.1)])
def test_what_is_not_meant_literally_is_believed_at_most_by_three_tenths(
    speech: Speech, given: float, kept: float
) -> None:
    assert extracted(1, speech=speech, confidence=given).confidence == kept


def test_two_windows_that_read_the_same_claim_count_its_episodes_together() -> None:
    [proposal] = read((window(0, 2), extracted(1)), (window(1, 3), extracted(2)))
    assert dict(proposal.spans) == {"e0": ("Text",), "e2": ("Text",)}
    assert len(candidate(proposal).evidence) == 2


def test_an_episode_in_two_windows_counts_once() -> None:
    [proposal] = read((window(0, 3), extracted(3)), (window(2, 2), extracted(1)))
    assert len(candidate(proposal).evidence) == 1


def test_what_is_merged_keeps_the_highest_of_both_numbers() -> None:
    one = extracted(1, importance=0.9, confidence=0.4)
    other = extracted(3, importance=0.2, confidence=0.7)
    [proposal] = read((window(), one), (window(), other))
    assert (proposal.extracted.importance, proposal.extracted.confidence) == (0.9, 0.7)


@every(
    ("one", "other", "is_same"),
    [
        ({"text": "Prefers tea."}, {"text": "prefers  TEA"}, True),
        ({"text": "Prefers tea."}, {"text": "Prefers coffee."}, False),
        (
            {"text": "Lives in Pune.", "attribute": "city", "value": "Pune"},
            {"text": "Has moved to Pune.", "attribute": "city", "value": "pune"},
            True,
        ),
        (
            {"text": "Lives in Pune.", "attribute": "city", "value": "Pune"},
            {"text": "Lives in Pune.", "attribute": "city", "value": "Goa"},
            False,
        ),
        (
            {"text": "A.", "subject": "wife", "attribute": "city", "value": "Pune"},
            {"text": "B.", "subject": None, "attribute": "city", "value": "Pune"},
            False,
        ),
    ],
)
def test_claims_are_one_by_their_words_or_by_their_slot(
    one: dict[str, Any], other: dict[str, Any], is_same: bool
) -> None:
    found = read((window(), extracted(1, **one)), (window(), extracted(3, **other)))
    assert len(found) == (1 if is_same else 2)


def test_what_rests_on_old_episodes_alone_is_not_proposed_again() -> None:
    assert read((window(new=[2]), extracted(1))) == []
    assert len(read((window(new=[2]), extracted(1, 3)))) == 1


# How many a turn may give


def many(*episodes: int, count: int, **changed: Any) -> list[Claim]:
    made = [extracted(*episodes, text=f"{episodes}: {n}.", **changed) for n in range(count)]
    return merged([(window(), Extraction(candidates=tuple(made)))])


def test_nine_turns_that_say_one_thing_each_give_nine() -> None:
    proposals = [each for _ in range(3) for number in (1, 3, 4) for each in many(number, count=3)]
    assert len(capped(proposals[:9], EPISODES)[0]) == 9


def test_of_one_turn_the_five_weightiest_are_taken_in_their_order_and_the_rest_is_counted() -> None:
    light = many(1, count=4, importance=0.4)
    weighty = many(3, 1, count=3, importance=0.9)
    kept, left_out = capped([*light, *weighty], EPISODES)
    assert (kept, left_out) == ([*light[:2], *weighty], 2)


def test_where_all_matter_alike_the_surest_stay() -> None:
    doubtful, sure = many(1, count=4, confidence=0.5), many(3, 1, count=4, confidence=0.9)
    assert capped([*doubtful, *sure], EPISODES)[0] == [doubtful[0], *sure]


def asked(text: str, **changed: Any) -> Episode:
    return replace(EPISODES[0], text=text, **changed)


REQUEST = "Remember that I bill in euros. I ski."


@every(
    ("episode", "span", "speech", "kept_count"),
    [
        (asked(REQUEST), "I bill in euros", Speech.LITERAL, 8),
        (asked(REQUEST), "I ski", Speech.LITERAL, 5),
        (asked(REQUEST), "was never said", Speech.LITERAL, 5),
        (asked(REQUEST), "I bill in euros", Speech.SARCASTIC, 5),
        (asked(REQUEST, role=Role.TOOL), "I bill in euros", Speech.LITERAL, 5),
        (asked("I bill in euros."), "I bill in euros", Speech.LITERAL, 5),
    ],
)
def test_what_the_contact_asked_to_have_remembered_is_never_left_out(
    episode: Episode, span: str, speech: Speech, kept_count: int
) -> None:
    cited = (Citation(episode=1, span=span),)
    proposals = many(1, count=8, citations=cited, speech=speech)
    kept, left_out = capped(proposals, [episode])
    assert (len(kept), left_out) == (kept_count, 8 - kept_count)


def test_a_claim_that_cites_an_episode_nobody_showed_has_no_evidence() -> None:
    for number in (0, 5, -1):
        [proposal] = read((window(), extracted(1, number)))
        assert candidate(proposal).evidence == ()


def test_a_candidate_is_an_extractors_word_from_its_last_mention_on() -> None:
    [proposal] = read((window(), extracted(3, 1)))
    made = candidate(proposal)
    assert [each.episode_id for each in made.evidence] == ["e0", "e2"]
    assert made.note.said_at == NOON + timedelta(minutes=2)
    assert (made.note.trust, made.confidence) == (SourceKind.EXTRACTOR, 0.8)
    assert (made.note.session, made.proposed_by) == ("chat", "somebody-v1")


def test_what_the_agent_said_stays_the_agents_word() -> None:
    [proposal] = read((window(), extracted(2)))
    [evidence] = candidate(proposal).evidence
    assert evidence.source_kind is SourceKind.MODEL_GUESS


def test_a_proposal_comes_back_from_its_record_as_it_was() -> None:
    found = extracted(1, 2, topic="food", subject="wife", attribute="drink", value="tea")
    [proposal] = read((window(), found))
    back = Claim.from_dict(json.loads(json.dumps(proposal.to_dict())))
    assert candidate(back) == candidate(proposal)


# what is said of known facts


def known(count: int, first: int = 1) -> Window:
    """A window in which so many facts are shown, "f1" as number 1 unless another is first."""
    facts = (
        Fact(
            fact_id=f"f{number}",
            text="Prefers coffee.",
            trust=SourceKind.USER_EXPLICIT,
            observations=1,
            valid_from=NOON,
            recorded_at=NOON,
            last_confirmed_at=NOON,
        )
        for number in range(first, first + count)
    )
    return replace(window(), known=tuple(facts))


@every(
    ("named", "relations"),
    [
        ({}, None),
        ({"replaces": (2,)}, {"replaces": ("f2",)}),
        ({"repeats": 1}, {"repeats": "f1"}),
        ({"ends": (3, 1)}, {"ends": ("f3", "f1")}),
        ({"replaces": (1, 9, 0, -1)}, {"replaces": ("f1",)}),
        ({"repeats": 9}, None),
        ({"replaces": (1, 1), "ends": (1,)}, {"replaces": ("f1",)}),
        ({"replaces": (1,), "repeats": 1, "ends": (1, 2)}, {"repeats": "f1"}),
        ({"replaces": (1, 2, 3, 4), "repeats": 5}, {"repeats": "f5"}),
        ({"replaces": (1, 2), "ends": (3, 4)}, None),
    ],
)
def test_a_candidate_names_facts_by_the_numbers_that_were_shown(
    named: dict[str, Any], relations: dict[str, Any] | None
) -> None:
    [proposal] = read((known(RELATED_MAX + 2), extracted(1, **named)))
    assert proposal.relations == (Relations(**relations) if relations else None)
    assert candidate(proposal).relations == proposal.relations


def test_two_windows_number_the_facts_that_they_were_shown_each() -> None:
    """The same number is another fact in each; what both say counts."""
    one, other = extracted(1, replaces=(1,)), extracted(3, replaces=(1,), ends=(2,))
    [proposal] = read((known(1), one), (known(2, first=7), other))
    assert proposal.relations == Relations(replaces=("f1", "f7"), ends=("f8",))


def test_what_one_window_says_again_no_other_window_ends() -> None:
    one, other = extracted(1, replaces=(1,)), extracted(3, repeats=1)
    [proposal] = read((known(1), one), (known(1), other))
    assert proposal.relations == Relations(repeats="f1")


def test_relations_survive_the_jobs_record() -> None:
    [proposal] = read((known(2), extracted(1, replaces=(2, 5))))
    kept = json.loads(json.dumps(proposal.to_dict()))
    assert Claim.from_dict(kept).relations == proposal.relations
    older = {name: kept[name] for name in kept.keys() - {"relations"}}
    assert Claim.from_dict(older).relations is None


TIMES = {"valid_from": date(2026, 4, 18), "valid_to": date(2026, 8, 31), "is_ended": True}


def test_days_and_ends_survive_the_jobs_record_and_an_older_record_has_none() -> None:
    [proposal] = read((window(), extracted(1, **TIMES)))
    kept = json.loads(json.dumps(proposal.to_dict()))
    assert Claim.from_dict(kept).extracted == replace(proposal.extracted, citations=())
    new = {"valid_from", "valid_to", "is_ended", "is_temporary"}
    older = Claim.from_dict({name: value for name, value in kept.items() if name not in new})
    assert (older.extracted.valid_from, older.extracted.is_ended) == (None, False)


@every(
    ("given", "starts", "category"),
    [
        ({"valid_from": date(2026, 4, 18)}, datetime(2026, 4, 18, tzinfo=UTC), "preference"),
        ({"valid_from": date(2026, 3, 9)}, None, "preference"),  # the day on which it is said
        ({"is_temporary": True}, None, "volatile"),
        ({"is_temporary": True, "valid_to": date(2026, 3, 20)}, None, "preference"),
    ],
)
def test_a_first_day_is_kept_and_what_passes_without_a_last_one_is_volatile(
    given: dict[str, Any], starts: datetime | None, category: str
) -> None:
    [proposal] = read((window(), extracted(1, **given)))
    note = candidate(proposal).note
    assert (note.valid_from, note.category) == (starts, category)


def test_a_claim_and_its_end_are_two() -> None:
    end = extracted(3, is_ended=True)
    assert len(read((window(), extracted(1)), (window(), end))) == 2
