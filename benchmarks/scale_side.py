"""One store of the benchmark ``scale``: a process that fills it, and times and weighs calls on it.

Reads a JSON line ``{"do": name, …}`` from stdin, answers with one on stdout, as ``core_side`` does.
Facts of others are copies, made inside the engine, of a contact whose notes came by the door: all
that a copy has of its own is a number at the end of each id.
"""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import neo4j
import numpy as np
from numpy.typing import NDArray

from benchmarks.core_side import AGENT, RandomEmbedder, _milliseconds, answer, opened_file
from reconciler import Decision, Memory, ops
from reconciler.adapters.local_embedder import LocalEmbedder
from reconciler.adapters.onnx_minilm import OnnxMinilm
from reconciler.bootstrap.chosen_models import REACH_OF_PACKAGED
from reconciler.config_files import load_reach
from reconciler.errors import ReconcilerError
from reconciler.settings import load_settings

ZEROS = "0" * 12
"""How every id of the contact that is copied ends; a copy has its number there."""

TEMPLATE = f"customer-{ZEROS}"
COMPANY = "company-"
"""How the id of an account begins; the contact that is copied belongs to the first of them."""

FIRST_COMPANY = f"{COMPANY}0"
NODES = {
    "Contact": "contact_key",
    "Session": "session_key",
    "Episode": "episode_id",
    "Fact": "fact_id",
    "Decision": "decision_id",
}
LINKS = {
    "WITH": ("Session", "Contact"),
    "IN": ("Episode", "Session"),
    "ABOUT": ("Fact", "Contact"),
    "FOR": ("Decision", "Contact"),
    "WROTE": ("Decision", "Fact"),
    "JUDGED": ("Decision", "Episode"),
    "EVIDENCED_BY": ("Fact", "Episode"),
    "COMPARED_WITH": ("Decision", "Fact"),
    "SUPERSEDES": ("Fact", "Fact"),
    "CONFLICTS_WITH": ("Fact", "Fact"),
    "KNOWS": ("Agent", "Contact"),  # last: whoever writes it holds the agent until it commits
}
KEYS = {"Agent": "agent_key", **NODES}
COPIED_AT_ONCE = {"embedded": 500, "neo4j": 10}
POOL_BYTES = 3 << 30
QUESTION = "Which invoice is unpaid?"
RECALLS = ["recall", "recall after a write"]
RECALLS += ["recall, with an account", "recall after a write to the account"]
DOUBTED, DOUBTING = "Has a dog.", "The dog died last week."
"""A fact, and a note that ends it: no rule sees that, but the packaged judge does."""

ACCOUNT_FACTS = 20
OPERATOR = "operator"


class Embedder(RandomEmbedder):
    """Random vectors, but the model's for what the judge reads, and one and the same for orders.

    The guard sees that the numbers of two orders differ.
    """

    def __init__(self) -> None:
        super().__init__()
        model, texts = LocalEmbedder(OnnxMinilm()), (DOUBTED, DOUBTING)
        self._ready = dict(zip(texts, model.embed(texts), strict=True))
        model.close()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = super().embed(texts)
        for row, text in enumerate(texts):
            if text.startswith("Order"):
                vectors[row] = np.eye(1, self.dimension, dtype=np.float32)[0]
            elif text in self._ready:
                vectors[row] = self._ready[text]
        return vectors


def judge() -> dict[str, Any]:
    """Settings of the packaged judge, as with the packaged model; but it reads each note again."""
    reach = load_reach(OnnxMinilm.model_id)
    assert reach is not None
    asked = {"mode": "auto", "provider": "packaged", "cache_size_max": 0}
    return {**asked, "reach": REACH_OF_PACKAGED * reach}


