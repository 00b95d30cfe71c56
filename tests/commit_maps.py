"""What ``commit_decisions`` takes, built from the few words that a test says about decisions."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import numpy as np

from reconciler.domain.records.notes import Scope
from reconciler.ports.graph import Graph, Row
from reconciler.service.stores.commits import contact_map
from tests.commits import committed

__all__ = [
    "ALICE",
    "DIMENSION",
    "EAST",
    "MODEL",
    "NOON",
    "by_row",
    "commit",
    "contacts",
    "decision",
    "update",
]

DIMENSION = 8
MODEL = "model@1"
ALICE = Scope("acme", "crm", "alice")
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
EAST = [1.0] + [0.0] * (DIMENSION - 1)

_SENT = contact_map([committed(ALICE, 0)])["commits"][0]
_OF_DECISION, _OF_FACT = tuple(_SENT["decision"]), tuple(_SENT["fact"])
_SLOT = (
    *("subject", "attribute", "value", "value_key", "slot_key"),
    *("is_single_valued", "is_known", "is_personal"),
)
_UNDOING = ("reverted_ids", "restored", "reopened", "unlinked", "unrested", "rested")
_SAID = ("decided_by", "reason", "at")


def decision(scope: Scope = ALICE, **changes: Any) -> dict[str, Any]:
    """Words for a decision: an ADD about a contact that nothing is known of.

    Beside the fields of decision and fact: ``version``, ``contact_name``, ``said_at`` and ``span``
    of its first episode, and whether that ``is_new``; ``evidence`` for the other ones; ``knows``,
    the sessions that were seen before; and the names of the commit's own keys.
    """
    new = {name: str(uuid.uuid4()) for name in ("decision_id", "fact_id", "episode_id")}
    usual: dict[str, Any] = {
        "scope": scope,
        "version": 0,
        "contact_name": None,
        "action": "ADD",
        "decided_by": "threshold",
        "reason": "the first fact about this contact",
        "text": "Prefers email",
        "cosine": None,
        "arbiter_reasoning": None,
        "door": "live",
        "trust": "user_explicit",
        "at": NOON,
        "session_id": "call-1",
        "disposal": "admit",
        "gate_reason": "admitted",
        "inference_key": "inference-1",
        "lapses_at": None,
        "proposed_by": "agent:crm",
        "answered_by": None,
        "settles_id": None,
        "held_id": None,
        "record": "{}",
        "said_at": NOON,
        "source_reference": None,
        "span": None,
        "is_new": False,
        "evidence": [],
        "knows": (),
        "importance": 0.5,
        "observations": 1,
        "valid_to": None,
        "state": "live",
        "is_void": None,
        "is_contested": False,
        "category": "fact",
        "confidence": 0.9,
        "sensitivity": "none",
        "is_redacted": False,
        "recall_semantics": "default",
        "yields_to_live_intent": False,
        "expires_at": None,
        "is_confirmed_by_user": False,
        "embedding_model": MODEL,
        "embedding": EAST,
        "superseded_ids": [],
        "conflicting_ids": [],
        "closed": [],
        "history_of_id": None,
        "restated_id": None,
        "kept": None,
        **{name: [] for name in _UNDOING},
        "neighbours": {},
    }
    usual |= new | changes
    said_at = usual["said_at"]
    derived = {"valid_from": said_at, "recorded_at": usual["at"], "last_confirmed_at": said_at}
    return dict.fromkeys(_OF_FACT) | derived | usual


def update(old: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Words for an UPDATE that says the fact of an earlier decision again, and ends it."""
    given = {
        "version": old["version"] + 1,
        "action": "UPDATE",
        "cosine": 0.96,
        "superseded_ids": [old["fact_id"]],
        "restated_id": old["fact_id"],
        "neighbours": {old["fact_id"]: 0.96},
    }
    return decision(old["scope"], **given | changes)


