"""``python -m benchmarks.stores [SYSTEM …]``: real stores are made, imported here, and compared.

Each system has an environment of its own and is told ``told.jsonl`` by its own interface. The
recipe in ``docs/importing_others.md`` makes lines of its store, and what they become here is
compared with what was told. ``STORES_PYTHON`` names the Python of the environments: basic-memory
needs 3.12 or newer.
"""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from exam.models import model_server
from reconciler import Memory

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "importing_others.md"
SQLITE = "pysqlite3-binary==0.5.4.post2"
SYSTEMS = {
    "memvara": (["memvara==0.21.0", SQLITE], "memory.db"),
    "Vayl": (["vayl-mcp==0.10.0"], "vayl.db"),
    "mcp-memory-service": (["mcp-memory-service==12.4.0", SQLITE], "memory.db"),
    "basic-memory": (["basic-memory==0.24.1"], ".basic-memory/memory.db"),
}
TODAY = f"{datetime.now(UTC):%Y-%m-%d}"
TAKE_NO_TIMES = ("Vayl", "mcp-memory-service")
"""What they are told is told now; a day can only stand in the words (``say``)."""


class Played:
    """Vayl's language model, which answers as its prompt asks."""

    def __init__(self, facts: Iterable[dict[str, str]]) -> None:
        self._facts = list(facts)

    def answer(self, asked: dict[str, Any]) -> str:
        """The fact that the statement says, with its days in the value."""
        said = asked["messages"][1]["content"].partition("NEW statement:")[2]
        fact = next(each for each in self._facts if each["say"] in said)
        value = fact["say"][fact["say"].index(fact["value"]) :]
        told = {"subject": fact["subject"], "value": value, "kind": "state", "scope": "global"}
        time = "past" if fact.get("to", "9") < TODAY else "current"
        told |= {"time_ref": time, "action": "ADD", "confidence": 0.95}
        return json.dumps({"facts": [told | {"target_id": None}]})


def main() -> None:
    """Print for each system which facts did not come through as they were told."""
    told = [json.loads(each) for each in (HERE / "told.jsonl").read_text("utf-8").splitlines()]
    for system in sys.argv[1:] or SYSTEMS:
        with TemporaryDirectory(prefix="stores-") as folder:
            lines = lines_of(system, Path(folder), told)
            print(f"{system}, {SYSTEMS[system][0][0]}: {len(lines)} lines")
            os.environ["RECONCILER_EMBEDDED_PATH"] = f"{folder}/here.lbug"
            with Memory.open() as memory:
                report = memory.import_notes(lines, agent_id="crm")
                print("\n".join(error.message for error in report.errors), end="")
                facts = [each for each in told if "tell" in each]
                compare(memory, list(map(now, facts)) if system in TAKE_NO_TIMES else facts)


def lines_of(system: str, folder: Path, told: list[dict[str, str]]) -> list[str]:
    """What the page's recipe makes of a store that the system itself has written."""
    requirements, file = SYSTEMS[system]
    facts, steps = {each["tell"]: each for each in told if "tell" in each}, []
    for each in told:
        do = next(do for do in ("tell", "again", "end", "delete") if do in each)
        old = each.get("end") or each.get("replaces", "")
        steps.append({"do": do, "at": each["at"], "fact": facts[each[do]], "old": facts.get(old)})
    (folder / "steps.jsonl").write_text("\n".join(map(json.dumps, steps)))
    python, maker = python_of(requirements), f"{system.lower().replace('-', '_')}_store.py"
    own = {"HOME": str(folder), "MCP_MEMORY_BASE_DIR": str(folder)}
    own |= {"MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec", "BASIC_MEMORY_HOME": f"{folder}/main"}
    own["BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED"] = "false"
    with model_server(Played(facts.values())) as url:
        own |= {"MCP_EXTERNAL_EMBEDDING_URL": f"{url}/embeddings", "OPENAI_BASE_URL": url}
        run([python, HERE / maker, folder / "steps.jsonl", folder], own)
    block = PAGE.read_text("utf-8").partition(f"## {system}\n")[2].split("```")[1]
    language, _, code = block.partition("\n")
    if language == "sql":
        return [line for (line,) in sqlite3.connect(folder / file).execute(code)]
    return run([python, "-c", code, folder / file], own).splitlines()


def python_of(requirements: list[str]) -> Path:
    """The Python of an environment with these packages, made when it is first needed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "memory-exam"
    python = cache / f"store-{requirements[0]}" / "bin" / "python"
    if not (python.parent / "done").exists():
        base = os.environ.get("STORES_PYTHON", sys.executable)
        run([base, "-m", "venv", "--clear", python.parents[1]], {})
        run([python, "-m", "pip", "install", "--quiet", *requirements], {})
        (python.parent / "done").touch()
    return python


def run(command: list[Any], own: dict[str, str]) -> str:
    """What the command printed."""
    done = subprocess.run(
        command, env=os.environ | own, capture_output=True, text=True, check=False
    )
    return done.stdout if not done.returncode else sys.exit(done.stderr[-2000:])


def now(fact: dict[str, str]) -> dict[str, str]:
    """The fact as if it was told, replaced and ended today."""
    days = {"since": fact.get("from", TODAY), "until": fact.get("to", TODAY)}
    return fact | {name: day for name, day in days.items() if name in fact}


def compare(memory: Memory, told: list[dict[str, str]]) -> None:
    """Print what differs from each told fact in the fact of its words that fits best."""
    kept: dict[tuple[str, str], list[Any]] = {}
    for tenant, agent in memory.agents():
        for contact in {each["contact"] for each in told}:
            chains = memory.contact(agent, contact, tenant=tenant).history()
            scope = agent if tenant == "default" else tenant
            kept[scope, contact] = [fact for chain in chains for fact in chain.facts]
    right = 0
    for fact in told:
        pool = kept.get((fact["scope"], fact["contact"]), [])
        fits = [each for each in pool if each.text.startswith(fact["text"].rstrip("."))]
        found = min(fits, key=lambda each: len(faults_of(fact, each)), default=None)
        if found is not None:
            pool.remove(found)
        faults = faults_of(fact, found)
        right += not faults
        if faults:
            print(f"  {fact['scope']}/{fact['contact']} {fact['text']} {', '.join(faults)}")
    left = [each.text for pool in kept.values() for each in pool]
    print(f"  {right} of {len(told)} as told; besides: {left}")


def faults_of(fact: dict[str, str], found: Any) -> list[str]:
    """What differs from what was told."""
    if found is None or fact["truth"] == "gone":
        return ["lost"] * (fact["truth"] != "gone") if found is None else ["not deleted"]
    since, until = str(found.valid_from)[:10], str(found.valid_to or "open")[:10]
    state, end = "over" if found.state == "superseded" else "live", fact.get("until", "open")
    faults = [f"{state}, not {fact['truth']}"] * (state != fact["truth"])
    faults += [f"since {since}, not {fact['since']}"] * (since != fact["since"])
    faults += [f"until {until}, not {end}"] * (until != end)
    return faults + ["tag lost"] * (fact.get("tag") not in {None, *found.tags})


main()
