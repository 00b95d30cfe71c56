"""What is still reachable after it was replaced, ended or erased: ForgetEval's adversarial cases.

FORGET_EVAL=cases.json make bench ARGS=forget-eval

The data set (MIT) is not shipped. The file that ``FORGET_EVAL`` names has cases as published with
ForgetEval-Adv, a JSON list or an object with ``admitted_cases``. Scored by its rule, with a probe
for each forbidden text: the first five facts that are recalled for the question say all that they
must, and those for the question and for each probe say nothing forbidden.

Each case is a contact, its facts are notes of the live door, without slots or a judge. An operation
names what it is about in words; no model reads them, so it is done to the first fact that is
recalled for them: that one is replaced, unless it says the new words itself, or revoked, or erased.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.consolidation import said_yes
from benchmarks.engines import Engines
from benchmarks.error_rate import with_interval
from benchmarks.rates import Rate
from reconciler import Memory
from reconciler.bound_memory import ContactMemory
from reconciler.domain.records.kinds import Action
from reconciler.settings import load_settings

AGENT, OPERATOR, REASON = "benchmark", "operator", "The benchmark asks for it."
RECALLED = 5


def main(engines: Engines) -> None:
    """Print how many cases pass, by category, and what each failed one says or does not say."""
    path = os.environ.get("FORGET_EVAL")
    if not path:
        print("left out: FORGET_EVAL names no file of cases (see benchmarks/README.md)\n")
        return
    told = json.loads(Path(path).read_text(encoding="utf-8"))
    cases = told["admitted_cases"] if isinstance(told, dict) else told
    if not cases:
        sys.exit(f"forget-eval: {path} holds no cases")
    failed = {}
    with Memory.open(load_settings(**engines.fresh("embedded"))) as memory:
        for case in cases:
            if why := failure(memory.contact(AGENT, case["id"]), case):
                failed[case["id"]] = why
    print(f"## ForgetEval-Adv, {len(cases)} cases\n\n| category | passed |\n|---|--:|")
    counts = Counter(case["category"] for case in cases)
    passed = Counter(case["category"] for case in cases if case["id"] not in failed)
    for category, count in counts.items():
        print(f"| {category} | {passed[category]} of {count} |")
    print(f"| all | {with_interval(Rate(count=passed.total(), of=len(cases)))} |\n")
    for case_id, why in failed.items():
        print(f"- {case_id}: {why}")
    print(flush=True)


def failure(contact: ContactMemory, case: Mapping[str, Any]) -> str | None:
    """Why a case fails once its facts are told and changed; None if it passes."""
    for text in case["setup_facts"]:
        _note(contact, text)
    for operation, about, *said in case["mutations"]:
        _change(contact, operation, about, *said)
    answer = _recalled(contact, case["final_query"])
    if missing := [text for text in case["must_contain"] if text.casefold() not in answer]:
        return f"does not say {missing[0]!r}"
    for probe in case["must_not_contain"]:
        answer += _recalled(contact, probe)
    left = [text for text in case["must_not_contain"] if text.casefold() in answer]
    return f"still says {left[0]!r}" if left else None


def _change(contact: ContactMemory, operation: str, about: str, text: str = "") -> None:
    found = (hit.fact for hit in contact.recall(about, limit=RECALLED))
    fact_id = next((fact.fact_id for fact in found if fact.text != text), None)
    if operation == "supersede":
        _note(contact, text, replaces=[fact_id] if fact_id else [])
    elif fact_id and operation == "release":
        contact.revoke(fact_id, by=OPERATOR, reason=REASON)
    elif fact_id:
        contact.forget(fact_id=fact_id, by=OPERATOR, reason=REASON)


def _note(contact: ContactMemory, text: str, **related: Any) -> None:
    made = contact.note(text, **related)
    if made.action is Action.HOLD:
        said_yes(contact, made)


def _recalled(contact: ContactMemory, query: str) -> str:
    found = contact.recall(query, limit=RECALLED)
    return "\n".join(("", *(hit.fact.text for hit in found[:RECALLED]))).casefold()
