"""Bootstrap: builds every part from the settings. Only this folder knows all adapters.

``services.py`` wires the parts of an open memory. The other modules build or do one thing each for
it: the engine, the models, the policies, the gate, the hash key, moves of data and of the model.
"""

from reconciler.bootstrap.chosen_models import (
    build_arbiter,
    build_embedder,
    build_extractor,
    build_recorded_arbiter,
    judge_of,
)
from reconciler.bootstrap.engines import (
    accept_hash_key,
    check_memory_exists,
    file_of_memory,
    hash_key_of,
    open_graph,
)
from reconciler.bootstrap.gate_parts import (
    build_judge,
    build_secret_finder,
    build_sensitive_data_finder,
)
from reconciler.bootstrap.moving import (
    back_up,
    export,
    opened_reembedding,
    reembed,
    restore_memory,
    write_new,
)
from reconciler.bootstrap.policies import arbitration_policy, build_decay, build_policy
from reconciler.bootstrap.services import Services, build_services, build_worker

__all__ = [
    "Services",
    "accept_hash_key",
    "arbitration_policy",
    "back_up",
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
    "export",
    "file_of_memory",
    "hash_key_of",
    "judge_of",
    "open_graph",
    "opened_reembedding",
    "reembed",
    "restore_memory",
    "write_new",
]
