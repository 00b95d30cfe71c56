"""Bootstrap: builds every part from the settings. Only this folder knows all adapters.

``services.py`` wires the parts of an open memory. The other modules build or do one thing each for
it: the engine, the models, the policies, the gate, the hash key.
"""

from reconciler.bootstrap.chosen_models import (
    accept_hash_key,
    arbitration_policy,
    build_arbiter,
    build_decay,
    build_embedder,
    build_extractor,
    build_judge,
    build_policy,
    build_recorded_arbiter,
    build_secret_finder,
    build_sensitive_data_finder,
    check_memory_exists,
    file_of_memory,
    hash_key_of,
    judge_of,
    open_graph,
)
from reconciler.bootstrap.services import Services, build_services, build_worker

__all__ = [
    "Services",
    "accept_hash_key",
    "arbitration_policy",
    "build_arbiter",
    "build_decay",
    "build_embedder",
    "build_extractor",
    "build_judge",
    "build_policy",
    "build_recorded_arbiter",
    "build_secret_finder",
    "build_sensitive_data_finder",
    "build_services",
    "build_worker",
    "check_memory_exists",
    "file_of_memory",
    "hash_key_of",
    "judge_of",
    "open_graph",
]
