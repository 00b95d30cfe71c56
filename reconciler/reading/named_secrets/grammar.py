"""What a named secret looks like: its names, its values, and the sentences that tell it. Pure.

A name may be a key, as in JSON, or part of a sentence: "her PIN was changed to 4711", "the gate
opens with 4711". A number without such a name is a secret, too, if the same sentence, or the same
object of a tool's answer, names a lock of some kind and says that a number opens it. A locker's
own number, a gate's time and a door's height are none. A value also says something of itself,
whatever announced it: that it was made up, or is something else. Whether that makes it a secret is
decided by the code that knows what announced it.

Some forty expressions are compiled when a text first holds a word that hints at a secret. Which
words do, and what is made of a find, is decided elsewhere. Source: sentences of our own making;
none of what is published about secrets looks for such sentences.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum, auto
from functools import cache

from reconciler.frozen import Match, Pattern, Span, StringSet, in_order
from reconciler.reading.sensitive_data import TOKEN, SensitiveKind, SensitiveSpan, SensitiveSpans

ADDRESS = r"[^\s@]+@[^\s@]+\.\w+|https?:\S*"
"""A mail address, or one of the web: it may stand where a password would, and is none."""

_LETTER_AND_DIGIT = re.compile(r"(?=[^\s\d]*\d)(?=[^\w\s]*(?:[\d_][^\w\s]*)*[^\W\d_])")
_SIGN_WITHIN = re.compile(r"\S*\w(?:[#$%^&*@!+=~]+\w|[#$%&]$)")
_WITHIN_WORD = re.compile(r"[a-z]{2}[A-Z]|[a-z][A-Z]{2}")
_STEP = re.compile(r"[a-z][A-Z]")
_PARTED = re.compile(r"[^A-Za-z0-9]+")
_READABLE = re.compile(r"[a-z]{3,}|[A-Z]{4,}|\d{4,}")
_TURN = re.compile(r"(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z])(?=\d)")
_HAS_ALL = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])")
_READABLE_MAX, _TURNS_MIN = 0.45, 0.25
_DRAWN_LENGTH_MIN, _BARE_LENGTH_MIN, _ONE_CASE_LENGTH_MIN = 20, 28, 32
_POSTCODE = re.compile(r"[1-9]\d{2} ?\d{3}")


def is_made_up(value: str) -> bool:
    """True if its first word is in no language: it mixes letters with digits, signs or cases.

    One capital after a small letter is a brand's name: iPhone.
    """
    if _LETTER_AND_DIGIT.match(value) or _SIGN_WITHIN.match(value):
        return True
    return any(
        _WITHIN_WORD.search(word) or len(_STEP.findall(word)) > 1
        for word in value.split(None, 1)[:1]
    )


def is_drawn(word: str, others: StringSet) -> bool:
    """True if a machine drew most of it at random, as it does a key, and a person wrote none of it.

    Of three classes of characters drawn alike, few stand in runs that one could read. With small
    letters or capitals alone, letters and digits take turns. So a name, a date or a code that
    people read to each other is none, and neither is an UUID. What stands before what was drawn
    says what it is: a vendor's prefix needs fewer characters than none, and an id is no secret.

    Args:
        word: of ASCII letters and digits, and signs between them.
        others: what stands before a number that is no secret, in small letters.
    """
    parts = _PARTED.split(word)
    drawn = [part for part in parts if _is_part_drawn(part)]
    if not drawn or not others.isdisjoint(map(str.casefold, parts[: parts.index(drawn[0])])):
        return False
    has_prefix = parts[0] not in drawn and parts[0][:1].isalpha()
    length_min = _DRAWN_LENGTH_MIN if has_prefix else _BARE_LENGTH_MIN
    return sum(map(len, drawn)) >= length_min and (has_prefix or any(map(_HAS_ALL.match, drawn)))


def _is_part_drawn(part: str) -> bool:
    if len(part) >= _ONE_CASE_LENGTH_MIN and part in (part.lower(), part.upper()):
        return len(_TURN.findall(part)) >= _TURNS_MIN * len(part)
    if len(part) < 8 or not _HAS_ALL.match(part):
        return False
    return sum(map(len, _READABLE.findall(part))) <= _READABLE_MAX * len(part)


def is_indian_postcode(value: str) -> bool:
    """True if it may be an Indian "PIN code", which is a postcode."""
    return _POSTCODE.fullmatch(value) is not None


class _Need(Enum):
    """What a value must look like before its name makes it a secret."""

    WORD = auto()
    """Any value that is not a remark about the secret: ``password`` announces nothing else."""
    STRONG = auto()
    """No plain word: the value of ``token`` may be one of a sentence's."""
    DIGITS = auto()
    """Digits, which say nothing without the name: ``pin``."""


