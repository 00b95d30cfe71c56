"""A large import on a Ray cluster: one task imports all notes of a contact, through the door.

Here: how lines are divided, and how the reports are put together. Never here: a decision about a
note. Each task calls ``Memory.import_notes``, so a run that was killed continues where it stopped
when it is started again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import inf
from typing import Any

from reconciler.domain.records.kinds import Progress
from reconciler.errors import ConfigurationError, InvalidRequestError, ReconcilerError
from reconciler.frozen import Json, StringMap, Values

# A cluster that is started here sends no usage statistics.
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

try:
    import pyarrow as pa
    import ray
    import ray.data
    from ray.data import Dataset
    from ray.exceptions import RayError
except ImportError as error:
    raise ConfigurationError(
        "reconciler.integrations.ray_backfill needs Ray: pip install 'ray[data]>=2.60,<3'"
    ) from error

from reconciler.memory import Memory
from reconciler.service.writing.doors import SCOPE_KEYS
from reconciler.service.writing.note_import import ImportReport, place_of, source_of

__all__ = ["import_on_ray"]

_LINES_A_BLOCK = 2_000
"""The number of lines that are sent to the cluster together, of 128 KiB at most each."""

_PARTITIONS_A_WRITER = 8
"""The number of parts for each writer, so that a writer that finishes early finds work."""


def import_on_ray(
    memory: Memory,
    lines: Iterable[str],
    *,
    address: str | None = None,
    partitions: int | None = None,
    tenant: str | None = None,
    agent_id: str | None = None,
    contact_id: str | None = None,
    source: str | None = None,
    on_progress: Progress = lambda _: None,
) -> ImportReport:
    """Import notes with one writer on each core of a Ray cluster.

    All notes of a contact are written by one task, in the order of time; undated ones come last, in
    the lines' order. Writers that are killed are started again, by Ray or by another run; no line
    takes effect twice. The notes of a killed task count as ``resumed``.

    Args:
        memory: the memory to write to; processes with its settings do so.
        lines: as ``Memory.import_notes`` takes them.
        address: the cluster's address; None for a cluster on this machine, unless Ray is connected
            already.
        partitions: the number of parts into which the contacts are divided. A part is held in
            memory, and a killed writer reads its part again. None for eight for each core.
        tenant: the tenant of lines that name none; None for the configured one.
        agent_id: the agent of lines that name none.
        contact_id: the contact of lines that name none.
        source: as ``Memory.import_notes`` takes it.
        on_progress: called with how many more lines were processed, a part at a time.

    Raises:
        ConfigurationError: the engine serves one process, there is no such cluster, or a node has
            other files or another hash key than this process.
        GraphUnavailableError, EmbeddingError: notes written until then are kept; run again.
        InvalidScopeError: one of the three cannot be used.
    """
    if memory.settings.graph == "embedded":
        raise ConfigurationError(
            "the embedded engine serves one process, and an import on Ray writes from many: set "
            "NEO4J_URI, or import without Ray"
        )
    given: Json = {"tenant": tenant, "agent_id": agent_id, "contact_id": contact_id}
    given["source"] = source_of(lines, source)  # one for all writers
    memory.import_notes([], **given)  # what is wrong with these is told before anything is sent
    scope = {name: given[name] for name in SCOPE_KEYS if given[name]}
    defaults = {"tenant": memory.settings.tenant} | scope
    memory._services.hash_key()  # binds the store to it: a node with another one is refused
    with _connected(address):
        writers = int(ray.cluster_resources()["CPU"])
        parts = _parted(lines, defaults, partitions or writers * _PARTITIONS_A_WRITER)
        outcomes = parts.map_batches(
            _Writer,
            fn_constructor_args=(memory.settings, given),
            batch_size=None,  # a whole part, and with it all lines of a contact
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=min(writers, parts.num_blocks())),
            num_cpus=1,
        )
        return _together(outcomes, on_progress)


def _parted(lines: Iterable[str], defaults: StringMap, partitions: int) -> Dataset:
    """Divide all lines, those of a contact into one block, before a writer takes its core."""
    sent = ray.data.from_arrow_refs([ray.put(table) for table in _tables(lines)])
    sent.context.enable_progress_bars = False
    placed = sent.map_batches(_placed, fn_args=(defaults,), batch_format="pyarrow", batch_size=None)
    return placed.repartition(partitions, keys=["contact"]).materialize()


def _tables(lines: Iterable[str]) -> Iterator[pa.Table]:
    """Make tables of the lines with their numbers; as bytes, because not every line is UTF-8."""
    numbered = enumerate(lines, start=1)
    while some := list(islice(numbered, _LINES_A_BLOCK)):
        numbers, texts = zip(*some, strict=True)
        raw = [text.encode("utf-8", "surrogatepass") for text in texts]
        yield pa.table({"number": numbers, "line": raw})


def _placed(table: pa.Table, defaults: StringMap) -> pa.Table:
    """Add to the lines their contact and the time from which they hold."""
    contacts, times = [], []
    for number, line in zip(table["number"].to_pylist(), _texts(table), strict=True):
        try:
            contact, at = place_of(line, defaults)
        except InvalidRequestError:  # the task that imports it reports the error
            contact, at = str(number), None
        contacts.append(contact)
        times.append(inf if at is None else at.timestamp())
    columns = {"contact": contacts, "at": pa.array(times, pa.float64())}
    return pa.table({"number": table["number"], "line": table["line"], **columns})


def _texts(table: pa.Table) -> Iterator[str]:
    return (line.decode("utf-8", "surrogatepass") for line in table["line"].to_pylist())


@dataclass
class _Writer:
    """One process of the cluster, with one memory for all of its parts."""

    settings: Any
    given: Values

    def __call__(self, part: pa.Table) -> Json:
        """Return the report of a part, or its error: Ray would hide a raised one in its own."""
        try:
            outcome: ImportReport | ReconcilerError = self._imported(part)
        except ReconcilerError as error:
            outcome = error
        return {"outcome": [outcome], "lines": [part.num_rows]}

    def _imported(self, part: pa.Table) -> ImportReport:
        ordered = part.sort_by([("at", "ascending"), ("number", "ascending")])
        numbers = ordered["number"].to_pylist()
        report = self._memory.import_notes(_texts(ordered), **self.given)
        report.errors = [
            replace(error, line_number=numbers[error.line_number - 1]) for error in report.errors
        ]
        return report

    @cached_property
    def _memory(self) -> Memory:
        return Memory.open(self.settings, warm_up=True)


def _together(outcomes: Dataset, on_progress: Progress) -> ImportReport:
    whole = ImportReport()
    for row in outcomes.iter_rows():
        if isinstance(row["outcome"], ReconcilerError):
            raise row["outcome"]
        whole.include(row["outcome"])
        on_progress(row["lines"])
    return whole


@contextmanager
def _connected(address: str | None) -> Iterator[None]:
    """Connect to the cluster; the connection is closed here if it was opened here."""
    is_ours = not ray.is_initialized()
    try:
        if is_ours:
            ray.init(address=address or "local", log_to_driver=False)
        yield
    except ConnectionError as error:
        raise ConfigurationError(f"there is no Ray cluster at {address}: {error}") from error
    except RayError as error:
        raise ConfigurationError(
            f"the Ray cluster gave up ({type(error).__name__}); run the import again; it continues "
            "where it stopped"
        ) from error
    finally:
        if is_ours:
            ray.shutdown()
