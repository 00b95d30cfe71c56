"""The lexicons as tests: each cue finds its hits and not its misses, and needs what it says."""

from __future__ import annotations

import re
import re._constants as opcodes
import re._parser as parser
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from reconciler.adapters import told_secrets_finder
from reconciler.domain import conditions
from reconciler.domain.gate import classification, injection, literalness, meaning
from reconciler.domain.guard import vocabulary
from reconciler.domain.sessions import explicit_statements, speakers
from reconciler.domain.text_reading import read_text
from reconciler.lexicon import Cue, Cues, lexicon
from tests.tables import every

FOLDER = Path(__file__).resolve().parents[2] / "config" / "lexicon"
READERS: dict[str, tuple[Callable[[], Cues], Callable[[str], str]]] = {
    "injection": (injection._lexicon, injection._fold_all),
    "meaning": (meaning._lexicon, meaning._spell),
    "classification": (classification._lexicon, classification._one_line),
    "literalness": (literalness._lexicon, lambda text: read_text(text).small),
    "guard": (vocabulary._cues, str),
    "secrets": (told_secrets_finder._cues, str),
    "statements": (explicit_statements._lexicon, str),
    "speakers": (speakers._cues, str),
    "conditions": (conditions._cues, str),
}
"""By lexicon with cues, what compiles them, and how a text is folded before they are tried."""

UNFOLDED = {
    ("injection", "named"),
    *(
        ("meaning", each)
        for each in ("raw_line", "raw_text", "dump", "emoticon", "emoji", "addressed_at_the_end")
    ),
    *(("meaning", each) for each in ("vocative", "asked_of_a_name", "own_named", "chat")),
}
PLACES = [
    (name, list_name, number)
    for name in READERS
    for list_name, cues in lexicon(name).cues.items()
    for number in range(len(cues))
]


def _cue(name: str, list_name: str, number: int) -> tuple[Cue, re.Pattern[str], Callable[..., str]]:
    cues, fold = READERS[name]
    cue = lexicon(name).cues[list_name][number]
    return cue, cues().pattern(list_name, number), str if (name, list_name) in UNFOLDED else fold


@every(("name", "list_name", "number"), PLACES)
def test_a_cue_finds_its_hits_and_none_of_its_misses(
    name: str, list_name: str, number: int
) -> None:
    cue, pattern, fold = _cue(name, list_name, number)
    assert cue.hits
    assert [text for text in cue.hits if not pattern.search(fold(text))] == []
    assert [text for text in cue.misses if pattern.search(fold(text))] == []


@every(("name", "list_name", "number"), PLACES)
def test_no_text_without_what_a_cue_needs_can_match_it(
    name: str, list_name: str, number: int
) -> None:
    cue, pattern, _ = _cue(name, list_name, number)
    if cue.needs:
        assert _is_needed(parser.parse(pattern.pattern, pattern.flags), list(cue.literals))


def test_every_list_of_words_is_used() -> None:
    code = "".join(path.read_text("utf-8") for path in FOLDER.parents[1].glob("reconciler/**/*.py"))
    for path in FOLDER.glob("*.toml"):
        text = path.read_text("utf-8")
        unused = [
            each
            for each in lexicon(path.stem).lists
            if f"<{each}>" not in text and f'"{each}"' not in code + text
        ]
        assert unused == [], path.name


def test_to_import_the_package_reads_no_lexicon() -> None:
    asked = "import reconciler; from reconciler.lexicon import lexicon; print(lexicon.cache_info())"
    answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True)
    assert b"currsize=0" in answer.stdout


# Whether a pattern cannot match without one of some literals. Only what is certain counts.

SPELLINGS_MAX = 300


