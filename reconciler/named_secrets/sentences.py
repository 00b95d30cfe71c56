"""How a sentence tells a secret: "her PIN was changed to 4711", "the gate opens with 4711".

What a secret's name does not make one by itself, a lock of some kind does in the same sentence, or
in the same object of a tool's answer, with words that say that a number opens it. A locker's own
number, a gate's time and a door's height are none. Pure.

Source: sentences of our own making; none of what is published about secrets looks for these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from reconciler.named_secrets.grammar import OPENING, TRAILING, is_remark, looks_made_up
from reconciler.named_secrets.values import ADDRESS
from reconciler.sensitive_data import TOKEN, SensitiveKind, SensitiveSpan

_NO_COMPOUND = r"""(?![ -](?:managers?|vaults?|apps?|applications?|tools?|software|generators?
    |reviews?|audits?|regulations?|polic(?:y|ies)|rules?|requirements?|pads?|readers?|lists?|fields?|forms?|pages?
    |prompts?|hygiene|training|protection|strength|length|supplier|vendor|provider|requests?
    |(?:reset|change|update)s?(?![ ](?:to|code)\b)|of[ ](?:conduct|practice|ethics))\b)"""
"""Stands after a secret's name: a password manager is no password."""

_LOGIN = rf"(?:pass[ -]?(?:word|phrase|code)|passwd|pwd|kennwort|passwort)\b{_NO_COMPOUND}"
_KEY = rf"""(?:(?:api|access|secret|private|signing|encryption|master)[ _-]?key
    |(?:access|api|auth|bearer|refresh|session)[ _-]?token|client[ _-]?secret)\b{_NO_COMPOUND}"""
_PIN = rf"""(?:pin(?![ ]code)|otp|cvv2?|cvc2?|(?:security|access|door|gate|alarm|entry|unlock
    |lock(?:er|box)?|safe|verification|one-time|login|recovery|reset)[ ]code)\b{_NO_COMPOUND}"""
_BETWEEN = r"(?:[ ](?!is\b|was\b)[\w'\u2019-]{1,20}+)"
_IS = r"""(?:[ ](?:is|was|are|be|been|has|will|now|still|changed|set|reset|updated|to|ist|war
    |lautete?|wurde|jetzt|nun|auf)(?=[ ])){1,5}"""
_WHOSE = r"(?P<whose>my|our|his|her|their|the|your)\b"
_NO_MORE = r"\b(?![-,./]?\d|[ ]?%)"

_WORD = r"(?:[ ][\w'\u2019-]{1,20}+)"
_THING = r"""(?:(?:front|back|side|main|cellar|garage|garden|office|lobby|roof)?[ -]?
    (?:door|gate|entrance)
    |building|flat|apartment|house|garage|cellar|shed|lobby|lift|elevator|intercom|barrier|keypad
    |(?:bike|bicycle|pad|combination|suitcase|door|key)?[ -]?lock(?:er|box)?|key[ ]?(?:box|safe)
    |safe|vault|strongbox|alarm|cabinet|office|storage|warehouse|parking|cash[ ]?box)s?\b"""
_CODE = r"(?:code|combination|combo|digits)\b"
_BECOMES = r"""(?:(?:[ ](?:is|was|are|now|still|changed|set|reset|to|will|be|becomes?)\b){1,4}
    |[ ]?[:=])"""
_NUMBER = r"""[ ]{0,3}["'\u201c\u2018#*]{0,2}(?P<value>\d(?:[ -]?\d){2,7})(?![\d%]|[-.,/:]\d
    |[ ]?(?:[mck]?m|inches|kg|euros?|eur|people|pieces|times|o'clock|[ap]m)\b)"""
_FOUR = r"(?=\W{0,4}\d(?:[ -]?\d){3})"
"""As many digits at least, where little else says what they are."""

_QUOTE = r"\\{0,4}[\"']"
_IN_SENTENCE = r"[^.!?\n]{0,60}?"
_TYPE = r"(?:press|type|enter|dial|punch|key|tap|use)(?:s|es|ed|ing)?(?:[ ]in)?"
_DIGIT = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
"""A digit in words, as a person reads a code out."""


