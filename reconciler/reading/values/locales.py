"""Languages and countries, by the codes that CLDR has for them.

What CLDR knows is read from there; here stands only what takes long to load. A word that people use
for one in a deployment is a synonym in ``config/attributes.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from reconciler.reading.values.text import text

_OWN_NAMES = """
ar العربية, bg български, bn বাংলা, cs čeština, da dansk, de deutsch, el ελληνικά, es español,
et eesti, fa فارسی, fi suomi, fr français, he עברית, hi हिन्दी, hr hrvatski, hu magyar,
id indonesia, is íslenska, it italiano, ja 日本語, ko 한국어, lt lietuvių, lv latviešu, ms melayu,
nb norsk bokmål, nl nederlands, no norsk, pl polski, pt português, ro română, ru русский,
sk slovenčina, sl slovenščina, sr српски, sv svenska, th ไทย, tr türkçe, uk українська, ur اردو,
vi tiếng việt, zh 中文
"""
"""What languages call themselves. Source: CLDR, copied since loading 41 locales takes 0.1 s."""


def language(said: str) -> str:
    """Return its code, from code, English name or own name: German and Deutsch are ``de``."""
    key = text(said)
    return _languages().get(key.replace(" ", "_")) or _languages().get(key) or key


@cache
def _languages() -> Mapping[str, str]:
    from babel import Locale
    from babel.core import get_global

    aliases: Mapping[str, str] = get_global("language_aliases")
    names: Mapping[str, str] = dict(Locale("en").languages)
    codes = {old.casefold(): new for old, new in aliases.items()}
    codes |= {code.casefold(): code for code in names}
    codes |= {text(name): code for code, name in names.items()}
    own = (entry.strip().split(" ", 1) for entry in _OWN_NAMES.split(","))
    codes |= {text(name): code for code, name in own}
    # de-DE says no more than de; pt-BR is what CLDR means by pt, and pt-PT is kept apart.
    likely = {code: full.split("_") for code, full in get_global("likely_subtags").items()}
    short = {f"{code}_{full[-1]}": code for code, full in likely.items() if code in names}
    codes |= {code.casefold(): code for code in short}
    return {
        name: short.get(code, code).replace("_", "-").casefold() for name, code in codes.items()
    }


def country(said: str) -> str:
    """Return its two-letter code, from that, the three-letter one or the English name."""
    key = re.sub(r"^(?:the )+(?=.)", "", text(said))
    return _countries().get(key, key)


@cache
def _countries() -> Mapping[str, str]:
    from babel import Locale
    from babel.core import get_global

    names = {code: name for code, name in Locale("en").territories.items() if code.isalpha()}
    aliases = get_global("territory_aliases")
    codes = {old.casefold(): new[0] for old, new in aliases.items() if len(new) == 1}
    codes |= {text(name): code for code, name in names.items()}
    return codes | {code.casefold(): code for code in names}
