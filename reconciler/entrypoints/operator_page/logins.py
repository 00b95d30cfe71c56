"""Logins: who is logged in to the page. Kept only in this process, in bounded memory.

A login refers to a token and holds no grant: the grant is looked up at every request, so that the
login ends when its token is revoked or expires.
"""

from __future__ import annotations

import secrets
from threading import Lock

from cachetools import TTLCache

from reconciler.entrypoints.access.tokens import TOKENS_MAX, AccessToken, TokenFile
from reconciler.frozen import in_order

_SECONDS_MAX = 12 * 60 * 60.0
_PER_TOKEN_MAX = 10
_SECRET_BYTES = 32


@in_order
class OpenLogin:
    """One browser that is logged in.

    Attributes:
        token_id: the token that it was opened with.
        form_key: the key that every form must send, so that no other site can send one.
    """

    token_id: str
    form_key: str


class Logins:
    """The logins, by the secret that a browser keeps for each. Safe between threads.

    A token has at most ten; one more ends its oldest. So their number is bounded by that of the
    tokens in a file.

    Args:
        tokens: says which tokens are valid.
    """

    def __init__(self, tokens: TokenFile) -> None:
        self._tokens = tokens
        self._open: TTLCache[str, OpenLogin] = TTLCache(TOKENS_MAX * _PER_TOKEN_MAX, _SECONDS_MAX)
        self._lock = Lock()

    def open(self, token: AccessToken) -> str:
        """A new login; returns its secret."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        with self._lock:
            own = [key for key, one in self._open.items() if one.token_id == token.token_id]
            for key in own[: 1 - _PER_TOKEN_MAX]:
                del self._open[key]
            self._open[secret] = OpenLogin(token.token_id, secrets.token_urlsafe(_SECRET_BYTES))
        return secret

    def get(self, secret: str) -> OpenLogin | None:
        """The login of this secret; None if there is none, or it is over."""
        with self._lock:
            return self._open.get(secret)

    def find(self, secret: str) -> AccessToken | None:
        """The valid token of the login of this secret; None without one."""
        login = self.get(secret)
        return None if login is None else self._tokens.find_valid(login.token_id)

    def close(self, secret: str) -> None:
        """End a login; its secret opens nothing from now on."""
        with self._lock:
            self._open.pop(secret, None)
