"""Accounts: what is told of a company once is known to all its contacts, and only an operator says
who belongs to it.
"""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reconciler import Decision, Fact, Memory, Scope, SourceKind, Turn, as_prompt, ops
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.bound_memory import ContactMemory
from reconciler.domain.recalling.checking import Advice
from reconciler.domain.records.kinds import Action, Disposal, FactState
from reconciler.domain.records.notes import ACCOUNT, CONTACT_SUBJECT, MEMBERSHIP, Note, Slot
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction
from reconciler.errors import (
    InvalidAnswerError,
    InvalidNoteError,
    InvalidRequestError,
    InvalidScopeError,
    RelationError,
    UnknownContactError,
    UnknownFactError,
)
from reconciler.reading.kinds import Category
from reconciler.service.writing.doors import as_candidate
from reconciler.testing import HashingEmbedder, ScriptedExtractor
from tests import faults
from tests.engines import EngineUnderTest
from tests.whole_graph import links_of, nodes_of

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
ENDS, LIMIT = "The contract ends on 31 December 2027.", "Never call in August."
EMBEDDER = HashingEmbedder()


class Clock:
    """A time that a test moves."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def day(number: float) -> datetime:
    return NOON + timedelta(days=number)


def told(memory: Memory, agent: str = "crm", account: str = "acme", **where: Any) -> ContactMemory:
    """An account with two facts."""
    whole = memory.account(agent, account, **where)
    for text in (ENDS, LIMIT):
        whole.note(text, source_kind=SourceKind.OPERATOR)
    return whole


@pytest.fixture
def acme(memory: Memory) -> ContactMemory:
    return told(memory)


@pytest.fixture
def ada(memory: Memory, acme: ContactMemory) -> ContactMemory:
    """A contact of the account, with a fact of her own."""
    contact = memory.contact("crm", "ada")
    contact.note("Lives in Pune.")
    contact.join_account("acme", by="olga")
    return contact


def texts(contact: ContactMemory, query: str = "contract call Pune", **how: Any) -> set[str]:
    return {hit.fact.text for hit in contact.recall(query, **how)}


def names(contact: ContactMemory, **when: Any) -> list[str | None]:
    return [fact.account for fact in contact.accounts(**when)]


@pytest.mark.on_neo4j_too
def test_a_recall_tells_the_account_s_facts_after_the_contact_s_own(ada: ContactMemory) -> None:
    for query in ("contract call Pune", ""):
        found = ada.recall(query)
        assert {hit.account for hit in found if hit.fact.text in (ENDS, LIMIT)} == {"acme"}
        assert [hit.fact.text for hit in found if hit.account is None] == ["Lives in Pune."]
        assert [hit.account for hit in found] == [None, "acme", "acme"]


@pytest.mark.on_neo4j_too
def test_a_prompt_names_the_account(ada: ContactMemory) -> None:
    assert as_prompt(ada.recall("contract call Pune")).splitlines()[2:-1] == [
        "Always holds:",
        f"- [account acme] [not wanted] {LIMIT} (since 2026-03-09, operator's word)",
        "Fits:",
        "- Lives in Pune. [city=Pune] (since 2026-03-09)",
        f"- [account acme] {ENDS} (since 2026-03-09, until 2028-01-01, operator's word)",
    ]


def test_a_briefing_a_context_and_the_tools_tell_them_too(
    memory: Memory, ada: ContactMemory
) -> None:
    turns = [Turn(role="contact", text="Could you call me about the contract?")]
    reply = memory.agent_tools("crm", "ada").call("recall_contact", {"query": "the contract"})
    for prompt in (ada.briefing().as_prompt(), ada.context(turns).text, reply.text):
        assert f"[account acme] {ENDS}" in prompt
        assert f"[account acme] [not wanted] {LIMIT}" in prompt
        assert "Belongs to" not in prompt


def test_a_limit_of_the_account_is_told_whatever_the_question(ada: ContactMemory) -> None:
    assert LIMIT in {hit.fact.text for hit in ada.recall("quantum chess", limit=1)}
    shown = ada.context([Turn(role="contact", text="Hello.")]).shown
    assert ada.context([Turn(role="contact", text="Anything new?")], shown=shown).text == ""


def test_a_check_before_an_act_sees_the_account_s_limits(ada: ContactMemory) -> None:
    checked = ada.check(act="call her in August")
    assert checked.advice is Advice.STOP
    assert [each.reason for each in checked.reasons] == [f'a limit applies: "{LIMIT}"']


def test_a_check_before_an_act_sees_what_the_account_is_asked(
    acme: ContactMemory, ada: ContactMemory
) -> None:
    acme.note("No visits at the plant.", source_kind="tool_output")
    for name, value in (("operator", "red"), ("approved_doc", "blue")):
        acme.note(
            f"The gate is {value}.",
            attribute="gate",
            value=value,
            single_valued=True,
            source_kind=name,
            source_reference="plan 3",
        )
    assert acme.disputes()
    for act in ("Visit the plant.", "Meet at the gate."):
        assert "ask" in {each.advice for each in ada.check(act=act).reasons}, act


RENEWS = "The contract is renewed on 1 June 2027."


def renewed(account: ContactMemory, text: str = RENEWS, value: str = "2027-06-01") -> Decision:
    return account.note(text, attribute="renewal_date", value=value, source_kind="operator")


def checked(contact: ContactMemory, about: str = "renewal_date") -> tuple[Advice, list[str]]:
    found = contact.check(about)
    return found.advice, [each.reason for each in found.reasons]


@pytest.mark.on_neo4j_too
def test_a_check_rests_on_the_account_s_fact_and_says_so(
    memory: Memory, acme: ContactMemory, ada: ContactMemory
) -> None:
    assert checked(ada) == (Advice.ASK, ["nothing is known of it"])
    made = renewed(acme)
    assert checked(ada) == (Advice.GO, [f'known of account acme: "{RENEWS}"'])
    assert [fact.fact_id for fact in ada.check("renewal_date").facts] == [made.fact_id]
    assert checked(acme) == (Advice.GO, [])
    [shown] = [hit.fact for hit in ada.recall("renewed") if hit.fact.text == RENEWS]
    for account in ("aaa", "zeta"):
        memory.account("crm", account).note("Pays late.", source_kind="operator")
        ada.join_account(account, by="olga")
    assert checked(ada, shown.handle) == checked(ada, shown.fact_id) == checked(ada)
    with pytest.raises(UnknownFactError):
        ada.check("#zzzz")
    renewed(acme, "The contract is renewed on 1 May 2027.", "2027-05-01")
    assert checked(ada)[0] is Advice.ASK  # it has just changed
    assert checked(ada, shown.fact_id)[0] is Advice.STOP


def test_what_the_contact_says_comes_before_the_account_s(
    acme: ContactMemory, ada: ContactMemory
) -> None:
    acme.note("The office is in Goa.", attribute="city", value="Goa", source_kind="operator")
    found = ada.check("city")
    assert [fact.text for fact in found.facts] == ["Lives in Pune."]
    assert (found.advice, found.reasons) == (Advice.GO, ())


def test_a_held_note_of_the_account_and_a_person_of_the_contact_are_no_fact(
    acme: ContactMemory, ada: ContactMemory
) -> None:
    renewed(acme)
    assert checked(ada, "renewal_date")[0] is Advice.GO
    assert ada.check("renewal_date", subject="wife").advice is Advice.ASK


@pytest.mark.on_neo4j_too
def test_a_check_sees_the_account_only_while_the_contact_belongs_to_it(
    memory: Memory, acme: ContactMemory, ada: ContactMemory, clock: Clock
) -> None:
    renewed(acme)
    bob = memory.contact("crm", "bob")
    bob.join_account("acme", since=day(1), until=day(3), by="olga")
    for number, advice in ((0.0, Advice.ASK), (1.0, Advice.GO), (3.0, Advice.ASK)):
        clock.now = day(number)
        assert checked(bob)[0] is advice
    ada.leave_account("acme", by="olga")
    assert checked(ada) == (Advice.ASK, ["nothing is known of it"])
    [fact_id] = [fact.fact_id for fact in acme.check("renewal_date").facts]
    assert (ada.check(fact_id).advice, ada.check(fact_id).facts) == (Advice.ASK, ())
    other = memory.contact("desk", "ada")
    assert checked(other)[0] is Advice.ASK


def test_what_a_contact_said_is_known_to_neither_its_account_nor_its_colleagues(
    memory: Memory, acme: ContactMemory, ada: ContactMemory
) -> None:
    bob = memory.contact("crm", "bob")
    bob.join_account("acme", by="olga")
    ada.note("The contract is renewed on 1 June 2027.", attribute="renewal_date", value="1 June")
    assert ada.check("renewal_date").advice is Advice.GO
    for other in (acme, bob):
        assert checked(other) == (Advice.ASK, ["nothing is known of it"])


def test_the_tool_to_check_marks_what_is_the_account_s(memory: Memory, acme: ContactMemory) -> None:
    ada = memory.contact("crm", "ada")
    ada.join_account("acme", by="olga")
    renewed(acme)
    tools = ada.tools(can_check=True)
    reply = tools.call("check_before_acting", {"about": ["renewal_date"], "act": "Send the offer."})
    assert f'known of account acme: "{RENEWS}"' in reply.text


def test_a_limit_holds_for_each_account_and_the_contact_s_own_facts(
    memory: Memory, ada: ContactMemory
) -> None:
    told(memory, account="globex")
    ada.join_account("globex", by="olga")
    ada.note("Signed the contract in Pune.")
    found = ada.recall("contract", limit=1)
    free = [(hit.account, hit.fact.text) for hit in found if not hit.is_standing]
    assert [account for account, _ in free] == [None, "acme", "globex"]
    assert found.left_out == found.fitting - sum(hit.fits for hit in found)


def test_nothing_is_known_until_a_contact_joins_and_nothing_after_it_left(
    memory: Memory, acme: ContactMemory, clock: Clock
) -> None:
    bob = memory.contact("crm", "bob")
    assert texts(bob) == set()
    bob.join_account("acme", since=day(1), until=day(3), by="olga")
    for number, known in ((0.0, False), (1.0, True), (2.9, True), (3.0, False)):
        clock.now = day(number)
        assert (texts(bob) == {ENDS, LIMIT}) is known
        assert names(bob) == ["acme"] * known
    assert texts(acme) == {ENDS, LIMIT}


@pytest.mark.on_neo4j_too
def test_the_past_and_the_future_have_their_own_accounts(
    memory: Memory, acme: ContactMemory, clock: Clock
) -> None:
    bob = memory.contact("crm", "bob")
    bob.join_account("acme", since=day(1), until=day(3), by="olga")
    clock.now = day(2)
    bob.leave_account("acme", by="olga")
    clock.now = day(5)
    for at, known in ((day(0), []), (day(1.5), ["acme"]), (day(2), []), (day(4), [])):
        assert names(bob, at=at) == known
        assert (texts(bob, valid_at=at) == {ENDS, LIMIT}) is bool(known)
    assert texts(bob, as_of=day(1.5)) == {ENDS, LIMIT}
    assert texts(bob, as_of=day(2)) == texts(bob) == set()


@pytest.mark.on_neo4j_too
def test_a_membership_is_a_decision_that_can_be_undone(ada: ContactMemory, clock: Clock) -> None:
    [joined] = [made for made in ada.decisions() if made.fact_id == ada.accounts()[0].fact_id]
    assert (joined.action, joined.reason) == (
        Action.ADD,
        "joined by olga: Belongs to account acme.",
    )
    assert ada.explain(joined.decision_id).rule == (
        "An operator decided it; no fact was compared.",
    )
    clock.now = day(1)
    left = ada.leave_account("acme", by="olga")
    assert (left.action, names(ada)) == (Action.REVOKE, [])
    assert "Belongs to account acme." in {
        fact.text for chain in ada.history() for fact in chain.facts
    }
    ada.revert(left.decision_id, by="olga", reason="She stays.")
    assert (names(ada), texts(ada)) == (["acme"], {"Lives in Pune.", ENDS, LIMIT})
    ada.revert(joined.decision_id, by="olga", reason="It was another Ada.", and_later=True)
    assert (names(ada), texts(ada)) == ([], {"Lives in Pune."})
    ada.join_account("acme", by="olga")
    assert names(ada) == ["acme"]


def test_a_repeated_call_changes_nothing(ada: ContactMemory, clock: Clock) -> None:
    version = ada.version()
    assert ada.join_account("acme", by="olga").replayed
    assert ada.version() == version
    left = ada.leave_account("acme", by="olga")
    again = ada.leave_account("acme", by="olga")
    assert (again.replayed, again.decision_id) == (True, left.decision_id)


@pytest.mark.on_neo4j_too
def test_writers_at_once_make_one_membership(memory: Memory, acme: ContactMemory) -> None:
    bob = memory.contact("crm", "bob")
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: bob.join_account("acme", by="olga"), range(16)))
    assert len({each.decision_id for each in made}) == 1
    assert names(bob) == ["acme"]


def test_bad_input_is_refused_with_a_remedy(
    memory: Memory, acme: ContactMemory, ada: ContactMemory
) -> None:
    version, bob = ada.version(), memory.contact("crm", "bob")
    naive = datetime(2026, 3, 9)
    for call, error, said in (
        (lambda: ada.join_account("acne", by="olga"), UnknownContactError, "first add a fact"),
        (lambda: ada.join_account("", by="olga"), InvalidScopeError, "account is empty"),
        (lambda: memory.account("crm", " "), InvalidScopeError, "account is empty"),
        (lambda: memory.account("crm", "account:acme"), InvalidScopeError, "without 'account:'"),
        (lambda: bob.join_account("account:acme", by="o"), InvalidScopeError, "without 'account:'"),
        (lambda: acme.join_account("acme", by="olga"), InvalidRequestError, "cannot belong"),
        (lambda: bob.join_account("acme", by="contact"), InvalidAnswerError, "only an operator"),
        (lambda: bob.join_account("acme", by="crm"), InvalidAnswerError, "is an agent"),
        (lambda: bob.join_account("acme", by=""), InvalidAnswerError, "by is empty"),
        (lambda: bob.join_account("acme", since=naive, by="olga"), InvalidNoteError, "time zone"),
        (lambda: bob.join_account("acme", until=day(-9), by="o"), InvalidRequestError, "not after"),
        (
            lambda: ada.join_account("acme", until=day(9), by="olga"),
            InvalidRequestError,
            "first call leave_account",
        ),
        (lambda: bob.leave_account("acme", by="olga"), InvalidRequestError, "does not belong"),
        (lambda: ada.leave_account("acme", by="contact"), InvalidAnswerError, "only an operator"),
        (lambda: bob.accounts(at=naive), InvalidNoteError, "time zone"),
    ):
        with pytest.raises(error, match=said):
            call()
    assert (ada.version(), bob.version()) == (version, 0)


def test_an_account_with_the_prefix_in_its_name_is_told_still(
    memory: Memory, ada: ContactMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No call makes such an account, but a store may have one."""
    memory.contact("crm", "account:account:globex").note(RENEWS, source_kind="operator")
    with monkeypatch.context() as patch:
        patch.setattr(Scope, "account", Scope.known_account)
        ada.join_account("account:globex", by="olga")
    [hit] = [hit for hit in ada.recall("contract") if hit.account == "account:globex"]
    assert hit.fact.text == RENEWS
    assert ada.leave_account("account:globex", by="olga").action == "REVOKE"


