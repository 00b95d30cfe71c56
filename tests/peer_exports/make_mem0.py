"""Write mem0.json with the real mem0: ``Memory.get_all`` of two users, as JSON.

Run with the Python of a virtual environment in which mem0ai is installed; see README.md.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

os.environ |= {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}
os.environ["MEM0_DIR"] = tempfile.mkdtemp()

from mem0 import Memory
from stub_models import DIMENSION, openai_server

# user, day, who it is attributed to, memory
SAID = [
    ("anna", "2025-06-02", "user", "User moved to Mumbai"),
    ("anna", "2025-01-10", "user", "User lives in Pune"),
    ("anna", "2025-01-10", "user", "User is vegetarian"),
    ("anna", "2025-02-03", "user", "User's Wi-Fi password is Sommer-2025-blau"),
    ("anna", "2025-02-04", "user", "User was diagnosed with diabetes"),
    ("anna", "2025-03-01", "user", "Thanks a lot!"),
    ("anna", "2025-03-02", "assistant", "Assistant suggested the hotel Nordlys for the trip"),
    ("ben", "2025-04-05", "user", "User lives in Oslo"),
]


def answer(prompt: str) -> str:
    """What an extracting model would have found in the newest message."""
    last = prompt.rsplit("New Messages", 1)[-1]
    found = [
        {"id": str(index), "text": text, "attributed_to": who}
        for index, (_, _, who, text) in enumerate(SAID)
        if f"<{index}>" in last
    ]
    return json.dumps({"memory": found})


def main() -> None:
    folder = tempfile.mkdtemp()
    with openai_server(answer) as url:
        shared = {"api_key": "none", "openai_base_url": url}
        memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": shared | {"model": "stub"}},
                "embedder": {
                    "provider": "openai",
                    "config": shared | {"model": "stub", "embedding_dims": DIMENSION},
                },
                "vector_store": {
                    "provider": "qdrant",
                    "config": {"path": f"{folder}/qdrant", "embedding_model_dims": DIMENSION},
                },
                "history_db_path": f"{folder}/history.db",
            }
        )
        for index, (user, day, who, text) in enumerate(SAID):
            role = "user" if who == "user" else "assistant"
            memory.add(
                [{"role": role, "content": f"{text} <{index}>"}],
                user_id=user,
                metadata={"created_at": f"{day}T09:00:00+00:00"},
            )
        memory.add(
            "Staying at the Taj until 1 May",
            user_id="anna",
            infer=False,
            metadata={"created_at": "2025-04-20T09:00:00+00:00", "channel": "chat"},
            expiration_date="2025-05-01",
        )
        found = [
            each
            for user in ("anna", "ben")
            for each in memory.get_all(filters={"user_id": user}, top_k=1000, show_expired=True)[
                "results"
            ]
        ]
    text = json.dumps({"results": found}, ensure_ascii=False, indent=1)
    Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")


main()
