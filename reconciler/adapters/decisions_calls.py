"""Typed choices, by OpenAI's SDK: the two protocols alone, for ``structured_calls``.

OpenAI's ``POST /decisions`` and System One's ``POST /systemone`` ask alike and differ in spelling.
The last part of the base URL says which is spoken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from reconciler.adapters.openai_calls import REQUIREMENT, open_client, sdk_errors
from reconciler.adapters.structured_calls import (
    Client,
    Connection,
    Correction,
    Question,
    Reply,
    SdkErrors,
    check_sdk,
    fenced,
)
from reconciler.domain.records.decisions import Usage

__all__ = ["Choice", "Decisions"]

_SYSTEM_ONE = "systemone"
_NAME = "relation"
"""What the one question is called."""

Options = Mapping[str, str]
"""What may be chosen, each with what it means."""


class Choice(BaseModel):
    """What was chosen, and how probable every option is."""

    model_config = ConfigDict(allow_inf_nan=False)

    type: Literal["choice"]
    choice: str
    probabilities: dict[str, float]

    @model_validator(mode="after")
    def _is_told(self) -> Choice:
        if not 0 <= self.probabilities.get(self.choice, -1) <= 1:
            raise ValueError("the choice has no probability from 0 to 1")
        return self


class Decisions:
    """A model that chooses between options, with a probability for each.

    Args:
        options_of: what may be chosen about the data.

    Raises:
        ConfigurationError: the SDK is not installed.
    """

    speaks = "an answer to a typed choice"
    hint = "a base_url that ends in /systemone is asked in System One's words, others in OpenAI's"

    def __init__(self, options_of: Callable[[Mapping[str, Any]], Options]) -> None:
        check_sdk("openai", REQUIREMENT)
        self._options_of = options_of

    def errors(self) -> SdkErrors:
        """The SDK's errors; the first call imports the SDK."""
        return sdk_errors()

    def open(self, connection: Connection, question: Question[Any]) -> Client:
        """A client; it connects when it is first asked."""
        base_url, _, last = (connection.base_url or "").rstrip("/").rpartition("/")
        if last == _SYSTEM_ONE:
            return _SystemOne(connection, base_url, question, self._options_of)
        return _OpenAIDecisions(connection, connection.base_url, question, self._options_of)


class _Tokens(BaseModel):
    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)


class _Client:
    """What both have in common; there are no words in an answer that a second try could mend."""

    def __init__(
        self,
        connection: Connection,
        base_url: str | None,
        question: Question[Any],
        options_of: Callable[[Mapping[str, Any]], Options],
    ) -> None:
        self._model = connection.model
        self._instructions = question.prompt.text
        self._client = open_client(connection, base_url)
        self._options_of = options_of

    async def reply(self, data: Mapping[str, Any], correction: Correction | None) -> Reply:  # noqa: ARG002
        options = self._options_of(data)
        answer, usage = await self._answer(data, options)
        if answer.get("type") == "refusal":
            return Reply(text="", usage=usage, is_refusal=True)
        choice = Choice.model_validate(answer)
        if choice.choice not in options:
            raise ValueError("the choice is none of the options")
        return Reply(text=choice.model_dump_json(), usage=usage)

    async def close(self) -> None:
        await self._client.close()

    async def _answer(
        self, data: Mapping[str, Any], options: Options
    ) -> tuple[dict[str, Any], Usage | None]:
        raise NotImplementedError


class _ListedReply(BaseModel):
    answers: list[dict[str, Any]] = Field(min_length=1)
    usage: Any = None


class _OpenAIDecisions(_Client):
    async def _answer(
        self, data: Mapping[str, Any], options: Options
    ) -> tuple[dict[str, Any], Usage | None]:
        raw = await self._client.decisions.with_raw_response.create(
            model=self._model,
            input=fenced(data),
            questions=[
                {
                    "type": "choice",
                    "name": _NAME,
                    "instructions": self._instructions,
                    "choices": [
                        {"value": option, "description": text} for option, text in options.items()
                    ],
                }
            ],
        )
        reply = _ListedReply.model_validate_json(raw.text)
        answer = dict(reply.answers[0])
        if isinstance(answer.get("probabilities"), list):
            answer["probabilities"] = _by_option(answer["probabilities"])
        return answer, _usage(reply.usage)


class _NamedReply(BaseModel):
    answers: dict[str, dict[str, Any]]
    usage: Any = None


class _SystemOne(_Client):
    async def _answer(
        self, data: Mapping[str, Any], options: Options
    ) -> tuple[dict[str, Any], Usage | None]:
        question = {
            "type": "choice",
            "instructions": self._instructions,
            "criteria": dict(options),
        }
        body = {"model": self._model, "state": dict(data), "questions": {_NAME: question}}
        sent: object = await self._client.post(f"/{_SYSTEM_ONE}", body=body, cast_to=object)
        reply = _NamedReply.model_validate(sent)
        return reply.answers.get(_NAME, {}), _usage(reply.usage)


class _Probability(BaseModel):
    value: str
    probability: float


def _by_option(listed: list[Any]) -> dict[str, float]:
    each = map(_Probability.model_validate, listed)
    return {one.value: one.probability for one in each}


def _usage(counted: object) -> Usage | None:
    """What the answer cost; a count that makes no sense is none, and spoils no answer."""
    try:
        tokens = _Tokens.model_validate(counted)
    except ValidationError:
        return None
    return Usage(input_tokens=tokens.input_tokens, output_tokens=tokens.output_tokens)
