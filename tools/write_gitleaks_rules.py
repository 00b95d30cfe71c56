"""Writes ``config/secret_rules/gitleaks.toml`` from the rules that gitleaks ships.

    go mod download -json github.com/zricethezav/gitleaks/v8@v8.30.1
    python tools/write_gitleaks_rules.py FOLDER VERSION

FOLDER is the module's, with its licence and ``config/gitleaks.toml``. The expressions are kept as
they are but for two things: gitleaks reads code, where a token ends at a quotation mark, and a note
may end it with a full stop; and a name may be parted from its value by "is" or a space alone.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "config" / "secret_rules" / "gitleaks.toml"
NO_SECRET = re.compile(r"client-id|access-id|plaid-client|pub-key|public-key|user-api-id")
LEFT_OUT = {
    "generic-api-key": "names of secrets in general are read by reconciler.reading.named_secrets",
    "airtable-api-key": "17 letters or digits after a vendor's name are a name as often",
    "confluent-access-token": "16 letters or digits after a vendor's name are a name as often",
    "dropbox-api-token": "15 letters or digits after a vendor's name are a name as often",
    "linkedin-client-secret": "16 letters or digits after a vendor's name are a name as often",
    "sourcegraph-access-token": "40 hexadecimal digits are a commit as often",
    "private-key": "a key that is cut off has no end; reading.named_secrets.shapes finds it",
}
END = r"""(?:[\x60'"\s;]|\\[nr]|$)"""
END_IN_A_NOTE = r"(?:[^\w/+=-]|$)"
SIGN = r"(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)"
SIGN_IN_A_NOTE = r"(?:=|>|:{1,3}=|\|\||:|=>|\?=|,|[ ]is|[ ])"


def main(folder: str, version: str) -> None:
    """Write the file."""
    licence = Path(folder, "LICENSE").read_text(encoding="utf-8")
    rules = tomllib.loads(Path(folder, "config", "gitleaks.toml").read_text("utf-8"))["rules"]
    kept = [rule for rule in rules if is_kept(rule)]
    head = [
        f"The rules of gitleaks {version} (github.com/gitleaks/gitleaks), config/gitleaks.toml.",
        "Written by tools/write_gitleaks_rules.py, which says what was left out and changed.",
        "Expressions are in the syntax of RE2. entropy is what the secret must have, in bits a",
        "character; keywords are literals, in small letters, of which a text holds one.",
        "",
        *licence.splitlines(),
    ]
    lines = [f"# {line}".rstrip() for line in head]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("\n".join([*lines, *map(written, kept)]) + "\n", encoding="utf-8")


def is_kept(rule: dict[str, object]) -> bool:
    """Whether a rule reads words, and what it finds is a secret."""
    name = str(rule["id"])
    return "path" not in rule and name not in LEFT_OUT and not NO_SECRET.search(name)


def written(rule: dict[str, object]) -> str:
    """A rule as a table."""
    pattern = str(rule["regex"]).replace(END, END_IN_A_NOTE).replace(SIGN, SIGN_IN_A_NOTE)
    allowed = [
        each
        for allow in rule.get("allowlists", ())  # type: ignore[attr-defined]
        if allow.get("regexTarget", "secret") == "secret"
        for each in allow.get("regexes", ())
    ]
    lines = ["", "[[rules]]", f'id = "{rule["id"]}"', f"pattern = '''{pattern}'''"]
    lines.append(f"keywords = {list(rule['keywords'])}".replace("'", '"'))  # type: ignore[call-overload]
    if entropy := rule.get("entropy"):
        lines.append(f"entropy = {entropy}")
    if allowed:
        lines += ["allowed = [", *(f"  '''{each}'''," for each in allowed), "]"]
    return "\n".join(lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
