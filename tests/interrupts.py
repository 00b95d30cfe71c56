"""Interrupts, as Ctrl-C makes them: one at every point where Python lets one in."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from types import FrameType

__all__ = ["interrupt_everywhere"]


class _Interrupt(BaseException):
    """What a signal's handler raises."""


def interrupt_everywhere(call: Callable[[], object]) -> int:
    """Make a call again and again, each time interrupted one point later, until it gets through.

    Those points are where a function of Python's begins and where one of C's has returned: between
    them no signal is handled.

    Returns:
        How many points there were.
    """
    for point in count(1):
        rest = point

        def interrupt(_frame: FrameType, event: str, _argument: object) -> None:
            nonlocal rest
            rest -= event in ("call", "c_return")
            if not rest:
                raise _Interrupt

        sys.setprofile(interrupt)
        try:
            call()
        except _Interrupt:
            continue
        finally:
            sys.setprofile(None)
        return point - 1
    raise AssertionError("unreachable: every call gets through in the end")
