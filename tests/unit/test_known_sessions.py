"""A known session: a commit moves its end, and its start only if the note is earlier."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from reconciler import Scope
from reconciler.service.stores.commits import contact_map
from reconciler.service.stores.rows import no_vectors
from reconciler.service.writing.neighbourhoods import Neighbourhood
from tests.commits import NOON, committed

ALICE = Scope("acme", "crm", "alice")
KEY = ALICE.session_key("call-1")
EARLIER, LATER = NOON - timedelta(hours=1), NOON + timedelta(hours=1)


def test_what_was_said_before_a_known_session_began_looks_the_session_up() -> None:
    for began, kind in ((EARLIER, "known_sessions"), (NOON, "known_sessions"), (LATER, "sessions")):
        commit = replace(committed(ALICE, 1), known_sessions={KEY: began})
        written = contact_map([commit])
        told = {name: written[name] for name in ("known_sessions", "sessions")}
        [session] = told.pop(kind)
        assert session["started_at"] == NOON
        assert [*told.values()] == [[]]


def test_a_neighbourhood_knows_from_when_on_a_session_had_begun() -> None:
    known = Neighbourhood(0, [], no_vectors(0))
    for version, at in enumerate((NOON, LATER, EARLIER)):
        assert known.apply(committed(ALICE, version, said_at=at))
        assert known.sessions == {KEY: NOON}  # it may have begun earlier, and no later
