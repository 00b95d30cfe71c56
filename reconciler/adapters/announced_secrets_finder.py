"""The finder of secrets that a machine's notation announces, and of those with a usual shape.

Both are ``reconciler.named_secrets``'s, which errors are searched with too. Sentences about secrets
are ``told_secrets_finder``'s, and vendors' tokens ``gitleaks_finder``'s.
"""

from __future__ import annotations

from reconciler.named_secrets import find_named_secrets
from reconciler.named_secrets.shapes import find_tokens
from reconciler.sensitive_data import SensitiveSpan, merge_spans

__all__ = ["AnnouncedSecretsFinder"]

_NEEDED_BY_SHAPES = (
    *("xox", "bearer", "://", "-----begin", "_authtoken", "eyj", "aiza", "sk-", "sk_", "rk_"),
    *("whsec_", "gho", "ghp", "ghs", "ghu", "ghr", "github_pat_", "hf-", "hf_", "npm-", "npm_"),
    *("glpat", "glptt", "dop_v1", "shpat", "lin_api"),
)
"""Rare parts of the shapes, in small letters: each shape holds one of these."""


class AnnouncedSecretsFinder:
    """Finds passwords, keys, tokens and PINs; every span of it is a SECRET."""

    def find(self, text: str) -> list[SensitiveSpan]:
        """The secrets of a text, first to last; those that overlap as one."""
        spans = find_named_secrets(text)
        if any(map(text.casefold().__contains__, _NEEDED_BY_SHAPES)):
            spans += find_tokens(text)
        return merge_spans(spans)
