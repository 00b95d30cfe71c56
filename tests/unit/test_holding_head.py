"""The shipped head that tells a plain statement from a note of an end."""

from __future__ import annotations

import numpy as np
import pytest

from reconciler.config_files import load_holding_head
from tools.write_holding_head import TARGET, fitted, written


@pytest.fixture(scope="module")
def made() -> bytes:
    return written()


def test_the_shipped_head_is_what_the_sentences_make(made: bytes) -> None:
    shipped, again = (np.frombuffer(each, dtype="<f4") for each in (TARGET.read_bytes(), made))
    assert np.allclose(shipped, again, atol=0.2), "run: python -m tools.write_holding_head"


def test_another_model_has_no_head() -> None:
    assert load_holding_head("model@1") is None


def test_the_fit_parts_what_a_line_parts() -> None:
    rows = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    head = fitted(rows, np.array([1.0, 1.0, 0.0, 0.0]), np.ones(4))
    assert ((rows @ head[:-1] + head[-1]) > 0).tolist() == [True, True, False, False]
