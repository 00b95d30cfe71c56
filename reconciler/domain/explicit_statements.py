"""Explicit statements: the sentences in which somebody plainly says what holds of them.

Closed lists of English openings ("my … is", "from now on", "remember that") and what a sentence
says by them live here. Nothing is understood that no opening gives away: a sentence that no list
knows is left alone, which is what is wanted of a reader without a model. What becomes of a
statement, and any model, clock or file, must never come in here. Every pattern is tried at places
that it cannot move from, in sentences of bounded length, so a long text costs as it is long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reconciler.domain.gate.classification import infer_category
from reconciler.domain.gate.literalness import Literalness, classify_literalness, find_hedge
from reconciler.domain.kinds import Category, Speech
from reconciler.domain.values.locales import country

__all__ = ["Statement", "find_statements"]

SENTENCE_LENGTH_MAX = 400
"""Characters in a sentence that is read; whoever says something plainly needs fewer."""

VALUE_LENGTH_MAX = 100
"""Characters in a value; what is longer is a text, and its statement goes without one."""

IsKnown = Callable[[str], bool]
"""Whether an attribute of that name is known to whoever keeps the facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What one sentence says of its speaker.

    Attributes:
        text: the statement, in the speaker's words and single spaces; it stands alone.
        span: the sentence, letter by letter as it stands in the text.
        category: preference, fact, decision or procedure.
        is_request: whether it asks to be remembered or obeyed from now on.
        is_hedged: whether the speaker leaves it open.
        speech: how it is meant.
        subject, attribute, value: the slot that it fills, as far as it fills one.
        replaces: whether it says that the attribute had another value before.
    """

    text: str
    span: str
    category: Category
    is_request: bool = False
    is_hedged: bool = False
    speech: Speech = Speech.LITERAL
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    replaces: bool = False


def find_statements(text: str, is_known: IsKnown = lambda _: False) -> Iterator[Statement]:
    """The explicit statements of a text, in their order; a sentence may hold several.

    Questions, other people's words, and what holds only at the moment give none. What is played,
    imagined or ironic is given as what it is.

    Args:
        text: one message of one speaker, of any length.
        is_known: whether an attribute is known; "my … is" is taken more readily for one that is.
    """
    for sentence in dict.fromkeys(_sentences(text)):
        # What a sentence claims is asked first: most claim nothing, and need no further reading.
        if claims := _claims(" ".join(sentence.text.split()), is_known):
            yield from _statements(sentence, claims)


def _statements(sentence: _Sentence, claims: list[_Claim]) -> Iterator[Statement]:
    said, speech = sentence.text, _speech(sentence)
    if speech is None or infer_category(said) is Category.VOLATILE:
        return
    is_hedged = find_hedge(said) is not None
    for claim in claims:
        yield Statement(
            text=claim.text,
            span=said,
            category=_lasting(infer_category(claim.text)),
            is_request=claim.is_request,
            is_hedged=is_hedged,
            speech=_of_request(speech, said) if claim.is_request else speech,
            subject=claim.slot.subject,
            attribute=claim.slot.attribute,
            value=claim.slot.value,
            replaces=claim.slot.replaces,
        )


def _lasting(category: Category) -> Category:
    return Category.FACT if category in (Category.SUMMARY, Category.VOLATILE) else category


def _any(words: str, *more: str) -> str:
    return "(?:" + "|".join((*words.split(), *more)) + ")"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def _table(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Sentences: what somebody says in their own name


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    frame: Speech


_WORD = re.compile(r"[^\W\d_]")
_END = re.compile(r"[.!?…]+[\"”’')\]*]*(?=\s|$)")
_TITLE = re.compile(r"(?:^|[\s(])(?:dr|mr|mrs|ms|st|prof|vs|approx|e\.g|i\.e|[a-z])\.$", re.I)
_SHORT_FORM = re.compile(r"(?:^|[\s\d])(?:a\.m|p\.m|inc|ltd|co|corp|etc|no|jr|sr)\.$", re.I)
_BULLET = re.compile(r"\s*(?:[-*•–]+\s+|\(?\d{1,2}[.)]\s+)?")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_QUOTED_LINE = re.compile(r"\s*(?:>|\|)")
_OPENING_MARKS, _CLOSING_MARKS = '"“«', '"”»'

_MATERIAL = _pattern(
    r"\b(?:translat\w*|rewrit\w*|rephras\w*|paraphras\w*|proofread\w*|edit|correct|improve"
    r"|summari[sz]e|summary|analy[sz]e|review|e-?mail|letter|message|article|text|essay|story"
    r"|poem|song|lyrics|draft|quote|transcript|paragraph|dialogue|script|bio|speech)\b.{0,80}:\s*$"
)
"""A line that announces a text to work on: whose words follow, nobody knows."""

_PLAYED = _pattern(
    r"\b(?:role-?play|pretend|in (?:this|the|my|our) (?:game|story|scenario|novel|campaign)"
    r"|my character|you are now (?:a|an|the)\b)"
)
_IMAGINED = _pattern(
    r"^\W*(?:now |ok(?:ay)?,? |so |just |let'?s |let us ){0,3}"
    r"(?:imagine|suppose|assume|say (?:that )?i)\b"
    r"|\bwhat if (?:i|we|my|our)\b|\bhypothetical"
)


def _sentences(text: str) -> Iterator[_Sentence]:
    """What may be a statement, with how the sentences before it frame it."""
    frame = Speech.LITERAL
    for line in filter(_WORD.search, _own_lines(text)):
        start = _after(_BULLET, line, 0)
        for end in _ends(line):
            said = line[start:end].strip()
            start, begun = end, start
            if not _WORD.search(said):
                continue
            frame = _frame(said) or frame
            is_own = not _is_within_quotation(line, begun)
            if is_own and len(said) <= SENTENCE_LENGTH_MAX and not _is_question(said):
                yield _Sentence(said, frame)


def _own_lines(text: str) -> Iterator[str]:
    """The lines up to a text that was only pasted, without quoted ones and code."""
    is_code = False
    for line in text.splitlines():
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code and not _QUOTED_LINE.match(line):
            yield line
            if _MATERIAL.search(line[-SENTENCE_LENGTH_MAX:]):
                return


def _ends(line: str) -> Iterator[int]:
    for found in _END.finditer(line):
        before = line[max(0, found.start() - 8) : found.start() + 1]
        following = line[found.end() : found.end() + 3].strip()
        is_short = _SHORT_FORM.search(before) and not following[:1].isupper()
        if found.group() != "." or not (is_short or _TITLE.search(before)):
            yield found.end()
    yield len(line)


def _is_within_quotation(line: str, at: int) -> bool:
    before = line[max(0, at - 2000) : at]
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")


def _frame(said: str) -> Speech | None:
    head = said[:SENTENCE_LENGTH_MAX]
    if _PLAYED.search(head):
        return Speech.ROLEPLAY
    return Speech.HYPOTHETICAL if _IMAGINED.search(head) else None


_ASKING = _pattern(
    r"(?:what|what's|where|when|why|how|who|whose|which|can|could|would|do|does|did|is|are|am"
    r"|should|will|shall|has|have|may|any)\b"
)
_ASKED_TO_REMEMBER = (
    r"(?:can|could|will|would) you (?:please |just |also ){0,2}"
    r"(?=remember|note|make a note|keep in mind|bear in mind)"
)


def _is_question(said: str) -> bool:
    start = _after(_FILLERS, said, 0)
    if re.compile(_ASKED_TO_REMEMBER, re.I).match(said, start):
        return False
    return said.rstrip("\"”')!").endswith("?") or bool(_ASKING.match(said, start))


# How it is meant

_SPEECHES = {
    Literalness.LITERAL: Speech.LITERAL,
    Literalness.SARCASTIC: Speech.SARCASTIC,
    Literalness.HYPOTHETICAL: Speech.HYPOTHETICAL,
    Literalness.CONDITIONAL: Speech.HYPOTHETICAL,
    Literalness.ROLEPLAY: Speech.ROLEPLAY,
}


def _speech(sentence: _Sentence) -> Speech | None:
    """How the sentence is meant; None for another's words."""
    if _IF_FIRST.match(sentence.text):
        return Speech.HYPOTHETICAL
    own = _SPEECHES.get(classify_literalness(sentence.text).kind)
    return sentence.frame if own is Speech.LITERAL else own