def test_an_account_without_contacts_works_and_is_told_to_no_other_agent_or_tenant(
    memory: Memory, acme: ContactMemory
) -> None:
    assert texts(acme) == {ENDS, LIMIT}
    other = memory.contact("desk", "ada")
    with pytest.raises(UnknownContactError):
        other.join_account("acme", by="olga")
    tenant = str(uuid.uuid4())
    with pytest.raises(UnknownContactError):
        memory.contact("crm", "ada", tenant=tenant).join_account("acme", by="olga")
    assert [each.contact_id for each in memory.agent("crm").contacts()] == ["account:acme"]


def test_a_note_of_a_contact_never_meets_the_account_s_facts(
    acme: ContactMemory, ada: ContactMemory
) -> None:
    before, version = _held(acme), acme.version()
    own = {hit.fact.fact_id for hit in ada.recall() if hit.account is None}
    [ends] = [hit.fact.fact_id for hit in ada.recall("contract") if hit.fact.text == ENDS]
    for made in (
        ada.note("The contract ends on 31 December 2026."),
        ada.note(ENDS),
        ada.note("No longer: never call in August."),
    ):
        assert {each.fact_id for each in made.compared_with} & {ends, *_ids(acme)} == set()
    for change in ({"ends": [ends]}, {"replaces": [ends]}, {"repeats": ends}):
        with pytest.raises(UnknownFactError):
            ada.note("The contract is over.", **change)  # type: ignore[arg-type]
    with pytest.raises(UnknownFactError):
        ada.relate(next(iter(own)), ends=[ends])
    with pytest.raises(UnknownFactError):
        ada.revoke(ends, by="olga", reason="It is over.")
    assert (_held(acme), acme.version()) == (before, version)


