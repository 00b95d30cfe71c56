"""The extractor that asks a model, of any vendor. Its prompt: ``config/prompts/extractor.md``.

Here: the data sent about a window, when a window is asked about again, and the meaning of an
answer. ``reconciler.adapters.structured_calls`` makes, bounds and translates the calls. Whether an
episode holds the cited words, and whether anything is remembered, is decided elsewhere.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from reconciler.adapters.answer_reading import LaxBool, LaxInt, OneOrMany, Share, word_of
from reconciler.adapters.structured_calls import (
    Connection,
    Failures,
    Prompt,
    Question,
    StructuredCalls,
    Vendor,
    day_of,
    filed,
    read_prompt,
    summed,
)
from reconciler.domain.records.candidates import EVIDENCE_LENGTH_MAX
from reconciler.domain.records.decisions import Usage
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, check_text
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction, Window
from reconciler.domain.values.attributes import NAME_LENGTH_MAX, VALUE_LENGTH_MAX
from reconciler.errors import (
    ExtractionAnswerError,
    ExtractionRefusedError,
    ExtractionUnavailableError,
    InvalidNoteError,
)
from reconciler.frozen import Json, present
from reconciler.reading.kinds import Category, Speech
from reconciler.resources import resource_path

_LOG = logging.getLogger(__name__)

ANSWER_CANDIDATES_MAX = 10
"""Candidates in one answer. A full answer may not hold all: the model is asked about the window
again."""

ANSWER_TOKENS_MAX = 8192
"""Room for ten candidates with long citations; a longer answer is not used."""

CALLS_MAX = 8
"""The most calls about one window; eighty candidates would fill sixteen turns."""

SUMMARY_LENGTH_MAX = 1000
"""Characters of a summary that are kept; the model is asked for two sentences."""

TOPIC_LENGTH_MAX = NAME_LENGTH_MAX
"""Characters in a topic; a longer text is a sentence, not a broad field."""

_FAILURES = Failures(
    unavailable=ExtractionUnavailableError,
    refused=ExtractionRefusedError,
    answer=ExtractionAnswerError,
)

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""Not the names of Python's calendar, because they change with the locale."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _storable(name: str, length_max: int) -> AfterValidator:
    """A text that says something and can be stored."""

    def _check(text: str) -> str:
        try:
            check_text(name, text, length_max)
        except InvalidNoteError as error:
            raise ValueError(str(error)) from error
        return text

    return AfterValidator(_check)


def _part(length_max: int) -> AfterValidator:
    """A name or a value on one line; None for null and for texts that mean null."""

    def _check(given: str | None) -> str | None:
        text = " ".join((given or "").split())
        if not any(unicodedata.category(character)[0] in "LNS" for character in text):
            return None
        if _CONTROL.search(text):
            raise ValueError("holds control characters")
        if len(text) > length_max:
            raise ValueError(f"has {len(text)} characters, at most {length_max} are allowed")
        return text

    return AfterValidator(_check)


def _day(given: object) -> object:
    """A day, also read from a date with a time; None if no day can be read."""
    try:
        return date.fromisoformat(str(given).strip()[:10])
    except ValueError:
        return None


class _Cited(BaseModel):
    """Some words of one episode. They are kept as they came: a space counts in a comparison."""

    model_config = ConfigDict(extra="forbid")

    episode: Annotated[int, LaxInt]
    span: Annotated[str, _storable("a span", EVIDENCE_LENGTH_MAX)]


class _Candidate(BaseModel):
    """The schema of one thing worth remembering; what may be missing is null, never left out."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, _storable("text", TEXT_LENGTH_MAX)]
    category: Annotated[
        Literal[Category.PREFERENCE, Category.FACT, Category.DECISION, Category.PROCEDURE],
        word_of(Category),
    ]
    speech: Annotated[Speech, word_of(Speech)]
    importance: Share
    confidence: Share
    topic: Annotated[str | None, _part(TOPIC_LENGTH_MAX)]
    subject: Annotated[str | None, _part(NAME_LENGTH_MAX)]
    attribute: Annotated[str | None, _part(NAME_LENGTH_MAX)]
    value: Annotated[str | None, _part(VALUE_LENGTH_MAX)]
    single_valued: Annotated[bool | None, LaxBool]
    valid_from: Annotated[date | None, BeforeValidator(_day)]
    valid_to: Annotated[date | None, BeforeValidator(_day)]
    ended: Annotated[bool, LaxBool]
    temporary: Annotated[bool, LaxBool]
    replaces: Annotated[tuple[Annotated[int, LaxInt], ...], OneOrMany]
    repeats: Annotated[int | None, LaxInt]
    ends: Annotated[tuple[Annotated[int, LaxInt], ...], OneOrMany]
    citations: list[_Cited] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _with_usual(cls, given: Any) -> Any:
        """Fill in the days and relations that a candidate may leave out."""
        times = {"valid_from": None, "valid_to": None, "ended": False, "temporary": False}
        unrelated: Json = {"replaces": [], "repeats": None, "ends": []}
        return {**times, **unrelated, **given} if isinstance(given, dict) else given

    def extracted(self) -> Extracted:
        """The candidate as the domain's record.

        Its confidence is limited unless it is meant literally.
        """
        told = self.model_dump(exclude={"text", "citations", "value", "ended", "temporary"})
        return Extracted(
            text=self.text.strip(),
            citations=tuple(Citation(**cited.model_dump()) for cited in self.citations),
            # A value without an attribute answers no question.
            value=self.value if self.attribute else None,
            is_ended=self.ended,
            is_temporary=self.temporary,
            **told,
        )


