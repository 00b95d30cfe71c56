"""memvara: ``remember`` with its two clocks, ``forget`` with an end, ``erase``."""

import sqlite3
import sys
from datetime import UTC, datetime

if sqlite3.sqlite_version_info < (3, 42):
    import pysqlite3 as sqlite3  # its text index needs a newer SQLite than some Pythons have

    sys.modules["sqlite3"] = sqlite3

from memvara import Memvara, NullLLM
from steps import FOLDER, STEPS

memory, ids = Memvara(f"{FOLDER}/memory.db", llm=NullLLM()), {}


def day(text: str | None) -> datetime | None:
    return text and datetime.fromisoformat(text).replace(tzinfo=UTC)


for step in STEPS:
    fact, at = step["fact"], day(step["at"])
    who, slot = fact["contact"], fact["slot"]
    scope = {"tenant": fact["scope"], "user": who}
    if step["do"] == "end":
        memory.forget(who, slot, **scope, at=at, close="ended")
    elif step["do"] == "delete":
        memory.erase(ids[fact["tell"]], **scope)
    else:
        given = scope | {"text": fact["text"], "recorded_at": at}
        given |= {"valid_from": day(fact.get("from")) or at, "valid_to": day(fact.get("to"))}
        tags = {"tags": [fact["tag"]]} if "tag" in fact else {}
        written = memory.remember(who, slot, fact["value"], **given, **tags)
        ids[fact["tell"]] = (written.added or written.reinforced)[0].id
memory.close()