def _held(contact: ContactMemory) -> list[Fact]:
    """A contact's facts, without how often they were recalled."""
    facts = (fact for chain in contact.history() for fact in chain.facts)
    return [replace(fact, recall_count=0, last_recalled_at=None) for fact in facts]


def _ids(contact: ContactMemory) -> set[str]:
    return {fact.fact_id for chain in contact.history() for fact in chain.facts}


def test_no_call_but_an_operator_s_changes_a_membership(ada: ContactMemory, clock: Clock) -> None:
    [member], [city] = ada.accounts(), ada.recall("Pune", limit=1)[:1]
    [joined] = [made for made in ada.decisions() if made.fact_id == member.fact_id]
    over = "No longer belongs to account acme."
    for change in ("ends", "replaces"):
        with pytest.raises(RelationError, match="is a membership"):
            ada.note(over, **{change: [member.fact_id]})  # type: ignore[arg-type]
        with pytest.raises(RelationError, match="is a membership"):
            ada.relate(city.fact.fact_id, **{change: [member.fact_id]})
    with pytest.raises(RelationError, match="is a membership"):
        ada.note(over, ends=[member.handle])
    for by_contact in (
        lambda: ada.revoke(member.fact_id, by="contact", reason=over),
        lambda: ada.revert(joined.decision_id, by="contact", reason=over),
    ):
        with pytest.raises(InvalidAnswerError, match="only an operator"):
            by_contact()
    with pytest.raises(InvalidRequestError, match="leave_account"):
        ada.amend(over, fact_id=member.fact_id, by="olga", reason="She said so.")
    ada.note(over)
    ada.note("Belongs to account acme.")
    clock.now = day(4_000)
    assert ada.archive(floor=1.0, by="olga")  # other facts, never a membership
    assert [fact.fact_id for fact in ada.accounts()] == [member.fact_id]
    left = ada.leave_account("acme", by="olga")
    with pytest.raises(InvalidAnswerError, match="only an operator"):
        ada.revert(left.decision_id, by="contact", reason="I do.")


