"""What a refusal repeats of a value that is none of the words there are."""

from __future__ import annotations

import pytest

from reconciler.domain.records.choices import one_of
from reconciler.domain.records.kinds import SourceKind
from reconciler.errors import InvalidRequestError


def test_a_number_that_python_does_not_write_out_is_refused_like_any_other() -> None:
    with pytest.raises(InvalidRequestError, match=r"so long a number.*is not one of"):
        one_of(SourceKind, "source_kind", 10**5000)
