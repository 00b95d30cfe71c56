"""Tokens for access over HTTP. Only their hashes are kept; a token itself is shown once.

A token is 256 random bits, so a fast keyed hash is enough: there is no password to guess that a
slow one such as bcrypt would protect, and each request would pay for it.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Annotated, Literal

from pydantic import AwareDatetime, BeforeValidator, PlainSerializer, TypeAdapter, ValidationError

from reconciler.domain.records.kinds import Clock
from reconciler.errors import ConfigurationError, InvalidRequestError
from reconciler.frozen import Json, frozen
from reconciler.serve.access.grants import AccessProfile, Grant
from reconciler.service.stores.binding_store import BindingStore

_PREFIX = "rcl_"
_SECRET_BYTES = 32
_PRESENTED_LENGTH_MAX = 200
_FILE_BYTES_MAX = 4 * 1024 * 1024
TOKENS_MAX = 1_000
_WRITABLE_BY_OTHERS = 0o022
_SEEN_AGAIN_SECONDS = 20.0
_IS_FOLDER = "it is a folder; name a file in it"
_log = logging.getLogger(__name__)


@frozen
class AccessToken:
    """A stored token: its hash, and its grant.

    Attributes:
        token_id: the id for ``revoke``; it reveals nothing of the token.
        hash: the keyed SHA-256 of the token, in hexadecimal.
        grant: the memory that its holder may reach.
        created_at, expires_at, revoked_at: times (UTC); None for never.
    """

    token_id: str
    hash: str
    grant: Grant
    created_at: AwareDatetime
    expires_at: AwareDatetime | None = None
    revoked_at: AwareDatetime | None = None

    def is_good(self, now: datetime) -> bool:
        """True if the token is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def state(self, now: datetime) -> str:
        """``revoked``, ``expired`` or ``good``."""
        if self.is_good(now):
            return "good"
        return "expired" if self.revoked_at is None else "revoked"

    def to_dict(self, now: datetime) -> Json:
        """Return all fields except the hash, to show."""
        return {
            "id": self.token_id,
            **self.grant.to_dict(),
            "created_at": self.created_at,
            "expires_at": self.expires_at,
            "revoked_at": self.revoked_at,
            "state": self.state(now),
        }


@dataclass(frozen=True)
class _Contents:
    """The contents of the file; times have their zones."""

    key: Annotated[bytes, BeforeValidator(bytes.fromhex), PlainSerializer(bytes.hex)]
    tokens: tuple[AccessToken, ...]
    version: Literal[1] = 1

    @cached_property
    def by_hash(self) -> dict[str, AccessToken]:
        return {token.hash: token for token in self.tokens}

    @cached_property
    def by_id(self) -> dict[str, AccessToken]:
        return {token.token_id: token for token in self.tokens}

    def hash(self, secret: str) -> str:
        return hmac.new(self.key, secret.encode(), hashlib.sha256).hexdigest()


_FORM = TypeAdapter(_Contents)
"""The form of the file, as JSON."""


class TokenList:
    """The tokens that let clients in. Safe between threads and processes.

    If they cannot be read, no client is let in.

    Args:
        place: where they are, for a message.
        clock: the time now, UTC-aware, for tests.
    """

    def __init__(self, place: str, clock: Clock = lambda: datetime.now(UTC)):
        self.place = place
        self._clock = clock
        self._read: _Contents | None = None
        self._lock = Lock()

    def create(self, grant: Grant, expires_at: datetime | None = None) -> tuple[AccessToken, str]:
        """Create a token; the second returned value is its only copy.

        Raises:
            InvalidRequestError: the token would have expired already.
            ConfigurationError: the file cannot be used, or holds too many.
        """
        now = self._clock()
        if expires_at is not None and expires_at <= now:
            raise InvalidRequestError("--expires must be in the future")
        secret = _PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        with self._changing() as held:
            contents = held if held.key else _Contents(secrets.token_bytes(_SECRET_BYTES), ())
            if len(contents.tokens) >= TOKENS_MAX:
                raise ConfigurationError(
                    f"{self.place} holds {TOKENS_MAX} tokens, which is the limit; name another "
                    "with --tokens"
                )
            made = AccessToken(
                token_id=secrets.token_hex(4),
                hash=contents.hash(secret),
                grant=grant,
                created_at=now,
                expires_at=expires_at,
            )
            self._write(contents, (*contents.tokens, made))
        return made, secret

    def revoke(self, token_id: str) -> AccessToken:
        """Revoke a token; the next request with it is rejected. May be repeated.

        Raises:
            InvalidRequestError: there is no token with that id.
            ConfigurationError: the file is missing, or cannot be used.
        """
        if not self._contents().key:
            raise ConfigurationError(
                f"{self.place} holds no token; name the one that the server uses with --tokens, or "
                "make a token with `reconciler token create`"
            )
        with self._changing() as contents:
            revoked = contents.by_id.get(token_id)
            if revoked is None:
                raise InvalidRequestError(
                    f"there is no token {token_id!r}; see `reconciler token list`"
                )
            if revoked.revoked_at is None:
                revoked = replace(revoked, revoked_at=self._clock())
                tokens = contents.by_id | {token_id: revoked}
                self._write(contents, tuple(tokens.values()))
        return revoked

    def all(self) -> Sequence[AccessToken]:
        """Return every token, including revoked and expired ones, in the order of creation.

        Raises:
            ConfigurationError: the file cannot be used.
        """
        return sorted(self._contents().tokens, key=lambda token: (token.created_at, token.token_id))

    def find(self, secret: str) -> AccessToken | None:
        """Return the valid token with this secret; None if there is none.

        Also None if the file cannot be read.

        It takes microseconds. The time reveals nothing: the lookup is by a hash under a key that
        the client does not know.
        """
        if len(secret) > _PRESENTED_LENGTH_MAX:
            return None
        return self._valid(lambda contents: contents.by_hash.get(contents.hash(secret)))

    def find_valid(self, token_id: str) -> AccessToken | None:
        """Return the token with this id; None if it is not valid, or the file cannot be read."""
        return self._valid(lambda contents: contents.by_id.get(token_id))

    def _valid(self, look: Callable[[_Contents], AccessToken | None]) -> AccessToken | None:
        try:
            token = look(self._contents())
        except (ConfigurationError, InvalidRequestError) as error:  # a store's outage is told
            _log.error("no client is admitted: %s", error)
            return None
        return token if token is not None and token.is_good(self._clock()) else None

    def find_named(self, name: str) -> AccessToken | None:
        """Return the newest token of a person with this name; None if it is not valid.

        The name of a profile is no person's: it is what a token is called that was given no name.
        """

        def newest(contents: _Contents) -> AccessToken | None:
            persons = (
                token
                for token in reversed(contents.tokens)
                if token.grant.name == name and token.grant.profile is not AccessProfile.AGENT
            )
            return next(persons, None)

        return None if name in [*AccessProfile] else self._valid(newest)

    def _contents(self) -> _Contents:
        """Return the tokens, read again if they may have changed; none if there is no place."""
        raise NotImplementedError

    def _changing(self) -> AbstractContextManager[_Contents]:
        """Give the contents; no other process changes them until the block ends."""
        raise NotImplementedError

    def _write(self, contents: _Contents, tokens: tuple[AccessToken, ...]) -> None:
        """Write these tokens; a reader sees the whole old or the whole new ones."""
        raise NotImplementedError

    def _parsed(self, document: str | bytes) -> _Contents:
        try:
            return _FORM.validate_json(document)
        except (ValidationError, TypeError) as error:  # the latter if the key is no text
            raise self._unusable(
                "it is not a token file of this version; name another file, or make new tokens"
            ) from error

    def _unusable(self, why: str | None) -> ConfigurationError:
        return ConfigurationError(f"{self.place} cannot be used: {why}")