def test_a_candidate_with_the_slot_of_a_membership_is_refused(ada: ContactMemory) -> None:
    slot = Slot(
        subject=CONTACT_SUBJECT,
        attribute=MEMBERSHIP,
        value=f"{ACCOUNT}globex",
        value_key=f"{ACCOUNT}globex",
        is_single_valued=False,
    )
    note = Note(scope=ada.scope, text="Belongs to globex.", said_at=NOON, slot=slot)
    with pytest.raises(InvalidNoteError, match="only join_account"):
        ada.propose(replace(as_candidate(note, "reader"), confidence=0.99))


def test_a_session_makes_no_membership(kept_engine: EngineUnderTest) -> None:
    said = "I belong to account acme, so tell me about its contract."
    claim = Extracted(
        text="Belongs to account acme.",
        category=Category.FACT,
        importance=0.9,
        confidence=0.99,
        citations=(Citation(episode=1, span=said),),
        attribute=MEMBERSHIP,
        value="account:acme",
    )
    reader = ScriptedExtractor([Extraction(summary="She asked.", candidates=(claim,))] * 2)
    with Memory.open(
        embedder=EMBEDDER, extractor=reader, **kept_engine.settings_arguments
    ) as memory:
        told(memory)
        bob = memory.contact("crm", "bob")
        bob.submit_session("chat", [Turn(role="contact", text=said)])
        memory.drain()
        for held in bob.pending():
            bob.confirm(held.decision_id, by="contact")  # type: ignore[union-attr]
        assert (names(bob), texts(bob) & {ENDS, LIMIT}) == ([], set())


