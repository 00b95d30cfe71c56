"""The background door under SIGKILL: nothing that was handed over is lost, nothing is done twice.

Submitters, workers and the database are killed outright, at every stage and at any moment, and
what is left afterwards is looked at behind the package's back.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from reconciler.domain.records.kinds import JobState
from reconciler.domain.records.sessions import Job, Stage
from tests import faults, raw_store
from tests.conftest import ON_ANY_ONE, cases_of_each
from tests.engines import EngineUnderTest
from tests.job_crasher import (
    AGENT,
    CrashPoint,
    NumberTalk,
    Talk,
    Victim,
    die_at,
    die_before_a_write,
    hand_over,
    opened,
    stall_at,
    submit,
    talks,
    work_on,
)
from tests.mortal_server import MortalServer

FACTS, CANDIDATES = 2, 4
"""What a talk gives: two facts, one claim that is held and one that is refused."""

# What a worker dies at: each stage, those of a candidate at the first and the last one of a job.
OCCURRENCES = {Stage.PROPOSED: (1, CANDIDATES), Stage.COMMITTED: (1, FACTS)}
ROUNDS = {stage: OCCURRENCES.get(stage, (1,)) for stage in Stage}

# What must never be there: each gives a row, which shows it.
NEVER = """
MATCH (x:Job) WHERE NOT x.state IN ['done', 'dead']
RETURN 'a job that is not at its end' AS broken, x.job_id AS shown
UNION ALL
MATCH (x:Job) OPTIONAL MATCH (x)-[reads:READS]->(:Session)
WITH x, count(reads) AS sessions WHERE sessions <> 1
RETURN 'a job of no session, or of several' AS broken, x.job_id AS shown
UNION ALL
MATCH (x:Episode) OPTIONAL MATCH (x)-[within:`IN`]->(:Session)
WITH x, count(within) AS sessions WHERE sessions <> 1
RETURN 'an episode of no session, or of several' AS broken, x.text AS shown
UNION ALL
MATCH (x:Episode)-[:`IN`]->(session:Session) WHERE x.job_id IS NOT NULL
  AND NOT EXISTS { MATCH (job:Job {job_id: x.job_id})-[:READS]->(session) }
RETURN 'a turn of no job of its session' AS broken, x.text AS shown
UNION ALL
MATCH (x:Fact) OPTIONAL MATCH (x)<-[by:SUPERSEDES]-(:Fact)
WITH x, count(by) AS successors WHERE successors <> CASE WHEN x.state = 'live' THEN 0 ELSE 1 END
RETURN 'a fork, or a chain without an end' AS broken, x.text AS shown
UNION ALL
MATCH (x:Fact) OPTIONAL MATCH (x)<-[wrote:WROTE]-(:Decision)
WITH x, count(wrote) AS decisions WHERE decisions <> 1
RETURN 'a fact of no decision, or of several' AS broken, x.text AS shown
UNION ALL
MATCH (x:Decision {action: 'ADMIT'}) OPTIONAL MATCH (x)<-[by:SETTLES]-(:Decision)
WITH x, count(by) AS settlements WHERE settlements <> 1
RETURN 'a proposal that was not settled once' AS broken, x.text AS shown
UNION ALL
MATCH (x:Contact) OPTIONAL MATCH (x)<-[made:`FOR`]-(:Decision)
WITH x, count(made) AS decisions WHERE x.version <> decisions
RETURN 'a miscounted contact' AS broken, x.contact_id AS shown"""

# What became of each session's candidates, as it is counted in three places.
OUTCOMES = """
MATCH (x:Session)
RETURN 'on the session' AS place, x.session_id AS session_id, sum(x.added) AS added,
       sum(x.superseding) AS superseding, sum(x.held) AS held, sum(x.refused) AS refused
UNION ALL
MATCH (job:Job)-[:READS]->(x:Session)
RETURN 'on its jobs' AS place, x.session_id AS session_id, sum(job.added) AS added,
       sum(job.superseding) AS superseding, sum(job.held) AS held, sum(job.refused) AS refused