def _of_request(speech: Speech, said: str) -> Speech:
    """A rule for a case that may come is meant as it stands."""
    is_rule = speech is Speech.HYPOTHETICAL and _RULE_FOR_A_CASE.search(said)
    return Speech.LITERAL if is_rule else speech


_IF_FIRST = _pattern(r"\W*(?:and |but |so )?(?:if|unless|in case|assuming) (?:i|we|my|our)\b")
_RULE_FOR_A_CASE = _pattern(r"\b(?:always|never|from now on|going forward|in future)\b")


# Claims: what a sentence says, and where it begins to


@dataclass(frozen=True, slots=True)
class _Slot:
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    replaces: bool = False


_NO_SLOT = _Slot()


@dataclass(frozen=True, slots=True)
class _Claim:
    text: str
    slot: _Slot = _NO_SLOT
    is_request: bool = False


_FILLER = (
    r"(?:hi|hello|hey|oh|ok|okay|yes|yeah|yep|no|nope|well|so|also|and|but|actually|anyway|btw"
    r"|by the way|fyi|just so you know|just to be clear|to be clear|for your information|thanks"
    r"|thank you|sure|great|additionally|plus|note|correction|update|first of all|ps)"
)
_FILLERS = _pattern(rf"(?:\W*{_FILLER}\b(?![-'’\w])[\s,!.:;–—-]*){{1,4}}|\W{{0,3}}")
_BREAK = _pattern(
    r"(?:[,;:]|\s[–—-])\s+(?:(?:and|but|so|since|because|as|plus|also)\s+)?"
    r"(?:by the way,? |btw,? )?"
    r"|\s(?:and|but)\s+(?:by the way,? )?"
)

