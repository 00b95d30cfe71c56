"""The note reader: what a judged note resembles as a whole, before the gate has its last word.

The vector that it makes is the one that the note is compared by, so nothing is embedded twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from reconciler.domain.floats import Floats
from reconciler.domain.gate.languages import is_surely_english
from reconciler.domain.records.kinds import Disposal, GateReason
from reconciler.errors import ConfigurationError, EmbeddingError
from reconciler.frozen import in_order
from reconciler.service.writing.submissions import Submission

if TYPE_CHECKING:
    from reconciler.domain.gate.leanings import Leanings


@in_order
class NoteReader:
    """Embeds judged notes, and reads their leanings.

    Attributes:
        embed: makes vectors that can be compared.
        leanings: reads a text and its vector; None for a model that no head was trained on.
    """

    embed: Callable[[Sequence[str]], Floats]
    leanings: Callable[[str, Floats], Leanings] | None

    def is_read(self, submission: Submission) -> bool:
        """Whether the sense of a note may matter: words that are refused stay refused.

        The packaged model puts all texts of another language near each other, scraps or not.
        """
        return (
            self.leanings is not None
            and submission.cleaned is not None
            and submission.assessment.disposal is not Disposal.REJECT
            and is_surely_english(submission.note.text)
        )

    def with_vector(self, submission: Submission) -> Submission:
        """The submission with its vector, if its sense matters; without one if the model fails.

        Then its words alone are judged; what needs the vector fails on its own.
        """
        if not self.is_read(submission):
            return submission
        try:
            return submission.embedded(self.embed)
        except (EmbeddingError, ConfigurationError):
            return submission

    def leanings_of(self, submission: Submission) -> Leanings | None:
        """What a note with a vector leans to; None where that says nothing."""
        if self.leanings is None or submission.vector is None or not self.is_read(submission):
            return None
        found = self.leanings(submission.note.text, submission.vector)
        is_in_doubt = submission.assessment.reason is GateReason.DIRECTIVE
        return found if found.shares or (found.is_no_order and is_in_doubt) else None
