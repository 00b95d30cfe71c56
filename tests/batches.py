"""The batch routes of the loopback server, in the words of both vendors.

Each request of a batch is answered as the server answers a single one, and kept among its requests;
a connection that the script drops stands for a request that expired. The script says how often a
batch is looked at before it ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email import message_from_bytes
from itertools import count
from typing import Any, NamedTuple

from tests import dialects

__all__ = ["ANTHROPIC", "Answered", "Batches", "NotFoundError"]

ANTHROPIC, OPENAI, FILES = "/v1/messages/batches", "/v1/batches", "/v1/files"


class NotFoundError(Exception):
    """There is nothing at this path."""


class Answered(NamedTuple):
    """What the server says to one request; a status of 0 for nothing."""

    status: int
    body: bytes


@dataclass
class _Batch:
    batch_id: str
    answers: dict[str, Answered]
    looks_left: int

    @property
    def is_ended(self) -> bool:
        return self.looks_left < 0

    def of(self, is_good: bool) -> dict[str, Answered]:
        return {
            name: each for name, each in self.answers.items() if (each.status == 200) is is_good
        }


@dataclass
class Batches:
    """Batches and files that were sent to the server.

    Attributes:
        looks: how often a new batch is looked at before it has ended.
        is_away: whether all that is asked about batches fails.
        rejection: the code with which OpenAI's validation rejects new batches; None for none.
    """

    looks: int = 0
    is_away: bool = False
    rejection: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    _batches: dict[str, _Batch] = field(default_factory=dict)
    _numbers: Any = field(default_factory=lambda: count(1))

    @property
    def batch_ids(self) -> list[str]:
        """Of the batches that were sent, oldest first."""
        return list(self._batches)

    def end(self) -> None:
        """All batches have ended by the next look."""
        for batch in self._batches.values():
            batch.looks_left = 0

    @staticmethod
    def takes(path: str) -> bool:
        """Whether the path is one of batches."""
        return path.partition("?")[0].startswith((ANTHROPIC, OPENAI, FILES))

    def reply(
        self,
        path: str,
        headers: Mapping[str, str],
        sent: bytes,
        answer: Callable[[str, dict[str, Any]], Answered],
    ) -> bytes:
        """What the server sends.

        Args:
            path: of the request.
            headers: of the request, names in lower case.
            sent: the body of a POST; empty for a GET.
            answer: answers one request of a batch, by its path and its body.
        """
        path = path.partition("?")[0]
        if path in {ANTHROPIC, OPENAI} and not sent:
            return _json({"data": [], "has_more": False, "first_id": None, "last_id": None})
        if path == FILES and sent:
            return _json({"id": self._add_file(_uploaded(headers, sent)), "object": "file"})
        if path == ANTHROPIC:
            listed = json.loads(sent)["requests"]
            asked = {each["custom_id"]: ("/v1/messages", each["params"]) for each in listed}
            return self._started(asked, len(listed), answer)
        if path == OPENAI:
            given = json.loads(sent)
            assert (given["endpoint"], given["completion_window"]) == (dialects.CHAT, "24h")
            lines = [json.loads(line) for line in self.files[given["input_file_id"]].splitlines()]
            assert {(each["method"], each["url"]) for each in lines} == {("POST", dialects.CHAT)}
            asked = {each["custom_id"]: (each["url"], each["body"]) for each in lines}
            return self._started(asked, len(lines), answer, is_openai=True)
        return self._found(path, headers)

    def _started(
        self,
        asked: Mapping[str, tuple[str, dict[str, Any]]],
        sent_count: int,
        answer: Callable[[str, dict[str, Any]], Answered],
        *,
        is_openai: bool = False,
    ) -> bytes:
        assert len(asked) == sent_count, "custom_id: must be unique"
        assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in asked)
        prefix = "batch" if is_openai else "msgbatch"
        batch_id = f"{prefix}_{next(self._numbers)}"
        answers = {name: answer(*request) for name, request in asked.items()}
        self._batches[batch_id] = _Batch(batch_id, answers, self.looks)
        return self._state(self._batches[batch_id], is_openai, "")

    def _found(self, path: str, headers: Mapping[str, str]) -> bytes:
        if content := re.fullmatch(f"{FILES}/([^/]+)/content", path):
            return self.files[content[1]]
        found = re.fullmatch(f"(?:{ANTHROPIC}|{OPENAI})/([^/]+)(/results)?", path)
        if found is None or found[1] not in self._batches:
            raise NotFoundError
        batch = self._batches[found[1]]
        if found[2]:
            lines = [_anthropic_line(*each) for each in reversed(batch.answers.items())]
            return b"\n".join(lines) + b"\n"
        batch.looks_left -= 1
        return self._state(batch, path.startswith(OPENAI), f"http://{headers['host']}{path}")

    def _state(self, batch: _Batch, is_openai: bool, url: str) -> bytes:
        total = len(batch.answers)
        if not is_openai:
            counts = dict.fromkeys(("succeeded", "errored", "canceled", "expired"), 0)
            counts["succeeded" if batch.is_ended else "processing"] = total
            return _json(
                {
                    "id": batch.batch_id,
                    "type": "message_batch",
                    "processing_status": "ended" if batch.is_ended else "in_progress",
                    "request_counts": counts,
                    "results_url": f"{url}/results" if batch.is_ended else None,
                }
            )
        files = {"output_file_id": batch.of(True), "error_file_id": batch.of(False)}
        state: dict[str, Any] = {"id": batch.batch_id, "object": "batch", "status": "in_progress"}
        state["request_counts"] = {"total": total, "completed": 0, "failed": 0}
        if self.rejection is not None:
            errors = {"object": "list", "data": [{"code": self.rejection, "message": "No."}]}
            return _json(state | {"status": "failed", "errors": errors})
        if batch.is_ended:
            state["status"] = "completed"
            for name, answers in files.items():
                lines = [_openai_line(*each) for each in answers.items()]
                state[name] = self._add_file(b"\n".join(lines)) if lines else None
        return _json(state)

    def _add_file(self, content: bytes) -> str:
        file_id = f"file-{next(self._numbers)}"
        self.files[file_id] = content
        return file_id


def _anthropic_line(name: str, answered: Answered) -> bytes:
    result: dict[str, Any] = {"type": "expired"}
    if answered.status == 200:
        result = {"type": "succeeded", "message": json.loads(answered.body)}
    elif answered.status:
        result = {"type": "errored", "error": json.loads(answered.body)}
    return _json({"custom_id": name, "result": result})


def _openai_line(name: str, answered: Answered) -> bytes:
    line: dict[str, Any] = {"id": "batch_req", "custom_id": name, "response": None, "error": None}
    if answered.status:
        body = json.loads(answered.body)
        line["response"] = {"status_code": answered.status, "request_id": "r", "body": body}
    else:
        line["error"] = {"code": "batch_expired", "message": "It expired."}
    return _json(line)


def _uploaded(headers: Mapping[str, str], sent: bytes) -> bytes:
    """The file of a form, which is meant for a batch."""
    head = f"Content-Type: {headers['content-type']}\r\n\r\n".encode()
    parts = {
        part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
        for part in message_from_bytes(head + sent).walk()
        if not part.is_multipart()
    }
    assert parts["purpose"] == b"batch"
    content = parts["file"]
    assert isinstance(content, bytes)
    return content


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
