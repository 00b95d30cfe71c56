"""The package's weight: a reader's time is counted in tokens, and may not grow unnoticed."""

from __future__ import annotations

from pathlib import Path

from tools.weigh import PAGE, ROOMS, tokens, weights

ROOT = Path(__file__).resolve().parents[2]
TOKENS_MAX = {
    "reading": 55_650,
    "core": 265_500,
    "ops": 24_700,
    "serve": 28_300,
    "integrations": 5_850,
    "entrypoints": 20_350,
    "all": 400_000,
}
LEXICON_BYTES_MAX = 186_800

SOURCE = b'''"""What it is."""

# why
def one():
    "Gives it."

    return (
        1
    )
'''


def test_a_docstring_a_comment_and_a_blank_line_weigh_nothing() -> None:
    assert tokens(iter(SOURCE.splitlines(keepends=True))) == 9  # def one ( ) : return ( 1 )


def test_no_room_weighs_more_than_its_bound() -> None:
    weighed = weights()
    weighed["all"] = weighed.total()
    assert {room: weight for room, weight in weighed.items() if weight > TOKENS_MAX[room]} == {}


def test_the_architecture_tells_what_each_room_weighs() -> None:
    rows = [line.split("|")[1:-1] for line in PAGE.read_text(encoding="utf-8").splitlines()]
    told = {row[0].strip(): row[2] for row in rows if len(row) == 3 and row[0].strip() in ROOMS}
    weighed = weights()
    assert all(
        abs(int(told[room].replace(",", "")) - weighed[room]) <= weighed[room] / 50
        for room in ROOMS
    ), "run `python -m tools.weigh --write`"


def test_the_word_lists_weigh_no_more_than_their_bound() -> None:
    files = (ROOT / "config" / "lexicon").glob("*.toml")
    assert sum(file.stat().st_size for file in files) <= LEXICON_BYTES_MAX