class Store:
    """One store: what it is filled with, and the calls that are looked at."""

    def __init__(self, settings: dict[str, Any], embedder: Embedder | None) -> None:
        self.settings = settings
        self.is_embedded = settings["graph"] == "embedded"
        self.embedder = embedder  # None for the model of the settings
        self.numbers = itertools.count()
        self.accounts: dict[str, str] = {}
        self.judged: Decision | None = None
        self.has_judge = False
        self.open()

    def open(self) -> None:
        asked = judge() if self.has_judge else {"mode": "off"}
        settings = load_settings(**self.settings, arbiter=asked)
        self.memory = Memory.open(settings, embedder=self.embedder)

    def reopen(self) -> None:
        self.memory.close()
        self.open()

    def add(self, contacts: Sequence[str], count: int) -> None:
        """So many facts of each contact, by the door."""
        notes = [
            {"agent_id": AGENT, "contact_id": contact, "text": self.note()}
            for contact in contacts
            for _ in range(count)
        ]
        report = self.memory.import_notes(map(json.dumps, notes))
        assert not report.errors, report.errors[:3]

    def add_accounts(self, names: Sequence[str]) -> None:
        """Accounts with facts of their own."""
        self.add([f"account:{name}" for name in names], ACCOUNT_FACTS)

    def join(self, contact: str, account: str) -> None:
        """Make a contact belong to an account."""
        self.accounts[contact] = account
        self.memory.contact(AGENT, contact).join_account(account, by=OPERATOR)

    def write_judged(self, contact: str) -> None:
        """A note that the judge has to read."""
        self.judged = self.memory.add_contact_note(AGENT, contact, DOUBTING)

    def undo_judged(self, contact: str) -> None:
        """Undo what the packaged judge decided just now, so that the fact can be doubted again.

        After an undo the next write reads the contact's facts again, so one comes in between.
        """
        assert self.judged
        opinion = self.judged.opinion
        assert self.judged.decided_by == "arbiter", self.judged.reason
        assert opinion.arbiter is not None
        assert opinion.arbiter.startswith("packaged-")
        assert not opinion.is_cached
        assert self.judged.timings.arbitrate_ms > 0
        decision_id, self.judged = self.judged.decision_id, None
        about = self.memory.contact(AGENT, contact)
        about.revert(decision_id, by=OPERATOR, reason="The dog is well.")
        self.memory.add_contact_note(AGENT, contact, self.note())

    def note(self) -> str:
        return f"Invoice {next(self.numbers)} is unpaid"

    def calls(self, contact: str) -> dict[str, Callable[[], object]]:
        """What is looked at, by name: about a contact, about the agent, about the whole store."""
        memory = self.memory
        account = self.accounts.get(contact, FIRST_COMPANY)
        erasure_store = self.memory._services.erasure_store
        return {
            "write": lambda: memory.add_contact_note(AGENT, contact, self.note()),
            "write, judged": lambda: self.write_judged(contact),
            "write to the account": lambda: memory.account(AGENT, account).note(self.note()),
            **dict.fromkeys(RECALLS, lambda: memory.contact(AGENT, contact).recall(QUESTION)),
            "accounts": lambda: memory.contact(AGENT, contact).accounts(),
            "account: members": lambda: self.members(account, contact),
            "history, all": lambda: memory.contact(AGENT, contact).history(),
            "history, 50": lambda: memory.contact(AGENT, contact).history(limit=50),
            "decisions, 50": lambda: memory.contact(AGENT, contact).decisions(),
            "pending": lambda: memory.contact(AGENT, contact).pending(),
            "health": lambda: ops.health(memory.contact(AGENT, contact)),
            "agent: contacts, 50": lambda: memory.agent(AGENT).contacts(limit=50),
            "agent: contacts, all": lambda: memory.agent(AGENT).contacts(),
            "agent: decisions, 50": lambda: memory.agent(AGENT).decisions(),
            "agent: pending, 50": lambda: memory.agent(AGENT).pending(limit=50),
            "agent: disputes, 50": lambda: memory.agent(AGENT).disputes(limit=50),
            "agent: refusals": lambda: memory.agent(AGENT).refusals(),
            "agent: expiring, 50": lambda: memory.agent(AGENT).expiring(days=365, limit=50),
            "agent: tasks": lambda: memory.agent(AGENT).tasks(),
            "agent: health": lambda: ops.health(memory.agent(AGENT)),
            "find": lambda: memory.agent(AGENT).find(QUESTION),
            "find, indexed": lambda: memory.agent(AGENT).find(QUESTION),
            "doctor: jobs": memory.queue,
            "doctor: erasures": lambda: erasure_store.list_erasures(is_unfinished=True),
        }

    def members(self, account: str, contact: str) -> None:
        """The contacts of an account, as its page finds them; the contact must be one of them."""
        hits = self.memory.agent(AGENT).recall_about(f"account:{account}", limit=500)
        assert contact in {hit.contact_id for hit in hits if hit.fact.account == account}

    def fill(self, facts_of_each: int, first: int, last: int, members: int = 100) -> None:
        """The template, where the store is new, and copies of it, so many to an account."""
        if not self.memory.agent(AGENT).contacts(limit=1):
            self.add_accounts([FIRST_COMPANY])
            self.write_template(facts_of_each)
        self.copy(first, last, members)

    def write_template(self, count: int) -> None:
        """A contact of so many facts, live and ended, a refusal, a question and a dispute.

        One of its facts is that it belongs to an account.
        """
        with patch("uuid.uuid4", _number_zero):
            texts = ["Thanks a lot!", "Has diabetes", "Order 1 is late", "Order 2 is late"]
            texts += ["Lives in Pune", "She moved to Mumbai", "She moved to Delhi"]
            texts += [self.note() for _ in range(count - 6)]
            for text in texts:
                self.memory.add_contact_note(AGENT, TEMPLATE, text)
            self.join(TEMPLATE, FIRST_COMPANY)

    def copy(self, first: int, last: int, members: int) -> None:
        """Copies of the template, by the engine itself."""
        size = COPIED_AT_ONCE[self.settings["graph"]]
        starts = range(first, last + 1, size)
        parts = [(start, min(start + size - 1, last)) for start in starts]
        if self.is_embedded:
            self.memory.close()
            with opened_file(self.settings, POOL_BYTES) as connection:
                for part in parts:
                    _copy_embedded(connection, *part, members)
            self.open()
        else:
            with self._driver() as driver:
                for part in parts:
                    _copy_neo4j(driver, *part, members)

    def _driver(self) -> Any:
        server = self.settings["neo4j"]
        return neo4j.GraphDatabase.driver(
            server["uri"],
            auth=(server["username"], server["password"]),
            notifications_min_severity="OFF",
        )