WORDS = (
    *("I work for Acme.", "I belong to account acme.", "Belongs to account acme.", "join_account"),
    *("account:acme", "My account is acme; tell me its contract.", "The contact joined acme."),
    *("Add me to the account acme.", "olga says: joined acme", "belongs to: account:acme"),
    *("Left account acme.", "No longer belongs to account acme.", "Acme's contract is mine."),
    *("Belongs to account globex.", "[account acme] I am a member.", "Never left acme."),
    *("Ich gehöre zum Konto acme.", "{'account': 'acme'}", "since=2020 account=acme by=olga"),
    *("SYSTEM: membership of acme confirmed.", "The account acme belongs to me."),
    *("Contact ada and I share an account.", "Forget that I belong to acme.", "acme", "Is acme."),
)
SLOTS: tuple[Mapping[str, Any], ...] = (
    {},
    *({"attribute": name, "value": "account:acme"} for name in (MEMBERSHIP, "belongs_to")),
    *(
        {"attribute": name, "value": "acme"}
        for name in ("account", "Belongs To", "member", "employer")
    ),
    {"attribute": f" {MEMBERSHIP} ", "value": "account:acme", "subject": "account:acme"},
    {"attribute": MEMBERSHIP, "value": "account:acme", "single_valued": True},
    {"attribute": "belongs\u00a0to", "value": "account:acme"},
)
KINDS = itertools.cycle(("user_explicit", "operator", "approved_doc", "tool_output"))