_NAMES: Mapping[_Need, str] = {
    _Need.WORD: """
        password passwort kennwort passcode passphrase passwd pwd contraseña passwords api_key
        apikey api_secret client_secret app_secret shared_secret webhook_secret private_key
        secret_key access_key signing_key encryption_key master_key auth_key account_key
        storage_key service_key access_token refresh_token auth_token api_token bearer_token
        session_token connection_string
    """,
    _Need.STRONG: "secret secrets token credential credentials jwt",
    _Need.DIGITS: """
        pin pin_code cvv cvv2 cvc cvc2 otp totp mfa_code security_code door_code gate_code
        access_code entry_code alarm_code unlock_code verification_code safe_code locker_code
        lock_code keypad_code lock_combination locker_combination safe_combination
        door_combination
    """,
}
_NAMES_IN_TEXT: Mapping[_Need, str] = {
    _Need.STRONG: "pass auth authorization proxy_authorization backup_codes recovery_codes",
    _Need.DIGITS: "tan",
}
"""Secret in JSON or in an environment file; a slot of that name is a boarding pass or a colour."""

_PERSONAL_NAMES: Mapping[SensitiveKind, str] = {
    SensitiveKind.EMAIL: "email email_address mail_address",
    SensitiveKind.PHONE: "phone telephone mobile cell fax",
    SensitiveKind.STREET_ADDRESS: "address",
    SensitiveKind.CREDIT_CARD: "credit_card debit_card card_number",
    SensitiveKind.IBAN: "iban",
    SensitiveKind.BANK_ACCOUNT: "bank_account account_number routing_number sort_code",
    SensitiveKind.NATIONAL_ID: (
        "ssn social_security national_id identity_number aadhaar nino national_insurance id_card"
    ),
    SensitiveKind.TAX_ID: "tax_id tax_number vat_id vat_number",
    SensitiveKind.PASSPORT: "passport",
    SensitiveKind.DRIVING_LICENCE: "driving_licence driving_license driver_license drivers_license",
    SensitiveKind.MEDICAL_RECORD: "medical_record patient_id",
    SensitiveKind.IP_ADDRESS: "ip_address ip",
}


def _by_word(names: Mapping[_Need, str]) -> dict[str, _Need]:
    return {word: need for need, words in names.items() for word in words.split()}


_NEED_OF_NAME = _by_word(_NAMES)
_NEED_IN_TEXT = _NEED_OF_NAME | _by_word(_NAMES_IN_TEXT)
_KIND_OF_NAME: Mapping[str, SensitiveKind] = {
    **{word: kind for kind, words in _PERSONAL_NAMES.items() for word in words.split()},
    **dict.fromkeys(_NEED_OF_NAME, SensitiveKind.SECRET),
}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_APART = re.compile(r"[\W_]+")
_NUMBERED = re.compile(r"(?<=[a-z])_?\d{1,2}$")


def _ending_of(names: Iterable[str], *, before: str) -> Pattern:
    """Return the ending of a name among these, the longest first, also with a number."""
    longest_first = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    return re.compile(rf"{before}({longest_first})(?:_(?:number|no|num|nr|id|value)s?)?$")