_UNRESOLVED = _pattern(r"\W*(?:it|it's|that|that's|this|these|those|they|he|she|them)(?!\w)")


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _claims(said: str, is_known: IsKnown) -> list[_Claim]:
    start = _after(_FILLERS, said, 0)
    if requested := _request(said, start, is_known):
        return [requested]
    if _asks_not_to_be_kept(said, start):
        return []
    return _plain_claims(said, start, is_known)


_FORGET = _pattern(r"(?:please )?(?:forget|ignore|disregard|don't remember|do not remember)\b")


def _asks_not_to_be_kept(said: str, start: int) -> bool:
    return bool(_FORGET.match(said, start))


def _plain_claims(said: str, start: int, is_known: IsKnown) -> list[_Claim]:
    """Each clause that states something; alone in its sentence, it keeps all of its words."""
    starts = dict.fromkeys((start, *(each.end() for each in _BREAK.finditer(said, start))))
    found = [(at, slot) for at in starts if (slot := _stated(said, at, is_known)) is not None]
    if len(found) <= 1:
        return [_Claim(_standing(said[start:]), slot) for _, slot in found]
    ends = [*(at for at, _ in found[1:]), len(said)]
    return [
        _Claim(_standing(_LOOSE_END.sub("", said[at:end])), slot)
        for (at, slot), end in zip(found, ends, strict=True)
    ]


_LOOSE_END = _pattern(
    r"(?:[\s,;:–—-]+(?:and|but|so|since|because|as|plus|also|by the way|btw)?){1,3}$"
)


def _standing(clause: str) -> str:
    """The clause as a sentence of its own."""
    clause = clause.strip()
    return clause[:1].upper() + clause[1:]


# Requests: to remember something, or to do something from now on

