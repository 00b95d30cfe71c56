"""Shows the health of a memory on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table

from reconciler.entrypoints.rendering import (
    counted,
    id_column,
    number_column,
    short_column,
    table,
)

if TYPE_CHECKING:
    from reconciler.domain.review.health import ContactHealth, HealthReport, Waiting

_CONTACTS_SHOWN_MAX = 20


def health_view(report: HealthReport) -> Group:
    """The numbers of all contacts together, then those of the contacts with most to do."""
    return Group(_totals(report), _contacts(report.contacts))


def _totals(report: HealthReport) -> Table:
    total = report.total
    title = f"Health of {report.agent_id}"
    rows = (
        ("live facts", str(total.live), f"{total.expired} expired, {total.archived} archived, "
         f"{total.superseded} superseded, {total.revoked} revoked"),
        ("duplicates", _percent(total.duplicate_rate),
         f"{counted(total.near_pairs, 'pair')} of facts that seem to say the same, unlinked"),
        ("stale", _percent(total.stale_rate),
         f"{total.rivalled_slots} of {total.slots} single-valued attributes have several values"),
        ("disputes", str(total.disputes.count), _ages(total.disputes, "disputes")),
        ("questions", str(total.questions.count), _ages(total.questions, "pending")),
        ("answered yes", _percent(total.confirm_rate),
         f"{total.confirmations} of {counted(total.answers, 'answer')}"),
        ("refused", _percent(total.refusal_rate),
         f"{total.refusals} of {counted(total.attempts, 'note')}; `reconciler refusals` says why"),
        ("found nothing", _percent(total.empty_recall_rate),
         f"{total.empty_recalls} of {counted(total.recalls, 'recall')} by processes that write"),
        ("kept", str(total.decisions),
         f"{'decision' if total.decisions == 1 else 'decisions'}, "
         f"{counted(total.sessions, 'session')}, {counted(total.episodes, 'episode')}"
         f"{_size(report)}"),
        ("damaged", "–" if total.damaged is None else str(total.damaged),
         "not checked; `--check-records` reads every record" if total.damaged is None
         else "records that cannot be read; `reconciler forget` erases them"),
    )  # fmt: skip
    return table(title, "", number_column("now"), "what it means", rows=rows)


def _contacts(contacts: Iterable[ContactHealth]) -> Table:
    """The contacts, those with most to do first."""
    listed = sorted(contacts, key=_troubles, reverse=True)
    left_out = len(listed) > _CONTACTS_SHOWN_MAX
    title = f"The {_CONTACTS_SHOWN_MAX} of {len(listed)} contacts with most to be done"
    return table(
        title if left_out else "",
        id_column("contact"),
        number_column("live"),
        short_column("besides"),
        rows=(
            (contact.contact_id or "", str(contact.live), [*_besides(contact)])
            for contact in listed[:_CONTACTS_SHOWN_MAX]
        ),
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


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _ages(waiting: Waiting, command: str) -> str:
    if not waiting.count:
        return "nothing waits"
    return (
        f"up to a day {waiting.day}, a week {waiting.week}, a month {waiting.month}, longer "
        f"{waiting.longer}; `reconciler {command}` lists them"
    )


def _size(report: HealthReport) -> str:
    return "" if report.file_bytes is None else f", {report.file_bytes / 1e6:,.1f} MB on disk"
