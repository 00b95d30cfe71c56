"""The functions of ``reconciler.ops`` as calls of what they take first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from reconciler import AgentMemory, ContactMemory, Memory, ops

__all__ = ["OPS", "call_of", "ops_of"]

OF_BOTH = ("export", "health", "import_from", "report")
OPS: Mapping[type, tuple[str, ...]] = {
    Memory: ("backup", "cancel_reembed", "export", "model_move", "reembed", "resend"),
    AgentMemory: (*OF_BOTH, "digest"),
    ContactMemory: (*OF_BOTH, "contact_page"),
}
"""Which functions take what; ``restore`` takes no memory."""


def ops_of(kind: type) -> dict[str, Callable[..., Any]]:
    """The functions of this class, by name, with their first parameter filled by nothing."""
    return {name: partial(getattr(ops, name), None) for name in OPS.get(kind, ())}


def call_of(held: Any, name: str) -> Callable[..., Any]:
    """The method of this name, or the function of ``ops`` over what is held."""
    return (
        partial(getattr(ops, name), held)
        if name in OPS.get(type(held), ())
        else getattr(held, name)
    )