_REMEMBER = _pattern(
    rf"(?:{_ASKED_TO_REMEMBER}|(?:please|just|also|kindly|always|i want you to|i need you to"
    r"|i'd like you to|i would like you to|you should|you must)\s+){0,3}"
    r"(?:(?P<open>(?:remember|note|keep in mind|bear in mind|don['’]t forget|do not forget"
    r"|make a note|take a note|take note|be aware)(?:\s+that\b|\s*[:,])"
    r"|for the record[,:]|for future reference[,:]|note to self[,:])"
    r"|(?P<bare>remember|keep in mind|bear in mind|don['’]t forget|do not forget)(?=\s))\s+"
)
_CLAUSE = _pattern(
    r"(?:i|i['’]\w+|we|we['’]\w+|my|our|you|the|a|an|all|any|every|no|nobody|there|only|always"
    r"|never|[\w'’-]+(?: [\w'’-]+){0,4}? (?:is|are|has|have|was|were|must|should|will|can|needs?"
    r"|prefers?|likes?|wants?|lives?|works?|means))(?!\w)"
)
_OWN_CLAUSE = _pattern(r"(?:i|i['’]\w+|we|we['’]\w+|my|our)(?!\w)")
_ORDER = _pattern(r"to\s+\w+")
_NO_MEMORY = _pattern(r"(?:time|times|day|night|one|scene|moment|movie|song|when|how|what|if)\b")

_VERB = _any(
    "use reply answer respond write send call email e-mail ask check include address speak show "
    "give provide keep format cite explain confirm contact text share add mention suggest "
    "recommend tell make start begin end put translate list double-check assume book schedule "
    "invoice ship deliver charge order buy sign copy cc message phone ring remind prefer avoid "
    "stick treat refer spell quote round convert highlight summarise summarize offer propose "
    "pitch forward disclose discuss delete deploy push merge run change update set skip leave do "
    "be consider limit follow return store read bring notify inform wait disturb visit"
)
_IMPERATIVE = (
    rf"(?:please |always |never |only |do not |don['’]t |stop |no more ){{0,3}}"
    rf"(?:{_VERB}|stop|no|only)\b"
)
_RULE = _pattern(
    rf"(?P<from>from (?:now|today|here|this point|this day) on(?:wards?)?,?)\s+(?P<rest>\S.*)"
    rf"|(?:going forward|moving forward|in (?:the )?future|henceforth),?\s+(?:{_IMPERATIVE}"
    r"|(?:please|always|never|all|any|no|only|you|my|our)\b|(?:i|we)(?:'d|’d| would)? "
    r"(?:prefer|want|need|like|expect)\b)"
    rf"|(?:{_IMPERATIVE}|(?:i|we)(?:'d|’d| would)? (?:prefer|want|need|like) (?:you|it if)\b)"
    r"[^.!?]{3,200}\b(?:from now on|going forward|in future)[.!]*$"
    rf"|(?:please )?(?:always|never|don['’]t ever|do not ever) {_VERB}\b(?! (?:that|this|it)\b)"
    r"(?=\s\S+)"
)


def _request(said: str, start: int, is_known: IsKnown) -> _Claim | None:
    if wrapper := _REMEMBER.match(said, start):
        return _remembered(said, start, wrapper, is_known)
    if named := _CALL_ME.match(said, start):
        slot = _called(named, said)
        return None if slot is None else _Claim(_standing(said[start:]), slot, is_request=True)
    if rule := _RULE.match(said, start):
        rest = rule["rest"] or ""
        is_open = bool(_UNRESOLVED.match(rest))
        return None if is_open else _Claim(_standing(said[start:]), is_request=True)
    return None


def _remembered(said: str, start: int, wrapper: re.Match[str], is_known: IsKnown) -> _Claim | None:
    """What is to be remembered; with the request in front where it is no sentence alone."""
    rest = said[wrapper.end() :]
    if _UNRESOLVED.match(rest) or _NO_MEMORY.match(rest) or len(rest.split()) < 2:
        return None
    if (_CLAUSE if wrapper["open"] else _OWN_CLAUSE).match(rest):
        slot = _stated(rest, 0, is_known) or _NO_SLOT
        return _Claim(_standing(_ASKED.sub(".", rest)), slot, is_request=True)
    if wrapper["open"] or _ORDER.match(rest):
        return _Claim(_standing(_ASKED.sub(".", said[start:])), is_request=True)
    return None


