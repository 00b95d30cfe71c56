"""A browser without scripts, for tests of the page: it reads pages, and sends their forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import TracebackType
from typing import Any

import httpx2

__all__ = ["Browser", "Form", "Page"]

_VOID = {"br", "hr", "img", "input", "link", "meta"}


@dataclass
class Form:
    """A form of a page, with what a browser sends of it if nothing is filled in."""

    action: str
    fields: list[tuple[str, str]] = field(default_factory=list)

    def holds(self, **wanted: str) -> bool:
        return set(wanted.items()) <= {*self.fields}


class Page(HTMLParser):
    """The words and the forms of a page, which has to be well formed."""

    def __init__(self, answer: httpx2.Response) -> None:
        super().__init__()
        self.answer, self.status = answer, answer.status_code
        self.forms: list[Form] = []
        self.links: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._words: list[str] = []
        self._open: list[str] = []
        self._in_form = False
        self._select: str | None = None
        self._area: str | None = None
        self.feed(answer.text)
        self.close()
        assert self._open == [], self._open

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._words).split())

    def form(self, action: str, **wanted: str) -> Form:
        found = [form for form in self.forms if form.action == action and form.holds(**wanted)]
        assert found, f"{action} {wanted} is not in {self.forms}"
        return found[0]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert len(given) == len(attrs), attrs
        self.elements.append((tag, given))
        if tag not in _VOID:
            self._open.append(tag)
        name = given.get("name") or ""
        if tag == "form":
            self.forms.append(Form(given.get("action") or ""))
            self._in_form = True
        elif tag == "a":
            self.links.append(given.get("href") or "")
        elif tag == "input" and given.get("type") not in ("radio", "checkbox"):
            self._add(name, given.get("value") or "")
        elif tag == "select":
            self._select = name
        elif tag == "option" and (self._select is not None or "selected" in given):
            self._add(self._select or name, given.get("value") or "")
            self._select = None
        elif tag == "textarea":
            self._area = name
            self._add(name, "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, tag
        if tag == "textarea":
            self._area = None

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self.forms[-1].fields[-1] = (self._area, data)
        elif not self._open or self._open[-1] not in ("script", "style"):
            self._words.append(data)

    def _add(self, name: str, value: str) -> None:
        if name and self.forms:
            self.forms[-1].fields.append((name, value))


class Browser:
    """One browser; its cookies are its own."""

    def __init__(self, url: str) -> None:
        self.client = httpx2.Client(base_url=url, timeout=60, follow_redirects=True)

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.client.close()

    def get(self, path: str, **query: str) -> Page:
        return Page(self.client.get(path, params=query or None))

    def log_in(self, token: str) -> Page:
        return self.send(self.get("/login").form("/login"), token=token)

    def send(self, form: Form, *, headers: dict[str, str] | None = None, **filled: Any) -> Page:
        """Send a form; what is filled in takes the place of what stands in it."""
        fields = [pair for pair in form.fields if pair[0] not in filled]
        fields += [(name, str(value)) for name, value in filled.items() if value is not None]
        body = httpx2.QueryParams(fields)
        taken = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
        return Page(self.client.post(form.action, content=str(body).encode(), headers=taken))