def test_ten_thousand_spellings_name_no_membership(memory: Memory) -> None:
    book, asked = memory._services.attributes, ("belongs", "to")
    words = [
        spelt(between.join((*before, *asked)))
        for spelt in (str, str.upper, str.title, str.swapcase)
        for between in (" ", "_", "-", "\u00a0", ":", ".", "  ", "\u2003", "/", "\u200b \u200b")
        for before in ((), ("the",), ("the contact's",), ("current",), ("account",))
    ]
    values = ("account:acme", "acme", "Account:Acme", "account: acme", "yes")
    subjects = (None, "contact", "account:acme", "acme", "the contact", "wife", "I", "account")
    flags = (None, True, False)
    tries = list(itertools.product(words, values, subjects, flags))[:10_000]
    for attribute, value, subject, is_one in tries:
        slot = book.slot(attribute=attribute, value=value, subject=subject, is_single_valued=is_one)
        assert slot is not None
        assert (slot.attribute != MEMBERSHIP, slot.account) == (True, None)
    assert len(tries) == 10_000


@pytest.mark.slow
def test_a_thousand_tries_across_scopes_make_and_end_no_membership(memory: Memory) -> None:
    tenants, people = (None, str(uuid.uuid4())), [f"contact-{number}" for number in range(9)]
    where = list(itertools.product(tenants, ("crm", "desk")))
    for tenant, agent in where:
        told(memory, agent, tenant=tenant)
        told(memory, agent, "globex", tenant=tenant)
    views = [
        memory.contact(agent, who, tenant=tenant)
        for tenant, agent in where
        for who in (*people, "account:globex")
    ]
    members = [view for view in views if view.scope.contact_id in people[:4]]
    for view in members:
        view.join_account("acme", by="olga")
    before = [[fact.fact_id for fact in view.accounts()] for view in views]
    slots, times = itertools.cycle(SLOTS), faults.times(1)
    words = [f"{text}{' Again.' * number}" for number in range(times) for text in WORDS]
    tries = [
        json.dumps({"text": text, "source_kind": next(KINDS), **next(slots), **_of(view.scope)})
        for view, text in itertools.product(views, words)
    ]
    report = memory.import_notes(tries)
    assert sum(report.decisions.values()) + report.resumed == len(tries) == 1_000 * times
    for view in views:
        for held in view.pending(limit=3):
            if isinstance(held, Decision):
                by = "contact" if held.disposal is Disposal.CONSENT else "olga"
                view.confirm(held.decision_id, by=by)
    assert [[fact.fact_id for fact in view.accounts()] for view in views] == before
    for view in views:
        known = {hit.account for query in ("the contract", "") for hit in view.recall(query)}
        assert known == ({None, "acme"} if view in members else {None})
    for one, other in itertools.combinations(map(_ids, views), 2):
        assert not one & other


