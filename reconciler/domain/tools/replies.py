"""Replies: a tool's answer to the model that called it. Short, in words, and never a secret.

Quotations from the memory are data: on one line, without markup, and cut.

Also the handles that were shown in one conversation. Its model may name facts only by these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from threading import Lock

from reconciler.domain.recalling.briefing import CONVERSATION, asked_together, is_for_the_contact
from reconciler.domain.recalling.prompting import filed_as, quoted
from reconciler.domain.reconciling.by_slot import is_left_open
from reconciler.domain.reconciling.disputes import is_suspended
from reconciler.domain.reconciling.limits import YIELDS
from reconciler.domain.reconciling.restating import expiry_of
from reconciler.domain.records.decisions import Comparison, Decision
from reconciler.domain.records.facts import HANDLE_SIGN, Fact, Facts, by_fact_id, handles_of
from reconciler.domain.records.kinds import Action, GateReason, SourceKind
from reconciler.domain.records.notes import CONTACT_SUBJECT, Slot
from reconciler.errors import ReconcilerError, RelationError
from reconciler.frozen import frozen
from reconciler.reading.guard import is_over, share_a_word, share_more_than, tells_of_change
from reconciler.reading.kinds import Category
from reconciler.reading.visible_text import shortened

Show = Callable[[Iterable[str]], Mapping[str, str]]
"""Returns the handles of the shown facts, by id."""

_NAMED_MAX = 3
_LENGTH_MAX = 400
_QUOTE_LENGTH_MAX = 48
_CLOSE_COSINE = 0.45
"""The cosine from which two texts may be about one thing, as for the links of the rule."""

_NEAR_COSINE = 0.3
"""The cosine from which they may be if they share a word of content."""

_NEAR_COSINE_APART = 0.7
"""The cosine from which they may be even with two attributes, or with only names in common. Source:
measured on the recorded agents, benchmarks/results/sessions.md."""

_NEAR_COSINE_OTHER = 0.8
"""The cosine from which they may be even if one is about the contact and the other about another
person."""

_ASK = "Not remembered yet; do not act on it. Ask the contact, once: "
_ASK_BOTH = "Not remembered yet; do not act on it. Ask in one question: "
_HOW = "If one of these is replaced, repeated or over, say so with relate_contact_note."
_HOW_OPEN = (
    "Say with relate_contact_note if it repeats that, or if it ends that. Next time give ended "
    "true for a value that is over."
)
_HOW_DISPUTED = "Say with relate_contact_note which one ends, or that both hold."
_RULED = "Only an operator can settle it; do not ask the contact."

_BOTH_HELD = "Done: that these facts hold beside each other is on record. None of them changes."
_UNRELATED = "What you said of other facts was left out"
_HOW_UNRELATED = "Do not note it again: say it with relate_contact_note."
_SPARED = "Not ended, but in dispute now"
_HOW_SPARED = (
    "If the contact said that it is over, note that in words that name it; else a person decides."
)

_WHOM = "Is it about {}? Ask which, and note it again with the full name as its subject."
_HOW_UNSAID = f"The note does not speak of it. {_HOW_SPARED}"
_HOW_OVER = "A note that is over itself ends nothing: note that it has ended, without valid_to."
_HOW_OLDER = "If the note holds now instead, note it again without valid_from, and with replaces."


@frozen
class ToolReply:
    """A tool's answer.

    Attributes:
        text: the text for the model; it can be sent as it is.
        is_error: whether the call could not be carried out. A refusal by the gate is no error.
        decision: the decision about a note; None if there was none.
        error: the error, for the operator; None without one.
    """

    text: str
    is_error: bool = False
    decision: Decision | None = None
    error: ReconcilerError | None = None

    def __post_init__(self) -> None:
        # Half a surrogate pair, which a model may send and be told of, ends the next request.
        sendable = self.text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
        object.__setattr__(self, "text", sendable)


def reply_about(
    decision: Decision,
    show: Show,
    siblings: Facts,
    *,
    names_close: bool,
    complaint: str,
    answers: bool,
    asked: Sequence[str],
    may_be: Sequence[str],
) -> ToolReply:
    """Make the reply about a note: its decision's words, and the facts that it replaced or joined.

    If no model said how it relates to facts, the near facts are named, so that the model can say
    so.

    Args:
        decision: the decision about the note.
        show: returns the handles of the shown facts.
        siblings: other live values of the note's attribute.
        names_close: whether the model may know of facts that the note did not touch.
        complaint: why the note's relations to other facts were left out; empty if none was.
        answers: whether it answered an open question.
        asked: the questions that already wait for the contact in this conversation.
        may_be: the known people that the note's subject may mean, if that is open.
    """
    told = [_what_became(decision, asked), _own_handle(decision, show), _until_when(decision)]
    told += [decision.taken_out, _WHOM.format(" or ".join(may_be)) if may_be else ""]
    if decision.action is Action.ADD and _tells_of_its_end(decision):
        told.append("It says that its value has ended.")
    if answers:
        told.append("That answers what the contact was to be asked about it; do not ask.")
    if complaint:
        told.append(f"{_UNRELATED}: {complaint}.")
        told.append(_HOW_UNRELATED if decision.fact_id else "")
    related = decision.proposal.relations
    if related and related.repeats and decision.action is Action.ADD:
        told.append("It does not repeat that fact: each says something that the other does not.")
    seen = by_fact_id(decision.compared_with)
    name, known = partial(_name, told, show), partial(_those_of, seen)
    verb = "It took back" if decision.action is Action.REVOKE else "It replaced"
    superseded = known(decision.superseded_ids)
    again = superseded[:1] if decision.verdict.is_restatement else []
    over = [fact for fact in superseded if related and fact.fact_id in related.ends]
    name("It repeats", again)
    name(verb, [fact for fact in superseded if fact not in (*again, *over)])
    name("It ended", over)
    against = known(decision.conflicting_ids)
    said_over = related.ended_ids if related else ()
    spared = [fact for fact in against if fact.fact_id in said_over]
    name(_SPARED, spared, how=_HOW_SPARED)
    until_then = decision.ends_on_the_day_ids
    name("Until then stays", known(until_then))
    done = (*decision.superseded_ids, *decision.conflicting_ids, *until_then)
    stay = known(i for i in said_over if i not in done)
    if decision.is_history and not decision.verdict.is_restatement:
        above = known(decision.verdict.targets)
        told_of = [fact for fact in above if names_close or fact.fact_id in said_over]
        name("Newer", told_of, how=_HOW_OLDER)
    elif not decision.is_history:
        how = _HOW_OVER if decision.is_over else _HOW_UNSAID
        name("Not ended", stay, how=how)
    suspended = _suspended(decision, siblings)
    name("It suspends until then", suspended)
    siblings = [fact for fact in siblings if fact not in suspended]
    beside = [fact for fact in against if fact not in spared]
    how = _RULED if f"{SourceKind.USER_EXPLICIT} {YIELDS}" in decision.reason else _HOW_DISPUTED
    name("Beside it stands", beside, how=how)
    is_new = decision.action.writes_a_fact and not decision.is_over
    is_asked = names_close and related is None and is_new and not decision.is_history
    left_open = [
        fact
        for fact in seen.values()
        if is_asked and not fact.is_expired and is_left_open(decision.note, decision.verdict, fact)
    ]
    name("Its value is that of", left_open, how=_HOW_OPEN)
    if is_asked and not left_open:
        name("Close to it", _close(decision, siblings), how=_HOW)
    return ToolReply(text=" ".join(filter(None, told)), decision=decision)


def reply_about_relating(decision: Decision, show: Show) -> ToolReply:
    """Make the reply about relating facts, by their handles.

    Args:
        decision: the decision about the relation.
        show: returns the handles of the shown facts.
    """
    verdict, told = decision.verdict, ["Done."]
    if not (verdict.ended or verdict.conflicts or decision.closed_ids or decision.planned_ends):
        return ToolReply(text=_BOTH_HELD, decision=decision)
    stays = (decision.fact_id,) if decision.fact_id else ()
    days = [end.day for end in decision.planned_ends if end.plan_id == decision.fact_id]
    begins = f", from {max(days):%Y-%m-%d} on" if days else ""
    for what, fact_ids in (
        (f"It stays{begins}", stays),
        ("Ended, and kept as history", verdict.ended),
        ("Until then stays", decision.ends_on_the_day_ids),
        (_SPARED, verdict.conflicts),
        ("Both hold, no longer in dispute", decision.closed_ids),
    ):
        if fact_ids:
            told.append(f"{what}: {', '.join(show(fact_ids).values())}.")
    if verdict.conflicts:
        told.append(_HOW_SPARED)
    return ToolReply(text=" ".join(told), decision=decision)


def _what_became(decision: Decision, asked: Sequence[str]) -> str:
    """Return the decision's answer; it quotes only a question for the contact.

    One question covers all that can be asked together.
    """
    is_quarantined = decision.gate is not None and decision.gate.reason is GateReason.DIRECTIVE
    if decision.question is None or is_quarantined:
        return decision.outcome
    if is_for_the_contact(decision):
        room = _LENGTH_MAX - len(_ASK)
        own = _question_in(decision, room)
        both = asked_together([own, *asked], room)[0]
        return f"{_ASK if both == own else _ASK_BOTH}{both}"
    return "Not remembered yet; do not act on it. An operator is asked; do not ask the contact."


def _question_in(decision: Decision, length_max: int) -> str:
    """Return the question to the contact, with a long note shortened: the model already has it."""
    asked, said = decision.question or "", decision.text.strip().rstrip(".")
    over = len(asked) - length_max
    if over <= 0:
        return asked
    return shortened(asked.replace(said, shortened(said, max(len(said) - over, 1))), length_max)


def _own_handle(decision: Decision, show: Show) -> str:
    if decision.fact_id is None or not decision.action.is_reconciled:
        return ""
    return f"It is {show([decision.fact_id])[decision.fact_id]}."


def _tells_of_its_end(decision: Decision) -> bool:
    slot = decision.note.slot
    if slot is None or slot.value is None:
        return False
    return is_over(decision.text, slot.value, slot.attribute or "")


def _until_when(decision: Decision) -> str:
    """Say until when a new temporary fact is kept; empty for any other decision."""
    is_past = decision.is_history or decision.is_over or decision.verdict.is_restatement
    has_own_end = decision.proposal.holds_until is not None
    is_passing = decision.gate is not None and decision.gate.category is Category.VOLATILE
    expires_at = expiry_of(decision)
    is_new = decision.action.writes_a_fact
    if is_past or has_own_end or not (is_new and is_passing and expires_at):
        return ""
    return f"It reads as something that passes, and is kept until {expires_at:%Y-%m-%d}."


def _suspended(decision: Decision, siblings: Iterable[Fact]) -> list[Fact]:
    """Return the other values of the note's attribute that hold again after its end."""
    ends_at, slot = decision.proposal.holds_until, decision.note.slot
    if ends_at is None or slot is None or not slot.is_single_valued:
        return []
    return [fact for fact in siblings if is_suspended(decision.note, ends_at, fact)]


