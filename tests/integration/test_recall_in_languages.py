"""Recall in a language that the packaged model does not read, from the note to the answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler import ContactMemory, Memory
from reconciler.settings import load_settings

NOTES = [
    "公司的网站部署在腾讯云上海机房。",
    "发票请寄到财务部王女士处。",
    "仓库在港口附近。",
    "她养了两只猫。",
    "年度报告三月发布。",
]


@pytest.fixture(scope="module")
def contact(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContactMemory]:
    with Memory.open(embedded_path=tmp_path_factory.mktemp("chinese") / "memory.lbug") as memory:
        contact = memory.contact("crm", "li")
        for note in NOTES:
            contact.note(note)
        yield contact


@pytest.mark.parametrize(
    ("question", "note"),
    [("腾讯云", NOTES[0]), ("发票寄给谁？", NOTES[1]), ("她的猫叫什么？", NOTES[3])],
)
def test_the_note_that_holds_the_words_comes_first(
    contact: ContactMemory, question: str, note: str
) -> None:
    assert contact.recall(question)[0].fact.text == note


def test_words_alone_find_nothing_else(tmp_path: Path) -> None:
    settings = load_settings(embedded_path=tmp_path / "memory.lbug", embedder={"provider": "none"})
    with Memory.open(settings) as memory:
        contact = memory.contact("crm", "li")
        for note in NOTES:
            contact.note(note)
        assert [hit.fact.text for hit in contact.recall("腾讯云")] == NOTES[:1]
