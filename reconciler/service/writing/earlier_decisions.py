"""Earlier decisions about an inference, and whether they still wait. Writes nothing.

If later words answered a question, no decision records that. But ``pending`` lists the question no
longer, and a yes to it is refused. So a new question may not be filed under it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from reconciler.domain.gate.precedents import EarlierDecision
from reconciler.domain.gate.questions import answer_to
from reconciler.domain.records.scope import Scope
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore


def earlier_decisions(
    fact_store: FactStore,
    decision_store: DecisionStore,
    scope: Scope,
    inference_key: str,
    now: datetime,
) -> list[EarlierDecision]:
    """The decisions about an inference about the contact, the oldest first.

    Args:
        fact_store: has what may answer a held note.
        decision_store: the store of decisions.
        scope: the contact that the inference is about.
        inference_key: the key of the inference.
        now: the time now (UTC).
    """
    earlier = decision_store.list_earlier(scope, inference_key)
    waiting = {decision.decision_id for decision in earlier if decision.is_pending(now)}
    if not waiting:
        return earlier
    facts = fact_store.list_facts(scope)
    kept = {decision_id: decision_store.get_decision(scope, decision_id) for decision_id in waiting}
    return [
        replace(
            decision,
            is_answered_since=answer_to(held, facts) is not None,
            is_silent=held.question is None,
        )
        if (held := kept.get(decision.decision_id))
        else decision
        for decision in earlier
    ]