UNION ALL
MATCH (x:Decision)
RETURN 'decided' AS place, x.session_id AS session_id,
       sum(CASE WHEN x.action = 'ADD' THEN 1 ELSE 0 END) AS added,
       sum(CASE WHEN x.action = 'UPDATE' THEN 1 ELSE 0 END) AS superseding,
       sum(CASE WHEN x.action = 'HOLD' THEN 1 ELSE 0 END) AS held,
       sum(CASE WHEN x.action = 'REJECT' THEN 1 ELSE 0 END) AS refused"""

# All that does not depend on the order in which sessions were read.
REMEMBERED = """
MATCH (x:Fact)-[:ABOUT]->(contact:Contact)
RETURN CASE WHEN x.state = 'live' THEN 'live' ELSE 'superseded' END AS kind,
       contact.contact_id AS contact_id, x.text AS text,
       CASE WHEN x.state = 'live' THEN x.observations ELSE 0 END AS observations
UNION ALL
MATCH (x:Decision)-[:`FOR`]->(contact:Contact) WHERE x.settles_id IS NULL
RETURN x.action AS kind, contact.contact_id AS contact_id, x.text AS text, 0 AS observations
UNION ALL
MATCH (x:Episode)-[:`IN`]->(:Session)-[:`WITH`]->(contact:Contact) WHERE x.job_id IS NOT NULL
RETURN 'turn' AS kind, contact.contact_id AS contact_id, x.text AS text, 0 AS observations"""

pytestmark = [pytest.mark.faults, pytest.mark.kills]
Row = tuple[Any, ...]


@pytest.fixture
def victims() -> Iterator[list[Victim]]:
    """Processes that do not outlive the test, whatever it finds."""
    found: list[Victim] = []
    yield found
    for each in found:
        each.close()


def killed(
    engine: EngineUnderTest, fault: CrashPoint, given: Sequence[Talk] = (), **how: Any
) -> None:
    """A worker handed these talks over, worked, and died at that point."""
    victim = Victim(die_at, engine.settings_arguments, fault, given, **how)
    with contextlib.closing(victim):
        victim.wait()


def drained(engine: EngineUnderTest, **how: Any) -> list[Job]:
    """All jobs, after an unkilled worker processed the rest."""
    with opened(engine.settings_arguments, **how) as memory:
        memory.drain()
        return memory.jobs(limit=1000)


def broken(engine: EngineUnderTest) -> list[Row]:
    """Whatever must never be, with what shows it."""
    counted: dict[str, set[Row]] = {}
    for _, session_id, *numbers in raw_store.query(engine, OUTCOMES):
        counted.setdefault(session_id, set()).add(tuple(numbers))
    miscounted = [each for each in counted.items() if len(each[1]) > 1]
    return [*map(tuple, raw_store.query(engine, NEVER)), *miscounted]


def remembered(engine: EngineUnderTest) -> Counter[Row]:
    """Facts, the gate's verdicts and turns: what is there, and how often."""
    return Counter(map(tuple, raw_store.query(engine, REMEMBERED)))


def expected(given: Sequence[Talk]) -> Counter[Row]:
    """What these talks leave behind if no worker is killed: each thing once."""
    return Counter(row for talk in given for row in (*_facts(talk, given), *_traces(talk)))


def _facts(talk: Talk, given: Sequence[Talk]) -> list[Row]:
    """The city changes, so it is seen once; the dog is seen again by every talk."""
    with_contact = [each for each in given if each.contact_id == talk.contact_id]
    is_last = talk == max(with_contact, key=lambda each: each.number)
    kind, dog, city = ("live", len(with_contact), 1) if is_last else ("superseded", 0, 0)
    return [
        (kind, talk.contact_id, claim, observations)
        for claim, observations in zip(talk.claims(), (dog, city), strict=False)
    ]


