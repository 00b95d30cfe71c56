"""Attributes: the questions of slots, and the slot that a caller's words describe.

The book of attributes comes from ``config/attributes.toml``, which the caller reads. Here the names
and subjects that a caller sends are normalised; ``reconciler.domain.values`` decides when two
values mean the same. A word for "no idea" is no value, so that it ends no fact.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PydanticUserError,
    TypeAdapter,
    ValidationError,
)

from reconciler.domain.records.notes import (
    CONTACT_SUBJECT,
    Slot,
    check_storable,
    check_text,
    has_words,
    is_blank,
)
from reconciler.domain.values import NORMALISERS
from reconciler.errors import ConfigurationError, InvalidNoteError
from reconciler.frozen import Json, Strings, StringSet, Values
from reconciler.reading.lexicon import lexicon
from reconciler.reading.sensitive_data import without_scheme
from reconciler.reading.values.attribute import Attribute
from reconciler.reading.values.text import plain, text

if TYPE_CHECKING:
    from reconciler.reading.values.slot_reading import ReadSlot, SlotReader


NAME_LENGTH_MAX = 200
"""The most characters in a subject or an attribute."""

VALUE_LENGTH_MAX = 500
"""The most characters in a value. Source: four lines of an address fit; a longer value is a
text."""

MATTERS_MOST = 0.95
"""The importance of a standing limit, such as "never supply latex", and of critical attributes."""

_DETERMINERS = re.compile(
    r"^(?:(?:the|a|an|my|our|your|his|her|their|its"
    r"|(?:contact|customer|client|user|prospect|lead|caller|person)['’]s)\s+)+(?=\S)"
)
_OWNED = re.compile(r"^(?P<owner>\S.*)['’]s\s+(?P<rest>.+)$")
_NAME_WORD = re.compile(r"[^\W\d_]{3,}")
_CAMEL_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def _listed(*names: str) -> StringSet:
    return lexicon("values").word_set(*names)


class AttributeBook:
    """The known attributes, in file order, found under any of their names.

    An attribute that is not in the book still makes a slot. The number of its values is open unless
    the caller says it: its other values end no fact, and a judge is asked.

    Args:
        attributes: their names and aliases are all different.
        of_agents: the books of some agents, by shell patterns of their ids; the first match counts.

    Raises:
        ConfigurationError: a name or an alias is unusable or taken twice.
    """

    def __init__(
        self,
        attributes: Iterable[Attribute],
        of_agents: Mapping[str, AttributeBook] | None = None,
    ) -> None:
        self.of_agents = of_agents or {}
        self._attributes = tuple(attributes)
        self._by_key: dict[str, Attribute] = {}
        self._synonyms: dict[str, Mapping[str, str]] = {}
        for attribute in self._attributes:
            self._add_name(attribute)
        for attribute in self._attributes:
            self._add_aliases(attribute)

    @classmethod
    def from_mapping(cls, mapping: Values) -> AttributeBook:
        """Make the book that a parsed ``attributes.toml`` describes: one table for each attribute.

        Raises:
            ConfigurationError: an entry is unusable; the text names the attribute and the remedy.
        """
        try:
            entries = _FILE.validate_python(mapping)
        except ValidationError as error:
            faults = "; ".join(
                f"[{each['loc'][0]}] {'.'.join(map(str, each['loc'][1:])) or 'its table'}: "
                f"{each['msg']}"
                for each in error.errors()
            )
            raise ConfigurationError(f"attributes: {faults}") from error
        return cls([_attribute(name, entry) for name, entry in entries.items()])

    @classmethod
    def from_model(cls, model: type[BaseModel]) -> AttributeBook:
        """Make the book that a Pydantic model describes: an attribute for each of its fields.

        A list holds many values, and types of dates, numbers, addresses and choices are compared as
        such. A field's ``json_schema_extra`` may have any key of ``attributes.toml``.

        Raises:
            ConfigurationError: a field is unusable; the text names it and the remedy.
        """
        try:
            schema = model.model_json_schema(by_alias=False)
        except (AttributeError, PydanticUserError) as error:
            raise ConfigurationError(
                f"attributes: {model.__name__} is no Pydantic model of plain fields: {error}"
            ) from error
        defined = schema.get("$defs", {})
        schema = {**schema, **defined.get(schema.get("$ref", "").rpartition("/")[2], {})}
        extra: Json = {
            name: each.json_schema_extra or {} for name, each in model.model_fields.items()
        }
        for name, given in extra.items():
            if callable(given):
                raise _misfit(name, "has a function as json_schema_extra; give a dictionary")
        told = schema.get("properties", {}).items()
        return cls.from_mapping(
            {name: _table_of(name, field, defined) | extra.get(name, {}) for name, field in told}
        )

    def of(self, agent_id: str) -> AttributeBook:
        """Return the book of an agent; this one if it has none of its own."""
        own = (book for each, book in self.of_agents.items() if fnmatchcase(agent_id, each))
        return next(own, self)

    def is_critical(self, slot: Slot | None) -> bool:
        """True if every recall tells the facts of a slot."""
        known = self.find(slot.attribute) if slot and slot.attribute else None
        return known is not None and known.critical

    def __iter__(self) -> Iterator[Attribute]:
        """Return every attribute, in file order."""
        return iter(self._attributes)

    def __len__(self) -> int:
        """Count the attributes of the book."""
        return len(self._attributes)

    def find(self, name: str) -> Attribute | None:
        """Find the attribute of that name or alias, in any spelling; None if the book has none.

        Case, spaces, hyphens, underscores and humps do not count, nor do "the contact's", "her"
        or a leading "current": ``homeCity``, ``Home city`` and "the contact's city" are ``city``.
        """
        words = _attribute_name(name).split("_")
        while words:
            if attribute := self._by_key.get("".join(words)):
                return attribute
            if words[0] not in _listed("name_prefix"):
                return None
            del words[0]
        return None

    def are_one_role(self, one: str, other: str) -> bool:
        """True if two words are one role, such as "wife" and "spouse", of which there is one."""
        known = self.find(one) if one and other and one != other else None
        is_alias = known is not None and known.is_single_valued and known is self.find(other)
        return is_alias or (bool(one) and one == other)

    def name_of(self, said: str) -> str:
        """Return the name under which an attribute is stored."""
        known = self.find(said)
        return known.name if known else _attribute_name(said)

    def merged_with(self, other: AttributeBook) -> AttributeBook:
        """Return this book with the other's attributes added; equal names are replaced.

        An alias that the other book claims is taken from this one's attribute.

        Raises:
            ConfigurationError: the other uses as an alias what is a name here.
        """
        entries = {attribute.name: self._without_names_of(other, attribute) for attribute in self}
        return AttributeBook(
            (entries | {attribute.name: attribute for attribute in other}).values()
        )

    def slot(
        self,
        *,
        subject: str | None = None,
        attribute: str | None = None,
        value: str | int | float | bool | None = None,
        is_single_valued: bool | None = None,
    ) -> Slot | None:
        """Make the slot that the caller's words describe; None if they describe none.

        Args:
            subject: the person or thing; None, or a word for the contact, means the contact.
            attribute: a name or an alias from the book, or a name of the caller's own.
            value: the value in words or as a number; true and false count as yes and no. None,
                blank text and a word for "unknown" mean no value, which supersedes nothing.
            is_single_valued: whether the attribute holds one value at a time; None to take it from
                the book; for an attribute that is not in the book it stays unknown.

        Raises:
            InvalidNoteError: an argument cannot be used; the text says what to do.
        """
        about, asked, said = _subject(subject), _given("attribute", attribute), _value(value)
        if is_single_valued is not None and not isinstance(is_single_valued, bool):
            raise InvalidNoteError("single_valued must be true or false, or be left out")
        if asked is None:
            slot = _slot_without_attribute(about, said)
            return slot and replace(slot, said_subject=subject)
        about, known, name = self._resolved(about or CONTACT_SUBJECT, asked)
        return Slot(
            subject=about,
            said_subject=subject,
            attribute=name,
            said_attribute=attribute,
            value=said,
            value_key=None if said is None else self._value_key(known, said),
            is_single_valued=known.is_single_valued
            if known and is_single_valued is None
            else bool(is_single_valued),
            is_open=known is None and is_single_valued is None,
            is_known=known is not None,
        )

    @cached_property
    def reader(self) -> SlotReader:
        """Return the reader of slots in plain sentences; made at first use."""
        from reconciler.reading.values.slot_reading import SlotReader

        return SlotReader(self)

    def read_slot(self, text: str, names: Iterable[str | None] = ()) -> ReadSlot | None:
        """Read the slot of a plain sentence; None if it gives none for certain.

        "Is also a musician" does not end the person's other occupation: for an attribute that holds
        one value, an addition is not read, because it would end the other value.

        Args:
            text: one sentence, in the first person or in the third.
            names: the contact's names, as far as they are known; a sentence about a person of
                another name is not read.
        """
        read = self.reader.read(
            text,
            frozenset(
                word for name in names for word in _NAME_WORD.findall((name or "").casefold())
            ),
        )
        known = self.find(read.attribute) if read and read.is_addition else None
        return None if known and known.is_single_valued else read

    @cached_property
    def _shower(self) -> SlotReader:
        from reconciler.reading.values.slot_reading import SlotReader

        return SlotReader(replace(each, says=each.shows, value="", over={}) for each in self)

    def shown_slot(self, text: str) -> Slot | None:
        """Return the slot that a profile shows for a text without one, such as an allergy.

        None if there is none. This slot is stored on no fact and ends none, so it may be read from
        more wordings.
        """
        if not self._shower.may_read(text):
            return None
        read = self._shower.read(text)
        return self.slot_of(read) if read and not read.is_denied else None

    def is_told_over(self, text: str, slot: Slot) -> bool:
        """True if a sentence about the contact ends the slot's value without naming it.

        "Quit her job" ends an employer, "got divorced" a spouse.
        """
        said = self.reader.ends(text).get(slot.attribute or "", frozenset())
        return "*" in said or slot.value_key in said

    def filled(
        self, given: Slot | None, text: str, names: Iterable[str | None] = ()
    ) -> tuple[Slot | None, str | None]:
        """Return the given slot, or the slot of the text, and the words that gave it.

        A given slot always wins. If it names only a subject, the text adds the rest. If it names no
        subject, the text may name one: "Her husband is vegan" is not her diet.

        Args:
            given: the slot that came with the text, or None.
            text: the text.
            names: the contact's names, as far as they are known.
        """
        given = given and self._keyed(given, text)
        if given is not None and given.attribute and given.said_subject:
            return given, None
        read = self.read_slot(text, names)
        slot = self.slot_of(read) if read else None
        if given is not None and given.attribute:
            about = replace(given, subject=slot.subject) if slot else given
            return (about if slot and about.key == slot.key else given), None
        if read is None or slot is None:
            return given, None
        if given is not None:
            if slot.subject not in (given.subject, CONTACT_SUBJECT):
                return given, None
            slot = replace(slot, subject=given.subject, said_subject=given.said_subject)
        return slot, read.words

    def _keyed(self, slot: Slot, text: str) -> Slot:
        """Return a slot about the numbered thing that the text names, if its attribute has one."""
        known = self.find(slot.attribute) if slot.attribute else None
        if known is None or not known.keyed_by or slot.subject != CONTACT_SUBJECT:
            return slot
        number = re.search(
            rf"\b{known.keyed_by}\W{{0,3}}(?:n(?:o|r|umber)\W{{1,3}})?([\w./-]*\d[\w./-]*)",
            text,
            re.I,
        )
        if number is None:  # of which thing is unknown, so it replaces no value
            return replace(slot, is_single_valued=False)
        thing = f"{known.keyed_by} {number[1].casefold().strip('./-')}"
        return replace(slot, subject=thing, said_subject=thing)

    def slot_of(self, read: ReadSlot) -> Slot | None:
        """Make a read attribute a slot that can be compared; None if it names no value.

        A denial decides only about its own value: a person who no longer works at Globex, or never
        did, may work at Brightwave.
        """
        try:
            slot = self.slot(subject=read.subject, attribute=read.attribute, value=read.value)
        except InvalidNoteError:
            return None
        if slot is None or slot.value is None:
            return None
        return replace(slot, is_single_valued=False) if read.is_denied else slot

    def _resolved(self, subject: str, asked: str) -> tuple[str, Attribute | None, str]:
        """Return subject, attribute and its name; "wife's birthday" belongs to the wife."""
        known, owned = self.find(asked), _OWNED.match(_undetermined(asked))
        if known is None and owned:
            owner, attribute = _folded_subject(owned["owner"]), self.find(owned["rest"])
            if attribute and subject in (CONTACT_SUBJECT, owner):
                return owner, attribute, attribute.name
        name = self.name_of(asked)
        if not any(map(str.isalnum, name)) or name.replace("_", " ") in _listed("not_given"):
            raise InvalidNoteError(
                f"attribute {asked!r} is not the name of an attribute; give one, for example city"
            )
        return subject, known, name

    def _value_key(self, attribute: Attribute | None, said: str) -> str:
        if attribute is None:
            return text(said)
        if attribute.name not in self._synonyms:
            self._synonyms[attribute.name] = _synonym_keys(attribute)
        key = NORMALISERS[attribute.normaliser](said)
        return self._synonyms[attribute.name].get(key, key)

    def _without_names_of(self, other: AttributeBook, mine: Attribute) -> Attribute:
        kept = tuple(alias for alias in mine.aliases if _squeezed(alias) not in other._by_key)
        return replace(mine, aliases=kept)

    def _add_name(self, attribute: Attribute) -> None:
        usable = _attribute_name(attribute.name)
        if attribute.name != usable or not usable or len(usable) > NAME_LENGTH_MAX:
            mend = usable[:NAME_LENGTH_MAX] or "favourite_colour"
            raise _misfit(attribute.name, f"is not a usable name; write it like {mend}")
        taken = self._by_key.setdefault(_squeezed(usable), attribute)
        if taken is not attribute:
            raise _misfit(attribute.name, f"has the same name as {taken.name}; rename one")

    def _add_aliases(self, attribute: Attribute) -> None:
        for alias in attribute.aliases:
            if not (key := _squeezed(alias)):
                raise _misfit(attribute.name, f"alias {alias!r} holds no letter or digit")
            taken = self._by_key.setdefault(key, attribute)
            if taken is not attribute:
                raise _misfit(
                    attribute.name, f"alias {alias!r} already means {taken.name}; remove one"
                )


class _Entry(BaseModel):
    """An attribute's table in the file; ``Attribute`` says what each key means."""

    model_config = ConfigDict(extra="forbid")

    description: str = Field(pattern=r"^.*\S.*$")
    holds: Literal["one", "many"]
    normaliser: str = "text"
    value: str = ""
    aliases: Strings = ()
    says: Strings = ()
    shows: Strings = ()
    known: Strings = ()
    questions: Strings = ()
    synonyms: Mapping[str, Strings] = {}
    over: Mapping[str, Strings] = {}
    confirm: bool = False
    critical: bool = False
    outranked_by: Strings = ()
    keyed_by: str = Field(default="", pattern=r"^[a-z]*$")


