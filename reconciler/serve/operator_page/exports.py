"""Exports: the rows of a list as CSV, for a spreadsheet, or as JSON.

The cells hold the same texts as the page. A cell of a CSV is plain text: nothing in it is hidden,
and no spreadsheet reads it as a formula.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from starlette.responses import Response

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Dispute
from reconciler.memory import Memory
from reconciler.reading.visible_text import visible
from reconciler.serve.operator_page import words
from reconciler.serve.wording import json_text

KINDS = {"csv": "text/csv", "json": "application/json"}
"""The kinds of file, each with its media type."""


def exported(memory: Memory, kind: str, items: Iterable[Decision | Dispute]) -> Response:
    """Return the rows of a list as a file of that kind, which a browser saves."""
    rows, written = [_row(memory, each) for each in items], io.StringIO(newline="")
    if kind == "json":
        written.write(json_text(rows, indent=2))
    else:
        table = csv.DictWriter(written, dict.fromkeys(name for row in rows for name in row))
        table.writeheader()
        table.writerows({name: _cell(row[name]) for name in row} for row in rows)
    headers = {"Content-Disposition": f"attachment; filename=memory.{kind}"}
    return Response(written.getvalue(), headers=headers, media_type=KINDS[kind])


def _row(memory: Memory, item: Decision | Dispute) -> dict[str, Any]:
    """Make one row; the ids are of the decision, or of the facts in dispute."""
    if isinstance(item, Dispute):
        return {
            "contact_id": item.scope.contact_id,
            "ids": [fact.fact_id for fact in item.facts],
            "outcome": "dispute",
            "at": item.opened_at,
            "about": [fact.text for fact in item.facts],
        }
    return {
        "contact_id": item.scope.contact_id,
        "ids": [item.decision_id],
        "outcome": words.action(item),
        "at": item.at,
        "about": [words.subject_of(memory, item)],
        "took_the_place_of": words.replaced_by(item),
        "text": item.text,
        "question": item.question and words.question(item),
        "source": item.note.trust,
        "gate_reason": item.judged.reason,
        "by": words.person(item),
    }


def _cell(value: Any) -> str:
    """Return a value as the text of a cell, after an apostrophe if it would be a formula."""
    text = visible(" · ".join(value) if isinstance(value, list) else str(value or ""))
    return f"'{text}" if text.lstrip()[:1] in {*"=+-@"} else text