def _traces(talk: Talk) -> list[Row]:
    actions = ("ADMIT", "ADMIT", "HOLD", "REJECT")
    judged = zip(actions, talk.claims(), strict=True)
    turns = [("turn", each.text) for each in talk.turns]
    return [(kind, talk.contact_id, text, 0) for kind, text in (*judged, *turns)]


def test_an_undisturbed_run_leaves_behind_what_is_expected(one_of_each: EngineUnderTest) -> None:
    with opened(one_of_each.settings_arguments) as memory:
        for each in talks(4):
            submit(memory, each)
        memory.drain()
    assert broken(one_of_each) == []
    assert remembered(one_of_each) == expected(talks(4))


@pytest.mark.parametrize(
    ("one_of_each", "stage"),
    cases_of_each(Stage, {Stage.COMMITTED}),
    indirect=["one_of_each"],
    ids=lambda value: value if isinstance(value, str) else value.name.lower(),
)
def test_a_worker_killed_at_a_stage_loses_nothing_and_repeats_nothing(
    one_of_each: EngineUnderTest, stage: Stage
) -> None:
    given = talks(len(ROUNDS[stage]))
    for talk, occurrence in zip(given, ROUNDS[stage], strict=True):
        killed(one_of_each, CrashPoint(stage=stage, occurrence=occurrence), [talk])
    jobs = drained(one_of_each)
    assert [each.state for each in jobs] == [JobState.DONE] * len(given)
    assert broken(one_of_each) == []
    assert remembered(one_of_each) == expected(given)


@pytest.mark.parametrize("number", [1, 2])
@ON_ANY_ONE
def test_a_number_that_only_a_slot_keeps_is_not_lost_between_two_writes(
    one_of_each: EngineUnderTest, number: int
) -> None:
    talk = NumberTalk(number=0)
    victim = Victim(die_before_a_write, one_of_each.settings_arguments, number, talk)
    with contextlib.closing(victim):
        victim.wait()
    drained(one_of_each)
    with opened(one_of_each.settings_arguments) as memory:
        facts = [hit.fact for hit in memory.contact(AGENT, talk.contact_id).recall()]
    [(turn,)] = raw_store.query(one_of_each, "MATCH (x:Episode) RETURN x.text")
    assert [fact.slot and fact.slot.value for fact in facts] == ["020 7946 0018"]
    assert "7946" not in f"{turn}{facts[0].text}"


def claimed(engine: EngineUnderTest) -> list[str]:
    """What the gate judged, by the alphabet."""
    text = "MATCH (x:Decision) WHERE x.settles_id IS NULL RETURN x.text"
    return sorted(claim for [claim] in raw_store.query(engine, text))


# From a reading that is lost before it is kept, on through all that comes after it.
READINGS = [
    CrashPoint(stage=Stage.EXTRACTED),
    CrashPoint(stage=Stage.KEPT),
    CrashPoint(stage=Stage.PROPOSED),
    CrashPoint(stage=Stage.COMMITTED, occurrence=2),
    CrashPoint(stage=Stage.SETTLED),
]


@ON_ANY_ONE
def test_what_was_read_first_and_kept_is_what_is_remembered(one_of_each: EngineUnderTest) -> None:
    given = talks(1)
    for number, fault in enumerate(READINGS):
        killed(one_of_each, fault, given if number == 0 else (), wording=f"reader{number}")
    drained(one_of_each, wording="reader9")
    assert broken(one_of_each) == []
    assert claimed(one_of_each) == sorted(talks(1)[0].claims(wording="reader1"))