class TokenFile(TokenList):
    """A file of tokens, which only its owner may write.

    A change by another process takes effect at the next request.

    Args:
        path: the file; created with the first token.
        clock: the time now, UTC-aware, for tests.
    """

    def __init__(self, path: Path, clock: Clock = lambda: datetime.now(UTC)) -> None:
        super().__init__(f"the token file {path}", clock)
        self.path = path
        self._mark: tuple[int, ...] | None = None

    def _contents(self) -> _Contents:
        """Return the tokens of the file, read again if it has changed; none without a file."""
        with self._lock:
            try:
                status = self.path.stat()
            except FileNotFoundError:
                self._mark = None
                return _Contents(b"", ())
            except OSError as error:
                raise self._unusable(error.strerror) from error
            if stat.S_ISDIR(status.st_mode):
                raise self._unusable(_IS_FOLDER)
            mark = (status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode)
            if self._read is None or mark != self._mark:
                if os.name == "posix" and status.st_mode & _WRITABLE_BY_OTHERS:
                    raise self._unusable(
                        "other users may write to it; run chmod 600 on it, and check that all its "
                        "tokens are yours"
                    )
                self._read, self._mark = self._load(), mark
            return self._read

    def _load(self) -> _Contents:
        try:
            with self.path.open("rb") as file:
                document = file.read(_FILE_BYTES_MAX)
        except OSError as error:
            raise self._unusable(error.strerror) from error
        return self._parsed(document)

    @contextmanager
    def _changing(self) -> Iterator[_Contents]:
        """Give the contents; no other process changes them until the block ends."""
        if self.path.is_dir():  # before a lock is made beside it
            raise self._unusable(_IS_FOLDER)
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(f"{self.path}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise self._unusable(error.strerror) from error
        try:
            with suppress(ImportError):
                import fcntl  # not on Windows, where one changes tokens at a time

                fcntl.flock(lock, fcntl.LOCK_EX)
            yield self._contents()
        finally:
            os.close(lock)

    def _write(self, contents: _Contents, tokens: tuple[AccessToken, ...]) -> None:
        """Write the file with these tokens; a reader sees the whole old or the whole new file."""
        from reconciler.ops.store_backups import write_new

        written = _FORM.dump_json(replace(contents, tokens=tokens), indent=1)
        write_new(self.path, written, overwrite=True)


class StoreTokens(TokenList):
    """Tokens in the store itself, where several hosts share it.

    A change takes effect on every host within ``_SEEN_AGAIN_SECONDS``.

    Args:
        store: reads and replaces the document.
    """

    def __init__(self, store: BindingStore) -> None:
        super().__init__("the store's list of tokens")
        self._store = store
        self._document = ""
        self._seen_at = -inf

    def _contents(self) -> _Contents:
        with self._lock:
            if self._read is None or monotonic() - self._seen_at > _SEEN_AGAIN_SECONDS:
                self._document = self._store.tokens()
                self._read = self._parsed(self._document) if self._document else _Contents(b"", ())
                self._seen_at = monotonic()
            return self._read

    @contextmanager
    def _changing(self) -> Iterator[_Contents]:
        self._seen_at = -inf
        yield self._contents()
        self._seen_at = -inf

    def _write(self, contents: _Contents, tokens: tuple[AccessToken, ...]) -> None:
        written = _FORM.dump_json(replace(contents, tokens=tokens)).decode()
        if not self._store.replace_tokens(self._document, written):
            raise self._unusable("another process has just changed it; try again")