_KIND_ENDING = _ending_of(_KIND_OF_NAME, before="(?:^|(?<!form_of)_)")  # how to call a person
_TEXT_ENDING = _ending_of(_NEED_IN_TEXT, before="(?:^|_)")
_GLUED = "password passwd pwd passwort kennwort passphrase apikey secret token"
_GLUED_ENDING = _ending_of(_GLUED.split(), before="")
"""The endings of names in one word, such as PGPASSWORD."""


def kind_of_name(name: str | None) -> SensitiveKind | None:
    """Return the kind of data asked for under a name, such as ``dbPassword``.

    The longest name that fits counts: an IP address is no street address.
    """
    match = _KIND_ENDING.search(_in_snake_case(name or ""))
    return _KIND_OF_NAME[match[1]] if match else None


def _in_snake_case(name: str) -> str:
    return _APART.sub("_", _HUMP.sub("_", name)).strip("_").casefold()


# Where a name and its value stand in a text

_HINT = re.compile(
    r"(?i)pass|pwd|wort|contrase|secret|token|key|pin|cv[vc]|otp|tan|auth|code|credential|jwt"
    r"|connection.string"
)
_QUOTE = r"(?:\\{0,8}[\"'`]|[\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb]|%22|&quot;|&\#34;)"
_MARK = r"(?:\*{1,3}|_{2})"
_TAG = r"</?[a-zA-Z][^<>]{0,100}>"
_KEYED = re.compile(
    rf"""
    (?<!\w)(?P<key>\w[\w.-]{{0,63}}+(?:[ ]\w[\w.-]{{0,30}}+){{0,2}})
    (?:
        (?P<close>{_QUOTE}\]?)?+ {_MARK}?+ (?:[ ]?\#\d{{1,2}})?+ (?:[ ]?{_TAG}){{0,2}}+ \s{{0,8}}+
        (?P<sign>=>|:=|->|[:=\uff1a\uff1d\u2192\u21d2]|%3[ADad])
        (?:\s{{0,8}}+ (?:{_MARK}|{_TAG})){{0,2}}+ \s{{0,8}}+
      | (?P<pair>{_QUOTE}?+ \s{{0,8}}+ [,;]? \s{{0,20}}+
          {_QUOTE}?+ (?:value|val|content|text|default) {_QUOTE}?+
          \s{{0,8}}+ [:=] \s{{0,8}}+)
      | (?P<element>(?:\s[^<>]{{0,200}}+)?>|(?:{_TAG}\s{{0,8}}+){{2,3}})\s{{0,8}}+
      | (?P<cell>{_MARK}?+ (?:[ ]{{0,20}}+\|[ ]{{0,20}}+|[ ]?\t[ \t]{{0,20}}+|[ ][-\u2013\u2014][ ])
          {_MARK}?+)
    )
    """,
    re.VERBOSE,
)
_FLAG = re.compile(r"(?<=--)(?P<key>\w[\w.-]{0,63}+)[ ]{1,4}")
_WORD = re.compile(r"(?<!\w)\w[\w.-]*+")
_BEFORE = re.compile(r"(?:(?P<tag></?)(?:\w{1,30}:)?|(?P<query>[?&])|(?P<flag>--))$")
_ENTRY = re.compile(
    r"(?:^|[\n,;/|(])[ -]{0,4}$|\b(?i:user|username|login|account)\b\W{1,3}+\S{1,30}+[ ]$"
)
_KEY_WORDS_MAX = 3
"""The most words of a name; so only the last words before a hint can begin it."""