_ASKED = re.compile(r"\s*\?+$")
_NAME = r"[^\W\d_a-z][\w'’-]*"
_CALL_ME = re.compile(
    r"(?i:(?:please |you can |you may |just |everyone can )*call me|i(?:['’]d| would)? "
    rf"(?:prefer|like) to be called|i go by) (?P<value>{_NAME}(?: {_NAME}){{0,2}})(?!\w)"
    r"(?! (?:at|on|when|if|by|before|after|back)\b)"
)
_NO_NAMES = _table(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december asap back crazy old"
)


def _called(named: re.Match[str], said: str) -> _Slot | None:
    value = named["value"]
    if value.split()[0].casefold() in _NO_NAMES or said.endswith("?"):
        return None
    return _Slot(None, "preferred_name", value)


# Statements: what is so


def _stated(said: str, at: int, is_known: IsKnown) -> _Slot | None:
    """What the clause that begins there states; a slot of nothing where only its words say it."""
    for pattern, read in _STATEMENTS:
        if found := pattern.match(said, at):
            return read(found, is_known)
    return None


_Read = Callable[[re.Match[str], IsKnown], _Slot | None]

_PLACE = rf"{_NAME}(?:[ .]{{1,2}}(?:(?:de|la|le|of|upon|am|an|der|do|da) )?{_NAME}){{0,3}}"
_AFTER_PLACE = (
    r"(?=\s*(?:[.!;:)–—-]|,|$)|\s+(?:now|since|in|with|for|because|and|but|these|at|last|this|a"
    r"|two|three|about|recently|from|so|right|where|which)\b)"
)
_PLACES = re.compile(
    r"(?i:(?P<who>i|we)(?:['’]m| am|['’]re| are|['’]ve| have)? "
    r"(?:(?:now|currently|still|just|recently|both|also) ){0,2}"
    r"(?:(?P<live>live|reside|living|based)(?: now| currently)? in|(?P<move>moved|relocated)"
    r"(?: back| house| home| here)?(?: from \S+(?: \S+)?)? to|moving to))"
    rf" (?P<value>{_PLACE}(?:, {_PLACE})?){_AFTER_PLACE}"
)
_LIVES = _pattern(
    r"i (?:(?:now|currently|still) )?(?:live|reside) (?:in|near|on|at|with|outside|alone|close to"
    r"|next to)\b|i(?:['’]ve| have)? (?:(?:just|recently) )?moved (?:in with|to|into|out of)\b"
    r"|we live (?:in|near|on|at|with|outside)\b"
)
_NO_PLACES = _table(
    "marketing sales engineering finance product support operations it hr legal research design "
    "slack salesforce hubspot notion linux windows android ios iphone python postgresql postgres "
    "github gitlab jira teams zoom gmail outlook excel shopify wordpress mac macos"
)
_REGIONS = _table(
    "alabama alaska arizona arkansas california colorado connecticut delaware florida hawaii idaho "
    "illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan "
    "minnesota mississippi missouri montana nebraska nevada ohio oklahoma oregon pennsylvania "
    "tennessee texas utah vermont virginia wisconsin wyoming ontario alberta manitoba bavaria "
    "tuscany catalonia scotland wales england queensland tasmania"
) | {"new jersey", "new mexico", "new hampshire", "north carolina", "south carolina"}


def _placed(found: re.Match[str], _: IsKnown) -> _Slot | None:
    value = _trimmed(found["value"])
    if value.casefold() in _NO_PLACES or (found["move"] and found["who"].casefold() == "we"):
        return _NO_SLOT if found["who"].casefold() == "i" else None
    if value.casefold() in _REGIONS:
        return _Slot(None, "region", value)
    is_country = len(country(value)) == 2 and value.casefold() != "la"
    return _Slot(None, "country" if is_country else "city", value)