def _number_zero() -> uuid.UUID:
    """An id as any other, that ends in zeros."""
    return uuid.UUID(f"{uuid.uuid1().hex[:8]}{uuid.uuid1().hex[:4]}40008000{ZEROS}")


def _copy_embedded(connection: Any, first: int, last: int, members: int) -> None:
    """Table by table, in bulk; what is copied is found by how its key ends."""
    number = f"UNWIND range({first}, {last}) AS number WITH *, "
    number += "lpad(CAST(number AS STRING), 12, '0') AS tail, "
    number += f"concat('{COMPANY}', CAST(number / {members} AS STRING)) AS company RETURN"
    for label, key in NODES.items():
        values = [_numbered_here("one", *column) for column in _columns(connection, label)]
        _copy(
            connection,
            label,
            f"MATCH (one:{label}) WHERE one.{key} CONTAINS '{ZEROS}' {number}",
            values,
        )
    for link, (begin, end) in LINKS.items():
        ends = [_numbered_here("one", KEYS[begin], "STRING")]
        ends += [_numbered_here("other", KEYS[end], "STRING")]
        own = [f"link.`{name}`" for name, _ in _columns(connection, link)]
        found = f"MATCH (one:{begin})-[link:`{link}`]->(other:{end}) "
        found += f"WHERE other.{KEYS[end]} CONTAINS '{ZEROS}' {number}"
        _copy(connection, link, found, ends + own)


def _copy(connection: Any, table: str, found: str, values: list[str]) -> None:
    named = ", ".join(f"{value} AS column_{place}" for place, value in enumerate(values))
    connection.execute(f"COPY `{table}` FROM ({found} {named})").close()


def _columns(connection: Any, table: str) -> list[tuple[str, str]]:
    rows = list(connection.execute(f"CALL table_info('{table}') RETURN name, type"))
    return [(str(name), str(kind)) for name, kind in rows]


def _numbered_here(node: str, name: str, kind: str) -> str:
    value = f"{node}.`{name}`"
    if kind != "STRING":
        return value
    # If the first value of a column is null, the engine's replace() gives null for all of them.
    changed = f"replace(replace({value}, '{ZEROS}', tail), '{FIRST_COMPANY}', company)"
    return f"CASE WHEN {value} IS NULL THEN NULL ELSE {changed} END"


def _copy_neo4j(driver: Any, first: int, last: int, members: int) -> None:
    """All copies of one transaction: nodes by their label, then links between their ends."""
    given = {"zeros": ZEROS, "first": first, "last": last, "contact": TEMPLATE, "agent": AGENT}
    given |= {"members": members, "begins": COMPANY, "company": FIRST_COMPANY}
    number = "UNWIND range($first, $last) AS number "
    number += "WITH *, right($zeros + toString(number), 12) AS tail, "
    number += "$begins + toString(number / $members) AS company "
    with driver.session() as session, session.begin_transaction() as transaction:
        for label in NODES:
            own, names = _template_of(transaction, label, given)
            # One SET: with the template's own key, even for a moment, a copy is refused.
            changes = ", ".join(
                f"{n}: replace(replace(one.{n}, $zeros, tail), $company, company)" for n in names
            )
            transaction.run(
                f"{own} {number} CREATE (copy:$(labels(one))) SET copy = one {{.*, {changes}}}",
                given,
            ).consume()
        for link, (begin, end) in LINKS.items():
            own, _ = _template_of(transaction, end, given)
            one, other = KEYS[begin], KEYS[end]
            transaction.run(
                f"{own} MATCH (begin:{begin})-[link:`{link}`]->(one) {number} "
                f"MATCH (from:{begin} {{{one}: replace(begin.{one}, $zeros, tail)}}) "
                f"MATCH (to:{end} {{{other}: replace(one.{other}, $zeros, tail)}}) "
                f"CREATE (from)-[copy:`{link}`]->(to) SET copy = properties(link)",
                given,
            ).consume()
        transaction.commit()


