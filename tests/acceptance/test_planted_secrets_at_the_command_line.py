"""A secret typed at the command line, in any option or argument: no output and no error repeats it.

What there is to type into is read off the commands themselves.
"""

from __future__ import annotations

import io
import socket
from pathlib import Path

import pytest
from typer.main import get_command

from reconciler.entrypoints.cli import app
from tests.command_line import Run

TYPED = '{"password": "Quw7xKp-Rz"}'
SLOW = {"demo", "calibrate", "doctor", "worker", "drain", "init", "browser"}
"""Commands that load a model or stay; they take only names of files, profiles and scopes."""


def _commands() -> dict[str, list[list[str]]]:
    """For each command its usual words with a secret in the place of each, one after the other."""
    group = get_command(app)
    found = dict(group.commands)  # type: ignore[attr-defined]
    found |= {"policy check": found.pop("policy").commands["check"]}
    return {name: _typed(each.params) for name, each in found.items() if name not in SLOW}


def _typed(params: list) -> list[list[str]]:
    words = [each for each in params if not getattr(each, "is_flag", False)]
    usual = {each.name: _usual(each, "none") for each in words if each.required}
    variants = [
        {**usual, each.name: _usual(each, TYPED)} for each in words if each.name != "as_json"
    ]
    return [[word for given in variant.values() for word in given] for variant in variants]


def _usual(param: object, value: str) -> list[str]:
    is_option = param.param_type_name == "option"  # type: ignore[attr-defined]
    return [param.opts[0], value] if is_option else [value]  # type: ignore[attr-defined]


def _served(_app: object, _address: object, bound: socket.socket, _bounds: object = None) -> None:
    """A server that ends as soon as it listens."""
    bound.close()


COMMANDS = _commands()


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_repeats_a_secret(
    run: Run, command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # a secret may be typed for the name of a file that is made
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))  # what serves it ends at once
    monkeypatch.setattr("reconciler.serve.access.http_door.serve_http", _served)
    for typed in COMMANDS[command]:
        _, out, err = run(*command.split(), *typed)
        assert "Quw7xKp" not in out + err, typed


@pytest.mark.parametrize("typed", [("--api-key=Quw7xKp-Rz",), ('password="Quw7xKp-Rz"',)])
def test_what_is_no_option_or_command_is_not_repeated_either(
    run: Run, typed: tuple[str, ...]
) -> None:
    code, out, err = run(*typed)
    assert (code, "Quw7xKp" in out + err) == (2, False)
