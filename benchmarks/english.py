"""What each lens of the guard is worth: taken out in turn, and what is lost is counted.

First how many lines of Python read English, with docstrings and without. Then each lens is replaced
by one that sees nothing, in this process only, and the labelled pairs, the notes without a detail
and the natural changes are decided again; none of them was written for a lens.
"""

from __future__ import annotations

import ast
import gc
import inspect
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.data import HALVES, half_of, rows
from benchmarks.detail import SAID_AT, cases
from benchmarks.engines import Engines
from benchmarks.error_rate import CALIBRATED, READ, Case, ReadyVectors, pair_cases
from benchmarks.natural import BOTH, CHANGES
from benchmarks.rates import outcome_of
from benchmarks.sizes import sized
from reconciler.config_files import load_attribute_book
from reconciler.domain.reconciling.rule import decide
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.notes import Note, Scope
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.reading import guard
from reconciler.reading.guard import differences, languages, matters, reading, tokens

DETAIL_EVERY = 4
PACKAGE = Path(guard.__file__).parents[2]
READERS = (
    "reading/guard/*.py",
    "reading/cues/classification.py",
    "reading/cues/injection.py",
    "reading/cues/meaning.py",
    "reading/values/slot_*.py",
    "reading/text_reading.py",
    "domain/gate/contacts_word.py",
    "domain/gate/asking.py",
    "domain/sessions/explicit_statements.py",
    "domain/sessions/frames.py",
    "domain/sessions/speakers.py",
)
"""The modules that read English. The gate's questions write it, its topics are an operator's words,
and its languages are told by their script."""


def main(_: Engines) -> None:
    """Print the lines of the readers, then what is lost without each lens."""
    print_lines()
    bench = Bench.ready()
    if bench is None:
        return
    began, ms = bench.counts()
    print(f"{ms:.3f} ms a pair\n")
    for what, count in sorted(began.items()):
        print(f"- {what}: {count}")
    print("\n| without | lines | what changes | ms |")
    print("|---|--:|---|--:|", flush=True)
    for lens in LENSES[: sized(len(LENSES), 2)]:
        with lens.out():
            found, ms = bench.counts()
        print(f"| {lens.name} | {lens.lines} | {_changed(began, found)} | {ms:.3f} |", flush=True)


def _changed(before: Counter[str], after: Counter[str]) -> str:
    """What is counted otherwise without a lens."""
    keys = sorted(before.keys() | after.keys())
    told = (f"{key} {before[key]} to {after[key]}" for key in keys if before[key] != after[key])
    return "; ".join(told) or "nothing"


def print_lines() -> None:
    """How many lines each module has, and how many without docstrings, comments and blanks."""
    print("| module | lines | code |")
    print("|---|--:|--:|")
    total: Counter[str] = Counter()
    for pattern in READERS:
        for path in sorted(PACKAGE.glob(pattern)):
            text = path.read_text(encoding="utf-8")
            lines, code = text.count("\n"), code_lines(text)
            total.update(lines=lines, code=code)
            print(f"| {path.relative_to(PACKAGE)} | {lines} | {code} |")
    print(f"| all | {total['lines']} | {total['code']} |\n", flush=True)


def code_lines(text: str) -> int:
    """Lines that hold neither a docstring nor a comment alone, and are not blank."""
    tree = ast.parse(text)
    prose: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(
        at not in prose and bool(line.strip()) and not line.strip().startswith("#")
        for at, line in lines
    )


@dataclass(frozen=True)
class Lens:
    """Functions that see nothing while the lens is out."""

    name: str
    parts: Sequence[tuple[Any, str, Callable[..., Any]]]

    @property
    def lines(self) -> int:
        return sum(
            len(inspect.getsource(getattr(owner, name)).splitlines())
            for owner, name, _ in self.parts
        )

    @contextmanager
    def out(self) -> Iterator[None]:
        """Without it, wherever it was imported to."""
        undo: list[tuple[Any, str, Any]] = []
        for owner, name, blind in self.parts:
            seen = getattr(owner, name)
            owners = [owner] if inspect.isclass(owner) else [*engine_modules()]
            for each in owners:
                for key, value in list(vars(each).items()):
                    if value is seen:
                        undo.append((each, key, value))
                        setattr(each, key, blind)
                    elif isinstance(value, tuple) and any(part is seen for part in value):
                        undo.append((each, key, value))
                        swapped = tuple(blind if part is seen else part for part in value)
                        setattr(each, key, swapped)
        forget()
        yield
        for each, key, value in reversed(undo):
            setattr(each, key, value)
        forget()


