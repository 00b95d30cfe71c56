"""``python -m exam``: memory systems sit the exam on the loopback.

python -m exam                       all systems that can run here
python -m exam reconciler langgraph  some of them
python -m exam --list                what there is
python -m exam --kinds change,late   some kinds of stories
python -m exam --stories FILE        stories of your own
python -m exam --report FILE         the marks of every ask, as JSON
python -m exam --picture FILE        one picture, which needs matplotlib
python -m exam --wanted FILE         where prompts without a recorded answer go
python -m exam --ends langgraph      which notes it ends, and whether that is right
python -m exam --ends --half aside --first 8
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from datetime import date
from pathlib import Path

from exam.ends import Count, Stream, ends_table, read_streams
from exam.report import draw, table
from exam.sitting import FOLDER, FailedError, Marked, System, follow, sit, systems
from exam.stories import KINDS, Story, StoryError, read_stories


def main() -> None:
    """Sit the exam and print the report."""
    given = _arguments()
    known = systems()
    if given.list:
        print("\n".join(f"{each.key:20} {each.version}" for each in known))
        return
    _check("system", set(given.systems), [each.key for each in known])
    chosen = [each for each in known if not given.systems or each.key in given.systems]
    if given.ends:
        streams = read_streams(FOLDER / "ends.jsonl", given.half, given.first)
        print("\n".join(ends_table(_followed(chosen, streams, given))))
        return
    kinds = {each.strip() for each in given.kinds.split(",") if each.strip()}
    _check("kind", kinds, list(KINDS))
    try:
        stories = read_stories(given.stories, kinds or None)
    except (StoryError, OSError) as error:
        sys.exit(str(error))
    results = _sat(chosen, stories, given)
    print("\n".join(table(chosen, results)))
    print(f"\n{date.today()}, {len(stories)} stories.")
    for each in chosen:
        print(f"- {each.label}: {each.version}")
    if given.picture:
        draw(chosen, results, given.picture)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m exam", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("systems", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--stories", type=Path, default=FOLDER / "stories.jsonl")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--wanted", type=Path, default=Path("exam-wanted.jsonl"))
    parser.add_argument("--ends", action="store_true")
    parser.add_argument("--half", choices=("seen", "aside"), default="")
    parser.add_argument("--first", type=int)
    return parser.parse_args()


def _check(what: str, given: set[str], known: list[str]) -> None:
    if unknown := given - set(known):
        sys.exit(f"No {what} {min(unknown)!r}; known: {', '.join(known)}")


def _sat(
    chosen: list[System], stories: list[Story], given: argparse.Namespace
) -> dict[str, list[Marked]]:
    """The marks of each system that could sit it; the report is written after each."""
    results = {}
    for system in chosen:
        print(f"{system.label}: {len(stories)} stories ...", file=sys.stderr, flush=True)
        try:
            results[system.key] = list(sit(system, stories, given.wanted))
        except FailedError as error:
            print(f"{system.label} cannot sit it: {error}", file=sys.stderr)
        if given.report:
            told = {key: [asdict(each) for each in marked] for key, marked in results.items()}
            given.report.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    return results


def _followed(
    chosen: list[System], streams: list[Stream], given: argparse.Namespace
) -> dict[str, Count]:
    """What each system did in the streams whose prompts are all answered."""
    counts = {}
    for system in chosen:
        print(f"{system.label}: {len(streams)} streams ...", file=sys.stderr, flush=True)
        total = Count()
        try:
            for each in follow(system, streams, given.wanted):
                total.add(each)
        except FailedError as error:
            print(f"{system.label} cannot sit it: {error}", file=sys.stderr)
            continue
        counts[system.label] = total
        if given.report:
            told = {label: asdict(each) for label, each in counts.items()}
            given.report.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    return counts


if __name__ == "__main__":
    main()
