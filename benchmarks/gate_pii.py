"""What the gate's finder of personal data and secrets finds, on sentences whose spans are marked.

Each source by itself. A gold span counts as found when found spans of its kind cover more than half
of its letters and digits; a label at its beginning ("patient ID 108965") is not counted. A found
span is wrong when it touches no gold span at all; when it touches only spans of another kind, it is
counted beside. Gold spans that say no place are looked for in the text by their value, bare of
asterisks, and left out where they are not there. The small source marks only some of what its
sentences give away: an identifier that a sentence announces by name and the source leaves unmarked
counts as wrong here all the same. Harmless turns show what the finder costs people
who say nothing sensitive.
"""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks.data import rows
from benchmarks.engines import Engines
from benchmarks.rates import Rate
from reconciler.bootstrap.chosen_models import build_sensitive_data_finder
from reconciler.ports.sensitive_data_finder import SensitiveDataFinder
from reconciler.reading.sensitive_data import SensitiveKind, SensitiveSpan

COVERED_MIN = 0.5
RECALL_MIN, PRECISION_MIN, MILLISECONDS_MAX = 0.95, 0.90, 2.5
K = SensitiveKind
BANK = (K.BANK_ACCOUNT, K.IBAN)
SEEN: dict[str, tuple[SensitiveKind, ...]] = {
    **dict.fromkeys(("EMAIL", "EMAIL_ADDRESS"), (K.EMAIL,)),
    **dict.fromkeys(("PHONE", "PHONE_NUMBER"), (K.PHONE,)),
    "CREDIT_CARD": (K.CREDIT_CARD,),
    **dict.fromkeys(("IBAN", "IBAN_CODE"), BANK),
    **dict.fromkeys(
        ("ACCOUNT", "ACCOUNT_NUM", "ACCOUNT_NUMBER", "BANK_ACCOUNT", "BANK_ACCOUNT_NUM"), BANK
    ),
    "ROUTING_NUMBER": BANK,
    **dict.fromkeys(("SSN", "US_SSN", "AADHAR", "VOTER_ID"), (K.NATIONAL_ID,)),
    **dict.fromkeys(("TAXID", "TAX_ID", "PAN"), (K.TAX_ID,)),
    **dict.fromkeys(("PASSPORT", "PASSPORT_NUM"), (K.PASSPORT,)),
    **dict.fromkeys(("DRIVERS_LICENSE", "DRIVER_LICENSE", "LICENSE"), (K.DRIVING_LICENCE,)),
    **dict.fromkeys(("MEDICAL_RECORD", "PATIENT_ID", "INSURANCE_ID"), (K.MEDICAL_RECORD,)),
    "IP_ADDRESS": (K.IP_ADDRESS,),
    "PASSWORD": (K.SECRET,),
}
ADDRESS = dict.fromkeys(("ADDRESS", "STREET_ADDRESS"), (K.STREET_ADDRESS,))
"""A line of its own: a pattern sees a street and its number, not every street of the world."""

MAPPED = SEEN | ADDRESS
SAMPLE = (
    "Spoke with the head of purchasing about the renewal in March. She asked for 250 seats at 40 "
    "euros, wants the contract by e-mail to ada@example.com, or a call to +44 20 7946 0018 after "
    "the holidays."
)


@dataclass
class Tally:
    """What became of the gold spans and of the found ones, by kind."""

    gold: Counter[str] = field(default_factory=Counter)
    hit: Counter[str] = field(default_factory=Counter)
    found: Counter[SensitiveKind] = field(default_factory=Counter)
    wrong: Counter[SensitiveKind] = field(default_factory=Counter)
    elsewhere: Counter[SensitiveKind] = field(default_factory=Counter)
    nowhere: int = 0

    def recall(self, labels: Iterable[str]) -> Rate:
        labels = tuple(labels)
        return Rate(count=sum(map(self.hit.__getitem__, labels)), of=self._total(labels))

    def precision(self, kinds: Iterable[SensitiveKind]) -> Rate:
        kinds = tuple(kinds)
        of = sum(map(self.found.__getitem__, kinds))
        return Rate(count=of - sum(map(self.wrong.__getitem__, kinds)), of=of)

    def _total(self, labels: Iterable[str]) -> int:
        return sum(map(self.gold.__getitem__, labels))


def main(_engines: Engines | None) -> None:
    marked, turns = rows("pii.jsonl"), rows("injection.jsonl")
    finder = build_sensitive_data_finder()
    milliseconds = _milliseconds(finder)
    if marked is not None:
        tallies = _tallies(finder, marked)
        _print_kinds(tallies)
        _print_unseen(tallies)
    if turns is not None:
        _print_harmless(finder, turns)
    _print_cost(milliseconds)


# The counting


def _tallies(finder: SensitiveDataFinder, marked: Sequence[dict[str, Any]]) -> dict[str, Tally]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    for row in marked:
        _count(tallies[row["source"]], row, finder.find(row["text"]))
    return tallies


def _count(tally: Tally, row: dict[str, Any], found: Sequence[SensitiveSpan]) -> None:
    gold = [placed for span in row["spans"] if (placed := _placed(row["text"], span))]
    tally.nowhere += len(row["spans"]) - len(gold)
    for start, end, label in gold:
        tally.gold[label] += 1
        tally.hit[label] += _is_hit(row["text"], start, end, label, found)
    for span in found:
        tally.found[span.kind] += 1
        touched = {label for start, end, label in gold if start < span.end and span.start < end}
        tally.wrong[span.kind] += not touched
        is_right = any(span.kind in MAPPED.get(label, ()) for label in touched)
        tally.elsewhere[span.kind] += bool(touched) and not is_right