_REACH = 64
"""The most characters from the beginning of a name to its hint."""
_QUOTED = re.compile(
    r"(?P<quote>\\{0,8}[\"'`]|%22|&quot;|&#34;)(?P<value>[^\n]{1,2000}?)(?<!\\)(?P=quote)"
    r"|[\u201c\u201e\u00ab](?P<smart>[^\u201c\u201d\u00bb\n]{1,500})[\u201c\u201d\u00bb]"
    r"|[\u2018](?P<single>[^\u2018\u2019\n]{1,500})[\u2019]"
    r"|\[(?P<list>[^\[\]{}]{1,2000})\]"
)
_SCHEME = r"(?:(?i:bearer|basic|digest|token|apikey)[ ]{1,3})"
_BARE = re.compile(rf"{_SCHEME}?(?P<value>[^\s]{{1,2000}})")
_LINE = re.compile(r"(?P<value>[^\n\"<>|]{1,200})")
_PHRASE = re.compile(
    r"(?!(?:[A-Za-z]+[ ]){0,7}(?:and|but|for|with|the|then|was|has|she|her|his|you|your|please)\b)"
    r"(?P<value>[A-Za-z]{3,12}(?:[ ][A-Za-z]{3,12}){2,7}+)(?=\s*(?:[\n;,|\"'<>)}\]&\\.]|$))"
)
OPENING = re.compile(rf"{_QUOTE}|{_MARK}|[\[{{(]+")
_PART = re.compile(
    rf"[\[{{]|(?P<close>[\]}}])|\b(?P<carrier>(?i:value|val|code|text|secret|plain|plaintext|raw"
    rf"|content|string|data|new|old|current|default|password|key|token|pin|number))"
    rf"{_QUOTE}?+\s{{0,8}}+[:=]\s{{0,8}}+"
)
_REACH_WITHIN = 400
"""The most characters of an object or a list in which its value is searched."""
TRAILING = ".,;:?)]}*|\\\"'`\u2018\u2019\u201c\u201d\u00bb"
_WRAPPED = re.compile(r"[&<\"]|%26|\\[\"']")

_REMARK = """
    a an the not no now in on at of for to being been is was has as by with and or but if wrong
    incorrect invalid correct right valid expired expires expiring require[ds]? needed missing
    unknown weak strong secure safe lost forgot(?:ten)? stored saved kept shared sent set reset
    changed? updated protected encrypted hashed locked unchanged different same too very still
    always never only also already available confidential private secret rotated revoked leaked
    compromised exposed visible hidden see ask tbd none null nil undefined n/?a optional
    important policy blank empty good bad ok okay fine it that this what something case here
    there his her my your our their who up out due under below above about from long short
    simple easy hard difficult enough stuck working broken disabled enabled failing failed
    must should may cannot can mismatch match(?:es)? true false yes string str text number
    integer int bool(?:ean)? type object array masked redacted removed deleted accepted
    unchecked field login log manager input varchar char passwords? tokens? keys? pins?
    secrets? authentication authorization credentials? generated provided placeholder
    confirmation confirm example please enter type create use how why when where which
"""
_IS_REMARK = re.compile(rf"(?i)(?:(?:{'|'.join(_REMARK.split())})\b|[*x\u2022.\-_?\s,;:!])++")
"""Remarks about a secret, which are no secret."""

_HAS_REMARK = re.compile(
    r"(?i)\b(?:must|should|required|invalid|incorrect|wrong|missing|mismatch|expired|characters"
    r"|cannot|can't|doesn't|don't|isn't|at least|too (?:short|long|weak|common)|blank|changed"
    r"|reset|forgot|forgotten)\b"
)
_IS_MASK = re.compile(r"[*\u2022xX.\-_?#\u2026]+")
_IS_CODE = re.compile(
    r"\$[\w({]|\{\{|\{[\w.]*\}|<|%[(\w]*s?$|(?:os|process|env|self|this|config|settings|request|req"
    r"|secrets|vault)\.|[\w.]+[\[(]|\w+->"
)
_ADDRESS = re.compile(ADDRESS)
_HAS_SLASH = re.compile(r"\S*\w/\w")
"""Dates and paths, which are no secret after a secret's name."""
_DIGITS = re.compile(r"\d(?:[ -]?\d){2,9}")
_LISTED_DIGITS = re.compile(
    rf"{_QUOTE}?+\d{{3,10}}+{_QUOTE}?+(?:\s?,\s{{0,4}}+{_QUOTE}?+\d{{3,10}}+{_QUOTE}?+)*+"
)
_ONE_TIME = re.compile(r"(?=[^\s]*\d)[A-Za-z0-9-]{4,12}")
_OF_LOGINS = re.compile("pass|pwd|wort|contras")
_STRONG_LENGTH_MIN = 6
_LONG_LENGTH_MIN = 20
_REMARK_LENGTH_MAX = 200


