"""No regular expression can run away: of each a proof says how long it can be about a text.

The proof is by the pattern's automaton, see ``backtracking``; it counts what grows with a text, and
no constant factor. So each pattern is also tried on texts pumped from itself.
"""

from __future__ import annotations

import pytest

from reconciler.domain.records.candidates import EVIDENCE_LENGTH_MAX
from reconciler.domain.records.notes import TEXT_LENGTH_MAX
from tests import faults
from tests.fuzz.backtracking import prove
from tests.fuzz.patterns import SECONDS_MAX, Pattern, every_pattern
from tests.hostile_notes import seconds_of

pytestmark = pytest.mark.timeout(900)  # half a minute alone, minutes beside others

STEPS_MAX = EVIDENCE_LENGTH_MAX**2
"""A square of the longest text, which takes less than a second; see ``test_patterns``."""

EXEMPT = {
    r"(?i)://[^\s\"'<>]{1,300}?[?&;#](?:sig|": "its last repeat only ends a match, and never fails",
}
"""What a pattern begins with of which more is proved than is true, and why it is not."""

_SHORT, _SHORT_SECONDS_MAX = 300, 0.3
"""An exponential pattern takes far longer for a text of that length, any other far less."""


@pytest.fixture(scope="module")
def patterns() -> list[Pattern]:
    """Every pattern once, as of the module with the longest texts."""
    ordered = sorted(every_pattern(), key=lambda each: each.length_max)
    return list({(each.library, each.text, each.flags): each for each in ordered}.values())


def test_no_pattern_can_run_away(patterns: list[Pattern]) -> None:
    found = [
        f"{pattern.module}: {proof}\n  {pattern.text[:300]!r}"
        for pattern in patterns
        if not pattern.text.startswith(tuple(EXEMPT))
        and (proof := pattern.proof()).steps > STEPS_MAX
    ]
    assert not found, (
        "a text fits in too many ways; make repeats possessive, or alternatives disjoint:\n"
        + "\n".join(found)
    )


def test_no_pattern_runs_away_on_a_short_text_pumped_from_itself(patterns: list[Pattern]) -> None:
    found = [
        f"{pattern.module}: {took:.2f} s for {pump}\n  {pattern.text[:300]!r}"
        for pattern in patterns
        for pump in pattern.pumps
        if (took := pattern.seconds(pump.text(_SHORT))) > _SHORT_SECONDS_MAX
    ]
    assert not found, "\n".join(found)


@pytest.mark.faults
def test_no_note_pumped_from_a_pattern_takes_a_second(patterns: list[Pattern]) -> None:
    pumps = [max(each.pumps, key=lambda pump: len(pump.before)) for each in patterns if each.pumps]
    notes = [pump.text(TEXT_LENGTH_MAX) for pump in pumps[:: 1 if faults.EVERY_CALL else 8]]
    taken = seconds_of(notes, timeout_seconds=200)
    slow = [note[:60] for note, took in zip(notes, taken, strict=True) if took > SECONDS_MAX]
    assert not slow


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:a|a)*b",
        r"(?:a*)*b",
        r"(?:\w+ ?)*x",
        r"(?:\d{1,3}[.,]?)*x",
        r"(?:(?:a?)*b)*c",
        r"(?:a(?:x?|y?))*b",
        r"(?:[a-z]+|ab)*(?=c)",
        r"(?!(?:\wa|\da)+x)y",
        r"(?:\w{20,}\n?)*\w{60,}\Z",
        r"(?>(?:a|aa)*b)",
        r"(?i)(?:ka|Ka)*x",
        r"((?:ab|a|b)+)\1x",
    ],
)
def test_what_fits_in_two_ways_again_and_again_is_exponential(pattern: str) -> None:
    assert prove(pattern, 0, 2_000).is_exponential


@pytest.mark.parametrize(
    ("pattern", "power"),
    [
        (r"abc", 1),
        (r"(?<!\w)\w+x", 1),
        (r"\b\w{1,40}x", 1),
        (r"^\w++\w+x", 1),
        (r"^(?:\w++ ?)*x", 1),
        (r"^(?>a|a)*+b", 1),
        (r"^(?:type|(?=t)type)++x", 1),
        (r"\w+x", 2),
        (r"^\w+\s*\w+x", 2),
        (r"^(?:(?=\w*x)a)*", 2),
        (r"\w+\s*\w+x", 3),
        (r"^\w*\w*\w*x", 3),
        (r"\s+.+\s+$", 4),
    ],
)
def test_how_fast_a_pattern_grows_is_told_by_its_loops(pattern: str, power: int) -> None:
    growth = prove(pattern, 0, 20_000).steps / prove(pattern, 0, 2_000).steps
    assert growth == pytest.approx(10**power)
