"""The packaged judge: a small cross-encoder that reads a note beside each fact, without a network.

``judge.onnx`` beside this module holds its own layers and its bounds; embeddings and first layers
are the packaged embedder's. ``judge_quick.onnx`` is the same judge in whole numbers, which takes a
third of the time: a fact that it finds clearly untouched is not read again, any other is read
exactly. ``tools/train_judge.py`` trains it, ``docs/packaged_judge.md`` says what it gets right and
wrong. It reads English. It answers only if it is sure, else it says *unsure*; then the rule decides
as if there were no judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, cast

import numpy as np

from reconciler.adapters.cleared_memory import give_back_memory
from reconciler.adapters.model_files import check_files, translated, weights_folder
from reconciler.adapters.onnx_minilm import session_of, tokenizer_of
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour, replaced_by
from reconciler.domain.records.kinds import Action, Relation
from reconciler.domain.records.notes import Note, SlotMatch, compare_slots
from reconciler.errors import ArbiterUnavailableError, ConfigurationError
from reconciler.forks import Maker, leave_alone_in_children
from reconciler.reading.guard import brings_another_value, is_foreign, tells_of_change
from reconciler.reading.question_words import about_the_contact
from reconciler.reading.sensitive_data import without_hashes

FILE = Path(__file__).with_name("judge.onnx")
SHA256 = "305439f917e731da0e49a56eb98be148b10322cd05b7bde3d726a431b5122c40"
"""The sha256 of ``judge.onnx``, so that a damaged file is reported and not misread."""
QUICK = Path(__file__).with_name("judge_quick.onnx")
QUICK_SHA256 = "5efd5a061477ae8de00526d970d50bf9d0168ff194de247f0acbb3a698cb1159"

CLEAR_ENDED_MAX, CLEAR_SAME_MAX = 0.3, 0.6
"""If a reading is below both bounds, the quick reading counts. The judge finds something in 2,862
pairs of held-out writers; two of them, links of two matters, are below both bounds. Of 1,500 other
pairs 88 % are."""

TOKEN_COUNT_MAX = 128
"""The most tokens of a fact and a note together; a longer pair is not read, and the judge is
unsure."""

COSINE_APART_MAX = 0.1
"""How much further than the nearest fact another fact may be, and still be read. In memories of 100
facts, each by a different writer, 1.3 to 2.3 of 5 facts are read, and 97 to 99 % of the facts that
a note ends."""

ENDED, SAME = "PEX", "SR"
"""The relations after which a fact no longer holds, and those in which the note repeats the
fact."""


class PairReading(NamedTuple):
    """How a note relates to one fact: probabilities, 0 to 1.

    Attributes:
        ended: the fact holds no longer.
        same: the note repeats the fact, perhaps with more details.
        both: both hold.
    """

    ended: float
    same: float

    @property
    def both(self) -> float:
        """The probability that both hold."""
        return 1 - self.ended - self.same

    @property
    def is_clear(self) -> bool:
        """True if the quick reading needs no other: nothing has ended or is said again."""
        return self.ended < CLEAR_ENDED_MAX and self.same < CLEAR_SAME_MAX

    def or_as(self, before: PairReading) -> PairReading:
        """Correct the reading of a fact that the note may mean as the fact that it replaced."""
        ended = max(self.ended, before.ended, before.same)
        return PairReading(ended=ended, same=min(self.same, 1 - ended))


_ANSWERED = PairReading(ended=1.0, same=0.0)
"""The note gives another value than the fact that was replaced: "Lives in Bath." after a move."""


class JudgeBounds(NamedTuple):
    """The probability from which an answer is given.

    Chosen on pairs that were not used in training.
    """

    ends: float
    asks: float
    same: float
    both: float


class PackagedArbiter:
    """Judges from any thread; loads its model at the first judgement.

    Args:
        file: the judge; the packaged one, or one that was trained further on your own decisions.
        digest: its sha256; None to take the file as it is.
        reads_all: read each fact that is shown, not only those about as near as the nearest. Use it
            if "both hold" of this judge saves a call of another judge, which would read them all.

    Raises:
        ConfigurationError: no digest is given, and the file cannot be read.
    """

    def __init__(
        self, file: Path = FILE, digest: str | None = SHA256, *, reads_all: bool = False
    ) -> None:
        self._file, self._digest = file, digest or _digest_of(file)
        self._reads_all = reads_all
        self.name = f"packaged-{self._digest[:8]}"
        self._reset()

    def _reset(self) -> None:
        self._maker, self._loading, self._model = Maker(), Lock(), cast("_Loaded | None", None)

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        """Relation of the note to its neighbours; see ``Arbiter.judge``."""
        model = self.load()
        nearest = max((fact.cosine for fact in neighbours), default=0.0)
        near = {
            number: without_hashes(fact.text)
            for number, fact in enumerate(neighbours, start=1)
            if (self._reads_all or fact.cosine >= nearest - COSINE_APART_MAX)
            and not _is_told_apart(note, fact)
        }
        text = without_hashes(note.text)
        is_read = _is_readable(text)
        facts = {number: each for number, each in near.items() if is_read and _is_readable(each)}
        before = [
            (number, earlier, slot)
            for number, now in facts.items()
            for told, slot in replaced_by(neighbours[number - 1])
            for earlier in [without_hashes(told)]
            if _is_readable(earlier) and brings_another_value(text, earlier, now)
        ]
        pairs = [*facts.items(), *((number, earlier) for number, earlier, _ in before)]
        said = text
        if tells_of_change(text):  # the judge was trained on notes
            said = about_the_contact(text).removeprefix("The contact ").removeprefix("and others ")
        read = model.read(said, [each for _, each in pairs])
        reads: dict[int, PairReading] = {}
        for (number, _), each in zip(pairs, read, strict=True):
            if each:
                reads[number] = reads[number].or_as(each) if number in reads else each
        for number, _, slot in before:
            if number in reads and slot and note.slot and note.slot.decides_about(slot):
                reads[number] = _ANSWERED
        # Two values of one slot are a question for the rule, however sure the judge is.
        is_open = any(
            compare_slots(note.slot, fact.slot) is SlotMatch.CHANGED for fact in neighbours
        )
        return _judgement(reads, 0 if is_open else len(near), model.bounds)

    def load(self) -> _Loaded:
        """Model, ready to read.

        Raises:
            ArbiterUnavailableError: a file is missing or damaged.
        """
        if not self._maker.is_here:  # a forked child lacks the threads of its parent's model
            self._reset()
        with self._loading:
            if self._model is None:
                content = partial(_checked, self._file, self._digest)
                # It was built for the packaged judge, not for one that was trained on.
                quick = _checked(QUICK, QUICK_SHA256) if self._digest == SHA256 else None
                with translated(ArbiterUnavailableError, "the packaged judge cannot be loaded"):
                    self._model = _Loaded(content, quick)
                leave_alone_in_children(self._model)
            return self._model

    def close(self) -> None:
        """Nothing is open."""


class _Loaded:
    def __init__(self, content: Callable[[], bytes], quick: bytes | None) -> None:
        folder = weights_folder()
        check_files(folder)
        self._tokenizer = tokenizer_of(folder)

        # Loaded for the first fact that is not clear: it takes 41 MB and 0.1 s.
        @cache
        def exact() -> Any:
            with translated(ArbiterUnavailableError, "the packaged judge cannot be loaded"):
                return session_of(content(), folder)

        self._exact = exact
        self._quick = quick and session_of(quick, folder, dict(_halves(content())))
        about = (self._quick or self._exact()).get_modelmeta().custom_metadata_map
        self._relations = about["relations"]
        self.bounds = JudgeBounds(*(float(about[name]) for name in JudgeBounds._fields))
        give_back_memory()  # rounding takes 80 MB

    def read(self, note: str, facts: Sequence[str]) -> list[PairReading | None]:
        """Pair the note with each fact; None if both are too long to be read together."""
        # One by one: see OnnxMinilm.
        pairs = {number: self._tokenizer.encode(fact, note) for number, fact in enumerate(facts)}
        left = {number: pair for number, pair in pairs.items() if len(pair.ids) <= TOKEN_COUNT_MAX}
        reads: dict[int, PairReading] = {}
        if self._quick:
            # One by one: whole numbers are rounded by the largest of all that is read together.
            for number, pair in left.items():
                reads |= self._run(self._quick, {number: pair})
            left = {number: pair for number, pair in left.items() if not reads[number].is_clear}
        if left:
            reads |= self._run(self._exact(), left)
        return [reads.get(number) for number in pairs]

    def _run(self, session: Any, pairs: Mapping[int, Any]) -> dict[int, PairReading]:
        """Read pairs, each in as many rows as it has words: see OnnxMinilm."""
        longest = max(len(pair.ids) for pair in pairs.values())
        names = {
            "input_ids": "ids",
            "attention_mask": "attention_mask",
            "token_type_ids": "type_ids",
        }
        fed = {
            name: np.array(
                [
                    [*getattr(pair, part), *[0] * (longest - len(pair.ids))]
                    for pair in pairs.values()
                ],
                np.int64,
            )
            for name, part in names.items()
        }
        read = zip(pairs, session.run(None, fed)[0], strict=True)
        return {number: self._of(row) for number, row in read}

    def _of(self, row: Any) -> PairReading:
        chances = dict(zip(self._relations, map(float, row), strict=True))
        return PairReading(*(sum(map(chances.__getitem__, letters)) for letters in (ENDED, SAME)))


def _checked(file: Path, digest: str) -> bytes:
    content = file.read_bytes() if file.is_file() else b""
    if sha256(content).hexdigest() != digest:
        raise ArbiterUnavailableError(
            f"{file.name} is missing or damaged: install graph-memory-reconciler again, "
            "or set arbiter.mode to 'off'"
        )
    return content


def _halves(judge: bytes) -> Iterator[tuple[str, Any]]:
    """Names and numbers of the judge's own tensors, flat, in half precision.

    In ONNX's format a tensor's data follows its name: a tag, the length, seven bits a byte, and the
    numbers.
    """
    for found in re.finditer(rb"B.(half\.[\w.]+)J([\x80-\xff]*[\x00-\x7f])", judge, re.DOTALL):
        length = sum((byte & 0x7F) << 7 * place for place, byte in enumerate(found[2]))
        yield found[1].decode(), np.frombuffer(judge, np.float16, length // 2, found.end())


def _digest_of(file: Path) -> str:
    try:
        return sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigurationError(
            f"arbiter.model: {file} cannot be read ({error.strerror}); name a judge.onnx, or unset "
            "it to use the packaged judge"
        ) from error


def _is_told_apart(note: Note, fact: Neighbour) -> bool:
    """True if note and fact have different attributes: then they are about different matters."""
    here, there = (slot.attribute if slot else None for slot in (note.slot, fact.slot))
    return here is not None and there is not None and here != there


def _is_readable(text: str) -> bool:
    return any(map(str.isalnum, text)) and not is_foreign(text)


def _judgement(reads: dict[int, PairReading], count: int, bounds: JudgeBounds) -> Judgement:
    """Combine the readings of the near facts, by their numbers.

    All of ``count`` facts must be read as untouched to say that all hold; 0 never says so.
    """
    likeliest = sorted(reads, key=lambda number: reads[number].ended, reverse=True)
    ended = [number for number in likeliest if reads[number].ended >= bounds.ends]
    same = [number for number in reads if reads[number].same >= bounds.same]
    relation, action, confidence = Relation.UNSURE, Action.ADD, 0.0
    target: int | None = None
    if ended:
        relation, action, target = Relation.REPLACES, Action.UPDATE, ended[0]
        confidence = reads[target].ended
    elif same:
        target = max(same, key=lambda number: reads[number].same)
        relation, action, confidence = Relation.SAME, Action.UPDATE, reads[target].same
    elif likeliest and reads[likeliest[0]].ended >= bounds.asks:
        target, confidence = likeliest[0], reads[likeliest[0]].ended
    elif 0 < len(reads) == count and all(read.both >= bounds.both for read in reads.values()):
        relation, confidence = Relation.COEXISTS, min(read.both for read in reads.values())
    return Judgement(
        reasoning="; ".join(
            f"fact {number}: over {read.ended:.2f}, said again {read.same:.2f}"
            for number, read in reads.items()
        )
        or "not read: another attribute or language, or too long",
        relation=relation,
        target=target,
        also=tuple(ended[1:]),
        action=action,
        confidence=confidence,
    )