_KINDS = {
    "boolean": "boolean", "integer": "number", "number": "number", "date": "date",
    "date-time": "date_time", "email": "email",
}  # fmt: skip


def _table_of(name: str, field: Values, defined: Values) -> Json:
    """Make a table of the file from a field of a JSON schema, as Pydantic writes it."""

    def kind_of(told: Values) -> Values:
        one = next((each for each in told.get("anyOf", ()) if each.get("type") != "null"), told)
        return {**one, **defined.get(one.get("$ref", "").rpartition("/")[2], {})}

    kind = kind_of(field)
    one = kind_of(kind.get("items", {})) if (is_many := kind.get("type") == "array") else kind
    return {
        "description": field.get("description") or name.replace("_", " "),
        "holds": "many" if is_many else "one",
        "normaliser": _KINDS.get(one.get("format") or one.get("type", ""), "text"),
        "known": [word for word in one.get("enum", ()) if isinstance(word, str)],
    }


_FILE = TypeAdapter(dict[str, _Entry])


def _misfit(name: object, complaint: str) -> ConfigurationError:
    return ConfigurationError(f"attributes: [{name}] {complaint}")


def _attribute(name: str, entry: _Entry) -> Attribute:
    given = dict(entry)
    is_single_valued = given.pop("holds") == "one"
    attribute = Attribute(name=name, is_single_valued=is_single_valued, **given)
    if attribute.normaliser not in NORMALISERS:
        known = ", ".join(sorted(NORMALISERS))
        raise _misfit(
            name, f"has the unknown normaliser {attribute.normaliser!r}; use one of {known}"
        )
    meant: dict[str, str] = {}
    for word, others in attribute.synonyms.items():
        for synonym in (word, *others):
            if (taken := meant.setdefault(text(synonym), word)) != word:
                raise _misfit(name, f"synonym {synonym!r} stands for {taken} and for {word}")
    if not (attribute.says or attribute.shows or attribute.value):
        return attribute
    from reconciler.reading.values.slot_reading import complaint

    if complained := complaint(attribute):
        raise _misfit(name, complained)
    return attribute


