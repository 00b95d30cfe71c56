"""Bent structures: another value or type, a part less, twice, or elsewhere.

Drawn with ``random.Random``, by one number, and not with strategies: an archive has thousands of
places, and to choose one of them through a strategy takes longer than to try it.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

__all__ = ["SEEDS", "bent", "bent_bytes", "bent_lines", "bent_text"]

_ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**400, 0.5, -0.0, 1e308),
    *(float("nan"), float("inf"), "", " ", "x", "\0", "\ud800", "\u202e", "x" * 300, "x" * 3000),
    *("null", "[]", "{}", "{", "2026-01-31", "2026-01-31T09:00:00", "2026-01-31T09:00:00+00:00"),
    *("9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "../../x", "live", "ADD", "noop"),
    *([], {}, [None], [[]], {"": None}, {"a": {"b": []}}, ["x"] * 200, [1, "a", None]),
)


def bent(value: Any, chance: random.Random, times_max: int = 3) -> Any:
    """A copy of what JSON or TOML can say, bent in one to a few places."""
    made = copy.deepcopy(value)
    for _ in range(chance.randint(1, times_max)):
        made = _bent_once(made, chance)
    return made


def _bent_once(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict | list) and value and chance.random() < 0.8:
        key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
        if chance.random() < 0.6:
            value[key] = _bent_once(value[key], chance)
        else:
            chance.choice(_OF_A_PART)(value, key, chance)
        return value
    return chance.choice(_OF_A_VALUE)(value, chance)


def _dropped(held: Any, key: Any, _: random.Random) -> None:
    del held[key]


def _doubled(held: Any, key: Any, chance: random.Random) -> None:
    if isinstance(held, list):
        held.insert(chance.randint(0, len(held)), copy.deepcopy(held[key]))
    else:
        held[f"{key}_"] = copy.deepcopy(held[key])


def _swapped(held: Any, key: Any, chance: random.Random) -> None:
    other = chance.choice(list(held) if isinstance(held, dict) else range(len(held)))
    held[key], held[other] = held[other], held[key]


def _wrapped(held: Any, key: Any, chance: random.Random) -> None:
    held[key] = [held[key]] if chance.random() < 0.5 else {"value": held[key]}


def _replaced(held: Any, key: Any, chance: random.Random) -> None:
    held[key] = copy.deepcopy(chance.choice(_ODD))


_OF_A_PART: tuple[Callable[[Any, Any, random.Random], None], ...] = (
    *(_dropped, _doubled, _swapped, _wrapped, _replaced, _replaced),
)


def _odd(_: Any, chance: random.Random) -> Any:
    return copy.deepcopy(chance.choice(_ODD))


def _near(value: Any, chance: random.Random) -> Any:
    """Nearly the same: a number beside it, a letter more or less, its text, its type's nothing."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float):
        return chance.choice((value + 1, -value, value * 10, str(value)))
    if isinstance(value, str):
        return chance.choice(
            (value[:-1], value + "x", value.upper(), value * 2, value[::-1], [value])
        )
    return type(value)()


_OF_A_VALUE: tuple[Callable[[Any, random.Random], Any], ...] = (_odd, _near, _near)


def bent_text(text: str, chance: random.Random) -> str:
    """A text with a line less, twice or elsewhere, a letter changed, or cut off."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    bend = chance.randrange(7)
    if bend == 0:
        del lines[at]
    elif bend == 1:
        lines.insert(chance.randint(0, len(lines)), lines[at])
    elif bend == 2:
        chance.shuffle(lines)
    elif bend == 3:
        lines[at] = lines[at][: chance.randint(0, len(lines[at]))]
    elif bend == 4:
        place = chance.randint(0, len(lines[at]))
        lines[at] = lines[at][:place] + str(chance.choice(_ODD)) + lines[at][place:]
    elif bend == 5:
        return text[: chance.randint(0, len(text))]
    else:
        name, _, _ = lines[at].partition("=")
        lines[at] = f"{name}= {_literal(chance)}"
    return "\n".join(lines)


def _literal(chance: random.Random) -> str:
    """A value as TOML writes one, or nearly."""
    return chance.choice(
        (
            *("true", "-1", "0", "1e400", "nan", "inf", "9223372036854775808", "[]", "{}", '""'),
            *("'x'", "2026-01-31", "2026-01-31T09:00:00Z", "07:00:00", '["x", 1]', "{a = 1}", "?"),
            *('"\\u0000"', '"\\ud800"', "0xFFFFFFFFFFFFFFFFFF", "[" * 400, '"' + "(a+)+" * 9 + '"'),
        )
    )


def bent_bytes(data: bytes, chance: random.Random) -> bytes:
    """Bytes with some changed, cut off, put in, or in another encoding."""
    at = chance.randrange(len(data) + 1)
    bend = chance.randrange(6)
    if bend == 0:
        return data[:at]
    if bend == 1:
        return data[:at] + chance.randbytes(chance.randint(1, 8)) + data[at:]
    if bend == 2:
        return data[:at] + chance.randbytes(4) + data[at + 4 :]
    if bend == 3:
        return data.decode("utf-8", "replace").encode(
            chance.choice(("utf-16", "utf-32", "utf-8-sig"))
        )
    if bend == 4:
        return data + data[:at]
    return data.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\n\n", b"")))


def bent_lines(lines: list[Any], chance: random.Random) -> bytes:
    """JSON lines of these objects, after they were bent, as bytes that may be bent once more."""
    made = bent(lines, chance)
    listed = made if isinstance(made, list) else [made]
    text = "\n".join(json.dumps(each) for each in listed)
    data = text.encode("utf-8", "surrogatepass")
    return bent_bytes(data, chance) if chance.random() < 0.2 else data


SEEDS = st.integers(0, 2**32)
"""What a bend is chosen by: the same number bends in the same way."""
