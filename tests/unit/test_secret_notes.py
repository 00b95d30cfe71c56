"""Secrets in single notes: none of them stays, in any of the languages, and harmless notes do."""

from __future__ import annotations

from reconciler.adapters.rules_finder import _compiled, _rules
from reconciler.bootstrap.chosen_models import build_secret_finder
from reconciler.reading.sensitive_data import redact
from tests.secret_notes import HARMLESS, SECRETS
from tests.tables import every


def without_secrets(text: str) -> str:
    return redact(text, build_secret_finder().find(text), lambda kind, _: f"[{kind}]")


NOT_FOUND = {
    "User: carol\nPass: mocha latte": "two plain words, of which the first is taken",
    "AES key 97a8242f516c79280be9d83a4896fcd4": "as long as a request's id or a digest",
}
"""Notes of which some part of the secret stays, and why."""


@every(("text", "secret"), [row for row in SECRETS if row[0] not in NOT_FOUND])
def test_no_word_of_a_secret_is_left(text: str, secret: str) -> None:
    words = [secret, *(word for word in secret.split() if len(word) > 3)]
    assert not [word for word in words if word in without_secrets(text)]


@every("text", HARMLESS)
def test_a_note_that_only_speaks_of_secrets_stays(text: str) -> None:
    assert without_secrets(text) == text


def test_every_rule_of_gitleaks_is_one_that_its_engine_reads() -> None:
    rules, _ = _rules()
    assert len(rules) > 190
    for rule in rules:
        assert [_compiled(pattern) for pattern in (rule.pattern, *rule.allowed)]


def test_every_rule_of_ours_names_its_source_and_needs_a_literal() -> None:
    ours = [rule for rule in _rules()[0] if rule.source]
    assert len(ours) > 150
    assert all(rule.keywords and all(rule.keywords) for rule in ours)


@every("text", ["x" * 40, "the airtable misunderstandings of May"])
def test_a_word_or_a_placeholder_is_no_token(text: str) -> None:
    assert without_secrets(f"datadog key: {text}") == f"datadog key: {text}"