@in_order
class _NameMatch:
    """A name, as it is asked for and as it stands there, with what follows it.

    Attributes:
        start: the place where its value begins.
        notation: how it is parted from the value.
        is_machines: whether a program wrote it, so that a plain word is a value and no remark.
    """

    name: str
    key: str
    start: int
    notation: str
    is_machines: bool

    @property
    def need(self) -> _Need:
        return _NEED_IN_TEXT[self.name]


def named(text: str) -> SensitiveSpans:
    """Find secrets that a name and a separator before a value announce, in order."""
    done = 0
    for match in _matches(text):
        if match.start() < done:
            continue  # within a secret
        name_match = _announced(match)
        for span in _values(text, name_match) if name_match else ():
            yield span
            done = max(done, span.end)


def _matches(text: str) -> Iterator[Match]:
    """Find names with their separators, if the name may be one of a secret; in order."""
    tried = 0
    for hint in _HINT.finditer(text):
        begin = max(tried, hint.start() - _REACH)
        for word in deque(_WORD.finditer(text, begin, hint.end()), _KEY_WORDS_MAX):
            tried = word.start() + 1
            if match := _KEYED.match(text, word.start()) or _FLAG.match(text, word.start()):
                yield match


def _announced(match: Match) -> _NameMatch | None:
    name, notation = _name_of(match["key"]), _notation(match)
    if name is None or notation is None:
        return None
    is_machines = _is_machines(match, notation)
    if name == "pass" and not (is_machines or _is_login(match)):
        return None
    return _NameMatch(name, match["key"], match.end(), notation, is_machines)


def _name_of(key: str) -> str | None:
    if not _HINT.search(key):
        return None
    asked = _NUMBERED.sub("", _in_snake_case(key))
    match = _TEXT_ENDING.search(asked) or _GLUED_ENDING.search(asked)
    return match[1] if match else None


def _before(match: Match) -> str | None:
    start = match.start()
    before = _BEFORE.search(match.string, max(0, start - 33), start)
    return before and before.lastgroup


def _notation(match: Match) -> str | None:
    """Return the separator of a name and a value; None for a ``>`` outside of an element."""
    written, before = match.lastgroup, _before(match)
    if written == "element" and before != "tag" and not match["element"].startswith("</"):
        return None
    return "query" if written == "sign" and before == "query" else written


def _is_machines(match: Match, notation: str) -> bool:
    if notation != "sign":
        return notation != "cell"
    is_tight = match["sign"] == "=" and match.end("sign") == match.end()
    is_coded = match["sign"].startswith("%") or _before(match) is not None
    return bool(match["close"]) or is_tight or is_coded


def _is_login(match: Match) -> bool:
    """True if a person's "pass" is a password: in a longer name, or at an entry's beginning."""
    if "_" in match["key"]:
        return True
    begins = _ENTRY.search(match.string, max(0, match.start() - 48), match.start())
    return bool(begins) and match["key"].casefold() == "pass"


def _values(text: str, name_match: _NameMatch) -> SensitiveSpans:
    """Return the name's values: the value itself, or those in the object or list after it."""
    if span := _value(text, name_match):
        yield span
    for start in _within(text, name_match.start):
        if span := _value(text, replace(name_match, start=start, is_machines=True)):
            yield span


def _within(text: str, start: int) -> Iterator[int]:
    """Find the beginnings of the values of keys such as "value" in an object or a list."""
    depth = 0
    for part in _PART.finditer(text, start, start + _REACH_WITHIN):
        if part["carrier"] and depth:
            yield part.end()
        elif part["close"]:
            depth -= 1
        elif depth or part.start() == start:
            depth += 1
        if depth <= 0:
            return


