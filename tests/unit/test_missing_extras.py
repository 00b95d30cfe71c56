"""Adapters without their framework installed: the error says what to install, and no more."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from reconciler.adapters import local_embedder
from reconciler.bootstrap.chosen_models import build_arbiter, build_embedder
from reconciler.entrypoints import server_commands
from reconciler.errors import ConfigurationError
from reconciler.settings import load_settings
from tests.tables import every

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def command_for(extra: str) -> str:
    """What installs an extra beside any install."""
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return "pip install " + " ".join(f"'{each}'" for each in extras[extra])


@every(
    ("module", "package", "extra"),
    [
        ("langchain", "langchain_core", "langchain"),
        ("langgraph", "langgraph", "langgraph"),
        ("openai_agents", "agents", "openai-agents"),
        ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
        ("claude_agent_sdk", "claude_agent_sdk", "claude-agent-sdk"),
        ("ray_backfill", "ray", "ray"),
    ],
)
def test_an_adapter_without_its_framework_says_what_to_install(
    module: str, package: str, extra: str
) -> None:
    tried = f"import sys; sys.modules[{package!r}] = None; import reconciler.integrations.{module}"
    done = subprocess.run(
        [sys.executable, "-c", tried], capture_output=True, text=True, check=False
    )
    assert f"ConfigurationError: reconciler.integrations.{module} needs" in done.stderr
    assert command_for(extra) in done.stderr


def test_the_mcp_server_without_its_sdk_says_what_to_install() -> None:
    assert server_commands._EXTRA.endswith(command_for("mcp"))


@pytest.mark.parametrize(
    ("provider", "extra", "package"),
    [
        ("anthropic", "claude", "anthropic"),
        ("openai", "openai", "openai"),
    ],
)
def test_a_judge_without_its_sdk_says_what_to_install(
    provider: str, extra: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    settings = load_settings(arbiter={"provider": provider, "api_key": "sk-test"})
    with pytest.raises(ConfigurationError) as raised:
        build_arbiter(settings)
    assert str(raised.value).endswith(command_for(extra))


def test_an_embedder_without_its_sdk_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    settings = load_settings(embedder={"provider": "openai", "model": "m", "api_key": "sk-test"})
    with pytest.raises(ConfigurationError, match="set embedder") as raised:
        build_embedder(settings)
    assert str(raised.value).endswith(command_for("openai"))


def test_another_model_names_the_extras_own_version() -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "torch", None)
        local_embedder._sentence_transformer.cache_clear()
        with pytest.raises(ConfigurationError) as raised:
            local_embedder._sentence_transformer()
    assert command_for("sentence-transformers") in str(raised.value)
