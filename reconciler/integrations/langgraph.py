"""Memory for LangGraph: tools and context for the contact of a run, and a store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import partial
from threading import Lock
from typing import Any
from urllib.parse import unquote

from reconciler.errors import (
    ConfigurationError,
    DamagedRecordError,
    InvalidRequestError,
    InvalidScopeError,
    UnknownDecisionError,
)
from reconciler.frozen import Json, StringMap, Values

try:
    from langchain_core.messages import HumanMessage
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool
    from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp, Result, SearchItem, SearchOp
except ImportError as error:
    raise ConfigurationError(
        "reconciler.integrations.langgraph needs LangGraph: pip install 'langgraph>=1.2,<2'"
    ) from error

import anyio.to_thread
from cachetools import LRUCache, cached

from reconciler.bound_memory import ContactMemory
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Fact, RankedFact
from reconciler.domain.records.kinds import AnySourceKind
from reconciler.domain.records.notes import positive
from reconciler.integrations.langchain import CallableTool, sent_back
from reconciler.memory import Memory
from reconciler.service.tools.agent_tools import AgentTools

__all__ = [
    "ReconcilerStore",
    "RunTool",
    "contact_namespace",
    "langgraph_context",
    "langgraph_tools",
]

Namespace = tuple[str, ...]

_RUNS_MAX = 1_000
_SHOWN = "reconciler_shown"
"""The key under which a message of facts keeps their ids; no model sees it."""
_VALUE_KEYS = (
    *("text", "source_kind", "subject", "attribute", "value", "single_valued", "importance"),
    *("category", "topic"),
)
_FILTERS = ("attribute", "category", "topic", "subject")


def _tools_of_runs(memory: Memory, **bound: Any) -> Callable[[Values], AgentTools]:
    """Makes the tools of a run, bound by its configuration; keeps those of recent runs."""
    kept: LRUCache[Any, AgentTools] = LRUCache(_RUNS_MAX)
    tools_of = cached(kept, lock=Lock())(partial(memory.agent_tools, **bound))

    def tools(config: Values) -> AgentTools:
        given = config.get("configurable") or {}
        thread_id = given.get("thread_id")
        return tools_of(
            _named(given, "agent_id"),
            _named(given, "contact_id"),
            session_id=None if thread_id is None else str(thread_id),
            colleague=given.get("colleague"),
        )

    return tools


class RunTool(CallableTool):
    """One of an agent's tools, for the contact that the run's configuration names."""

    runs: Any

    def _run(self, ids: StringMap, /, *_: Any, config: RunnableConfig, **arguments: Any) -> str:
        return sent_back(self.runs(config), self.name, arguments, ids)


def langgraph_tools(
    memory: Memory,
    *,
    tenant: str | None = None,
    can_recall: bool = True,
    can_check: bool = False,
    budget_tokens: int | None = None,
    trusted_tools: Sequence[str] | None = None,
    with_colleague: bool = False,
) -> list[BaseTool]:
    """Make tools for all runs of a graph; each run names its contact.

    A run names ``agent_id``, ``contact_id`` and ``thread_id`` in ``config={"configurable": {…}}``.
    The thread is the notes' conversation; all notes without a thread share one conversation. A run
    that names no contact fails with ``InvalidScopeError``, and its model gets no answer.

    Args:
        memory: the memory; its opener closes it.
        tenant: the tenant; None for the configured one.
        can_recall: whether the tools include ``recall_contact``.
        can_check: whether the tools include ``check_before_acting``.
        budget_tokens: the size of one recall; None for 500.
        trusted_tools: as ``Memory.agent_tools`` takes it.
        with_colleague: whether the tool's description says that the model may note a colleague's
            word. If one of your own people takes part in a run, the run names this person as
            ``colleague``, beside the contact; in any other run a colleague's word is refused.
    """
    bound: Json = {
        "tenant": tenant,
        "can_recall": can_recall,
        "can_check": can_check,
        "budget_tokens": budget_tokens,
        "trusted_tools": trusted_tools,
    }
    described = memory.agent_tools(
        "any", "any", colleague="any" if with_colleague else None, **bound
    )
    return RunTool.of(described, runs=_tools_of_runs(memory, **bound))


def langgraph_context(
    memory: Memory, *, tenant: str | None = None, budget_tokens: int | None = None
) -> Callable[[Values, RunnableConfig], dict[str, list[HumanMessage]]]:
    """Make a node before the model's, or a ``pre_model_hook``, that adds context to replies.

    It adds ``ContactMemory.context`` to the ``messages``, as data, once for each of the person's
    turns. The message and the checkpoint of the thread keep the ids of the shown facts. Facts of a
    message that is removed from the state count as not shown. The run names agent and contact as
    for ``langgraph_tools``.

    Args:
        memory: the memory; its opener closes it.
        tenant: the tenant; None for the configured one.
        budget_tokens: as ``ContactMemory.context`` takes it.
    """

    def with_context(state: Values, config: RunnableConfig) -> dict[str, list[HumanMessage]]:
        given = config.get("configurable") or {}
        names = _named(given, "agent_id"), _named(given, "contact_id")
        heard = [message for message in state["messages"] if isinstance(message, HumanMessage)]
        if not heard or _SHOWN in heard[-1].response_metadata:
            return {"messages": []}
        kept = [
            each.response_metadata[_SHOWN] for each in heard if _SHOWN in each.response_metadata
        ]
        shown = [fact_id for ids in kept for fact_id in ids] if kept else None
        context = memory.contact(*names, tenant=tenant).context(
            [{"role": "user", "content": heard[-1].content}],
            budget_tokens=budget_tokens,
            shown=shown,
        )
        if not context.text:
            return {"messages": []}
        told = HumanMessage(
            context.text,
            id=heard[-1].id and f"{heard[-1].id}-context",
            response_metadata={_SHOWN: context.new_ids(shown or ())},
        )
        return {"messages": [told]}

    return with_context


def contact_namespace(agent_id: str, contact_id: str) -> tuple[str, str]:
    """Return the namespace of a contact in a ``ReconcilerStore``.

    LangGraph forbids dots in a namespace; they are escaped, as in a URL, and so is ``%``.
    """
    return _label(agent_id), _label(contact_id)


@dataclass(eq=False, repr=False, slots=True)
class ReconcilerStore(BaseStore):
    """A LangGraph store of the facts about contacts. Safe to share between threads.

    A namespace is an agent and a contact. A value that is put goes through the write gate and the
    reconciler, as every note does: it may be held or refused, or replace a value that was put under
    another key. So an item is the present fact, and a key may have none.

    ``put``: the value has ``text``, and may have ``source_kind``, ``subject``, ``attribute``,
        ``value``, ``single_valued``, ``importance``, ``category`` and ``topic``. If the same value
        is put again under the same key, while it holds, it is written once; after another value it
        is a new note. It reads the contact's whole history. ``index`` is ignored.
    ``get``: the present value under the key, or the fact with that id; None if the value ended,
        waits for a yes, or was put earlier under another key. It reads the contact's whole history.
    ``search``: recalls, within one namespace. Keys are ids of facts. Standing constraints come with
        the first page, beyond the limit. A filter compares ``attribute``, ``category``, ``topic``
        and ``subject`` with one value each.
    ``delete`` is refused, because no agent may end facts; ``ContactMemory.revoke`` ends one.
    ``list_namespaces`` is refused; ``AgentMemory.contacts`` lists an agent's contacts.

    Args:
        memory: the memory; its opener closes it.
        source_kind: the kind of source of a value that does not name one; a model's guess is never
            written.
        tenant: the tenant; None for the configured one.
        session_id: the conversation under which values are filed; None for one per UTC day.
        on_decision: called with the decision about every value that was put, since ``put`` returns
            nothing.
    """

    memory: Memory
    _: KW_ONLY
    source_kind: AnySourceKind
    tenant: str | None = None
    session_id: str | None = None
    on_decision: Callable[[Decision], None] = lambda _: None

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out the operations in order; if one fails, the operations before it are kept.

        Raises:
            InvalidRequestError: a namespace, a value or a filter cannot be used.
            ReconcilerError: a call of the memory failed.
        """
        return [self._result(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out the operations in a thread."""
        return await anyio.to_thread.run_sync(self.batch, list(ops))

    def _result(self, op: Op) -> Result:
        if isinstance(op, PutOp):
            if op.value is None:
                raise InvalidRequestError(
                    "this store deletes nothing: no agent may end a fact; call "
                    "ContactMemory.revoke or ContactMemory.forget"
                )
            self._put(op, op.value)
            return None
        if isinstance(op, GetOp):
            return self._get(op.namespace, op.key)
        if isinstance(op, SearchOp):
            return list(self._search(op))
        raise InvalidRequestError(
            f"this store has no operation {type(op).__name__}; Memory.agent(…).contacts() lists "
            "an agent's contacts"
        )

    def _about(self, namespace: Namespace) -> ContactMemory:
        return self.memory.contact(*_contact(namespace), tenant=self.tenant)

    def _put(self, op: PutOp, value: Values) -> None:
        about = self._about(op.namespace)
        if unknown := [str(name) for name in value if name not in _VALUE_KEYS]:
            raise InvalidRequestError(
                f"a value takes no {', '.join(unknown[:5])}; it takes {', '.join(_VALUE_KEYS)}"
            )
        fields = {name: given for name, given in value.items() if name != "text"}
        decision = about.note(
            value.get("text", ""),
            session_id=self.session_id,
            idempotency_key=_key(about, op, value),
            tags=[op.key],
            **({"source_kind": self.source_kind} | fields),
        )
        self.on_decision(decision)

    def _get(self, namespace: Namespace, key: str) -> Item | None:
        fact = self._fact(namespace, key)
        if fact is None:
            return None
        return Item(
            value=_value(fact),
            key=key,
            namespace=namespace,
            created_at=fact.recorded_at,
            updated_at=fact.last_confirmed_at,
        )

    def _fact(self, namespace: Namespace, key: str) -> Fact | None:
        """Return the present fact of the value that was last put under a key; None without one."""
        chains = self._about(namespace).history()
        hides_expired = self.memory.settings.life.expired == "hidden"
        facts = [
            (fact.recorded_at, chain.facts[0])
            for chain in chains
            for fact in chain.facts
            if chain.facts[0].is_told(hides_expired=hides_expired)
            and (fact.fact_id == key or key in fact.tags)
        ]
        return max(facts, key=lambda pair: pair[0], default=(None, None))[1]

    def _search(self, op: SearchOp) -> Iterator[SearchItem]:
        about = self._about(op.namespace_prefix)
        asked = op.filter or {}
        usable = {name for name, one in asked.items() if name in _FILTERS and isinstance(one, str)}
        if wrong := [name for name in asked if name not in usable]:
            raise InvalidRequestError(
                f"a filter compares {', '.join(_FILTERS)} with one string each; leave out "
                f"{wrong[0]!r}"
            )
        positive("limit", op.limit)
        positive("offset", op.offset, least=0)
        recalled = about.recall(op.query or "", limit=op.limit + op.offset, **asked)
        chosen = [hit for hit in recalled if not hit.is_standing]
        standing = [hit for hit in recalled if hit.is_standing and op.offset == 0]
        for hit in (*chosen[op.offset : op.offset + op.limit], *standing):
            yield _found(hit, op.namespace_prefix)


def _named(given: Values, name: str) -> str:
    if not isinstance(named := given.get(name), str) or not named:
        raise InvalidScopeError(
            f"the run's configuration has no {name}; invoke the graph with "
            f"config={{'configurable': {{'{name}': …}}}}"
        )
    return named


def _label(identifier: str) -> str:
    return identifier.replace("%", "%25").replace(".", "%2E")


def _contact(namespace: Namespace) -> tuple[str, str]:
    """Return the agent and the contact of a namespace.

    Raises:
        InvalidRequestError: it is not a namespace of a contact.
    """
    is_path = isinstance(namespace, tuple | list) and all(isinstance(a, str) for a in namespace)
    if not is_path or len(namespace) != 2:
        raise InvalidRequestError(
            "a namespace has two labels, (agent_id, contact_id), both strings, as "
            "contact_namespace returns it"
        )
    return unquote(namespace[0]), unquote(namespace[1])


def _key(about: ContactMemory, op: PutOp, value: Values) -> str:
    """Make the idempotency key of a value: from the value, its key and its occasion.

    The occasion is the previous value under the key: "Basic" after "Premium" differs from a first
    "Basic". A live fact that this value itself wrote does not count, so that a retry finds its own
    decision. Texts cannot be compared: the gate redacts them.
    """
    put = [fact for chain in about.history() for fact in chain.facts if op.key in fact.tags]
    put.sort(key=lambda fact: (fact.recorded_at, fact.fact_id))
    before_newest, newest = (["", "", *(fact.fact_id for fact in put)])[-2:]
    if put and put[-1].is_live:
        earlier = _key_after(about, op, before_newest, value)
        with suppress(UnknownDecisionError, DamagedRecordError):
            if about.decision(idempotency_key=earlier).fact_id == newest:
                return earlier
    return _key_after(about, op, newest, value)


def _key_after(about: ContactMemory, op: PutOp, fact_id: str, value: Values) -> str:
    """Make the idempotency key of a value that is put under its key after this fact."""
    try:
        said = json.dumps([op.key, dict(value), fact_id], sort_keys=True, default=str)
    except (ValueError, RecursionError):
        raise InvalidRequestError(
            "a value contains itself, or is nested too deeply; give plain texts and numbers"
        ) from None
    return f"store-{about.digest(said)}"


def _value(fact: Fact) -> Json:
    slot = fact.slot
    filed = (
        {"subject": slot.subject, "attribute": slot.attribute, "value": slot.value} if slot else {}
    )
    return {
        "text": fact.text,
        "source_kind": str(fact.trust),
        "category": str(fact.category),
        "topic": fact.topic,
        "importance": fact.importance,
        **filed,
    }


def _found(hit: RankedFact, namespace: Namespace) -> SearchItem:
    fact = hit.fact
    return SearchItem(
        namespace=namespace,
        key=fact.fact_id,
        value=_value(fact)
        | ({"is_standing": True} if hit.is_standing else {})
        | ({"account": hit.account} if hit.account else {}),
        created_at=fact.recorded_at,
        updated_at=fact.last_confirmed_at,
        score=hit.score,
    )
