"""The cleaner: removes personal data and secrets from words before they are kept. Writes nothing.

``reconciler.domain.gate.cleaning`` and the policy say which data is removed; this module joins them
with the finders and the key of this memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconciler.domain.gate.asking import Find
from reconciler.domain.gate.cleaning import Cleaned, TokenOf, clean, clean_texts, ids_of
from reconciler.frozen import frozen
from reconciler.reading.named_secrets import kind_of_name

if TYPE_CHECKING:
    from reconciler.domain.gate.policy import GatePolicy
    from reconciler.domain.records.candidates import Candidate
    from reconciler.domain.records.notes import Scope
    from reconciler.ports.sensitive_data_finder import SensitiveDataFinder
    from reconciler.reading.sensitive_data import SensitiveSpan
    from reconciler.service.writing.submissions import IdCheck


@frozen
class Cleaner:
    """Removes the data that the agent's policy forbids to keep.

    Attributes:
        finder: finds personal data and secrets.
        secret_finder: finds secrets and account numbers alone, in a fraction of the time.
        ids: checks ids.
        token_of: the token in place of a sensitive value.
        gate_policy: the data to remove, by domain; the agent chooses the domain.
    """

    finder: SensitiveDataFinder
    secret_finder: SensitiveDataFinder
    ids: IdCheck
    token_of: TokenOf
    gate_policy: GatePolicy

    def policy_of(self, scope: Scope) -> GatePolicy:
        """Return the policy for the agent of this scope."""
        return self.gate_policy.of_agent(scope.agent_id)

    def clean(self, candidate: Candidate) -> Cleaned:
        """Return a candidate without the forbidden data, and the findings in it."""
        policy = self.policy_of(candidate.note.scope)
        return clean(candidate, self.finder.find, self.token_of, policy)

    def clean_texts(self, scope: Scope, texts: Sequence[str], turns: int = 0) -> list[str]:
        """Return texts without the data that the policy removes, in the same order.

        Args:
            scope: the contact.
            texts: the texts.
            turns: the number of texts, from the first, that are turns of one conversation in their
                order.
        """
        return self._cleaned(self.finder.find, scope, texts, turns)

    def _cleaned(self, find: Find, scope: Scope, texts: Sequence[str], turns: int) -> list[str]:
        return clean_texts(texts, find, self.token_of, self.policy_of(scope), turns)

    def readable_texts(self, scope: Scope, texts: Sequence[str], turns: int = 0) -> list[str]:
        """Return texts with the data that the policy keeps as a value; see ``clean_texts``."""
        policy = self.policy_of(scope)

        def find(text: str) -> Sequence[SensitiveSpan]:
            found = self.finder.find(text)
            return [span for span in found if policy.handling(span.kind) != "slot"]

        return self._cleaned(find, scope, texts, turns)

    def token(self, attribute: str | None, value: str) -> str:
        """Return a token in place of the value of an attribute that asks for personal data."""
        kind = kind_of_name(attribute)
        return value if kind is None else self.token_of(kind, value)

    def without_secrets(self, scope: Scope, texts: Sequence[str], turns: int = 0) -> list[str]:
        """Return texts without secrets and numbers of cards and accounts; see ``clean_texts``.

        Such data may never be stored, not even until a text is read.
        """
        return self._cleaned(self.secret_finder.find, scope, texts, turns)

    def check_ids(self, *records: object, **ids: str) -> None:
        """Check ids and names of persons, which are stored as they are given.

        Args:
            *records: records with ids, at any depth.
            **ids: further ids, by name.

        Raises:
            InvalidRequestError: an id holds a secret, or the number of a card or account.
        """
        self.ids.check((*ids_of(records), *ids.items()))
