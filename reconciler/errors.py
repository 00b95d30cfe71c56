"""Every error that this package raises on purpose, and nothing else.

    ReconcilerError
    ├── ConfigurationError          the operator's mistake: settings, password, database, model
    │   └── CredentialsRefusedError the server rejected the password; it is rarely tried again
    ├── InvalidRequestError         the caller's mistake; nothing was read or written
    │   ├── InvalidScopeError
    │   ├── InvalidNoteError
    │   ├── InvalidAnswerError
    │   ├── InvalidSessionError
    │   ├── InvalidArchiveError     a backup or an export is foreign, cut off, damaged or newer
    │   ├── ErasedError
    │   ├── IllegalMemoryOperationError
    │   ├── RelationError           what a model says of facts cannot be meant; its note may stand
    │   ├── RevertRefusedError
    │   ├── UnknownContactError
    │   ├── UnknownFactError
    │   ├── UnknownDecisionError
    │   ├── UnknownJobError
    │   └── UnknownTaskError
    ├── EmbeddingError              the model failed, or gave vectors of the wrong shape
    │   └── EmbedderClosedError     this program closed the memory, or its embedder
    ├── ArbiterError                the arbiter gave no usable answer; the rule decides without it
    │   ├── ArbiterUnavailableError
    │   ├── ArbiterRefusedError
    │   └── ArbiterAnswerError
    ├── ExtractionError             the extractor gave no usable answer; the job is retried
    │   ├── ExtractionUnavailableError
    │   ├── ExtractionRefusedError
    │   └── ExtractionAnswerError
    ├── LeaseLostError              another worker has the job by now
    ├── GraphError
    │   ├── GraphUnavailableError   down, restarting or too slow            (retryable)
    │   │   └── GraphClosedError    this program closed the memory
    │   ├── GraphConflictError      another writer was there first          (retryable)
    │   │   └── AbsorbedError       the contact was merged into another meanwhile
    │   ├── GraphLockedError        another process holds the embedded file
    │   ├── GraphStorageError       the disk is full or failing, or the file is damaged
    │   ├── DamagedRecordError      a record cannot be read; the others can
    │   ├── SchemaError             the store is older, newer or of another model
    │   └── QueryError              the engine rejected a query
    └── QueryFileError              a file under cypher/ is malformed, or a call does not match it

An adapter translates its library's errors into these, most specific first, and keeps the original
as ``__cause__``. An error about a caller's input has none, because it would quote the input. Each
entry point turns them into exit codes by one table.
"""

from __future__ import annotations

from reconciler.reading.named_secrets import without_secrets


class ReconcilerError(Exception):
    """The base of all errors of this package; its message says what to do.

    An error may repeat its input, and is printed, logged and stored. So its message never holds a
    secret that can be recognised by its name or shape, or the number of a card or an account.
    """

    retryable = False
    """Whether the same call may succeed when it is repeated."""

    def __init__(self, text: str = "") -> None:
        super().__init__(without_secrets(text))


class ConfigurationError(ReconcilerError):
    """A setting, a password, a database or a model that the operator chose cannot be used."""


class CredentialsRefusedError(ConfigurationError):
    """The server rejected the user name or password; this process waits before it tries again."""


class InvalidRequestError(ReconcilerError):
    """The caller's input cannot be used; nothing was read or written."""


class InvalidScopeError(InvalidRequestError):
    """Tenant, agent or contact is missing, empty, over-long or malformed."""


class InvalidNoteError(InvalidRequestError):
    """A note's text, time, importance or source cannot be used."""


class InvalidAnswerError(InvalidRequestError):
    """Nothing waits for this answer, the question lapsed, or this person may not answer it."""


class InvalidArchiveError(InvalidRequestError):
    """A backup or an export cannot be used: foreign, cut off, damaged, or of a newer version."""


class UnknownContactError(InvalidRequestError):
    """Nothing is known about the contact, or about any contact of the agent."""


class UnknownDecisionError(InvalidRequestError):
    """No decision with that id exists."""


class RelationError(InvalidRequestError):
    """The named facts cannot be related in this way; the note itself may be kept."""


class RevertRefusedError(InvalidRequestError):
    """Later decisions depend on the decision to undo.

    Attributes:
        decision_ids: those later decisions, newest first.
    """

    def __init__(self, text: str = "", decision_ids: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.decision_ids = decision_ids


class UnknownFactError(InvalidRequestError):
    """No fact with that id exists in the scope."""


class InvalidSessionError(InvalidRequestError):
    """A session is empty, too large, or holds a turn that cannot be used; nothing was stored."""


class ErasedError(InvalidRequestError):
    """The target was erased, or is being erased; nothing more can be written about it."""


class IllegalMemoryOperationError(InvalidRequestError):
    """The task's state does not allow this read or write; the message says what it allows."""


class UnknownJobError(InvalidRequestError):
    """No job with that id exists."""


class UnknownTaskError(InvalidRequestError):
    """No task with that id exists in the scope."""


class EmbeddingError(ReconcilerError):
    """The embedder failed, or returned vectors of another shape than it declared."""


class EmbedderClosedError(EmbeddingError):
    """The embedder was closed, as it is when its memory is closed; open the memory again."""


class ArbiterError(ReconcilerError):
    """The arbiter gave no usable answer."""


class ArbiterUnavailableError(ArbiterError):
    """The arbiter could not be reached in time, or rejected the call."""


class ArbiterRefusedError(ArbiterError):
    """The model declined to answer."""


class ArbiterAnswerError(ArbiterError):
    """The answer was cut off, malformed or contradictory, or named no neighbour."""


class ExtractionError(ReconcilerError):
    """The extractor gave no usable answer.

    Attributes:
        retry_after_seconds: how long the server asked to wait before the next call, or None.
    """

    def __init__(self, text: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(text)
        self.retry_after_seconds = retry_after_seconds


class ExtractionUnavailableError(ExtractionError):
    """The extractor could not be reached in time, or rejected the call."""


class ExtractionRefusedError(ExtractionError):
    """The model declined to answer."""


class ExtractionAnswerError(ExtractionError):
    """The answer was cut off, malformed, or not what was asked for."""


class LeaseLostError(ReconcilerError):
    """Another worker now has the job; finished work is kept and not repeated."""


class GraphError(ReconcilerError):
    """The graph engine could not carry out the call."""


class GraphUnavailableError(GraphError):
    """The engine is down, restarting, or did not answer in time."""

    retryable = True


class GraphClosedError(GraphUnavailableError):
    """This program closed the memory, perhaps in the middle of a call; open it again."""

    retryable = False


class GraphConflictError(GraphError):
    """Another writer changed the contact first; nothing was written."""

    retryable = True


class AbsorbedError(GraphConflictError):
    """The contact was merged into another meanwhile; nothing was written. Call again."""

    retryable = False


class GraphLockedError(GraphError):
    """Another process has the embedded file open."""


class GraphStorageError(GraphError):
    """The disk is full or failing, and nothing is written until it is reopened.

    Or a file is damaged.
    """


class DamagedRecordError(GraphError):
    """Records of one kind are damaged and cannot be read; the text names them."""


class SchemaError(GraphError):
    """The store's schema or embedding model is not the one this code works with."""


class QueryError(GraphError):
    """The engine rejected a query or its parameters."""


class QueryFileError(ReconcilerError):
    """A query file is missing or malformed, or a call does not match it."""


__all__ = sorted(name for name, kind in [*globals().items()] if isinstance(kind, type))
