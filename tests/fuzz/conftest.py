"""What fuzz tests share: a bench on the embedded engine, made once for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engines import embedded_engine
from tests.fuzz.bench import Bench


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("bench")
    made = Bench(embedded_engine(folder), folder)
    yield made
    made.close()