def _compiled(table: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of a table, each behind its example."""
    flags = re.IGNORECASE | re.VERBOSE
    return tuple(re.compile(pattern, flags) for pattern in table.split("\n\n"))


_HAS_DIGITS = re.compile(rf"(?i)\d[ -]?\d[ -]?\d|\b{_DIGIT}[ ,-]+{_DIGIT}\b")
"""So many digits, or digits in words, has every code that opens something."""

_SAID = _compiled(
    rf"""
    # "4711 is the PIN", "uses 4711 as PIN"
    (?<![\w-])(?P<value>\d{{3,8}})["'\u201d\u2019]?[ ]
    (?:(?:is|was|as)[ ](?:now[ ])?{_WHOSE}{_BETWEEN}{{0,3}}[ ]|as[ ]){_PIN}

    # "the PIN for the locker is 4711", "her PIN was changed to 4711"
    \b{_PIN}{_BETWEEN}{{0,5}}(?:{_IS}|[ ]?[=:])[ ]*["'\u201c\u2018]?(?P<value>\d{{3,8}}){_NO_MORE}

    # "OTP code 4711"
    \botp(?:[ ]code)?[ ](?P<value>\d{{4,8}}){_NO_MORE}

    # "the code for the front door is 4711", "entry code for the building: #4711"
    \b{_CODE}(?=[^.!?\n]{{0,50}}\b{_THING}){_WORD}{{1,8}}?{_BECOMES}{_NUMBER}

    # "the locker combination is 4711", "the door's keypad code was changed to 4711"
    \b{_THING}(?:['\u2019]s)?{_WORD}{{0,3}}?[ ]{_CODE}{_WORD}{{0,5}}?{_BECOMES}?{_NUMBER}

    # "use code 4711 for the lift", "code 4711 opens the gate"
    \b{_CODE}{_NUMBER}[ ](?:for|at|on|to|in|opens?|unlocks?)\b{_IN_SENTENCE}\b{_THING}

    # "the gate opens with 4711", "the alarm is turned off with 4711"
    \b{_THING}{_IN_SENTENCE}\b(?:open|unlock|disarm|deactivat|turn|switch)(?:e?s|e?d|ing)?
    (?:[ ](?:off|up|out|it))?[ ](?:with|by|using){_WORD}{{0,3}}?{_NUMBER}

    # "for the side door press 4711", "to open the safe type 4711"
    \b{_THING}{_IN_SENTENCE}\b{_TYPE}{_WORD}{{0,3}}?{_NUMBER}

    # "press 4711 to open the gate"
    \b{_TYPE}{_WORD}{{0,3}}?{_NUMBER}[ ](?:to|and|then|at|on|for)\b{_IN_SENTENCE}\b{_THING}

    # "let yourself in with 4711"
    \b(?:let|get|come|go)s?{_WORD}?[ ]in[ ](?:with|by|using){_WORD}{{0,3}}?{_NUMBER}

    # "my bike lock is 12-34-56"
    \block[ ](?:is|was){_NUMBER}

    # "gate: 4711"
    (?:^|[\n;,(])[ ]?(?:(?:front|back|side)[ ])?(?:door|gate|safe|alarm|keypad|entrance)[ ]?[:=]
    {_FOUR}{_NUMBER}

    # {{"door": {{"code": "4711"}}}}
    {_QUOTE}{_THING}[^\n]{{0,140}}?{_QUOTE}{_CODE}{_QUOTE}\s?:{_FOUR}{_NUMBER}

    # {{"locker": 12, "code": 4711}}
    {_QUOTE}{_CODE}{_QUOTE}\s?:{_FOUR}{_NUMBER}[^\n]{{0,120}}?{_QUOTE}{_THING}

    # "my PIN is four seven one one"
    \b(?:pin|{_CODE}){_WORD}{{0,5}}?{_BECOMES}[ ]?
    (?P<value>{_DIGIT}(?:[ ,-]{{1,2}}{_DIGIT}){{2,7}})\b

    # "the code that you were sent is 471147"
    \bcode\b(?=[^.!?\n]{{0,40}}\b(?:sent|texted|received)\b){_WORD}{{1,8}}?{_BECOMES}
    (?=\W{{0,3}}\d{{4}}){_NUMBER}"""
)
_OTHER_CODE = re.compile(
    r"""
    \b(?:discount|promo(?:tion)?|voucher|coupon|gift|post(?:al)?|zip|area|country|dial(?:ling)?
    |product|item|booking|reference|order|error|status|source|tax|sort|colou?r|dress|bar|qr)[ -]?$
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What makes a code another thing than a key; it stands before the word."""

_SAID_TO_BE = _compiled(
    rf"""
    # "Blue42 is my portal password", "uses Blue42 as password"
    (?<!\S)(?P<uses>us(?:es?|ed|ing)[ ])?(?P<value>[^\s]{{4,80}}+)[ ]
    (?:(?P<as>as)|is|was|will[ ]be)[ ](?:now[ ]|still[ ])?
    (?:{_WHOSE}{_BETWEEN}{{0,3}}[ ]|(?<=as[ ])){_LOGIN}

    # "the API key we use is Blue42", "Das Passwort lautet Blue42", "my password's Blue42"
    \b(?:{_LOGIN}|{_KEY})(?:{_BETWEEN}{{0,5}}{_IS}|['\u2019]s)[ ]+(?P<value>[^\s]{{5,200}}+)
    (?![ ](?:encrypted|encoded|hashed|compliant|characters|bits?)\b)

    # "our token for the integration: Blue42"
    \b(?:{_LOGIN}|{_KEY}|(?:tokens?|secrets?)\b{_NO_COMPOUND})
    {_BETWEEN}{{1,6}}[ ]?[:=][ ]*(?P<value>[^\s]{{5,200}}+)

    # "the wifi code is kettle4711", "the Wi-Fi is Guest and the key is kettle4711"
    \b(?:wi-?fi|wlan)\b[^.!?\n]{{0,40}}?\b(?:code|key|pass\w{{0,6}})(?:[ ](?:is|was)|[ ]?[:=])[ ]*
    ["'\u201c]?(?P<value>(?=\S{{0,62}}\d)(?=\S{{0,62}}[a-z])[^\s"'\u201d,;]{{5,62}}[\w#$&*@!+=~-])"""
)
_NO_WORD_FOR_IT = re.compile(
    r"""
    these|those|everything|anything|nothing|problem|question|issue|name|birthday|thing|one|reason
    |concern|worry|priority|email|number|phone|portal|think|said|says|where|security|account|website
    |page|else|\w+ing
    """,
    re.IGNORECASE | re.VERBOSE,
)


def said(text: str) -> Iterator[SensitiveSpan]:
    """The secrets that a sentence tells; they may overlap."""
    for pattern in _SAID if _HAS_DIGITS.search(text) else ():
        for match in pattern.finditer(text):
            start, is_code = match.start(), match[0][:2].casefold() in ("co", "di")
            if not (is_code and _OTHER_CODE.search(text, max(0, start - 20), start)):
                yield SensitiveSpan(*match.span("value"), SensitiveKind.SECRET)
    for match in (hit for pattern in _SAID_TO_BE for hit in pattern.finditer(text)):
        start, end = match.span("value")
        bare = OPENING.sub("", match["value"], count=1)
        start, value = end - len(bare), bare.rstrip(TRAILING)
        if value and not TOKEN.fullmatch(value) and _is_said_to_be(value, match.groupdict()):
            yield SensitiveSpan(start, start + len(value), SensitiveKind.SECRET)


def _is_said_to_be(value: str, told: Mapping[str, str | None]) -> bool:
    """Whether "… is my password" gives it away; "That is the password" does not."""
    if is_remark(value) or _NO_WORD_FOR_IT.fullmatch(value):
        return False
    if looks_made_up(value) and not re.fullmatch(ADDRESS, value):
        return True
    is_somebodys = (told.get("whose") or "the").casefold() not in ("the", "your")
    return is_somebodys and bool(told["uses"] or not told["as"])