def _is_needed(tree: Any, literals: list[str]) -> bool:
    """Whether all that the tree matches holds one of the literals, or what it looks at does."""
    spelled = {""}
    for operation, value in tree:
        more = _spellings([(operation, value)])
        if more is not None and len(spelled) * len(more) <= SPELLINGS_MAX:
            spelled = {start + end for start in spelled for end in more}
        else:
            if _all_hold(spelled, literals) or _is_needed_within(operation, value, literals):
                return True
            spelled = more or {""}
        if _all_hold(spelled, literals):
            return True
    return False


def _all_hold(spelled: set[str], literals: list[str]) -> bool:
    return all(any(literal in each.casefold() for literal in literals) for each in spelled)


def _is_needed_within(operation: Any, value: Any, literals: list[str]) -> bool:
    if operation is opcodes.BRANCH:
        return all(_is_needed(each, literals) for each in value[1])
    if operation is opcodes.SUBPATTERN:
        return _is_needed(value[3], literals)
    if operation in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT, opcodes.POSSESSIVE_REPEAT):
        return value[0] > 0 and _is_needed(value[2], literals)
    if operation is opcodes.ATOMIC_GROUP:
        return _is_needed(value, literals)
    return operation is opcodes.ASSERT and _is_needed(value[1], literals)


def _spellings(tree: Any) -> set[str] | None:
    """All that the tree matches, where that is little; else None."""
    spelled = {""}
    for operation, value in tree:
        more = _spellings_of(operation, value)
        if more is None or len(spelled) * len(more) > SPELLINGS_MAX:
            return None
        spelled = {start + end for start in spelled for end in more}
    return spelled


def _spellings_of(operation: Any, value: Any) -> set[str] | None:
    if operation is opcodes.LITERAL:
        return {chr(value)}
    if operation is opcodes.IN:
        return _characters(value)
    if operation is opcodes.SUBPATTERN:
        return _spellings(value[3])
    if operation is opcodes.BRANCH:
        branches = [_spellings(each) for each in value[1]]
        return None if None in branches else set().union(*filter(None, branches))
    if operation is opcodes.MAX_REPEAT and value[:2] == (0, 1):
        once = _spellings(value[2])
        return None if once is None else once | {""}
    return {""} if operation is opcodes.ASSERT_NOT else None


def _characters(value: Any) -> set[str] | None:
    """Those of a set, where they are few: a digit, or one of some letters."""
    found: set[str] = set()
    for operation, code in value:
        if operation not in (opcodes.LITERAL, opcodes.RANGE):
            return None
        first, last = code if operation is opcodes.RANGE else (code, code)
        found.update(map(chr, range(first, last + 1)))
    return found if len(found) <= CHARACTERS_MAX else None


CHARACTERS_MAX = 12


# No word is cut to fit a line: a reader who looks for it must find it

LITERAL = re.compile(r"(?s)[a-zA-Z]*(\"\"\"|'''|\"|')(.*)\1$")


def _pieces(path: Path) -> Iterator[tuple[str, str]]:
    """Each two string literals that stand after one another, so that they are one string."""
    before = None
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.STRING:
                found = LITERAL.match(token.string)
                assert found is not None
                if before is not None:
                    yield before, found[2]
                before = found[2]
            elif token.type not in (tokenize.NL, tokenize.COMMENT):
                before = None


def _is_cut(before: str, after: str) -> bool:
    return bool(re.search(r"(?<!\\)[a-z]$", before) and re.match(r"[a-z]", after))


def test_no_string_is_cut_within_a_word() -> None:
    modules = FOLDER.parents[1].glob("reconciler/**/*.py")
    cut = [
        (path.name, a[-12:], b[:12]) for path in modules for a, b in _pieces(path) if _is_cut(a, b)
    ]
    assert cut == []


def test_no_pattern_is_cut_within_a_word() -> None:
    lines = [
        cue.pattern.split("\n")
        for path in FOLDER.glob("*.toml")
        for cues in lexicon(path.stem).cues.values()
        for cue in cues
    ]
    cut = [(a, b) for each in lines for a, b in pairwise(each) if _is_cut(a, b)]
    assert cut == []