def _value(text: str, name_match: _NameMatch) -> SensitiveSpan | None:
    quoted = _QUOTED.match(text, name_match.start)
    start, end = quoted.span(quoted.lastgroup or 0) if quoted else _bare(text, name_match)
    value = text[start:end]
    is_new = start < end and not TOKEN.fullmatch(value)
    if is_new and _is_secret(value, name_match, is_quoted=quoted is not None):
        return SensitiveSpan(start, end, SensitiveKind.SECRET)
    return None


def _bare(text: str, name_match: _NameMatch) -> Span:
    """Find a value without quotes; an object or a call does not count."""
    start = name_match.start
    if opening := OPENING.match(text, start):
        if opening[0].endswith(("{", "(")):
            return start, start
        start = opening.end()
    if _may_be_phrase(text, start, name_match) and (phrase := _PHRASE.match(text, start)):
        return phrase.span("value")
    has_spaces = name_match.notation == "element" or name_match.name.endswith("phrase")
    match = (_LINE if has_spaces else _BARE).match(text, start)
    if match is None:
        return start, start
    start, value = match.start("value"), match["value"]
    if name_match.notation == "query":
        value = _WRAPPED.split(value, maxsplit=1)[0]
    elif name_match.is_machines and not has_spaces:
        value = value.partition(";")[0]
    return start, start + len(value.rstrip(TRAILING).rstrip())


def _may_be_phrase(text: str, start: int, name_match: _NameMatch) -> bool:
    """True if several plain words may be the value; a person's may also be a remark."""
    return name_match.is_machines or (
        name_match.notation == "sign" and not _IS_REMARK.match(text, start, start + 40)
    )


def _is_secret(value: str, name_match: _NameMatch, *, is_quoted: bool) -> bool:
    plain = value.strip()
    if _is_said_of_it(plain, name_match, is_quoted=is_quoted):
        return False
    if name_match.need is _Need.DIGITS:
        return _is_number(plain, name_match)
    is_login = name_match.is_machines or _OF_LOGINS.search(name_match.name)
    if name_match.need is _Need.STRONG or not is_login:
        return _is_strong(plain, name_match)
    return len(plain) >= 3 and (name_match.notation != "cell" or _is_strong(plain, name_match))


def _is_said_of_it(value: str, name_match: _NameMatch, *, is_quoted: bool) -> bool:
    """True if a text is a remark about the secret, or code, and not the secret itself."""
    is_short = len(value) <= _REMARK_LENGTH_MAX
    if (is_short and _IS_REMARK.fullmatch(value)) or _IS_MASK.fullmatch(value):
        return True
    if " " in value and _HAS_REMARK.search(value):
        return True
    if not is_quoted and _IS_CODE.match(value):
        return True
    return value.casefold() == name_match.key.casefold()


def _is_number(value: str, name_match: _NameMatch) -> bool:
    if name_match.name == "pin_code" and is_indian_postcode(value):
        return False
    if _DIGITS.fullmatch(value) or _LISTED_DIGITS.fullmatch(value):
        return len(value) >= 4 or name_match.name != "tan"
    return name_match.name in ("otp", "totp", "mfa_code") and bool(_ONE_TIME.fullmatch(value))


def _is_strong(value: str, name_match: _NameMatch) -> bool:
    value = re.sub(f"^{_SCHEME}", "", value)
    if not name_match.is_machines and (" " in value or _ADDRESS.fullmatch(value)):
        return False
    if len(value) < _STRONG_LENGTH_MIN:
        return False
    if name_match.name == "secret" and name_match.is_machines and " " not in value:
        return True
    is_long = len(value) >= _LONG_LENGTH_MIN and " " not in value
    return bool(
        is_long or looks_made_up(value) or (_DIGITS.fullmatch(value) and name_match.name != "auth")
    )