def _placed(text: str, span: dict[str, Any]) -> tuple[int, int, str] | None:
    """Where a gold span stands; some name a value and no place, with asterisks about it."""
    label = str(span["type"])
    if span["start"] >= 0:
        return _without_label(text, span["start"], span["end"], label)
    pieces = [piece.strip() for piece in str(span["value"]).split("*") if piece.strip()]
    value = pieces[-1] if pieces else ""
    at = text.find(value) if value else -1
    return _without_label(text, at, at + len(value), label) if at >= 0 else None


def _without_label(text: str, start: int, end: int, label: str) -> tuple[int, int, str]:
    """A gold span of an identifier without the words before it, which are in no way sensitive."""
    words = re.match(r"(?:[A-Za-z]+[:\s]\s*)+(?=\S*\d\S*$)", text[start:end])
    is_identifier = label in SEEN and label != "PASSWORD"
    return (start + words.end() if words and is_identifier else start), end, label


def _is_hit(text: str, start: int, end: int, label: str, found: Sequence[SensitiveSpan]) -> bool:
    wanted = {at for at in range(start, end) if text[at].isalnum()}
    covered = {
        at for span in found if span.kind in MAPPED.get(label, ()) for at in range(*_ends(span))
    }
    return bool(wanted) and len(wanted & covered) > COVERED_MIN * len(wanted)


def _ends(span: SensitiveSpan) -> tuple[int, int]:
    return span.start, span.end


# The tables


def _print_kinds(tallies: dict[str, Tally]) -> None:
    print("## personal data and secrets: what is found, by source and kind\n")
    print("in brackets Wilson's 95 % interval; elsewhere: touches only gold spans of other kinds\n")
    print("| source | kind | recall | precision | found | wrong | elsewhere | enough |")
    print("|---|---|--:|--:|--:|--:|--:|---|")
    for source, tally in sorted(tallies.items()):
        _print_line(source, "**all seen kinds**", tally, SEEN, judged=True)
        for kind in SensitiveKind:
            labels = [label for label, kinds in MAPPED.items() if kinds[0] is kind]
            if kind is K.IBAN:
                continue  # in one line with bank accounts
            _print_line(source, kind.value, tally, {each: MAPPED[each] for each in labels})
    print(flush=True)


def _print_line(
    source: str,
    name: str,
    tally: Tally,
    mapping: dict[str, tuple[SensitiveKind, ...]],
    *,
    judged: bool = False,
) -> None:
    kinds = {kind for found in mapping.values() for kind in found}
    recall, precision = tally.recall(mapping), tally.precision(kinds)
    if not recall.of and not precision.of:
        return
    is_enough = (recall.share or 0) >= RECALL_MIN and (precision.share or 0) >= PRECISION_MIN
    wrong, elsewhere = (
        sum(each[kind] for kind in kinds) for each in (tally.wrong, tally.elsewhere)
    )
    verdict = ("yes" if is_enough else "**no**") if judged else ""
    print(
        f"| {source} | {name} | {_shown(recall)} | {_shown(precision)} | {precision.of} "
        f"| {wrong} | {elsewhere} | {verdict} |"
    )


def _shown(rate: Rate) -> str:
    low, high = rate.interval
    return f"{rate.count}/{rate.of}, {rate.share:.1%} ({low:.1%} to {high:.1%})" if rate.of else "–"


def _print_unseen(tallies: dict[str, Tally]) -> None:
    print("### what patterns cannot see, and nothing here looks for\n")
    print("| source | gold spans left alone | gold spans without a place |")
    print("|---|---|--:|")
    for source, tally in sorted(tallies.items()):
        unseen = ", ".join(f"{label} {count}" for label, count in _unseen(tally))
        print(f"| {source} | {unseen} | {tally.nowhere} |")
    print(flush=True)


def _unseen(tally: Tally) -> Iterator[tuple[str, int]]:
    return ((label, n) for label, n in tally.gold.most_common() if label not in MAPPED)


def _print_harmless(finder: SensitiveDataFinder, turns: Iterable[dict[str, Any]]) -> None:
    print("### harmless texts\n")
    print("| kind | texts | with a secret found | with anything found | of which kinds |")
    print("|---|--:|--:|--:|---|")
    for kind in ("benign_user_turn", "benign_email"):
        found = [{span.kind for span in finder.find(t["text"])} for t in turns if t["kind"] == kind]
        secrets = sum(K.SECRET in kinds for kinds in found)
        each = Counter(one.value for kinds in found for one in kinds)
        of_which = ", ".join(f"{name} {count}" for name, count in each.most_common()) or "–"
        print(f"| {kind} | {len(found)} | {secrets} | {sum(map(bool, found))} | {of_which} |")
    print(flush=True)


def _milliseconds(finder: SensitiveDataFinder) -> list[float]:
    taken = []
    for _ in range(300):
        started = time.perf_counter()
        finder.find(SAMPLE)
        taken.append((time.perf_counter() - started) * 1000)
    return taken[50:]


def _print_cost(milliseconds: Sequence[float]) -> None:
    middle = median(milliseconds)
    verdict = "met" if middle < MILLISECONDS_MAX else "**not met**"
    print(
        f"`find` on a note of {len(SAMPLE)} characters, warm: {middle:.2f} ms in the median; "
        f"asked for: below {MILLISECONDS_MAX} ms, {verdict}\n"
    )