def _synonym_keys(attribute: Attribute) -> Mapping[str, str]:
    """Map each normalised synonym to the normalised word that it means."""
    read = NORMALISERS[attribute.normaliser]
    return {
        read(synonym): read(word)
        for word, others in attribute.synonyms.items()
        for synonym in others
    }


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _given(name: str, given: str | None) -> str | None:
    """Return a string that says something; None for None or a word for it."""
    if given is None:
        return None
    if isinstance(given, str) and is_blank(given):
        raise InvalidNoteError(f"{name} is blank; leave it out if there is none")
    check_text(name, given, NAME_LENGTH_MAX)
    if _CONTROL.search(given):
        raise InvalidNoteError(f"{name} holds control characters or line breaks; remove them")
    return None if text(given) in _listed("not_given") else given


def _value(given: object) -> str | None:
    """Return the value in words; None for a word that means no value."""
    said = _value_in_words(given)
    if said is None:
        return None
    if len(said) > VALUE_LENGTH_MAX:
        raise InvalidNoteError(
            f"value has {len(said)} characters, but at most {VALUE_LENGTH_MAX} are allowed; "
            "shorten it"
        )
    check_storable("value", said)
    # An address has lines; other control characters are an accident.
    if not set("\n\r\t").issuperset(_CONTROL.findall(said)):
        raise InvalidNoteError("value holds control characters; remove them")
    is_value = has_words(said) and text(said) not in _listed("not_given", "unknown_value")
    return said if is_value else None