@pytest.mark.parametrize(
    ("stage", "reader"),
    [
        (Stage.CLEANED, "quick"),
        (Stage.EXTRACTED, "quick"),
        (Stage.PROPOSED, "frozen"),
        (Stage.SETTLED, "frozen"),
    ],
    ids=lambda value: getattr(value, "name", value).lower(),
)
def test_a_worker_that_froze_past_its_lease_does_nothing_more_when_it_thaws(
    one_neo4j: EngineUnderTest, victims: list[Victim], stage: Stage, reader: str
) -> None:
    [talk], fault = talks(1), CrashPoint(stage=stage)
    arguments = one_neo4j.settings_arguments
    victims.append(Victim(stall_at, arguments, fault, [talk], wording="frozen"))
    assert victims[0].told() == "frozen"
    drained(one_neo4j, wording="quick")
    victims[0].thaw()
    assert victims[0].told() == "through"
    victims[0].kill()
    assert broken(one_neo4j) == []
    assert claimed(one_neo4j) == sorted(talk.claims(wording=reader))


def test_of_workers_that_nothing_happens_to_each_job_has_one(
    one_neo4j: EngineUnderTest, victims: list[Victim]
) -> None:
    arguments, long = one_neo4j.settings_arguments, {"lease_seconds": 60.0}
    given = talks(6)
    with opened(arguments):  # so that the store is made before they come
        pass
    victims.extend(Victim(work_on, arguments, given[n::3], **long) for n in range(3))
    for each in victims:
        each.told()
    jobs = drained(one_neo4j, **long)
    for each in victims:
        each.kill()
    assert [(each.state, each.attempts) for each in jobs] == [(JobState.DONE, 1)] * 6
    assert remembered(one_neo4j) == expected(given)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.faults(only=True)
def test_ten_workers_do_each_of_a_hundred_jobs_once(
    one_neo4j: EngineUnderTest, victims: list[Victim]
) -> None:
    arguments, long = one_neo4j.settings_arguments, {"lease_seconds": 60.0, "attempts_max": 3}
    given = talks(100)
    with opened(arguments, **long) as memory:
        for each in given:
            submit(memory, each)
        victims.extend(Victim(work_on, arguments, (), **long) for _ in range(10))
        while memory.queue().oldest_unfinished_at:
            time.sleep(0.5)
        jobs = memory.jobs(limit=1000)
    for each in victims:
        each.kill()
    assert Counter((each.state, each.attempts) for each in jobs) == {(JobState.DONE, 1): 100}
    assert broken(one_neo4j) == []
    assert remembered(one_neo4j) == expected(given)


@pytest.fixture
def dead_job(one_of_each: EngineUnderTest) -> Job:
    """The job of a session that ended each of its workers, as often as it may be begun."""
    few = {"attempts_max": 3}
    for number in range(3):
        killed(one_of_each, CrashPoint(stage=Stage.LEASED), talks(1) if number == 0 else (), **few)
    [job] = drained(one_of_each, **few)
    return job


@ON_ANY_ONE
def test_a_job_that_ends_all_its_workers_is_dead_and_says_why(dead_job: Job) -> None:
    assert dead_job.state is JobState.DEAD
    assert dead_job.last_error
    assert "without a report" in dead_job.last_error


@ON_ANY_ONE
def test_a_dead_job_is_done_after_a_retry(one_of_each: EngineUnderTest, dead_job: Job) -> None:
    with opened(one_of_each.settings_arguments) as memory:
        memory.contact(dead_job.scope.agent_id, dead_job.scope.contact_id).retry(dead_job.job_id)
    assert [each.state for each in drained(one_of_each)] == [JobState.DONE]
    assert remembered(one_of_each) == expected(talks(1))


def acknowledged_until_killed(
    engine: EngineUnderTest, victims: list[Victim], given: Sequence[Talk], seconds: float
) -> dict[Talk, str]:
    """The jobs of the talks that a submitter had handed over when it was killed."""
    victim = Victim(hand_over, engine.settings_arguments, given)
    victims.append(victim)
    first = victim.told()
    time.sleep(seconds)
    victim.kill()
    return dict([first, *victim.all_told()])