def looks_made_up(value: str) -> bool:
    """True if a text after a secret's name is no word of a language, date or path."""
    return is_made_up(value) or _HAS_SLASH.match(value) is not None


_NO_COMPOUND = r"""(?![ -](?:managers?|vaults?|apps?|applications?|tools?|software|generators?
    |reviews?|audits?|regulations?|polic(?:y|ies)|rules?|requirements?|pads?|readers?|lists?|fields?|forms?|pages?
    |prompts?|hygiene|training|protection|strength|length|supplier|vendor|provider|requests?
    |(?:reset|change|update)s?(?![ ](?:to|code)\b)|of[ ](?:conduct|practice|ethics))\b)"""
"""Words after a secret's name that make it another thing: a password manager is no password."""

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

_ANY_WORD = r"(?:[ ][\w'\u2019-]{1,20}+)"
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
"""The least number of digits, if little else shows their meaning."""

_PLAIN_QUOTE = r"\\{0,4}[\"']"
_IN_SENTENCE = r"[^.!?\n]{0,60}?"
_TYPE = r"(?:press|type|enter|dial|punch|key|tap|use)(?:s|es|ed|ing)?(?:[ ]in)?"
_DIGIT = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
"""A digit in words, as a person reads a code out."""


@cache
def _compiled(table: str) -> tuple[Pattern, ...]:
    """Compile the patterns of a table, each after its example."""
    flags = re.IGNORECASE | re.VERBOSE
    return tuple(re.compile(pattern, flags) for pattern in table.split("\n\n"))


_HAS_DIGITS = re.compile(rf"(?i)\d[ -]?\d[ -]?\d|\b{_DIGIT}[ ,-]+{_DIGIT}\b")
"""The number of digits, or digits in words, of a code that opens something."""

_SAID = rf"""
    # "4711 is the PIN", "uses 4711 as PIN"
    (?<![\w-])(?P<value>\d{{3,8}})["'\u201d\u2019]?[ ]
    (?:(?:is|was|as)[ ](?:now[ ])?{_WHOSE}{_BETWEEN}{{0,3}}[ ]|as[ ]){_PIN}

    # "the PIN for the locker is 4711", "her PIN was changed to 4711"
    \b{_PIN}{_BETWEEN}{{0,5}}(?:{_IS}|[ ]?[=:])[ ]*["'\u201c\u2018]?(?P<value>\d{{3,8}}){_NO_MORE}

    # "OTP code 4711"
    \botp(?:[ ]code)?[ ](?P<value>\d{{4,8}}){_NO_MORE}

    # "the code for the front door is 4711", "entry code for the building: #4711"
    \b{_CODE}(?=[^.!?\n]{{0,50}}\b{_THING}){_ANY_WORD}{{1,8}}?{_BECOMES}{_NUMBER}

    # "the locker combination is 4711", "the door's keypad code was changed to 4711"
    \b{_THING}(?:['\u2019]s)?{_ANY_WORD}{{0,3}}?[ ]{_CODE}{_ANY_WORD}{{0,5}}?{_BECOMES}?{_NUMBER}

    # "use code 4711 for the lift", "code 4711 opens the gate"
    \b{_CODE}{_NUMBER}[ ](?:for|at|on|to|in|opens?|unlocks?)\b{_IN_SENTENCE}\b{_THING}

    # "the gate opens with 4711", "the alarm is turned off with 4711"
    \b{_THING}{_IN_SENTENCE}\b(?:open|unlock|disarm|deactivat|turn|switch)(?:e?s|e?d|ing)?
    (?:[ ](?:off|up|out|it))?[ ](?:with|by|using){_ANY_WORD}{{0,3}}?{_NUMBER}

    # "for the side door press 4711", "to open the safe type 4711"
    \b{_THING}{_IN_SENTENCE}\b{_TYPE}{_ANY_WORD}{{0,3}}?{_NUMBER}

    # "press 4711 to open the gate"
    \b{_TYPE}{_ANY_WORD}{{0,3}}?{_NUMBER}[ ](?:to|and|then|at|on|for)\b{_IN_SENTENCE}\b{_THING}

    # "let yourself in with 4711"
    \b(?:let|get|come|go)s?{_ANY_WORD}?[ ]in[ ](?:with|by|using){_ANY_WORD}{{0,3}}?{_NUMBER}

    # "my bike lock is 12-34-56"
    \block[ ](?:is|was){_NUMBER}

    # "gate: 4711"
    (?:^|[\n;,(])[ ]?(?:(?:front|back|side)[ ])?(?:door|gate|safe|alarm|keypad|entrance)[ ]?[:=]
    {_FOUR}{_NUMBER}

    # {{"door": {{"code": "4711"}}}}
    {_PLAIN_QUOTE}{_THING}[^\n]{{0,140}}?{_PLAIN_QUOTE}{_CODE}{_PLAIN_QUOTE}\s?:{_FOUR}{_NUMBER}

    # {{"locker": 12, "code": 4711}}
    {_PLAIN_QUOTE}{_CODE}{_PLAIN_QUOTE}\s?:{_FOUR}{_NUMBER}[^\n]{{0,120}}?{_PLAIN_QUOTE}{_THING}

    # "my PIN is four seven one one"
    \b(?:pin|{_CODE}){_ANY_WORD}{{0,5}}?{_BECOMES}[ ]?
    (?P<value>{_DIGIT}(?:[ ,-]{{1,2}}{_DIGIT}){{2,7}})\b

    # "the code that you were sent is 471147"
    \bcode\b(?=[^.!?\n]{{0,40}}\b(?:sent|texted|received)\b){_ANY_WORD}{{1,8}}?{_BECOMES}
    (?=\W{{0,3}}\d{{4}}){_NUMBER}"""
