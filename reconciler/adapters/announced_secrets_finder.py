"""The finder of secrets that a name or a phrase announces, and of those with a usual shape.

``reconciler.named_secrets`` reads secrets that a name announces, in JSON and the like, and has the
shapes; vendors' tokens are ``gitleaks_finder``'s. A secret without a known shape or an announcing
word is not found here. Personal data is not searched for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from reconciler.named_secrets import find_named_secrets
from reconciler.named_secrets.shapes import find_tokens
from reconciler.named_secrets.words import NO_COMPOUND
from reconciler.sensitive_data import SensitiveKind, SensitiveSpan, merge_spans

if TYPE_CHECKING:
    from reconciler.lexicon import Literals

__all__ = ["AnnouncedSecretsFinder"]

# If many signs were given back one by one, and the text read again from each, the time would grow
# with the square of their number. A value that is too short without signs needs up to 20.
_SURPLUS_SIGNS = r"(?:[:=](?=[:=]{20}))*+"
_SIGNS = rf"{_SURPLUS_SIGNS}[:=]{{1,20}}"
_SIGNS_OR_NONE = rf"{_SURPLUS_SIGNS}[:=]{{0,20}}"
_OF_VALUE = r"[^\s'\"\u2018\u2019\u201c\u201d`]"


def _up_to_its_end(length_min: int, end: str) -> str:
    """The shortest value of at least this length at the end of the word, without these signs.

    Signs belong to the value only as far as it would be too short without them. They are read once.
    """
    return (
        rf"{_OF_VALUE}{{{length_min}}}(?:{_OF_VALUE}*?(?<![{end}]))??"
        rf"(?=[{end}'\"\u2019\u201d]*+(?:\s|$))"
    )


# A value is not a full stop that ends the sentence, a bracket that closes one, or a quotation mark.
_ANY_VALUE = _up_to_its_end(3, r".,;:!?)\]}")
# A digit or a sign among letters, or a capital after a small letter and a sign at the end.
_STRONG_VALUE = (
    r"(?!\d+-[a-z]|\S[^\s@]*+@\S+\.\w|https?:)"
    r"(?:(?=\S*\d)(?=\S*[A-Za-z])|(?=\S*[\w][#$%^&*@!+=~]\w)"
    r"|(?=(?:[^\sa-z]|[a-z](?![A-Z]))*+[a-z][A-Z]\S*[#$%^&*@!+=~]))"
    + _up_to_its_end(5, r".,;:?)\]}")
)
_NOT_A_VALUE = (
    r"(?!(?:a|an|the|not|no|now|in|on|at|of|for|to|being|been|is|was|has|as|by|with|and|or|but|if"
    r"|wrong|incorrect|invalid|correct|right|valid|expired|expiring|required|needed|missing"
    r"|unknown|weak|strong|secure|safe|lost|forgotten|stored|saved|kept|shared|sent|set|reset"
    r"|changed|updated|protected|encrypted|hashed|locked|unchanged|different|same|too|very|still"
    r"|always|never|only|also|already|available|confidential|private|secret|rotated|revoked|leaked"
    r"|compromised|exposed|visible|hidden|see|ask|tbd|none|null|n/a|optional|important|policy"
    r"|blank|empty|good|bad|ok|okay|fine|it|that|this|what|something|case|here|there|his|her"
    r"|my|your|our|their|who|up|out|due|under|below|above|about|from|long|short|simple|easy"
    r"|hard|difficult|enough|stuck|working|broken|disabled|enabled|failing|failed|\*+|[xX]+)\b)"
)
_QUOTE = r"['\"\u2018\u201c`]"
_QUOTED_VALUE = rf"(?<={_QUOTE})[^\s'\"\u2018\u2019\u201c\u201d`]{{4,}}(?=['\"\u2019\u201d`])"
_LOGIN_WORD = (
    r"\b(?:pass[ -]?(?:word|phrase|code|wd)s?|pwd|passwd|kennwort|passwort|contrase[nñ]a)\b"
    rf"{NO_COMPOUND}"
)
_IS = rf"[ ]?(?:{_SIGNS}|\b(?:is|was|are|=)\b[ ]?:?)\s*"
_LINK = rf"(?:[ ](?:is|was|to|of|as|set[ ]to|changed[ ]to|reset[ ]to|now))*[ ]?{_SIGNS_OR_NONE}[ ]*"
_KEY_NAME = (
    r"\b(?:(?:api|access|secret|private|signing|encryption|licen[cs]e|subscription|webhook|auth"
    r"|service|account|storage|master)[ _-]?(?:key|token|secret)|client[ _-]?secret"
    r"|(?:auth|api|bearer|refresh|session|personal[ ]access)[ _-]?tokens?|token(?=[ ]?[:=])"
    r"|secret[ _-]?access[ _-]?key"
    r"|connection[ ]string)"
)
_PIN_NAME = (
    r"\b(?:PIN|pin(?:[ ]?code|[ ]number)?(?=[ ]?(?:is\b|was\b|[:=]))|(?:PIN|Pin)[ ](?:code|number)"
    r"|(?:security|access|door|gate|alarm|entry|unlock|lock(?:box)?|safe|verification|confirmation"
    rf"|one-time|login|recovery|authentication|2fa|sms)[ ]code|otp|cvv2?|cvc2?|passcode)\b"
    rf"{NO_COMPOUND}"
)
_SAID: Mapping[str, tuple[str, ...]] = {
    "pass pwd kennwort contrase": (
        rf"(?i:{_LOGIN_WORD}){_LINK}{_QUOTE}\K{_QUOTED_VALUE}",
        rf"(?i:{_LOGIN_WORD}){_LINK}\K{_STRONG_VALUE}",
        # "The password for the portal is ..."; up to four words between.
        rf"(?i:{_LOGIN_WORD}(?:[ ](?!is\b)[\w'-]+){{1,4}}(?:[ ]?{_SIGNS}|[ ](?:is|was))\s*)"
        rf"\K{_STRONG_VALUE}",
        rf"(?i:{_LOGIN_WORD}(?:[ ](?!is\b)[\w'-]+){{0,4}}{_IS}){_QUOTE}"
        rf"\K[^'\"\n]{{4,60}}(?=['\"\u2019\u201d])",
        rf"(?i:{_LOGIN_WORD}[ ]?{_SIGNS}\s*{_NOT_A_VALUE})\K{_ANY_VALUE}",
        # After "is" a plain word is a value only if the sentence ends with it.
        rf"(?i:{_LOGIN_WORD}{_IS}{_NOT_A_VALUE})\K[^\s'\"]{{4,}}?(?=[.!]?\s*$)",
    ),
    "key token secret string": (
        rf"(?i:{_KEY_NAME}{_LINK}){_QUOTE}?\K(?=\S*\d|\S{{20}})[\w.~+/=:;@-]{{8,}}(?<![.:;,])",
        rf"(?i:{_KEY_NAME}{_IS}){_QUOTE}?\K(?=\S*\d|\S*_|\S*[a-z][A-Z])[\w.~+/=-]{{6,}}(?<![.])",
    ),
    "pin code otp cvv cvc": (
        rf"(?:{_PIN_NAME}|(?i:{_PIN_NAME}))(?:[ ](?:is|was|to)|[ ]?[:=])*+[ ]*{_QUOTE}?"
        r"\K\d{3,8}\b(?![-,./]?\d|[ ]?%)",
    ),
    "phrase": (
        r"(?i:\b(?:seed|recovery|mnemonic|backup)[ ]phrase(?:[ ]is|[ ]was)?[ ]?:?\s+)"
        r"\K(?:[a-z]+[ ]){11,23}[a-z]+",
    ),
    "@": (
        # Credentials in a pair: who / password.
        rf"(?<=[\w.-]@[\w.-]+\s?[/|:]\s?){_STRONG_VALUE}",
    ),
}
"""Rules by words; a rule can fit only a text that holds one of its words."""
# An Indian "PIN code" of six digits is a postcode.
_POSTCODE = r"(?i:\bpin[ ]?code(?:[ ]is|[ ]?:)?[ ]*)\d{3}[ ]?\d{3}\b"
_NEEDED_BY_SHAPES = (
    *("xox", "bearer", "://", "-----begin", "_authtoken", "eyj", "aiza", "sk-", "sk_", "rk_"),
    *("whsec_", "gho", "ghp", "ghs", "ghu", "ghr", "github_pat_", "hf-", "hf_", "npm-", "npm_"),
    *("glpat", "glptt", "dop_v1", "shpat", "lin_api"),
)
"""Rare parts of the shapes, in small letters: each shape holds one of these."""


class AnnouncedSecretsFinder:
    """Finds passwords, keys, tokens and PINs; every span of it is a SECRET.

    To compile the phrases about secrets takes a tenth of a second; it waits for the first text that
    may need it.
    """

    def find(self, text: str) -> list[SensitiveSpan]:
        """The secrets of a text, first to last; those that overlap as one."""
        held = _literals().held(text.casefold())
        spans = find_named_secrets(text)
        if _SHAPES in held:
            spans += find_tokens(text)
        if asked := [rule for words, rules in _SAID.items() if words in held for rule in rules]:
            spans += _find_said(text, asked)
        return merge_spans(spans)


def _find_said(text: str, rules: Sequence[str]) -> Iterator[SensitiveSpan]:
    postcodes = {match.end() for match in _compiled(_POSTCODE).finditer(text)}
    for rule in rules:
        for match in _compiled(rule).finditer(text):
            if match.end() > match.start() and match.end() not in postcodes:
                yield SensitiveSpan(match.start(), match.end(), SensitiveKind.SECRET)


_SHAPES = "shapes"


@cache
def _literals() -> Literals[str]:
    """The literals that a text must hold before shapes, or the rules of some words, are tried."""
    from reconciler.lexicon import Literals  # a process that only reads a store needs none

    shapes = ((literal, _SHAPES) for literal in _NEEDED_BY_SHAPES)
    return Literals([*shapes, *((word, words) for words in _SAID for word in words.split())])


@cache
def _compiled(rule: str) -> Any:
    """The rule, compiled by the ``regex`` library, which knows look-behinds of any length."""
    import regex

    return regex.compile(rule, regex.MULTILINE)