def _close(decision: Decision, siblings: Facts) -> list[Comparison | Fact]:
    """Return the live facts that the note may change, other values of its attribute first."""
    done = {decision.fact_id, *decision.superseded_ids, *decision.conflicting_ids}
    slot = decision.note.slot
    if slot and not (slot.is_single_valued or slot.is_open) and not tells_of_change(decision.text):
        done.update(fact.fact_id for fact in siblings)  # one value more of several
        siblings = ()
    facts: dict[str, Comparison | Fact] = {
        fact.fact_id: fact for fact in siblings if fact.fact_id not in done
    }
    for fact in decision.compared_with:
        is_live = not fact.is_expired and fact.fact_id not in done
        if is_live and _is_close(decision, fact):
            facts.setdefault(fact.fact_id, fact)
    return list(facts.values())


def _is_close(decision: Decision, fact: Comparison) -> bool:
    """True if the note may change the fact, by words, meaning and attributes."""
    one, other = decision.note.slot, fact.slot
    names = " ".join(slot.subject for slot in (one, other) if slot and not _is_contacts(slot))
    if fact.cosine < _least_cosine(decision.text, fact.text, names):
        return False
    if one and other and one.subject != other.subject:
        is_beside = _is_contacts(one) or _is_contacts(other)
        return is_beside and fact.cosine >= _NEAR_COSINE_OTHER
    if one is None or other is None or None in (one.attribute, other.attribute):
        return True
    if one.attribute == other.attribute:
        return True
    # Names of the book are two questions; of names that were made up two may mean the same.
    is_made_up = not (one.is_known and other.is_known)
    words = [set(str(slot.attribute).split("_")) for slot in (one, other)]
    return is_made_up and (fact.cosine >= _NEAR_COSINE_APART or bool(words[0] & words[1]))