_OTHER_CODE = re.compile(
    r"""
    \b(?:discount|promo(?:tion)?|voucher|coupon|gift|post(?:al)?|zip|area|country|dial(?:ling)?
    |product|item|booking|reference|order|error|status|source|tax|sort|colou?r|dress|bar|qr)[ -]?$
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words before a code that make it another thing than a key."""

_SAID_TO_BE = rf"""
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
_NO_WORD_FOR_IT = re.compile(
    r"""
    these|those|everything|anything|nothing|problem|question|issue|name|birthday|thing|one|reason
    |concern|worry|priority|email|number|phone|portal|think|said|says|where|security|account|website
    |page|else|\w+ing
    """,
    re.IGNORECASE | re.VERBOSE,
)


def said(text: str) -> SensitiveSpans:
    """Find secrets that a sentence tells; they may overlap."""
    for pattern in _compiled(_SAID) if _HAS_DIGITS.search(text) else ():
        for match in pattern.finditer(text):
            start, is_code = match.start(), match[0][:2].casefold() in ("co", "di")
            if not (is_code and _OTHER_CODE.search(text, max(0, start - 20), start)):
                yield SensitiveSpan(*match.span("value"), SensitiveKind.SECRET)
    for match in (hit for pattern in _compiled(_SAID_TO_BE) for hit in pattern.finditer(text)):
        start, end = match.span("value")
        bare = OPENING.sub("", match["value"], count=1)
        start, value = end - len(bare), bare.rstrip(TRAILING)
        if value and not TOKEN.fullmatch(value) and _is_said_to_be(value, match.groupdict()):
            yield SensitiveSpan(start, start + len(value), SensitiveKind.SECRET)


def _is_said_to_be(value: str, told: Mapping[str, str | None]) -> bool:
    """True if "… is my password" reveals it; "That is the password" does not."""
    if _IS_REMARK.fullmatch(value) or _NO_WORD_FOR_IT.fullmatch(value):
        return False
    if looks_made_up(value) and not re.fullmatch(ADDRESS, value):
        return True
    is_somebodys = (told.get("whose") or "the").casefold() not in ("the", "your")
    return is_somebodys and bool(told["uses"] or not told["as"])