_WORKS = re.compile(
    r"(?i:i(?:['’]m| am)? (?:(?:now|currently|still) )?(?:work|working) (?:at|for)) "
    rf"(?P<value>{_NAME}(?:[ &.-]{{1,3}}{_NAME}){{0,3}}){_AFTER_PLACE.replace('in|', 'in|as|')}"
)
_WORKS_SOMEHOW = _pattern(r"i (?:(?:now|currently|still) )?work (?:at|for|as|in) (?:an?|the|my)\b")
_ALLERGIC = _pattern(
    r"i(?:['’]m| am) (?:(?:now|also|very|severely|highly|quite|deathly) ){0,2}allergic to "
    r"(?P<value>[^,;.!?()]{2,60})"
)
_DIET = _pattern(
    r"i(?:['’]m| am)(?: now| also| strictly| actually)? (?:an? )?"
    r"(?:(?:strict|lifelong|committed) )?"
    r"(?P<value>vegetarian|vegan|pescatarian|lactose[- ]intolerant|gluten[- ]free|coeliac|celiac)\b"
)
_ROLE = _pattern(
    r"i(?:['’]m| am)(?: now| also| actually)? an? (?:[\w-]+ ){0,3}?"
    + _any(
        "engineer developer teacher nurse doctor lawyer solicitor student designer manager analyst "
        "accountant architect scientist consultant director founder owner freelancer writer "
        "electrician plumber chef pharmacist dentist physician surgeon professor researcher "
        "journalist photographer programmer administrator technician therapist librarian "
        "translator buyer contractor pilot veterinarian vet economist banker retiree pensioner"
    )
    + r"\b(?! (?:of|so|fan)\b)"
)
_PREFER = _pattern(
    r"(?:i|we)(?: (?:really|strongly|much|generally|usually|always|also|still|would|actually)"
    r"|['’]d){0,2} prefer (?!(?:it|that|this|these|those|them|one|either|both|not|your|if|when"
    r"|(?:the |a )?(?:first|second|third|last|latter|former|other|one|same|idea|option))\b)\w"
)
_FAN = _pattern(
    r"i(?:['’]m| am)(?: also)? a (?:big|huge|great) fan of (?!(?:it|that|this|them)\b)\w"
)
_DECIDED = _pattern(
    r"(?:we|i)(?:['’]ve| have)?(?: (?:finally|now|already|all|both|jointly))* "
    r"(?:decided (?:on|to go|to use|to move|to stay|to keep|to switch|to stop|to buy|not to|that"
    r"|against)|chosen|chose|settled on|opted (?:for|to)|agreed (?:on|to|that)) "
    r"(?!(?:it|that|this|these|those|them)\b)\w"
)


def _of_nothing(_: re.Match[str], __: IsKnown) -> _Slot:
    return _NO_SLOT


def _employed(found: re.Match[str], _: IsKnown) -> _Slot:
    return _Slot(None, "employer", _trimmed(found["value"]))


def _allergic(found: re.Match[str], _: IsKnown) -> _Slot:
    value = _trimmed(_CONTINUED.split(found["value"])[0])
    is_one = len(value.split()) <= 3 and not _SEVERAL.search(found.string[found.end("value") - 1 :])
    return _Slot(None, "allergy", value) if is_one and not _SEVERAL.search(value) else _NO_SLOT


def _diet(found: re.Match[str], _: IsKnown) -> _Slot:
    value = found["value"]
    is_allergy = "intolerant" in value.casefold()
    return _NO_SLOT if is_allergy else _Slot(None, "diet", value)


_SEVERAL = _pattern(r"\s(?:and|or|&)\s|^,\s*\w+(?:,|\s+and\b)")


# "My … is …"