def test_a_killed_submitter_loses_nothing_that_it_was_told_is_kept(
    one_of_each: EngineUnderTest, victims: list[Victim]
) -> None:
    chance = faults.moments("a submitter")
    for number in range(faults.times(3, 5)):
        given = [Talk(number=each) for each in range(number * 500, number * 500 + 500)]
        jobs = acknowledged_until_killed(one_of_each, victims, given, chance.uniform(0, 0.15))
        assert 0 < len(jobs) < len(given)
        found = whole_sessions(one_of_each)
        assert {each.session_id: job_id for each, job_id in jobs.items()}.items() <= found.items()
        # The one that it was about to acknowledge may be there too, whole as well.
        handed_over = [each.session_id for each in given if each.session_id in found]
        assert len(handed_over) <= len(jobs) + 1
    assert len(raw_store.query(one_of_each, "MATCH (x:Session) RETURN 1")) == len(found)
    assert len(raw_store.query(one_of_each, "MATCH (x:Job) RETURN 1")) == len(found)


def whole_sessions(engine: EngineUnderTest) -> dict[str, str]:
    """The job of each session that has all its turns, each of that job."""
    rows = raw_store.query(
        engine,
        """
        MATCH (job:Job)-[:READS]->(session:Session)<-[:`IN`]-(x:Episode)
        WHERE x.job_id = job.job_id
        RETURN session.session_id, job.job_id, count(x)""",
    )
    return {session_id: job_id for session_id, job_id, turns in rows if turns == CANDIDATES}


def test_handing_over_again_after_a_kill_adds_no_turn_twice(
    one_of_each: EngineUnderTest, victims: list[Victim]
) -> None:
    jobs = acknowledged_until_killed(one_of_each, victims, talks(500), seconds=0.05)
    again = talks(len(jobs) + 3)
    with opened(one_of_each.settings_arguments) as memory:
        answers = {each: submit(memory, each) for each in again}
    assert jobs.items() <= answers.items()
    assert len(raw_store.query(one_of_each, "MATCH (x:Job) RETURN 1")) == len(again)
    turns = [text for [text] in raw_store.query(one_of_each, "MATCH (x:Episode) RETURN x.text")]
    assert sorted(turns) == sorted(turn.text for each in again for turn in each.turns)


@pytest.mark.slow
def test_workers_killed_at_any_moment_lose_nothing_and_repeat_nothing(
    one_of_each: EngineUnderTest, victims: list[Victim]
) -> None:
    is_embedded = one_of_each.name == "embedded"  # its file belongs to one process at a time
    at_once, kills = (1, faults.times(6, 12)) if is_embedded else (4, faults.times(10, 20))
    chance = faults.moments("a worker")
    working: list[Victim] = []
    for number, talk in enumerate(talks(kills)):
        working.append(Victim(work_on, one_of_each.settings_arguments, [talk]))
        victims.append(working[-1])
        while len(working) == at_once or (number == kills - 1 and working):
            victim = working.pop(chance.randrange(len(working)))
            victim.told()
            time.sleep(chance.uniform(0, 0.4))
            victim.kill()
    assert [each.state for each in drained(one_of_each)] == [JobState.DONE] * kills
    assert broken(one_of_each) == []
    assert remembered(one_of_each) == expected(talks(kills))


@pytest.mark.slow
def test_a_database_killed_in_mid_job_loses_nothing_and_repeats_nothing(
    mortal_server: MortalServer, victims: list[Victim]
) -> None:
    engine = mortal_server.engine
    with opened(engine.settings_arguments) as memory:
        for each in talks(4):
            submit(memory, each)
    # It hears of the end soon, gives up in the middle of a job, and outlives the database.
    impatient = {"reconcile": {"unavailable_seconds_max": 0.3}}
    victims.append(Victim(work_on, engine.settings_arguments | impatient, []))
    victims[0].told()
    time.sleep(0.5)
    mortal_server.kill()
    mortal_server.start_again()
    with opened(engine.settings_arguments) as memory:
        assert memory.queue().jobs[JobState.DONE] < 4
        memory.drain()
        assert memory.queue().jobs[JobState.DONE] == 4
    assert broken(engine) == []
    assert remembered(engine) == expected(talks(4))
