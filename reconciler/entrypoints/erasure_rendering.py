"""Shows erasures and their receipts on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.panel import Panel

from reconciler.entrypoints.rendering import Line, panel, panels
from reconciler.entrypoints.wording import counted

if TYPE_CHECKING:
    from reconciler.domain.records.erasures import Erasure


def erasures_view(erasures: Sequence[Erasure], none: str = "Nothing was forgotten.") -> Group:
    """Each erasure with its receipt; without any, the text that says so."""
    return panels(erasure_panel, erasures, none)


def erasure_panel(erasure: Erasure) -> Panel:
    """An erasure with its receipt: what was removed, what was searched, what remains."""
    receipt = erasure.receipt
    erased = ", ".join(
        counted(count, label.lower()) for label, count in receipt.removed.items() if count
    )
    nothing = "nothing; if something should have been there, check the name that you gave"
    verb = "texts would be erased from" if receipt.is_dry_run else "texts erased from"
    told: list[Line] = [
        f"{verb}: {erased or nothing}",
        f"held if they are said again: {receipt.tombstones}",
    ]
    if not receipt.is_dry_run:
        told.append(f"read again: {counted(receipt.verified, 'text')}, {_found(erasure)}")
    if receipt.searched_texts:
        searched = counted(receipt.searched_texts, "text")
        told.append(f"files searched for {searched}: {_in_files(erasure)}")
    return panel(
        *told,
        *((f"still hold words of it: {text_id}", "yellow") for text_id in receipt.elsewhere_ids),
        *((trace, "dim") for trace in receipt.traces),
        title=f"{erasure.kind} · {'dry run' if receipt.is_dry_run else erasure.state}",
        subtitle=f"{erasure.scope.contact_id} · by {erasure.by}",
    )


def _in_files(erasure: Erasure) -> str:
    receipt = erasure.receipt
    left, shared = receipt.texts_in_files, receipt.shared_texts
    found = f"{left} STILL THERE" if left else "none found"
    if not shared:
        return found
    which = "1 is a word or line" if shared == 1 else f"{shared} are words or lines"
    return (
        f"{found}; {which} that other records or the memory itself use too, such as an attribute's "
        "name, so the files hold it for them"
    )


def _found(erasure: Erasure) -> str:
    left = erasure.receipt.remaining_ids
    return f"NOT EMPTY: {', '.join(left)}" if left else "nothing of it found"