_OWNED = _pattern(
    r"(?:my|our) (?:new |current |updated |latest )?"
    r"(?P<thing>[^\W\d_][\w'’-]*(?: [\w'’-]+){0,3}?) "
    r"(?:(?P<named>is (?:called|named)|goes by)"
    r"|(?P<changed>(?:has |have )?(?:just |now |recently )?changed to|is now|are now)"
    r"|is|are)(?: currently| actually)? (?P<value>\S.*)"
)
_THING_WORDS_MAX = 3
_NO_THINGS = _table(
    "question questions guess point concern concerns worry worries issue issues problem problems "
    "idea ideas thought thoughts understanding answer request requests fault turn bad hope hopes "
    "fear feeling feelings impression opinion suspicion theory advice apologies pleasure mistake "
    "mood head way take only next first last other biggest understanding experience main goal "
    "goals challenge challenges reason intention aim focus priority task mind assumption sense "
    "that who which and or but for to on with about from i it if when because there everything "
    "current"
)
_LASTING = _table(
    "name birthday email e-mail phone number address job title role employer company timezone "
    "language nationality diet allergy size budget anniversary colour color postcode zip manager "
    "hometown surname account plan pronouns religion occupation profession website domain username "
    "hours schedule doctor dentist bank insurance stack"
)
_FAVOURED = _table("favourite favorite preferred usual main primary default regular")
_ONE_OF_A_KIND = _table(
    "wife husband spouse partner fiancé fiancée fiance fiancee mother father mum mom dad boss "
    "boyfriend girlfriend manager supervisor assistant secretary landlord landlady doctor dentist"
)
_ONE_OF_MANY = _table(
    "son daughter child kid brother sister friend colleague coworker co-worker cousin aunt uncle "
    "nephew niece grandson granddaughter dog cat pet horse rabbit neighbour neighbor client "
    "customer teammate roommate flatmate grandmother grandfather grandma grandpa"
)
_FLEETING = _pattern(
    r"(?:not|n't|just|still|so|too|really|very|pretty|quite|relatively|getting|also|always|already"
    r"|only|about|to|that|whether|if|how|what|why|when|where|here|there|like|all|out|off|up|down"
    r"|over|done|ready|fine|good|great|bad|ok|okay|broken|dead|sick|ill|late|empty|full|slow|wrong"
    r"|right|sure|lost|gone|delayed|coming|going|being|having|making|doing|looking|working|trying"
    r"|kind|sort|more|less|mostly|usually|somewhat|slightly|fairly|extremely|super|starting|"
    r"running|feeling|acting|killing|it|this|these|those|they|you|he|she|one|because|bit|due|on it"
    r"|a (?:bit|little|mess|lot|disaster|nightmare|problem)|the (?:same|one|following|problem"
    r"|best|worst|only|reason|fact|first|second|third|last|latter|former)|as follows|\w+ing)\b"
)
_PREPOSITION = _pattern(r"(?:on|in|at|from|around|between|under|over|near|with|for)\s+")
_MONTH = _pattern(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
)
_IN_FIGURES = _table(
    "phone mobile cell number fax extension age budget birthday anniversary salary weight height "
    "postcode zip hours email e-mail"
)
_CONTINUED = _pattern(
    r"\s*[;(]|\s[–—-]\s|[,]?\s(?:and|but|so|which|who|because|since|though|although|if|as|while"
    r"|when|where)\s(?=(?:i|i['’]\w+|we|he|she|they|it|it's|my|our|you|the|can|could|please|was|is"
    r"|has|have|are|that)\b)|,\s(?:which|who|so|but|if|because|since|and|i|i['’]\w+|we|can|could"
    r"|please|thanks|not|it['’]s|it|he|she|they)\b"
)


def _owned(found: re.Match[str], is_known: IsKnown) -> _Slot | None:
    thing = _words(found["thing"])
    if not 1 <= len(thing) <= _THING_WORDS_MAX or not _NO_THINGS.isdisjoint(map(_folded, thing)):
        return None
    value = _trimmed(_CONTINUED.split(found["value"], maxsplit=1)[0])
    if not value or (_FLEETING.match(value) and not found["named"]):
        return None
    if found["named"]:
        return _of_relation(thing, "name", value, bool(found["changed"]))
    return _attributed(thing, value, found, is_known)


def _words(thing: str) -> list[str]:
    """Its words; "date of birth" is one."""
    return re.sub(r"\b(date|place|country|city|point) of (\w+)", r"\1_of_\2", thing).split()


def _folded(word: str) -> str:
    return word.replace("’", "'").casefold()


def _attributed(
    thing: list[str], value: str, found: re.Match[str], is_known: IsKnown
) -> _Slot | None:
    owners = [at for at, word in enumerate(thing) if _folded(word).endswith("'s")]
    replaces = bool(found["changed"])
    if owners and owners[-1] + 1 < len(thing):
        cut = owners[-1] + 1
        subject = [*thing[: cut - 1], thing[cut - 1][:-2]]
        attribute = _snake(thing[cut:])
        if not _says_something(thing[cut:], value, is_known):
            return None
        return _of_relation(subject, attribute, value, replaces)
    if _is_relation(thing):
        return _related(thing, value)
    if not _says_something(thing, value, is_known):
        return None
    if not _fits(thing, value):
        return _NO_SLOT
    return _Slot(None, _snake(thing), _PREPOSITION_OF_TIME.sub("", value), replaces)


