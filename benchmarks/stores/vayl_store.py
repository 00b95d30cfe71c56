"""Vayl: ``remember``, ``forget``, ``delete``; an agent is the scope."""

import os
import sys
from pathlib import Path

from steps import FOLDER, STEPS
from vayl import Vayl

own = {"VAYL_DB": f"{FOLDER}/vayl.db", "LLM_PROVIDER": "openai", "OPENAI_API_KEY": "none"}
with Vayl(
    command=str(Path(sys.executable).parent / "vayl-mcp"), env=dict(os.environ) | own
) as vayl:
    for step in STEPS:
        fact = step["fact"]
        scope = {"user_id": fact["contact"], "agent_id": fact["scope"]}
        if step["do"] == "end":
            vayl.forget(f"No longer: {fact['say']}", **scope)
        elif step["do"] == "delete":
            vayl.call("delete", subject=fact["subject"], **scope)
        else:
            tags = {"metadata": {"tags": [fact["tag"]]}} if "tag" in fact else {}
            vayl.remember(fact["say"], **scope, **tags)
