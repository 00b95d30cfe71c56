"""Profiles: named thresholds, and the model that they were measured on. Pure."""

from __future__ import annotations

from reconciler.errors import ConfigurationError
from reconciler.frozen import frozen


@frozen
class Profile:
    """The thresholds of the rule, in raw cosine, for one embedding model.

    Attributes:
        name: as it is recorded on every decision.
        embedding_model: name and fingerprint of the model, for example
            ``all-MiniLM-L6-v2@53aa5117``; None for thresholds that are meant for any.
        cosine_update_min: at or above it a note supersedes.
        cosine_add_max: below it a note is new.
        cosine_cut: at or above it a note in the band supersedes where no arbiter decides.
    """

    name: str
    embedding_model: str | None
    cosine_update_min: float
    cosine_add_max: float
    cosine_cut: float

    def check_model(self, embedding_model: str) -> None:
        """Refuse any model but the one that the thresholds were measured on.

        Raises:
            ConfigurationError: it is another one; its cosines mean something else.
        """
        if self.embedding_model not in (None, embedding_model):
            raise ConfigurationError(
                f"profile {self.name} was calibrated on {self.embedding_model}, and the embedder "
                f"is {embedding_model}; run `reconciler calibrate` for it, or set "
                "RECONCILER_RECONCILE__PROFILE=seed"
            )