def engine_modules() -> Iterator[ModuleType]:
    """The engine's modules that are imported by now."""
    return (
        module
        for name, module in list(sys.modules.items())
        if name.startswith(("reconciler.domain", "reconciler.reading")) and module is not None
    )


def forget() -> None:
    """Empty what remembers readings, so that none is left that was made with another lens."""
    for module in engine_modules():
        for value in list(vars(module).values()):
            clear = getattr(value, "cache_clear", None)
            # What has no parameters holds words of the lexicon, and no reading.
            if clear and inspect.signature(value).parameters:
                clear()
    gc.collect()


def nothing(*_: Any, **__: Any) -> tuple[Any, ...]:
    return ()


def no(*_: Any, **__: Any) -> bool:
    return False


def last(*given: Any) -> Any:
    return given[-1]


def first(*given: Any) -> Any:
    return given[0]


def empty(*_: Any, **__: Any) -> frozenset[str]:
    return frozenset()


LENSES = (
    *(
        Lens(name, ((owner, name, blind),))
        for owner, names, blind in (
            (
                differences,
                "find_values find_currencies find_signs find_words find_names "
                "find_subject find_negation find_cessation find_details _prefixed",
                nothing,
            ),
            (differences, "find_order", nothing),
            (differences._Order, "_is_fronted _is_harmless", no),
            (languages, "find_denial find_other_words", nothing),
            (guard, "find_left_out", nothing),
            (
                guard,
                "leaves_a_clause_out leaves_words_out has_many_other_words denies_ever takes_back "
                "tells_of_more tell_of_two_things deny_each_other denies_value differ_beside "
                "differ_in_head ends names_before answer_one_question answers_anew "
                "are_of_other_people says_it_changed tell_of_other_matters _is_apart",
                no,
            ),
            (matters, "is_over is_over_itself is_lifted tells_of_end tell_apart", no),
            (reading, "_is_name", no),
            (tokens, "_labelled _added _multiplied", last),
            (guard, "stated named_in", first),
            (guard, "says_beside", empty),
        )
        for name in names.split()
    ),
)


@dataclass(frozen=True)
class Bench:
    """What is decided again and again: pairs, natural changes, and notes without a detail.

    Only the half of the pairs that nothing was written on, and of the notes one in four.
    """

    pairs: Sequence[Case]
    details: Sequence[tuple[Note, Neighbour]]
    policy: ReconcilePolicy

    @classmethod
    def ready(cls) -> Bench | None:
        """None, after saying so, where the data is not there."""
        pairs, natural = rows("note_pairs.jsonl"), rows("natural_changes.jsonl")
        if pairs is None or natural is None:
            return None
        pairs = [row for row in pairs if half_of(row["a"]) == HALVES[1]]
        for row in natural:
            if row["label"] in (*CHANGES, *BOTH):
                label = "distinct" if row["label"] in BOTH else "update"
                pairs.append(row | {"label": label, "source": "natural"})
        found = [case for case in cases() if half_of(case[1]) == HALVES[1]][::DETAIL_EVERY]
        pairs, found = pairs[: sized(len(pairs), 8)], found[: sized(len(found), 4)]
        texts = [text for row in pairs for text in (row["a"], row["b"])]
        vectors = ReadyVectors([*texts, *(text for case in found for text in case[1:])])
        book, scope = (
            load_attribute_book(None),
            Scope(tenant="default", agent_id="benchmark", contact_id="one"),
        )
        details = [
            (
                Note(scope=scope, text=text, said_at=SAID_AT + timedelta(days=1)),
                Neighbour(
                    fact_id="fact",
                    text=fact,
                    cosine=vectors.cosine(fact, text),
                    valid_from=SAID_AT,
                ),
            )
            for _, fact, text in found
        ]
        policy = CALIBRATED.policy(vectors.model_id)
        return cls(pair_cases(pairs, READ, vectors, book), details, policy)

    def counts(self) -> tuple[Counter[str], float]:
        """What became of all, and the milliseconds of processor time a pair."""
        found: Counter[str] = Counter()
        began = time.process_time()
        for case in self.pairs:
            outcome = outcome_of(case.measured, self.policy)
            found[f"{case.pair.source.partition('_')[0]}, {case.pair.label}: {outcome}"] += 1
        ms = (time.process_time() - began) * 1000 / len(self.pairs)
        for note, fact in self.details:
            found[f"detail: {decide(note, [fact], self.policy).action}"] += 1
        return found, ms