def skip(old: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Words for a SKIP: the fact of an earlier decision was said once more."""
    kept = {
        "fact_id": old["fact_id"],
        "observations": old["observations"] + 1,
        **{name: old[name] for name in ("confidence", "is_confirmed_by_user", "expires_at")},
        "last_confirmed_at": old["last_confirmed_at"],
        **dict.fromkeys(_SLOT),
    }
    given = {"version": old["version"] + 1, "action": "SKIP", "fact_id": old["fact_id"]}
    return decision(old["scope"], **given | {"kept": kept} | changes)


def commit(graph: Graph, *decisions: dict[str, Any]) -> list[Row]:
    """The rows of one transaction with all of these decisions."""
    given = {"contacts": contacts(*decisions), "embedding_model": None}
    return graph.run("commit_decisions", given)


def contacts(*decisions: dict[str, Any]) -> list[dict[str, Any]]:
    """The maps that the query takes: one a contact, in the order of their keys."""
    by_key: dict[str, list[dict[str, Any]]] = {}
    for each in decisions:
        by_key.setdefault(each["scope"].contact_key, []).append(each)
    return [_contact(by_key[key]) for key in sorted(by_key)]


def _contact(decisions: list[dict[str, Any]]) -> dict[str, Any]:
    first, last = decisions[0], decisions[-1]
    scope: Scope = first["scope"]
    ended: list[str] = []
    sessions = [_session(each) for each in _one_a_session(decisions)]
    return {
        "contact_key": scope.contact_key,
        "tenant": scope.tenant,
        "agent_id": scope.agent_id,
        "agent_key": scope.agent_key,
        "contact_id": scope.contact_id,
        "name": last["contact_name"],
        "version": first["version"],
        "next_version": first["version"] + len(decisions),
        **dict.fromkeys(("absorbs", "parts")),
        "unquoted": [],
        "at": last["at"],
        "known_sessions": [each for each in sessions if each["session_id"] in first["knows"]],
        "sessions": [each for each in sessions if each["session_id"] not in first["knows"]],
        "commits": [_commit(each, ended) for each in decisions],
    }


def _one_a_session(decisions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    told = [each for said in decisions for each in (said, *_evidence(said))]
    return list({each["session_id"]: each for each in reversed(told)}.values())


def _session(told: dict[str, Any]) -> dict[str, Any]:
    return {
        "session_key": told["scope"].session_key(told["session_id"]),
        "session_id": told["session_id"],
        "channel": told["door"],
        "started_at": told["said_at"],
        "ended_at": told["said_at"],
    }


def _commit(said: dict[str, Any], ended: list[str]) -> dict[str, Any]:
    is_revoked, is_written = said["action"] == "REVOKE", said["action"] in ("ADD", "UPDATE")
    ended += said["superseded_ids"]
    state = "revoked" if is_revoked else "superseded"
    episodes = [said, *_evidence(said)]
    return {
        "decision_id": said["decision_id"],
        "decision": {name: said[name] for name in _OF_DECISION},
        "span": said["span"],
        "new_episodes": [_episode(each) for each in episodes if each["is_new"]],
        "episodes": [_episode(each) for each in episodes if not each["is_new"]],
        "more_evidence": [
            {"episode_id": each["episode_id"], "span": each["span"]} for each in episodes[1:]
        ],
        "settles_id": said["settles_id"],
        "fact_id": said["fact_id"] if is_written else None,
        "fact": _fact(said) if is_written else None,
        "embedding": said["embedding"] if is_written else None,
        "supersessions": _supersessions(said) if is_written else [],
        "linked_ids": [] if is_revoked else list(said["superseded_ids"]),
        "ended_so_far_ids": list(ended),
        "states": [
            {"fact_id": each, "state": state, "valid_to": said["valid_from"], "is_void": None}
            for each in said["superseded_ids"]
        ],
        "revoked_ids": list(said["superseded_ids"]) if is_revoked else [],
        "conflicting_ids": list(said["conflicting_ids"]),
        "closed": [],
        "said": {name: said[name] for name in _SAID},
        "kept": said["kept"] and dict(said["kept"]),
        **{name: said[name] for name in _UNDOING},
        "compared": [
            {"fact_id": fact_id, "cosine": cosine, "rank": rank}
            for rank, (fact_id, cosine) in enumerate(said["neighbours"].items(), start=1)
        ],
    }


def _evidence(said: dict[str, Any]) -> list[dict[str, Any]]:
    """All its episodes but the first, each with what it does not say itself from the decision."""
    return [said | {"session_id": "call-1", "span": None} | each for each in said["evidence"]]


def _episode(told: dict[str, Any]) -> dict[str, Any]:
    return {
        "episode_id": told["episode_id"],
        "session_key": told["scope"].session_key(told["session_id"]),
        "text": told["text"],
        "said_at": told["said_at"],
        "source_kind": told["trust"],
        "source_reference": told["source_reference"],
    }


def _fact(said: dict[str, Any]) -> dict[str, Any]:
    vector = said["embedding"]
    as_bytes = None if vector is None else np.asarray(vector, dtype=np.float32).tobytes()
    return {name: as_bytes if name == "embedding_bytes" else said[name] for name in _OF_FACT}


def _supersessions(said: dict[str, Any]) -> list[dict[str, Any]]:
    pairs = [(said["fact_id"], old_id) for old_id in said["superseded_ids"]]
    if said["history_of_id"]:
        pairs.append((said["history_of_id"], said["fact_id"]))
    return [
        {
            "new_id": new_id,
            "old_id": old_id,
            "cosine": said["cosine"],
            **{name: said[name] for name in _SAID},
            "is_restatement": said["restated_id"] in (new_id, old_id),
        }
        for new_id, old_id in pairs
    ]


def by_row(columns: list[Row]) -> list[Row]:
    """The rows of a query that gives them as one row of columns."""
    return [
        dict(zip(held, row, strict=True))
        for held in columns
        for row in zip(*held.values(), strict=True)
    ]