def _least_cosine(one: str, other: str, names: str) -> float:
    """Return the least nearness of two texts: shared names make texts near, whatever they say."""
    if share_more_than(names, one, other):
        return _NEAR_COSINE
    return _NEAR_COSINE_APART if share_a_word(one, other) else _CLOSE_COSINE


def _is_contacts(slot: Slot) -> bool:
    return slot.subject == CONTACT_SUBJECT


def _those_of(seen: Mapping[str, Comparison], fact_ids: Iterable[str]) -> list[Comparison]:
    return [seen[i] for i in fact_ids if i in seen]


def _name(
    told: list[str],
    show: Show,
    what: str,
    facts: Sequence[Comparison | Fact],
    *,
    how: str = "",
) -> None:
    """Add facts to the reply, as many as there is room for."""
    length = sum(map(len, told)) + len(told) + len(what) + len(how) + len(":  .")
    named: list[str] = []
    for fact in facts[:_NAMED_MAX]:
        handle = show([fact.fact_id])[fact.fact_id]
        shown = f"{handle} {quoted(fact.text, _QUOTE_LENGTH_MAX)}{filed_as(fact.text, fact.slot)}"
        if length + len(shown) > _LENGTH_MAX:
            if named:
                break
            shown = handle
        length += len(shown) + len(", ")
        named.append(shown)
    if named:
        told.append(f"{what}: {', '.join(named)}.{f' {how}' if how else ''}")