def _value_in_words(given: object) -> str | None:
    if given is None or isinstance(given, str):
        return given and without_scheme(given)
    if isinstance(given, bool):
        return "yes" if given else "no"
    if isinstance(given, int | float):
        return _number_in_words(given)
    raise InvalidNoteError(
        f"value must be one string or number, not {type(given).__name__}; "
        "send one note for each value"
    )


def _number_in_words(given: float) -> str:
    if isinstance(given, int):
        if given.bit_length() > 1000:
            raise InvalidNoteError("value has too many digits; write it in words")
        return str(given)
    if not math.isfinite(given):
        raise InvalidNoteError(f"value {given} is not a number; leave it out if there is none")
    return f"{Decimal(repr(float(given))):f}".removesuffix(".0")


def _slot_without_attribute(subject: str | None, said: str | None) -> Slot | None:
    if said is not None:
        raise InvalidNoteError(
            f"value {said!r} has no attribute; name one, for example city, or leave the value out"
        )
    return None if subject is None else Slot(subject=subject, is_single_valued=False)


def _subject(given: str | None) -> str | None:
    said = _given("subject", given)
    if said is None:
        return None
    folded = _folded_subject(said)
    if not folded:
        raise InvalidNoteError(
            f"subject {said!r} has no name in it; leave it out if the fact is about the contact"
        )
    return folded


def _folded_subject(said: str) -> str:
    """Fold "my wife", "Her wife" and "wife's" to one form; the contact for any word for it."""
    folded = text(re.sub(r"['’]s$|-(?:san|sama)$", "", _undetermined(said)))
    return CONTACT_SUBJECT if folded in _listed("contact_word") else folded


def _undetermined(said: str) -> str:
    """Fold the case, and remove articles and possessive pronouns in front."""
    return _DETERMINERS.sub("", plain(said).casefold())


@lru_cache(maxsize=4096)
def _attribute_name(said: str) -> str:
    """Return the name in snake_case; empty if it has no letter and no digit."""
    humps = _CAMEL_HUMP.sub(" ", plain(said))
    owned = re.sub(r"['’]s\b|['’]", "", _undetermined(humps))
    kept = "".join(letter if unicodedata.category(letter)[0] in "LNM" else " " for letter in owned)
    return "_".join(plain(kept).split())


def _squeezed(name: str) -> str:
    """Return a name's form for comparing: ``time_zone``, "Time zone", ``timezone`` are one."""
    return _attribute_name(name).replace("_", "")
