"""Codes that open something, told in plain words: "the gate opens with 4711".

No name stands before such a number that would make it a secret by itself. What makes it one is a
lock of some kind in the same sentence, or in the same object of a tool's answer, and words that say
that the number opens it. A locker's own number, a gate's time and a door's height are none. Pure.

Source: sentences of our own making; none of what is published about secrets looks for these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reconciler.named_secrets.words import DIGIT_WORD
from reconciler.sensitive_data import SensitiveKind, SensitiveSpan

__all__ = ["told_of_locks"]

_WORD = r"(?:[ ][\w'\u2019-]{1,20}+)"
_THING = (
    r"(?:(?:front|back|side|main|cellar|garage|garden|office|lobby|roof)?[ -]?"
    r"(?:door|gate|entrance)|building|flat|apartment|house|garage|cellar|shed|lobby|lift|elevator|intercom|barrier|keypad"
    r"|(?:bike|bicycle|pad|combination|suitcase|door|key)?[ -]?lock(?:er|box)?|key[ ]?(?:box|safe)"
    r"|safe|vault|strongbox|alarm|cabinet|office|storage|warehouse|parking|cash[ ]?box)s?\b"
)
_CODE = r"(?:code|combination|combo|digits)\b"
_IS = r"(?:[ ](?:is|was|are|now|still|changed|set|reset|to|will|be|becomes?)\b){1,4}|[ ]?[:=]"
_NUMBER = (
    r"[ ]{0,3}[\"'\u201c\u2018#*]{0,2}(?P<value>\d(?:[ -]?\d){2,7})"
    r"(?![\d%]|[-.,/:]\d|[ ]?(?:[mck]?m|inches|kg|euros?|eur|people|pieces|times|o'clock|[ap]m)\b)"
)
_FOUR = r"(?=\W{0,4}\d(?:[ -]?\d){3})"
"""As many digits at least, where little else says what they are."""

_QUOTE = r"\\{0,4}[\"']"
_IN_SENTENCE = r"[^.!?\n]{0,60}?"
_TYPE = r"(?:press|type|enter|dial|punch|key|tap|use)(?:s|es|ed|ing)?(?:[ ]in)?"

_TOLD = tuple(
    re.compile(f"(?i){pattern}")
    for pattern in (
        # "the code for the front door is 4711", "entry code for the building: #4711"
        rf"\b{_CODE}(?=[^.!?\n]{{0,50}}\b{_THING}){_WORD}{{1,8}}?(?:{_IS}){_NUMBER}",
        # "the locker combination is 4711", "the door's keypad code was changed to 4711"
        rf"\b{_THING}(?:['\u2019]s)?{_WORD}{{0,3}}?[ ]{_CODE}{_WORD}{{0,5}}?(?:{_IS}|){_NUMBER}",
        # "use code 4711 for the lift", "code 4711 opens the gate"
        rf"\b{_CODE}{_NUMBER}[ ](?:for|at|on|to|in|opens?|unlocks?)\b{_IN_SENTENCE}\b{_THING}",
        # "the gate opens with 4711", "the alarm is turned off with 4711"
        rf"\b{_THING}{_IN_SENTENCE}\b(?:open|unlock|disarm|deactivat|turn|switch)(?:e?s|e?d|ing)?"
        rf"(?:[ ](?:off|up|out|it))?[ ](?:with|by|using){_WORD}{{0,3}}?{_NUMBER}",
        # "for the side door press 4711", "to open the safe type 4711"
        rf"\b{_THING}{_IN_SENTENCE}\b{_TYPE}{_WORD}{{0,3}}?{_NUMBER}",
        # "press 4711 to open the gate"
        rf"\b{_TYPE}{_WORD}{{0,3}}?{_NUMBER}[ ](?:to|and|then|at|on|for)\b{_IN_SENTENCE}\b{_THING}",
        # "let yourself in with 4711"
        rf"\b(?:let|get|come|go)s?{_WORD}?[ ]in[ ](?:with|by|using){_WORD}{{0,3}}?{_NUMBER}",
        # "my bike lock is 12-34-56"
        rf"\block[ ](?:is|was){_NUMBER}",
        # "gate: 4711"
        r"(?:^|[\n;,(])[ ]?(?:front |back |side )?(?:door|gate|safe|alarm|keypad|entrance)[ ]?[:=]"
        rf"{_FOUR}{_NUMBER}",
        # {"door": {"code": "4711"}}, {"locker": 12, "code": 4711}
        rf"{_QUOTE}{_THING}[^\n]{{0,140}}?{_QUOTE}{_CODE}{_QUOTE}\s?:{_FOUR}{_NUMBER}",
        rf"{_QUOTE}{_CODE}{_QUOTE}\s?:{_FOUR}{_NUMBER}[^\n]{{0,120}}?{_QUOTE}{_THING}",
        # "my PIN is four seven one one"
        rf"\b(?:pin|{_CODE}){_WORD}{{0,5}}?(?:{_IS})[ ]?"
        rf"(?P<value>{DIGIT_WORD}(?:[ ,-]{{1,2}}{DIGIT_WORD}){{2,7}})\b",
        # "the code that you were sent is 471147"
        rf"\bcode\b(?=[^.!?\n]{{0,40}}\b(?:sent|texted|received)\b){_WORD}{{1,8}}?(?:{_IS})"
        rf"(?=\W{{0,3}}\d{{4}}){_NUMBER}",
    )
)
_OTHER_CODE = re.compile(
    r"(?i)\b(?:discount|promo(?:tion)?|voucher|coupon|gift|post(?:al)?|zip|area|country"
    r"|dial(?:ling)?|product|item|booking|reference|order|error|status|source|tax|sort|colou?r"
    r"|dress|bar|qr)[ -]?$"
)
"""What makes a code another thing than a key; it stands before the word."""


def told_of_locks(text: str) -> Iterator[SensitiveSpan]:
    """The codes that a text says open something; they may overlap."""
    for pattern in _TOLD:
        for match in pattern.finditer(text):
            if not _OTHER_CODE.search(text, max(0, match.start() - 20), match.start()):
                yield SensitiveSpan(*match.span("value"), SensitiveKind.SECRET)