_SHOWN_MAX = 2_000
"""The number of facts that are remembered as shown: far more than fit a prompt."""


class Shown:
    """Handles that were shown in a conversation. Safe between threads."""

    def __init__(self) -> None:
        self._handles: dict[str, str] = {}
        self._told_at: dict[str, datetime] = {}
        self._lock = Lock()

    def show(self, fact_ids: Iterable[str]) -> Mapping[str, str]:
        """Return the handles of these facts, by id; each fact keeps its handle from now on."""
        with self._lock:
            listed, known = dict.fromkeys(fact_ids), self._handles
            # A handle that was shown already keeps its fact, so that a later one is made longer.
            handles = handles_of((*known, *(i for i in listed if i not in known)))
            others = {i: known[i] for i in known if i not in listed}
            shown = {i: known.get(i) or handles[i] for i in listed}
            # A new table each time, so that a reader in another thread keeps the old one.
            self._handles = dict([*others.items(), *shown.items()][-_SHOWN_MAX:])
            return {i: shown[i] for i in shown if i in self._handles}

    def tell(self, fact_ids: Iterable[str], now: datetime) -> set[str]:
        """Remember that the conversation was shown these facts; return those shown before.

        A fact that was shown more than an hour ago is shown again.

        Args:
            fact_ids: the ids of facts that are shown in full.
            now: the time now (UTC).
        """
        with self._lock:
            before = {i: at for i, at in self._told_at.items() if now - at <= CONVERSATION}
            self._told_at = dict.fromkeys(fact_ids, now) | before
        return {*before}

    def by_handle(self, text: str) -> str:
        """Return the text with handles in place of the ids of facts that were shown."""
        for fact_id, handle in self._handles.items():
            text = text.replace(fact_id, handle)
        return text

    def fact_id(self, name: str) -> str:
        """Return the fact of a handle that was shown.

        Raises:
            RelationError: the handle was not shown.
        """
        plain = name.strip().strip("[]\"'").casefold()
        handle = plain if plain.startswith(HANDLE_SIGN) else HANDLE_SIGN + plain
        known_id = next((i for i, shown in self._handles.items() if shown == handle), None)
        if known_id is None:
            raise RelationError(
                f"no fact that was shown in this conversation has the handle {name[:20]!r}; recall "
                "what is known, and copy a handle from there"
            )
        return known_id