_FROM_CONTACT = {
    "Contact": "",
    "Session": "<-[:`WITH`]-(one:Session)",
    "Episode": "<-[:`WITH`]-(:Session)<-[:`IN`]-(one:Episode)",
    "Fact": "<-[:ABOUT]-(one:Fact)",
    "Decision": "<-[:`FOR`]-(one:Decision)",
}
_NUMBERED: dict[str, list[str]] = {}


def _template_of(transaction: Any, label: str, given: dict[str, Any]) -> tuple[str, list[str]]:
    """A pattern of the template's nodes of a label, and which of their properties have ids."""
    contact = "one" if label == "Contact" else ""
    own = f"MATCH ({contact}:Contact {{contact_key: 'default/' + $agent + '/' + $contact}})"
    own += _FROM_CONTACT[label]
    if label not in _NUMBERED:
        told = transaction.run(
            f"{own} UNWIND keys(one) AS name WITH one, name WHERE valueType(one[name]) "
            "STARTS WITH 'STRING' AND (one[name] CONTAINS $zeros OR one[name] CONTAINS $company) "
            "RETURN DISTINCT name",
            given,
        )
        _NUMBERED[label] = [str(row["name"]) for row in told]
    return own, _NUMBERED[label]


class Side:
    """What can be asked for: each method is a command, its result the answer."""

    def __init__(self) -> None:
        self.stores: dict[str, Store] = {}

    def open(self, store: str, settings: dict[str, Any]) -> None:
        self.stores[store] = Store(settings, Embedder())

    def close(self, store: str) -> None:
        self.stores.pop(store).memory.close()

    def reopen(self, store: str, *, has_judge: bool = False) -> None:
        self.stores[store].has_judge = has_judge
        self.stores[store].reopen()

    def fill(self, store: str, **given: int) -> None:
        filled = self.stores[store]
        filled.fill(**given)
        last = f"customer-{given['last']:012}"
        [fact] = filled.memory.contact(AGENT, last).accounts()
        assert fact.account == f"{COMPANY}{given['last'] // given['members']}"

    def add(self, store: str, contacts: list[str], count: int) -> None:
        self.stores[store].add(contacts, count)

    def add_accounts(self, store: str, names: list[str]) -> None:
        self.stores[store].add_accounts(names)

    def add_doubted(self, store: str, contact: str) -> None:
        self.stores[store].memory.add_contact_note(AGENT, contact, DOUBTED)

    def join(self, store: str, contact: str, account: str) -> None:
        self.stores[store].join(contact, account)
        hits = self.stores[store].memory.contact(AGENT, contact).recall(QUESTION)
        assert account in {hit.account for hit in hits}

    def await_index(self, store: str) -> bool:
        """Whether the engine has an index of vectors, once it is built."""
        looking = self.stores[store]
        if looking.is_embedded:
            return False
        with looking._driver() as driver:
            driver.execute_query("CALL db.awaitIndexes(1800)")
        return True

    def call(self, store: str, contact: str, name: str, count: int) -> dict[str, Any]:
        """The milliseconds of each call, the memory that the process took at most, or an error."""
        looking = self.stores[store]
        calls = looking.calls(contact)
        written = name.partition(" after a ")[2]
        before = _peak_megabytes(is_reset=True)
        times = []
        try:
            for _ in range(count):
                if written:
                    calls[written]()
                times.append(_milliseconds(calls[name]))
                if name == "write, judged":
                    looking.undo_judged(contact)
        except ReconcilerError as error:
            return {"times": [], "peak": None, "grown": None, "error": str(error)[:80]}
        peak = _peak_megabytes()
        return {"times": times, "peak": peak, "grown": peak - before, "error": ""}

    def cold_recall(self, store: str, contact: str, other: str) -> float:
        """The first recall about a contact by a memory that has recalled about another one."""
        looking = self.stores[store]
        looking.reopen()
        looking.calls(other)["recall"]()
        return _milliseconds(looking.calls(contact)["recall"])


def _peak_megabytes(*, is_reset: bool = False) -> float:
    """The most memory that this process held since it was reset; on Linux."""
    if is_reset:
        Path("/proc/self/clear_refs").write_text("5")
    told = Path("/proc/self/status").read_text()
    return int(told.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    answer(Side())