_PREPOSITION_OF_TIME = _pattern(r"^on\s+(?=\S)")


def _snake(thing: list[str]) -> str:
    return "_".join(_folded(each).replace("-", "_").replace("'", "") for each in thing)


def _is_relation(thing: list[str]) -> bool:
    return _folded(thing[0]) in _ONE_OF_A_KIND | _ONE_OF_MANY


def _related(thing: list[str], value: str) -> _Slot | None:
    """Who a relative is: a name, or what else is said of them."""
    if re.fullmatch(rf"{_NAME}(?: {_NAME}){{0,2}}", value):
        return _of_relation(thing, "name", value, replaces=False)
    is_told = re.match(rf"(?i:an? |the |from )|{_NAME}|\d", value)
    return _Slot(" ".join(map(_folded, thing))) if is_told else None


def _of_relation(subject: list[str], attribute: str, value: str, replaces: bool) -> _Slot:
    """Of one of several dogs or sisters only the name tells which; so it is one value of many."""
    relation, about = _folded(subject[0]), " ".join(map(_folded, subject))
    if not _is_storable(value):
        return _Slot(about)
    if relation in _ONE_OF_MANY and len(subject) == 1:
        is_name = attribute == "name"
        return _Slot(None, f"{relation}_name", value) if is_name else _Slot(about)
    return _Slot(about, attribute, value, replaces)


def _says_something(thing: list[str], value: str, is_known: IsKnown) -> bool:
    """Whether it will hold tomorrow: a known attribute, a favourite, a name, a number."""
    words = frozenset(map(_folded, thing))
    if words & _IN_FIGURES:
        return bool(re.search(r"[\d@]", value) or _MONTH.search(value))
    rest = value[_after(_PREPOSITION, value, 0) :]
    if rest != value:
        return bool(re.match(rf"{_NAME}|[\d$€£]", rest))
    if words & (_LASTING | _FAVOURED) or is_known(_snake(thing)):
        return True
    return bool(re.match(rf"(?i:an? |the |my )\w|{_NAME}|[\d$€£\"“]", value))


_LONG_THINGS = _table("address directions hours")
_WORDS_MAX, _WORDS_OF_LONG_MAX = 6, 14


def _fits(thing: list[str], value: str) -> bool:
    """Whether it is one value of a slot, and not the rest of a talk."""
    is_long = not _LONG_THINGS.isdisjoint(map(_folded, thing))
    words_max = _WORDS_OF_LONG_MAX if is_long else _WORDS_MAX
    is_one = is_long or not (_SEVERAL.search(value) or ", " in value)
    return is_one and len(value.split()) <= words_max and _is_storable(value)


def _is_storable(value: str) -> bool:
    return len(value) <= VALUE_LENGTH_MAX and value.isprintable() and bool(re.search(r"\w", value))


_TRAILING = _pattern(
    r"(?:[\s.,;:!?…\"”*]+|\s(?:now|these days|at the moment|right|please|thanks))$"
)


def _trimmed(value: str) -> str:
    """The value without what closes a sentence."""
    value = value.strip().lstrip('"“*')
    while (shorter := _TRAILING.sub("", value)) != value:
        value = shorter
    return value


_STATEMENTS: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (_OWNED, _owned),
    (_PLACES, _placed),
    (_LIVES, _of_nothing),
    (_WORKS, _employed),
    (_WORKS_SOMEHOW, _of_nothing),
    (_ALLERGIC, _allergic),
    (_DIET, _diet),
    (_ROLE, _of_nothing),
    (_PREFER, _of_nothing),
    (_FAN, _of_nothing),
    (_DECIDED, _of_nothing),
)
"""Openings in the order in which they are tried, the one that says more before the other."""
