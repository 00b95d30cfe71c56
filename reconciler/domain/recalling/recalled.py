"""Recalled: the facts that answer a question, and the kind of answer. Pure."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from copy import copy
from dataclasses import replace
from enum import StrEnum

from reconciler.domain.recalling.safety import is_never_cut
from reconciler.domain.records.facts import RankedFact

FITTING_MAX = 8
"""Facts that answer a question at most; that there are more is said."""

CLEAREST_SHARE = 0.5
"""Standing limits that fit less than this share of the best fact's similarity do not touch the
question. Facts are not cut so: of 153 CRM questions three facts answer 122, and eight 130."""


class RecallOutcome(StrEnum):
    """The outcomes of a recall."""

    FITS = "fits"
    """All facts that fit the question are in it."""

    NOTHING_FITS = "nothing_fits"
    """None does; ``Recalled.known`` says what is known about."""

    CUT = "cut"
    """More fit than it holds; ``Recalled.left_out`` says how many."""


class Recalled(list[RankedFact]):
    """The facts that fit, the best first, then the standing constraints: a list that knows more.

    Args:
        hits: the facts.
        fitting: how many facts fit in all, those left out included; None for as many as are here.
        standing: how many standing constraints there are in all; None likewise.
        held: how many facts there are, whether they fit or not; None likewise.
        known: where nothing fits, the attributes that are known, those with most values first.
        passing: how many facts pass the filters, whether they fit or not; None for all.
        over_budget: tokens that its lines take beyond a budget, for what no budget cuts.
        waiting: the decisions that hold notes about the attribute that was asked for, by id.
    """

    def __init__(
        self,
        hits: Iterable[RankedFact] = (),
        *,
        fitting: int | None = None,
        standing: int | None = None,
        held: int | None = None,
        known: Iterable[str] = (),
        passing: int | None = None,
        over_budget: int = 0,
        waiting: Iterable[str] = (),
    ) -> None:
        super().__init__(hits)
        self.fitting = self._fitting_here if fitting is None else fitting
        self.standing = self._standing_here if standing is None else standing
        self.held = len(self) if held is None else held
        self.known = tuple(known)
        self.passing = self.held if passing is None else passing
        self.over_budget = over_budget
        self.waiting = tuple(waiting)

    @property
    def outcome(self) -> RecallOutcome:
        """The kind of answer. A standing constraint that does not fit the question is no answer."""
        if not self.fitting:
            return RecallOutcome.NOTHING_FITS
        return RecallOutcome.CUT if self.left_out else RecallOutcome.FITS

    @property
    def left_out(self) -> int:
        """The number of facts that fit and are not here."""
        return max(self.fitting - self._fitting_here, 0)

    @property
    def standing_left_out(self) -> int:
        """The number of standing constraints that are not here."""
        return max(self.standing - self._standing_here, 0)

    def clearest(self, share: float) -> Recalled:
        """The same answer; standing constraints that fit much less than the best do not fit.

        Args:
            share: of the similarity of the best one, which another must have, 0 to 1.
        """
        least = share * max((hit.similarity or 0.0 for hit in self), default=0.0)
        cut = copy(self)
        cut[:] = [
            replace(hit, fits=hit.fits and (hit.similarity or 0.0) >= least)
            if hit.is_standing
            else hit
            for hit in self
        ]
        cut.fitting -= sum(hit.fits for hit in self) - sum(hit.fits for hit in cut)
        return cut

    def touching(self, told: Collection[str] = ()) -> Recalled:
        """The same answer without the standing constraints that do not touch the question.

        What keeps the contact safe stays, unless the conversation was told it already.

        Args:
            told: the ids of the facts that the conversation was told.
        """
        return self.only(
            {
                hit.fact.fact_id
                for hit in self
                if hit.fits or (is_never_cut(hit.fact) and hit.fact.fact_id not in told)
            },
            self.over_budget,
        )

    def only(self, fact_ids: Container[str], over_budget: int = 0) -> Recalled:
        """The same answer cut down to these facts."""
        cut = copy(self)
        cut[:] = [hit for hit in self if hit.fact.fact_id in fact_ids]
        cut.over_budget = over_budget
        return cut

    def as_whole(self) -> Recalled:
        """The same answer without the number of facts that were left out.

        For a reader who cannot ask for the rest. Standing constraints stay counted.
        """
        whole = copy(self)
        whole.fitting = self._fitting_here
        return whole

    @property
    def _fitting_here(self) -> int:
        return sum(hit.fits for hit in self)

    @property
    def _standing_here(self) -> int:
        return sum(hit.is_standing for hit in self)
