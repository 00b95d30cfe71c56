"""An agent's tools for the tool runner of the Anthropic SDK, which calls them by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from reconciler.errors import ConfigurationError

try:
    from anthropic.lib.tools import (
        BetaAsyncBuiltinFunctionTool,
        BetaBuiltinFunctionTool,
        BetaFunctionToolResultType,
        ToolError,
    )
except ImportError as error:
    raise ConfigurationError(
        "anthropic_functions needs the anthropic SDK: pip install 'anthropic>=2.12,<3'"
    ) from error

if TYPE_CHECKING:
    from anthropic.types.beta import BetaToolUnionParam

    from reconciler.domain.tools.replies import ToolReply
    from reconciler.domain.tools.tool import Style


AnswerT = TypeVar("AnswerT", covariant=True)


class _Tools(Protocol[AnswerT]):
    def definitions(
        self, style: Style = "anthropic", *, strict: bool = False
    ) -> list[dict[str, Any]]: ...

    def call(self, name: str, arguments: Mapping[str, Any] | str | None) -> AnswerT: ...


def anthropic_functions(
    tools: _Tools[ToolReply], *, strict: bool = False
) -> list[BetaBuiltinFunctionTool]:
    """Tools as ``client.beta.messages.tool_runner(tools=…)`` takes them.

    Args:
        tools: as ``Memory.agent_tools`` gives them.
        strict: as ``AgentTools.definitions`` takes it.
    """
    return [_Function(tools, definition) for definition in tools.definitions(strict=strict)]


def async_anthropic_functions(
    tools: _Tools[Awaitable[ToolReply]], *, strict: bool = False
) -> list[BetaAsyncBuiltinFunctionTool]:
    """Functions for an ``AsyncAnthropic``, from the tools of an ``AsyncMemory``."""
    return [_AsyncFunction(tools, definition) for definition in tools.definitions(strict=strict)]


class _Described:
    def __init__(self, tools: _Tools[Any], definition: Any) -> None:
        self._tools = tools
        self._definition: BetaToolUnionParam = definition

    def to_dict(self) -> BetaToolUnionParam:
        return self._definition


class _Function(_Described, BetaBuiltinFunctionTool):
    def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002  the SDK's name
        arguments: Any = input
        return _sent_back(self._tools.call(self.name, arguments))


class _AsyncFunction(_Described, BetaAsyncBuiltinFunctionTool):
    async def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002  the SDK's name
        arguments: Any = input
        return _sent_back(await self._tools.call(self.name, arguments))


def _sent_back(reply: ToolReply) -> str:
    """Words of the answer; the runner marks those of an error.

    Raises:
        ToolError: the call could not be carried out.
    """
    if reply.is_error:
        raise ToolError(reply.text)
    return reply.text
