"""The lexicons as tests: each cue finds its hits and not its misses, and no more."""

from __future__ import annotations

import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

from reconciler.domain.sessions import explicit_statements, speakers
from reconciler.reading.cues import classification, injection, meaning
from reconciler.reading.lexicon import Cues, cues_of, lexicon
from reconciler.reading.needed_literals import needed_literals
from reconciler.reading.text_reading import read_text
from tests.tables import every

FOLDER = Path(__file__).resolve().parents[2] / "config" / "lexicon"
EXAMPLES = Path(__file__).resolve().parents[1] / "lexicon_examples"
"""Of each cue texts in which it finds something, and texts in which it must not."""

READERS: dict[str, tuple[Callable[[], Cues], Callable[[str], str]]] = {
    "injection": (injection._lexicon, injection._fold_all),
    "meaning": (partial(cues_of, "meaning"), meaning._spell),
    "classification": (partial(cues_of, "classification"), classification.one_line),
    "literalness": (partial(cues_of, "literalness"), lambda text: read_text(text).small),
    "guard": (partial(cues_of, "guard"), str),
    "secrets": (partial(cues_of, "secrets", flags=re.IGNORECASE), str),
    "statements": (explicit_statements._lexicon, str),
    "speakers": (speakers._cues, str),
    "conditions": (partial(cues_of, "conditions", flags=re.IGNORECASE), str),
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


@cache
def _examples(name: str) -> dict[str, list[dict[str, list[str]]]]:
    return tomllib.loads((EXAMPLES / f"{name}.toml").read_text("utf-8"))


def _cue(
    name: str, list_name: str, number: int
) -> tuple[dict[str, list[str]], re.Pattern[str], Callable[..., str]]:
    cues, fold = READERS[name]
    texts = _examples(name)[list_name][number]
    return texts, cues().pattern(list_name, number), str if (name, list_name) in UNFOLDED else fold


@every("name", READERS)
def test_every_cue_has_its_examples(name: str) -> None:
    counts = {each: len(cues) for each, cues in lexicon(name).cues.items()}
    assert counts == {each: len(texts) for each, texts in _examples(name).items()}


@every(("name", "list_name", "number"), PLACES)
def test_a_cue_finds_its_hits_and_none_of_its_misses(
    name: str, list_name: str, number: int
) -> None:
    texts, pattern, fold = _cue(name, list_name, number)
    assert texts["hits"]
    assert [text for text in texts["hits"] if not pattern.search(fold(text))] == []
    assert [text for text in texts.get("misses", ()) if pattern.search(fold(text))] == []


@every(("name", "list_name", "number"), PLACES)
def test_what_a_cue_finds_holds_what_is_read_from_it(
    name: str, list_name: str, number: int
) -> None:
    examples, pattern, fold = _cue(name, list_name, number)
    needed = needed_literals(pattern.pattern)
    texts = [fold(text).casefold() for text in examples["hits"]]
    assert all(not needed or any(literal in text for literal in needed) for text in texts)


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
    asked = (
        "import reconciler; from reconciler.reading.lexicon import lexicon; "
        "print(lexicon.cache_info())"
    )
    answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True)
    assert b"currsize=0" in answer.stdout


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
