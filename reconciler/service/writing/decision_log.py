"""One structured log record for every written decision, for the operator.

It holds ids, words of the code and numbers; never a text or a name. The logger is
``reconciler.decisions``, the level INFO. The fields are attributes of the record, for formatters
and handlers.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from reconciler.domain.records.decisions import Decision, RecordedOpinion
from reconciler.service.stores.commits import taken

LOGGER_NAME: Final = "reconciler.decisions"
_log = logging.getLogger(LOGGER_NAME)


def log_decision(decision: Decision, commit_ms: float) -> None:
    """Log a decision that was written.

    Args:
        decision: as it was written.
        commit_ms: milliseconds that the commit took, by itself or its share of a batch's.
    """
    if not _log.isEnabledFor(logging.INFO):
        return
    told = _log_fields(decision, commit_ms)
    _log.info(
        "%s by %s%s in %.1f ms, decision %s about %s of %s",
        told["action"],
        told["decided_by"],
        "" if told["cosine"] is None else f" at {told['cosine']:.4f}",
        told["ms"],
        told["decision_id"],
        told["contact_id"],
        told["agent_id"],
        extra=told,
    )


def _log_fields(decision: Decision, commit_ms: float) -> dict[str, Any]:
    timings = decision.timings
    parts = taken(timings, "embed_ms", "compare_ms", "arbitrate_ms") | {"commit_ms": commit_ms}
    return {
        **taken(decision, "decision_id", "fact_id", "door", "action", "decided_by", "cosine"),
        **taken(decision.scope, "tenant", "agent_id", "contact_id"),
        "session_id": decision.note.session_id,
        "gate_reason": str(decision.gate.reason) if decision.gate else None,
        "arbiter": _outcome(decision.opinion),
        "attempts": timings.attempts,
        **{name: round(value, 3) for name, value in parts.items()},
        "ms": round(sum(parts.values()), 3),
    }


def _outcome(opinion: RecordedOpinion) -> str | None:
    """The arbiter's outcome in a word; None if it was not asked."""
    if opinion.arbiter is None:
        return None
    if opinion.error is None:
        return "cached" if opinion.is_cached else "answered"
    if opinion.error.startswith("circuit open"):
        return "circuit_open"
    return "over_budget" if opinion.error.startswith("over the budget") else "not_used"