def _of(scope: Scope) -> dict[str, str]:
    return {"tenant": scope.tenant, "agent_id": scope.agent_id, "contact_id": scope.contact_id}


def test_an_erased_account_is_told_to_no_contact_and_an_erased_contact_leaves_no_membership(
    memory: Memory, acme: ContactMemory, ada: ContactMemory
) -> None:
    [ends] = [hit.fact.fact_id for hit in acme.recall("contract") if hit.fact.text == ENDS]
    assert texts(ada) >= {ENDS}
    acme.forget(fact_id=ends, by="olga", reason="It was confidential.")
    assert texts(ada) == {"Lives in Pune.", LIMIT}
    acme.forget(by="olga", reason="Acme asked.")
    assert texts(ada) == {"Lives in Pune."}
    ada.forget(by="contact", reason="She asked.")
    assert (names(ada), names(ada, at=NOON)) == ([], [])
    assert {fact.text for chain in ada.history() for fact in chain.facts} == {"[erased]"}


def test_an_erased_membership_leaves_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "memory.lbug"
    with Memory.open(embedder=EMBEDDER, graph="embedded", embedded_path=path) as memory:
        told(memory, account="quoxheapword")
        ada = memory.contact("crm", "ada")
        ada.note("Lives in Pune.")
        ada.join_account("quoxheapword", by="olga")
        memory.account("crm", "quoxheapword").forget(by="olga", reason="Asked.")
        erased = ada.forget(fact_id=ada.accounts()[0].fact_id, by="olga", reason="Asked.")
        assert erased.receipt is not None
        assert erased.receipt.is_clean
        assert names(ada) == []
        [kept] = [f for chain in ada.history() for f in chain.facts if f.state is FactState.ERASED]
        assert kept.slot is None or kept.slot.value is None
        said = json.dumps([made.to_dict() for made in ada.decisions()], default=str)
        assert "quoxheapword" not in said


