"""The finder of street addresses: a street and its number, in the forms that countries write them.

A pattern sees a street by a word that streets are named with, by a flat beside it, or by what the
text says ("lives at ..."); it does not know every street of the world. The forms and the words they
are made of live here. A bare name of a place, a town or a country is never looked for, and neither
is any other kind of sensitive data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import regex

from reconciler.reading.sensitive_data import SensitiveKind, SensitiveSpan

_DIGIT = re.compile(r"\d")


def find_street_addresses(text: str) -> Iterator[SensitiveSpan]:
    """Finds street addresses, with the flat, place and postcode that follow.

    The forms are compiled at their first use, which takes longer than all that comes after.
    """
    for pattern in _forms_in(text):
        for match in pattern.finditer(text):
            start, end = match.start(), _compiled(_TAIL).match(text, match.end()).end()
            # A full stop is the sentence's.
            end -= text[end - 1] == "."
            yield SensitiveSpan(start, end, SensitiveKind.STREET_ADDRESS)


def street_of(address: str) -> str:
    """Street, number and flat of an address, without the place and postcode that follow.

    So one address is one, with its tail and without it.
    """
    matches = filter(None, (pattern.match(address) for pattern in _forms_in(address)))
    street = max((match[0] for match in matches), key=len, default=address)
    return " ".join((street.rstrip("."), *_compiled(_UNIT).findall(address, len(street))))


def _forms_in(text: str) -> Iterator[Any]:
    """Forms that a text may hold; none without a digit."""
    if _DIGIT.search(text):
        for cue, forms in _FORMS.items():
            if _compiled(cue).search(text):
                yield from (_compiled(f"{_FRONT}(?:{form})") for form in forms)


@cache
def _compiled(pattern: str) -> Any:
    return regex.compile(pattern)


# What an address is made of

_WORD = r"(?:[^\W\d_][\w.'\u2019-]*)"
_CAPITAL = r"(?:(?=\p{Lu})[\w.'\u2019-]+)"
_OF = (
    r"(?:d[eaiou]s?|del(?:la)?|dell'|van|von|der|den|of|the|la|le|les|al|el|y|e|and|zum|zur|am|an)"
)
_NAME = rf"(?:(?:{_CAPITAL}|\d{{1,3}}(?:st|nd|rd|th))(?:[ ](?:{_OF}[ ]){{0,2}}{_CAPITAL}){{0,4}})"
_NO = r"(?:\d{1,5}(?:[ ]?[-/][ ]?\d{1,4})?[a-zA-Z]?)"
_STREET = (
    r"(?:Street|Str|St|Avenue|Ave|Av|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Courts?|Ct|Place|Pl"
    r"|Square|Sq|Terrace|Ter|Way|Close|Crescent|Cres|Highway|Hwy|Parkway|Pkwy|Gardens|Mews"
    r"|Quay|Alley|Trail|Circle|Cir|Grove|Esplanade|Promenade|Marg)"
)
_STREET_ANY_CASE = r"(?:street|avenue|boulevard|road|lane)"
_SIDE = r"(?:[ ](?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\b\.?)"
_SUFFIXED = (
    r"(?:(?<!\w)\p{Lu}[\w'-]{0,40}(?i:stra(?:ss|ß)e|str\.|gasse|weg|platz|laan|straat|plein|gade"
    r"|vej|gatan|vägen|gata|vegen|veien|katu|kuja|gränd|steenweg|dreef|allee|damm|chaussee|ufer"
    r"|utca))"
)
_RUE = r"(?i:rue|avenue|boulevard|quai|allée|chemin|impasse|via|calle)"
_NOT_A_TOOL = r"(?![ ](?:Zoom|Slack|Teams|Email|LinkedIn|WhatsApp|Skype|Phone|Google))"
_PREFIX = (
    rf"(?:Rue|Avenue|Boulevard|Bd|Quai|Allée|Chemin|Impasse|Cours|Via{_NOT_A_TOOL}|Viale|Piazza"
    r"|Piazzetta|Corso|Vicolo|Calle|C/|Avda\.?|Avenida|Av\.|Paseo|Plaza|Pza\.?|Rua|Rúa|Travessa"
    r"|Praça|Estrada|Alameda|Largo|ul\.|al\.|pl\.|os\.|Ulica|ulica|Trg|trg|Ctra\.?|Carretera"
    r"|Camino|Camiño|Strada|Λεωφ\.|Οδός)"
)
_FOLLOWING = (
    r"(?:Stra(?:ss|ß)e|Weg|Gasse|Platz|Allee|Ring|Damm|u\.|utca|út|útja|tér|tere|rkp\.|krt\.|gate"
    r"|gata|väg|vei|veg|tee|tie|tänav|pst|mnt)"
)
_FLAT = r"(?:(?:Suite|Ste\.?|Apt\.?|Apartment|Flat|Appt\.?)[ ]?#?[ ]?\d{1,5}[A-Za-z]?\b)"
_UNIT = rf"(?:{_FLAT}|(?:Unit|Piso|Room|Floor|Fl\.?)[ ]?#?[ ]?\d{{1,5}}[A-Za-z]?\b)"
_HOME = (
    r"(?i:address(?:es)?(?:[ ](?:is|was|to)\b|[ ]?:)"
    r"|\b(?:lives?|living|lived|reside[sd]?|residing|located)[ ]at)"
)
_SENT = (
    r"(?i:\b(?:lives?|living|lived|resides?)[ ]in|arrived[ ]at|address[ ]with"
    r"|(?<![\w-])(?:ship|deliver|mail|post|sent?|send|taxi)(?:ed)?[ ](?:\w+[ ]){0,3}?to)"
)
_BREAK = r"(?:[ ]*,[ ]*|[ ]*(?:,[ ]*)?\n[\s>?|*,-]{0,8}|[ ]+)"
_ZIP = r"(?:\d{3,6}(?:[- ]\d{2,4})?(?!\d)|[A-Z]{1,2}\d[A-Z\d]?[ ]\d[A-Z]{2})"
_BOX = r"(?i:p\.?[ ]?o\.?[ ]?box|postbox|postfach|post[ ]office[ ]box|bo[iî]te[ ]postale)"
_MILITARY = (
    r"(?i:(?:(?:PSC|CMR|Unit)[ ]\d{1,5},?[ ]Box[ ]\d{1,5}|US[A-Z]{1,3}[ ][\w' -]{2,40})\s{1,3}"
    r"(?:APO|FPO|DPO)[ ]A[AEP][ ]\d{5})"
)
_NOT_STREET_WORDS = (
    r"(?!(?:of|from|in|on|at|to|by|for|with|and|or|per|the|a|an|hours?|minutes?|mins?|days?|weeks?"
    r"|months?|years?|km|miles?|metres?|meters?|blocks?|people|more|new|other|lane|way|stars?"
    r"|different|big|small|busy|good|bad|long|short|open|main|side|high|city|local|ring|cross|toll"
    r"|dirt|bike|bus|fast|private|bedroom|pm|am|st|nd|rd|th)\b)"
)
_NOT_MONTH = (
    r"(?!(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[a-z]*\b"
    r"|(?:AM|PM|EUR|USD|GBP|INR)\b)"
)
_NOT_YEAR = (
    r"(?!(?<=\b(?i:in|since|by|until|during|from|of|before|after|late|early|mid)[ ])"
    r"(?:19|20)\d\d\b)"
)
_TAIL = (
    rf"(?:{_BREAK}{_UNIT}){{0,2}}"
    rf"(?:(?:{_BREAK}(?:{_CAPITAL}|{_OF}|\([^)\n]{{2,20}}\))){{0,8}}"
    rf"{_BREAK}{_ZIP}(?![\w/:-]|[. ]\d)"
    rf"|(?:,[ ]{_NAME}){{1,3}}(?=[ ]*(?:[.;?!)\n]|\Z)))?"
)
_FRONT = rf"(?<![\w./$€£#-]){_NOT_YEAR}(?:{_UNIT},?[ ])?(?:\d{{1,5}}[ ])??"
_FORMS = {
    # 12 High Street; 12 high street
    rf"\b(?:{_STREET}|(?i:{_STREET_ANY_CASE}))\b": (
        rf"{_NO},?[ ]{_NAME}[ ]{_STREET}\b\.?{_SIDE}?",
        rf"{_NO}[ ](?:{_NOT_STREET_WORDS}{_WORD}[ ]){{1,2}}{_STREET_ANY_CASE}\b",
    ),
    # Hauptstraße 5
    _SUFFIXED: (rf"{_SUFFIXED}[ ]{_NO}\b", rf"{_NO}[ ]{_SUFFIXED}\b"),
    # Kossuth utca 5.
    rf"[ ]{_FOLLOWING}[ ]\d": (rf"{_NAME}[ ]{_FOLLOWING}[ ]{_NO}\b\.?",),
    # Rue de la Paix 5; 5 rue de la Paix
    rf"\b(?:{_PREFIX}|{_RUE})": (
        rf"{_PREFIX}[ ]?(?:{_OF}[ ]){{0,3}}{_NAME},?[ ](?:n[.º°]?[ ]?)?{_NO}\b",
        rf"{_NO},?[ ](?:bis[ ]|ter[ ])?{_RUE}[ ](?:(?i:{_OF})[ ]){{0,3}}{_NAME}",
    ),
    r"corner of": (rf"(?:the[ ])?corner[ ]of[ ][^\n]{{4,70}}?[ ]and[ ]{_NAME}(?:[ ]{_NO}\b)?",),
    _BOX: (rf"{_BOX}[ ]?(?:\#|no\.?)?[ ]?\d{{1,7}}",),
    r"(?i:[AFD]PO[ ]A)": (_MILITARY,),
    # Whatever stands beside its flat: "731 Miła 57 Apt. 819", on one line or on two
    _FLAT: (
        rf"{_FLAT}[ ]{_NO}[ ](?:{_NO}[ ])?{_NAME}[ ]{_NO}\b",
        rf"(?:\d{{1,5}}[ ])?(?:{_WORD}[ ]){{1,6}}?{_NO}\.?{_BREAK}{_FLAT}",
        rf"{_NO}[ ](?:{_NOT_STREET_WORDS}{_WORD}[ ,]{{1,2}}){{1,6}}?{_FLAT}",
        rf"{_NO}[ ](?:{_WORD}[ ]){{0,5}}{_WORD}\n[ \t>?|*-]{{0,8}}{_FLAT}",
        rf"(?m:(?:^[ \t>?]*|,[ ]|\b(?:Mrs?|Ms|Dr)\.[ ][^\n,]{{3,40}}?[ ])\K{_FLAT})",
    ),
    # Said to be one
    _HOME: (rf"{_HOME}\s+\K{_NO}[ ](?:\d{{1,5}}[ ])?{_NOT_MONTH}{_NAME}(?:[ ]{_NO}\b)?",),
    _SENT: (rf"{_SENT}\s+\K{_NO}[ ](?:\d{{1,5}}[ ])?{_NOT_MONTH}{_NAME}[ ]{_NO}\b",),
}
"""The forms of addresses, each with a part of it that is quick to search for."""