class _Answer(BaseModel):
    """The answer's schema. Reasoning comes first: a verdict before it is a guess.

    Not every API enforces a schema, and none the bounds on numbers, lengths or lists; they are
    checked here.
    """

    model_config = ConfigDict(extra="forbid")

    reasoning: str
    summary: str
    candidates: list[_Candidate] = Field(max_length=ANSWER_CANDIDATES_MAX)


class ModelExtractor(StructuredCalls[_Answer]):
    """Reads a window by a structured message to a model, from any thread.

    If an answer is full, the window is asked about again, with the candidates so far, until an
    answer is not full or gives nothing new.

    Nothing is opened before the first window, which imports the SDK: 1 to 2 seconds that its
    time-out does not count.

    Args:
        vendor: defines the protocol that is spoken.
        connection: where calls go; its time-out is for one call, retries included.

    Raises:
        ConfigurationError: the prompt has no version.
    """

    reads_known = True

    def __init__(self, vendor: Vendor, connection: Connection) -> None:
        asked = Question(extractor_prompt(), _Answer, ANSWER_TOKENS_MAX, _FAILURES)
        super().__init__(vendor, connection, asked)

    def extract(self, window: Window) -> Extraction:
        """Return the facts of a window that are worth remembering; see the port for the promises.

        Raises:
            ExtractionUnavailableError: no answer in time, or rejected, with the wait that the
                server asked for.
            ExtractionRefusedError: the model declined.
            ExtractionAnswerError: the answer was cut off or is not what was asked for.
        """
        candidates: list[Extracted] = []
        summary = ""
        costs: list[Usage | None] = []
        for _ in range(CALLS_MAX):
            given = list(dict.fromkeys(candidate.text for candidate in candidates))
            answer, usage = self.ask(_data(window, given))
            costs.append(usage)
            # On one line, and bounded: a bad summary spoils no candidate.
            on_one_line = " ".join(_CONTROL.sub(" ", answer.summary).split())
            summary = summary or on_one_line[:SUMMARY_LENGTH_MAX]
            read = [candidate.extracted() for candidate in answer.candidates]
            new = [candidate for candidate in read if candidate.text not in given]
            candidates += new
            if len(read) < ANSWER_CANDIDATES_MAX or not new:
                break
        else:
            _LOG.warning("a window was asked about %d times and may hold more", CALLS_MAX)
        return Extraction(candidates=tuple(candidates), summary=summary, usage=summed(costs))


ANSWER_SHAPE = _Answer
"""The schema of a model's answer."""


def extractor_prompt() -> Prompt:
    """Extractor's prompt, the same for every protocol.

    Raises:
        ConfigurationError: the prompt has no version.
    """
    return read_prompt(resource_path("config") / "prompts" / "extractor.md")


def _data(window: Window, given: Sequence[str]) -> Json:
    """Write the window as the model sees it: numbered facts and episodes, without ids or scope.

    Args:
        window: the turns to read.
        given: the candidates of earlier answers about this window.
    """
    episodes = [
        {
            "number": number,
            "role": str(episode.role),
            "said_at": _moment(episode.said_at),
            "is_new": episode.episode_id in window.new_ids,
            "text": episode.text,
        }
        for number, episode in enumerate(window.episodes, start=1)
    ]
    known = [_known(number, fact) for number, fact in enumerate(window.known, start=1)]
    data = {"known": known, "episodes": episodes, "given": list(given)}
    return {name: shown for name, shown in data.items() if shown}


def _known(number: int, fact: Fact) -> Json:
    """A fact as the model sees it; a value that is personal data is not repeated."""
    last = fact.valid_to and fact.valid_to - timedelta(days=1)
    shown = {
        "number": number,
        "text": fact.text,
        "true_since": day_of(fact.valid_from),
        "true_until": last and day_of(last),
        **filed(fact.slot),
    }
    return present(shown)


def _moment(time: datetime) -> str:
    """Write weekday, date and time, so that "next Friday" can become a date."""
    in_utc = time.astimezone(UTC)
    return f"{_WEEKDAYS[in_utc.weekday()]} {in_utc:%Y-%m-%d %H:%M} UTC"
