"""Sessions and jobs on each engine: kept whole, read once, leased by one worker at a time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from reconciler.domain.records.candidates import Role
from reconciler.domain.records.facts import Relations
from reconciler.domain.records.kinds import JobState
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.policies import RetryPolicy
from reconciler.domain.records.sessions import Episode, Outcomes
from reconciler.domain.sessions.extraction import Claim, Extracted
from reconciler.errors import LeaseLostError
from reconciler.ports.graph import Graph
from reconciler.reading.kinds import Category
from reconciler.service.stores.patient_graph import call_with_retries
from reconciler.service.stores.session_store import JobFilter, ReadSession, SessionStore

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ALICE, BOB = Scope("acme", "crm", "alice"), Scope("acme", "crm", "bob")
READ = ReadSession(
    extractor="somebody-v1",
    proposals=(
        Claim(
            extracted=Extracted(
                text="Lives in Pune.",
                category=Category.FACT,
                importance=0.5,
                confidence=0.9,
                citations=(),
                attribute="city",
                value="Pune",
            ),
            spans={"turn-0": ("Pune", "in Pune")},
            relations=Relations(replaces=("f-1",), ends=("f-2",)),
        ),
    ),
    summary="About where she lives.",
    shown=(("f-1", "f-2"), ()),
)
T = TypeVar("T")


@pytest.fixture
def store(graph: Graph) -> SessionStore:
    return SessionStore(graph)


def turns(count: int, first: int = 0) -> list[Episode]:
    return [
        Episode(
            episode_id=f"turn-{number}",
            session_id="chat",
            role=Role.AGENT if number % 2 else Role.CONTACT,
            text=f"Turn {number}.",
            said_at=NOON + number * MINUTE,
            position=number,
            reference=f"message-{number}" if number == 1 else None,
        )
        for number in range(first, first + count)
    ]


def hand_over(
    store: SessionStore, job_id: str = "job", episodes: list[Episode] | None = None, **other: Any
) -> int:
    given = {"scope": ALICE, "session_id": "chat", "channel": "chat", "at": NOON} | other
    return store.append_episodes(
        episodes=turns(3) if episodes is None else episodes, job_id=job_id, **given
    )


def leased(store: SessionStore, lease_id: str = "lease", at: datetime = NOON) -> None:
    assert store.lease_job("job", lease_id, at, at + MINUTE)


# what is handed over


def test_a_session_comes_back_turn_by_turn(store: SessionStore) -> None:
    hand_over(store)
    assert store.list_episodes(ALICE, "chat") == [replace(each, job_id="job") for each in turns(3)]


def test_a_session_has_a_job_that_waits(store: SessionStore) -> None:
    assert hand_over(store) == 3
    job = store.find_job(ALICE, "job")
    assert job is not None
    assert (job.state, job.attempts, job.due_at) == (JobState.WAITING, 0, NOON)
    assert (job.scope, job.session_id) == (ALICE, "chat")


def test_the_same_session_again_is_nothing_new_and_no_job(store: SessionStore) -> None:
    hand_over(store)
    assert hand_over(store, "job-2") == 0
    assert store.find_job(ALICE, "job-2") is None
    assert len(store.list_episodes(ALICE, "chat")) == 3


def test_more_turns_of_a_session_are_read_by_a_job_of_their_own(store: SessionStore) -> None:
    hand_over(store)
    assert hand_over(store, "job-2", turns(5)) == 2
    jobs = [each.job_id for each in store.list_episodes(ALICE, "chat")]
    assert jobs == ["job"] * 3 + ["job-2"] * 2


def test_a_call_whose_answer_was_lost_changes_nothing_when_it_is_made_again(
    store: SessionStore,
) -> None:
    hand_over(store)
    assert hand_over(store) == 3
    assert len(store.list_jobs("acme", JobFilter(), 10)) == 1


def test_turns_know_the_jobs_that_read_them_the_newest_first(store: SessionStore) -> None:
    assert store.find_jobs_of(turns(4)) == []
    hand_over(store)
    hand_over(store, "job-2", turns(4), at=NOON + MINUTE)
    leased(store)
    both = [("job-2", JobState.WAITING), ("job", JobState.RUNNING)]
    assert store.find_jobs_of(turns(4)) == both
    assert store.find_jobs_of(turns(2)) == both[1:]


def test_turns_that_came_without_a_job_are_read_by_the_first_one(store: SessionStore) -> None:
    store.append_episodes(ALICE, "chat", "chat", turns(2), NOON)
    assert store.list_jobs("acme", JobFilter(), 10) == []
    assert hand_over(store) == 3


def test_one_session_handed_over_many_times_at_once_is_there_once(store: SessionStore) -> None:
    def call(number: int) -> int:
        retry = RetryPolicy(attempts_max=100)
        return call_with_retries(retry, lambda _: hand_over(store, f"job-{number}", turns(12)))

    found = _at_once(8, call)
    assert sum(found) == 12
    assert len(store.list_episodes(ALICE, "chat")) == 12
    assert len(store.list_jobs("acme", JobFilter(), 10)) == len([each for each in found if each])


def test_sessions_of_one_name_are_apart_where_their_contacts_are(store: SessionStore) -> None:
    hand_over(store)
    others = [replace(each, episode_id=f"bob-{each.episode_id}") for each in turns(1)]
    hand_over(store, "job-2", others, scope=BOB)
    assert [each.episode_id for each in store.list_episodes(BOB, "chat")] == ["bob-turn-0"]
    assert len(store.list_episodes(ALICE, "chat")) == 3


def test_a_session_says_from_when_to_when_it_was_held(store: SessionStore) -> None:
    hand_over(store, "job", turns(2, first=3))
    hand_over(store, "job-2", turns(6))
    session = store.get_session(ALICE, "chat")
    assert (session.started_at, session.ended_at) == (NOON, NOON + 5 * MINUTE)


def test_a_contact_was_heard_of_last_when_the_latest_of_its_own_sessions_ended(
    store: SessionStore,
) -> None:
    assert store.find_last_said(ALICE) is None
    hand_over(store, "job", turns(3), session_id="later")
    hand_over(store, "job-2", [replace(turns(1)[0], episode_id="sooner")], session_id="sooner")
    hand_over(store, "job-3", [replace(turns(1, first=9)[0], episode_id="bob")], scope=BOB)
    assert store.find_last_said(ALICE) == NOON + 2 * MINUTE


def test_a_cleaned_turn_is_not_handed_over_raw_again(store: SessionStore) -> None:
    hand_over(store)
    clean(store, "Cleaned.")
    hand_over(store, "job-2")
    first, *others = store.list_episodes(ALICE, "chat")
    assert (first.text, first.is_cleaned) == ("Cleaned.", True)
    assert not any(each.is_cleaned for each in others)


def test_who_fell_behind_brings_nothing_raw_back(store: SessionStore) -> None:
    hand_over(store)
    clean(store, "Cleaned, and once more.")
    clean(store, "Cleaned.")
    assert store.list_episodes(ALICE, "chat")[0].text == "Cleaned, and once more."


def test_a_writer_who_knew_only_the_raw_turn_leaves_it_marked_as_cleaned(
    store: SessionStore,
) -> None:
    hand_over(store)
    [raw] = turns(1)
    clean(store, raw.text)  # the words stay as they are: nothing in them had to go
    store.clean_episodes([(raw, replace(raw, text="No secret."))])
    [first, *_] = store.list_episodes(ALICE, "chat")
    assert (first.text, first.is_cleaned) == ("No secret.", True)


def test_a_reference_that_was_cleaned_meanwhile_is_not_brought_back(store: SessionStore) -> None:
    raw = replace(turns(1)[0], reference="mail to bob@mail.example")
    hand_over(store, episodes=[raw])
    store.clean_episodes([(raw, replace(raw, reference="mail to [email]", is_cleaned=True))])
    store.clean_episodes([(raw, replace(raw, text="No secret."))])
    [first] = store.list_episodes(ALICE, "chat")
    assert (first.text, first.reference) == (raw.text, "mail to [email]")


def clean(store: SessionStore, text: str) -> None:
    [raw] = turns(1)
    store.clean_episodes([(raw, replace(raw, text=text, is_cleaned=True))])


# leases


def test_a_lease_whose_answer_was_lost_is_asked_for_again_and_counts_once(
    store: SessionStore,
) -> None:
    hand_over(store)
    leased(store)
    again = store.lease_job("job", "lease", NOON, NOON + MINUTE)
    assert again is not None
    assert again.attempts == 1


def test_a_job_is_due_until_somebody_has_it(store: SessionStore) -> None:
    hand_over(store)
    assert store.list_due_jobs(NOON) == ["job"]
    leased(store)
    assert store.list_due_jobs(NOON) == []


@pytest.mark.parametrize(("late", "is_due"), [(-1, False), (0, True), (1, True)])
def test_a_job_that_failed_is_due_from_its_time_on(
    store: SessionStore, late: int, is_due: bool
) -> None:
    hand_over(store)
    leased(store)
    store.give_job_back(store.get_job(ALICE, "job"), "lease", JobState.WAITING, NOON, "no answer")
    at = NOON + timedelta(microseconds=late)
    assert store.list_due_jobs(at) == ["job"] * is_due
    assert (store.lease_job("job", "lease", at, at + MINUTE) is not None) is is_due


def test_a_job_that_was_never_begun_is_due_whatever_the_clock_says(store: SessionStore) -> None:
    hand_over(store)
    early = NOON - 10 * MINUTE
    assert store.list_due_jobs(early) == ["job"]
    assert store.lease_job("job", "lease", early, early + MINUTE) is not None


@pytest.mark.parametrize(("minutes", "is_waited_for"), [(1, True), (2, True), (3, False)])
def test_what_is_due_later_than_any_wait_is_not_waited_for(
    store: SessionStore, minutes: int, is_waited_for: bool
) -> None:
    hand_over(store)
    due_at, until = NOON + minutes * MINUTE, NOON + 2 * MINUTE
    assert store.lease_job("job", "lease", NOON, due_at) is not None
    assert store.is_waited_for(until, NOON) is is_waited_for
    store.give_job_back(store.get_job(ALICE, "job"), "lease", JobState.WAITING, due_at, "no answer")
    assert store.is_waited_for(NOON, until) is is_waited_for


def test_of_many_workers_one_gets_the_job(store: SessionStore) -> None:
    hand_over(store)

    def call(number: int) -> bool:
        retry = RetryPolicy(attempts_max=100)
        got = call_with_retries(
            retry, lambda _: store.lease_job("job", f"lease-{number}", NOON, NOON + MINUTE)
        )
        return got is not None

    assert sum(_at_once(8, call)) == 1
    job = store.find_job(ALICE, "job")
    assert job is not None
    assert job.attempts == 1


def test_a_lease_that_ran_out_is_anothers(store: SessionStore) -> None:
    hand_over(store)
    leased(store, "first")
    leased(store, "second", NOON + MINUTE)
    with pytest.raises(LeaseLostError):
        store.renew_lease("job", "first", NOON + 2 * MINUTE)


def test_a_lease_that_is_renewed_is_nobody_elses(store: SessionStore) -> None:
    hand_over(store)
    leased(store)
    store.renew_lease("job", "lease", NOON + 3 * MINUTE)
    assert store.lease_job("job", "other", NOON + 2 * MINUTE, NOON + 4 * MINUTE) is None


WRITES: dict[str, Callable[[SessionStore, str], None]] = {
    "keep_read": lambda store, lease_id: store.keep_read("job", lease_id, READ),
    "finish_job": lambda store, lease_id: store.finish_job("job", lease_id, Outcomes(), NOON),
    "renew_lease": lambda store, lease_id: store.renew_lease("job", lease_id, NOON),
    "give_job_back": lambda store, lease_id: _give_back(store, lease_id, JobState.DEAD),
}


@pytest.mark.parametrize("write", WRITES)
def test_who_lost_the_lease_writes_nothing(store: SessionStore, write: str) -> None:
    hand_over(store)
    leased(store, "first")
    leased(store, "second", NOON + MINUTE)
    before = store.find_job(ALICE, "job")
    with pytest.raises(LeaseLostError):
        WRITES[write](store, "first")
    assert store.find_job(ALICE, "job") == before
    assert store.find_read("job") is None


# what becomes of a job


def test_what_was_read_comes_back_to_the_letter(store: SessionStore) -> None:
    hand_over(store)
    assert store.find_read("job") is None
    leased(store)
    store.keep_read("job", "lease", READ)
    assert store.find_read("job") == READ


@pytest.mark.parametrize("lease_id", ["lease", "another"])
def test_turns_are_cleaned_with_what_was_read_of_them_or_not_at_all(
    store: SessionStore, lease_id: str
) -> None:
    hand_over(store)
    leased(store)
    [raw] = turns(1)
    with contextlib.suppress(LeaseLostError):
        store.keep_read("job", lease_id, READ, [(raw, replace(raw, text="Cleaned."))])
    said = store.list_episodes(ALICE, "chat")[0].text
    kept = {"lease": (READ, "Cleaned."), "another": (None, raw.text)}
    assert (store.find_read("job"), said) == kept[lease_id]


def test_a_finished_job_is_counted_on_its_session(store: SessionStore) -> None:
    hand_over(store)
    hand_over(store, "job-2", turns(4))
    outcomes = Outcomes(added=3, superseding=1, known=2, held=4, refused=5, left_out=6)
    for job_id in ("job", "job-2"):
        assert store.lease_job(job_id, "lease", NOON, NOON + MINUTE)
        store.keep_read(job_id, "lease", READ)
        store.finish_job(job_id, "lease", outcomes, NOON + MINUTE)
    job, session = store.find_job(ALICE, "job"), store.get_session(ALICE, "chat")
    assert job is not None
    assert (job.state, job.finished_at, job.outcomes) == (JobState.DONE, NOON + MINUTE, outcomes)
    assert session.summary == f"{READ.summary} {READ.summary}"
    assert session.outcomes == Outcomes(
        added=6, superseding=2, known=4, held=8, refused=10, left_out=12
    )


def test_a_job_is_finished_once(store: SessionStore) -> None:
    hand_over(store)
    leased(store)
    store.finish_job("job", "lease", Outcomes(added=1), NOON)
    with pytest.raises(LeaseLostError):
        store.finish_job("job", "lease", Outcomes(added=1), NOON)
    session = store.get_session(ALICE, "chat")
    assert session.outcomes.added == 1


def test_a_done_job_is_never_due_again(store: SessionStore) -> None:
    hand_over(store)
    leased(store)
    store.finish_job("job", "lease", Outcomes(), NOON)
    assert store.list_due_jobs(NOON + 60 * MINUTE) == []
    assert not store.retry_job(ALICE, "job", NOON)


@pytest.mark.parametrize("state", [JobState.WAITING, JobState.DEAD])
def test_a_job_that_is_given_back_says_why(store: SessionStore, state: JobState) -> None:
    hand_over(store)
    leased(store)
    _give_back(store, "lease", state)
    job = store.find_job(ALICE, "job")
    assert job is not None
    assert (job.state, job.last_error, job.due_at) == (state, "no answer", NOON + 2 * MINUTE)
    assert store.list_due_jobs(NOON + 3 * MINUTE) == ["job"] * (state is JobState.WAITING)


def test_a_dead_job_is_begun_anew_on_request(store: SessionStore) -> None:
    hand_over(store)
    leased(store)
    _give_back(store, "lease", JobState.DEAD)
    assert store.retry_job(ALICE, "job", NOON + MINUTE)
    job = store.find_job(ALICE, "job")
    assert job is not None
    assert (job.state, job.attempts, job.due_at) == (JobState.WAITING, 0, NOON + MINUTE)
    assert job.last_error == "no answer"


def test_jobs_are_listed_by_what_is_asked(store: SessionStore) -> None:
    hand_over(store)
    hand_over(store, "job-2", turns(1, first=8), scope=BOB, at=NOON + MINUTE)
    leased(store)

    def listed(**wanted: Any) -> list[str]:
        return [each.job_id for each in store.list_jobs("acme", JobFilter(**wanted), 10)]

    assert listed() == ["job-2", "job"]
    assert listed(contact_id="alice") == ["job"]
    assert listed(state=JobState.RUNNING) == ["job"]
    assert listed(agent_id="other") == []
    assert store.list_jobs("other", JobFilter(), 10) == []
    assert len(store.list_jobs("acme", JobFilter(), 1)) == 1


def test_the_queue_in_numbers_knows_the_oldest_that_is_not_done(store: SessionStore) -> None:
    assert store.count_jobs().oldest_unfinished_at is None
    hand_over(store)
    hand_over(store, "job-2", turns(4), at=NOON + MINUTE)
    leased(store)
    store.finish_job("job", "lease", Outcomes(added=2), NOON)
    report = store.count_jobs()
    assert report.jobs == {
        JobState.WAITING: 1,
        JobState.RUNNING: 0,
        JobState.DONE: 1,
        JobState.DEAD: 0,
    }
    assert (report.attempts, report.outcomes.added) == (1, 2)
    assert report.oldest_unfinished_at == NOON + MINUTE


def _give_back(store: SessionStore, lease_id: str, state: JobState) -> None:
    job = store.find_job(ALICE, "job")
    assert job is not None
    store.give_job_back(job, lease_id, state, NOON + 2 * MINUTE, "no answer")


def _at_once(count: int, call: Callable[[int], T]) -> list[T]:
    start = threading.Barrier(count)

    def wait_and_call(number: int) -> T:
        start.wait(60)
        return call(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(wait_and_call, range(count)))