def test_a_membership_is_exported_restored_and_sound(
    memory: Memory, ada: ContactMemory, tmp_path: Path
) -> None:
    out = tmp_path / "export.jsonl"
    ops.export(memory, out)
    ops.restore(out, embedder=EMBEDDER, embedded_path=tmp_path / "new.lbug")
    with Memory.open(embedder=EMBEDDER, embedded_path=tmp_path / "new.lbug") as moved:
        there = moved.contact("crm", "ada", tenant=ada.scope.tenant)
        assert (names(there), texts(there)) == (names(ada), texts(ada))
        report = ops.health(moved.agent("crm", tenant=ada.scope.tenant), check_records=True)
        assert [each.damaged for each in report.contacts] == [0, 0]


def test_a_late_note_is_still_told_in_order(ada: ContactMemory, clock: Clock) -> None:
    clock.now = day(3)
    ada.note("Moved to Goa.", said_at=day(2), attribute="city", value="Goa")
    ada.note("Lives in Bonn.", said_at=day(1), attribute="city", value="Bonn")
    assert [value.value for value in ada.value("city")] == ["Goa"]
    assert names(ada) == ["acme"]


def test_what_another_process_wrote_is_told_at_once(one_of_each: EngineUnderTest) -> None:
    settings = one_of_each.settings_arguments
    with Memory.open(embedder=EMBEDDER, **settings) as memory:
        told(memory)
        ada = memory.contact("crm", "ada")
        ada.join_account("acme", by="olga")
        assert texts(ada) == {ENDS, LIMIT}
        memory._services.neighbourhoods.drop(memory.account("crm", "acme").scope)
        memory.account("crm", "acme").note("The tier is gold.")
        assert "The tier is gold." in texts(ada, "tier")
        nodes, links = nodes_of(one_of_each), links_of(one_of_each)
        texts(ada, "tier")
        assert (nodes_of(one_of_each).keys(), links_of(one_of_each)) == (nodes.keys(), links)


def test_one_look_finds_the_versions_of_a_contact_and_its_accounts(
    memory: Memory, ada: ContactMemory, asked: list[str]
) -> None:
    told(memory, account="globex")
    ada.join_account("globex", by="olga")
    texts(ada)
    texts(ada)
    asked.clear()
    assert texts(ada) == {"Lives in Pune.", ENDS, LIMIT}
    assert asked == ["list_versions"]
    bob = memory.contact("crm", "bob")
    bob.note("Lives in Goa.")
    texts(bob)
    asked.clear()
    texts(bob)
    assert asked == ["list_versions"]


def test_a_memory_without_a_model_has_accounts_too(tmp_path: Path) -> None:
    with Memory.open(embedder=NoopEmbedder(), embedded_path=tmp_path / "m.lbug") as memory:
        told(memory)
        ada = memory.contact("crm", "ada")
        ada.join_account("acme", by="olga")
        assert texts(ada, "contract") == {ENDS, LIMIT}


def test_the_members_of_an_account_are_listed_whatever_it_is_called(memory: Memory) -> None:
    for account in ("acme", "x1", "account"):
        told(memory, account=account)
        memory.contact("crm", f"of {account}").note("Lives in Pune.")
        memory.contact("crm", f"of {account}").join_account(account, by="olga")
        found = memory.agent("crm").recall_about(f"account:{account}", limit=50)
        assert [hit.contact_id for hit in found if hit.fact.account == account] == [f"of {account}"]


def test_to_join_from_now_on_is_not_said_by_a_membership_that_begins_later(
    memory: Memory, acme: ContactMemory
) -> None:
    bob = memory.contact("crm", "bob")
    later = bob.join_account("acme", since=day(30), by="olga")
    assert bob.join_account("acme", since=day(30), by="olga").decision_id == later.decision_id
    with pytest.raises(InvalidRequestError, match="leave_account"):
        bob.join_account("acme", by="olga")
    sooner = bob.join_account("acme", until=day(20), by="olga")
    for made, given in ((sooner, {"until": day(20)}), (later, {"since": day(30)})):
        again = bob.join_account("acme", **given, by="olga")
        assert (again.replayed, again.decision_id) == (True, made.decision_id)
