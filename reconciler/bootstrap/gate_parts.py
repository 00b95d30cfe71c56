"""Builds the parts of the gate: its policy, the finders of sensitive data, its dry run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from typing import TYPE_CHECKING

from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.adapters.note_head import leanings
from reconciler.adapters.sensitive_data_finders import CombinedFinder, Find
from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.bootstrap.engines import utc_now
from reconciler.config_files import load_gate_policy, load_head
from reconciler.sensitive_data import SensitiveKind
from reconciler.service.writing.ids import IdCheck

if TYPE_CHECKING:
    from reconciler.domain.gate.policy import GatePolicy
    from reconciler.domain.records.candidates import Candidate
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.sensitive_data_finder import SensitiveDataFinder
    from reconciler.service.writing.note_reader import NoteReader
    from reconciler.service.writing.submissions import Submission
    from reconciler.settings import Settings


@cache
def build_secret_finder(*, of_ids: bool = False) -> SensitiveDataFinder:
    """Finds secrets and account numbers, in texts or in ids, which may be drawn at random.

    Patterns are loaded when a text may hold one. Account numbers are looked for with the secrets,
    before a text is even stored for a person to read: overwritten text stays in the bytes of the
    embedded engine's file.
    """
    return CombinedFinder(lambda: _finds_of_secrets(of_ids))


def _finds_of_secrets(of_ids: bool) -> Sequence[Find]:
    from reconciler.adapters.rules_finder import find_vendors_tokens
    from reconciler.adapters.told_secrets_finder import find_told_secrets
    from reconciler.named_secrets import find_named_secrets
    from reconciler.named_secrets.shapes import find_account_numbers, find_tokens

    told = partial(find_told_secrets, of_ids=of_ids)
    return find_named_secrets, find_tokens, find_vendors_tokens, told, find_account_numbers


@cache
def build_sensitive_data_finder() -> SensitiveDataFinder:
    """Finds personal data and secrets. It is loaded at the first text, once per process."""
    return CombinedFinder(_finds_of_sensitive_data)


def _finds_of_sensitive_data() -> Sequence[Find]:
    from reconciler.adapters.personal_data_finder import find_personal_data
    from reconciler.adapters.phone_finder import find_phones
    from reconciler.adapters.rules_finder import find_named_numbers
    from reconciler.adapters.street_address_finder import find_street_addresses

    personal = (find_personal_data, find_named_numbers, find_phones, find_street_addresses)
    return *_finds_of_secrets(of_ids=False), *personal


def hashed_part(kind: SensitiveKind, value: str) -> str:
    """The hashed part of a value: its normal form, so that two spellings are one token.

    Of an address it is the street.
    """
    if kind is SensitiveKind.STREET_ADDRESS:
        from reconciler.adapters.street_address_finder import street_of

        return street_of(value)
    normalise = _normal_forms().get(kind)
    return normalise(value) if normalise else value


@cache
def _normal_forms() -> Mapping[SensitiveKind, Callable[[str], str]]:
    from reconciler.domain.values import addresses  # which loads the lexicon

    return {
        SensitiveKind.EMAIL: addresses.email,
        SensitiveKind.IBAN: addresses.iban,
        SensitiveKind.PHONE: addresses.phone,
    }


def build_judge(settings: Settings) -> Callable[[Candidate], Submission]:
    """The gate's judgement alone, for a dry run: no store, no judge, no key.

    Raises:
        ConfigurationError: the policy cannot be used.
    """
    # Only the model on this machine is asked.
    is_packaged = settings.embedder.kind == "packaged"
    embedder = build_embedder(settings) if is_packaged else NoopEmbedder()
    return judge_under(build_gate_policy(settings), utc_now, build_note_reader(embedder))


def build_note_reader(embedder: Embedder) -> NoteReader:
    """What reads a note as a whole; by its words alone, if no head knows the embedder's model."""
    from reconciler.service.embedding import embed
    from reconciler.service.writing.note_reader import NoteReader

    head = load_head("notes", embedder.model_id)
    return NoteReader(partial(embed, embedder), partial(leanings, head) if head else None)


def judge_under(
    policy: GatePolicy, clock: Callable[[], datetime], reader: NoteReader
) -> Callable[[Candidate], Submission]:
    """The gate's judgement under a policy, for a dry run."""
    from reconciler.service.writing.cleaning import Cleaner
    from reconciler.service.writing.decision_ids import DecisionIds
    from reconciler.service.writing.write_gate import Judging

    secret_finder = build_secret_finder()
    cleaner = Cleaner(
        finder=build_sensitive_data_finder(),
        secret_finder=secret_finder,
        ids=IdCheck(build_secret_finder(of_ids=True)),
        token_of=lambda kind, _: f"[{kind}]",
        policy=policy,
    )
    judging = Judging(cleaner=cleaner, reader=reader, decision_ids=DecisionIds(b""), clock=clock)
    return judging.judge_whole


def build_gate_policy(settings: Settings) -> GatePolicy:
    """The gate's policy, read from the file that the settings name.

    Raises:
        ConfigurationError: the policy cannot be used.
    """
    return load_gate_policy(settings.gate.policy_file, settings.gate.domain)
