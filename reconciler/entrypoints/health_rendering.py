"""Shows the health of a memory on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from reconciler.entrypoints.rendering import lines, number_column, table
from reconciler.entrypoints.wording import counted, health_rows

if TYPE_CHECKING:
    from reconciler.domain.review.health import ContactHealth, HealthReport

_CONTACTS_SHOWN_MAX = 20


def health_view(report: HealthReport) -> Group:
    """The numbers of all contacts together, then those of the contacts with most to do."""
    return Group(_totals(report), _contacts(report.contacts))


def _totals(report: HealthReport) -> Table:
    title = f"Health of {report.agent_id}"
    return table(title, "", number_column("now"), "what it means", rows=health_rows(report))


def _contacts(contacts: Iterable[ContactHealth]) -> Text:
    """The contacts, those with most to do first."""
    listed = sorted(contacts, key=_troubles, reverse=True)
    left_out = len(listed) - _CONTACTS_SHOWN_MAX
    return lines(
        *(
            f"{contact.contact_id}: {', '.join([f'{contact.live} live', *_besides(contact)])}"
            for contact in listed[:_CONTACTS_SHOWN_MAX]
        ),
        f"and {left_out} contacts with less to be done" if left_out > 0 else None,
    )


def _besides(contact: ContactHealth) -> list[str]:
    """The other counts of a contact, without zeros."""
    ended = contact.expired + contact.archived + contact.superseded + contact.revoked
    counts = {
        f"{ended} ended": ended,
        counted(contact.duplicated, "duplicate"): contact.duplicated,
        f"{contact.rivalled_slots} stale": contact.rivalled_slots,
        counted(contact.disputes.count, "dispute"): contact.disputes.count,
        counted(contact.questions.count, "question"): contact.questions.count,
        f"{contact.refusals} refused": contact.refusals,
    }
    return [told for told, count in counts.items() if count]


def _troubles(contact: ContactHealth) -> tuple[int, int]:
    waits = contact.disputes.count + contact.questions.count
    return contact.duplicated + contact.rivalled_slots + waits, contact.live
