"""The architecture as tests: who imports whom, who names queries, what must be written down."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Mapping, Set
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from typer.main import get_command

import reconciler
from reconciler import ops
from reconciler.domain.recalling.filtering import FilterFields
from reconciler.entrypoints.cli import app
from reconciler.errors import __all__ as error_names
from reconciler.queries import load_queries
from reconciler.resources import engine_names
from reconciler.settings import Settings
from tests.documents import documents, nodes
from tests.tables import every

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "reconciler"
MODULES = sorted(PACKAGE.rglob("*.py"))
SECRETS = {"sensitive_data", "named_secrets"}
BELOW = {"errors", "reading", "secrets", "floats"}
CORE = {"memory", "bound_memory", "bootstrap", "service", "ports", "domain", "settings", *BELOW}
MAY_IMPORT = {
    "secrets": {"secrets"},
    "errors": {"secrets"},  # an error's text must not hold a secret
    "reading": {"resources", *BELOW},
    "domain": {"domain", *BELOW},
    "ports": {"ports", "domain", *BELOW},
    "adapters": {"adapters", "ports", "domain", "queries", "resources", "turns", "forks", *BELOW},
    "service": {
        *{"service", "ports", "domain", "queries", "tracing", "job_context", "turns", "forks"},
        *BELOW,
    },
    "bootstrap": {
        *{"bootstrap", "adapters", "service", "ports", "domain", "settings", "config_files"},
        *{"forks", *BELOW},
    },
    "bound_memory": {"tracing", *CORE} - {"memory"},
    "memory": CORE,
    "async_memory": {"forks", "async_parts", *CORE},
    "ops": {"ops", "adapters", "config_files", "queries", "resources", *CORE},
    "integrations": {"integrations", *CORE},
    "serve": {"serve", "ops", "config_files", "job_context", *CORE},
    "entrypoints": {
        *{"entrypoints", "serve", "ops", "integrations", "config_files", "queries", "resources"},
        *{"job_context", *CORE},
    },
    "testing": {"ports", "domain", *BELOW},
    "config_files": {"domain", "resources", *BELOW},
    "settings": {"service", "ports", "domain", "resources", *BELOW},
    "queries": {"errors", "resources"},
    "resources": {"errors"},
    "forks": {"errors"},
    "floats": set(),
    "turns": set(),
    "frozen": set(),
    "tracing": set(),
    "job_context": set(),
}
CYPHER = re.compile(r"\b(MATCH|MERGE|CREATE|UNWIND)\b\s*\(|\bDETACH DELETE\b")
STORES = {
    "binding_store.py",
    "contact_store.py",
    "decision_store.py",
    "erasure_store.py",
    "fact_store.py",
    "session_store.py",
    "webhook_store.py",
}
WRITE_METHODS = {"commit_decisions"}
WITH_VECTORS = {"embedding", "embedding_bytes"}
NAMED_BY = {
    "claim_store": "binding_store.py",
    "commit_decisions": "decision_store.py",
    "list_neighbourhood": "fact_store.py",
    "record_correction": "decision_store.py",
}
RECONCILING_METHODS = {"reconcile", "reconfirm"}


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _part(path: Path) -> str:
    return _room(_module(path))


def _room(module: str) -> str:
    """The room of a module; the shapes of secrets are one of their own, beneath the errors."""
    names = [*module.split("."), ""][1:3]
    return "secrets" if names[0] == "reading" and names[-1] in SECRETS else names[0]


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _folder(module: str) -> str:
    """The layer's folder in which a module lies, or the module itself where it lies in none."""
    return ".".join(module.split(".")[:3])


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def _strings(path: Path) -> list[str]:
    return [
        node.value
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


@every("path", MODULES)
def test_imports_point_inwards(path: Path) -> None:
    allowed = MAY_IMPORT.get(_part(path))
    ours = {_room(name) for name in _imported(path) if name.startswith("reconciler.")}
    if allowed is not None:
        assert ours <= allowed | {"frozen"}


def _in_circles(beneath: Mapping[str, Set[str]]) -> Set[str]:
    """What is left when everything was taken away, again and again, that rests on nothing left."""
    while lowest := {part for part, others in beneath.items() if not others & beneath.keys()}:
        beneath = {part: others for part, others in beneath.items() if part not in lowest}
    return beneath.keys()


def test_no_arrow_runs_back_up() -> None:
    assert not _in_circles({part: allowed - {part} for part, allowed in MAY_IMPORT.items()})


def test_no_arrow_between_modules_runs_back_up() -> None:
    modules = {_module(path): _imported(path) - {_module(path)} for path in MODULES}
    assert not _in_circles(modules)


@pytest.mark.parametrize("layer", ["domain", "service"])
def test_no_arrow_between_the_folders_of_a_layer_runs_back_up(layer: str) -> None:
    beneath: dict[str, set[str]] = {}
    for path in (PACKAGE / layer).rglob("*.py"):
        ours = {name for name in _imported(path) if name.startswith(f"reconciler.{layer}.")}
        beneath.setdefault(_folder(_module(path)), set()).update(map(_folder, ours))
    assert not _in_circles({folder: others - {folder} for folder, others in beneath.items()})


def test_records_import_records_only() -> None:
    ours = {
        name
        for path in (PACKAGE / "domain" / "records").glob("*.py")
        for name in _imported(path)
        if name.startswith("reconciler.")
    }
    others = {name for name in ours if not name.startswith("reconciler.domain.records.")}
    others = {name for name in others if not name.startswith("reconciler.reading.")}
    assert others == {"reconciler.errors", "reconciler.frozen"}


@every("path", MODULES)
def test_a_module_says_what_lives_in_it(path: Path) -> None:
    assert ast.get_docstring(nodes(path)[0])


@every("path", MODULES)
def test_no_cypher_stands_in_python(path: Path) -> None:
    assert not [text for text in _strings(path) if CYPHER.search(text)]


def test_only_settings_reads_the_environment() -> None:
    reading = re.compile(r"os\.getenv|os\.environ\.get|os\.environ(?!\[\S+\] = |\.get)")
    readers = {_name(path) for path in MODULES if reading.search(path.read_text(encoding="utf-8"))}
    assert readers == {"reconciler/settings.py"}


def test_only_the_stores_name_queries_and_only_adapters_the_schema_ones() -> None:
    names = {name for engine in engine_names() for name in load_queries(engine)}
    namers = {(_part(path), text) for path in MODULES for text in _strings(path) if text in names}
    schema = {"count_keyless", "find_schema_version", "record_schema_version"}
    assert {part for part, name in namers if name not in schema} == {"service"}
    files = {path.name for path in MODULES for text in _strings(path) if text in names - schema}
    assert files == STORES


def test_every_query_is_used() -> None:
    used = {text for path in MODULES for text in _strings(path)}
    assert set(load_queries("neo4j")) <= used


@pytest.mark.parametrize("engine", engine_names())
def test_every_dialect_has_the_same_names(engine: str) -> None:
    assert set(load_queries(engine)) == set(load_queries("neo4j"))


def test_every_engine_is_one_adapter_and_one_dialect() -> None:
    adapters = {path.name for path in (PACKAGE / "adapters").glob("*_graph.py")}
    assert adapters == {f"{engine}_graph.py" for engine in engine_names()}


@pytest.mark.parametrize("engine", engine_names())
def test_every_adapter_of_an_engine_can_be_opened_by_its_name(engine: str) -> None:
    adapter = import_module(f"reconciler.adapters.{engine}_graph")
    assert {"open_graph", "file_of"} <= set(vars(adapter))
    graphs = [each for each in vars(adapter).values() if getattr(each, "engine", None) == engine]
    assert len(graphs) == 1


def _callers(methods: set[str]) -> set[str]:
    return {
        path.name
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in methods
    }


def test_only_the_ledger_commits_decisions() -> None:
    assert _callers(WRITE_METHODS) == {"ledger.py"}
    makers = {path.name for path in MODULES if "GatheredCommits(" in path.read_text("utf-8")}
    assert makers == {"ledger.py"}


def test_one_store_names_the_queries_that_write_decisions_and_read_neighbourhoods() -> None:
    namers = {(text, path.name) for path in MODULES for text in _strings(path) if text in NAMED_BY}
    assert namers == set(NAMED_BY.items())


def test_only_the_gate_and_what_persons_say_reach_the_reconciler() -> None:
    assert _callers(RECONCILING_METHODS) == {"write_gate.py", "deciding.py"}


def test_an_agents_tools_offer_nothing_that_approves() -> None:
    offered = {name for name in vars(reconciler.AgentTools) if not name.startswith("_")}
    assert offered == {"call", "definitions", "scope"}


def test_vectors_leave_the_graph_for_a_neighbourhood_alone() -> None:
    for engine in engine_names():
        queries = load_queries(engine).values()
        found = {query.name for query in queries if WITH_VECTORS & set(query.returns)}
        assert found == {"list_live_facts", "list_neighbourhood", "list_vectors"}


def test_every_setting_is_in_the_configuration_file() -> None:
    text = (ROOT / "config" / "reconciler.toml").read_text(encoding="utf-8")
    documented = set(re.findall(r"^#?\s?([a-z_]+) = ", text, re.MULTILINE))
    assert _setting_names(Settings) - {"password", "api_key", "hash_key"} <= documented


def test_the_configuration_file_holds_the_defaults() -> None:
    shipped = tomllib.loads((ROOT / "config" / "reconciler.toml").read_text(encoding="utf-8"))
    for name, value in shipped.items():
        default = Settings.model_fields[name].default
        wanted = default.model_dump() if isinstance(default, BaseModel) else default
        assert value == ({key: wanted[key] for key in value} if isinstance(value, dict) else wanted)


def test_the_documents_name_every_command() -> None:
    said = documents()
    assert [name for name in _commands() if f"reconciler {name}" not in said] == []


def test_recall_on_the_command_line_takes_all_that_the_call_takes() -> None:
    taken = inspect.signature(reconciler.ContactMemory.recall).parameters.keys()
    taken -= {"self", "filters"}
    taken |= FilterFields.__annotations__.keys()
    options = {each.name for each in _commands()["recall"].params}
    assert {"agent", "contact", "tenant", *taken} <= options


def test_every_command_prints_json_on_request() -> None:
    for name, command in _commands().items():
        assert "--json" in {option for each in command.params for option in each.opts}, name


def test_every_option_of_a_command_is_explained_in_words_of_the_command_line() -> None:
    texts = {
        f"{name} {option.opts[0]}": option.help or ""
        for name, command in _commands().items()
        for option in command.params
    }
    code = re.compile(r"``|\bNone\b|time-zone aware|\w_id\b")
    assert [told for told, text in texts.items() if not text or code.search(text)] == []


def test_the_public_names_are_pinned() -> None:
    assert sorted(reconciler.__all__) == [
        "Action",
        "AgentMemory",
        "AgentTools",
        "Arbiter",
        "AsyncMemory",
        "Candidate",
        "ContactMemory",
        "Decision",
        "Dispute",
        "Embedder",
        "Evidence",
        "Extractor",
        "Fact",
        "Memory",
        "MemoryContext",
        "Note",
        "Recalled",
        "Scope",
        "Settings",
        "SlotValue",
        "SourceKind",
        "ToolReply",
        "Turn",
        "as_prompt",
        "load_settings",
    ]
    assert all(hasattr(reconciler, name) for name in reconciler.__all__)


@pytest.mark.parametrize(
    ("folder", "module_of"),
    [
        (PACKAGE, reconciler._MODULE_OF),
        (PACKAGE / "ops", {name: f"reconciler.ops.{at}" for name, at in ops._MODULE_OF.items()}),
    ],
    ids=["reconciler", "ops"],
)
def test_a_type_checker_sees_the_public_names_where_they_are_loaded_from(
    folder: Path, module_of: dict[str, str]
) -> None:
    tree = ast.parse((folder / "__init__.pyi").read_text(encoding="utf-8"))
    seen = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    told = {alias.asname: node.module for node in seen for alias in node.names}
    assert told == module_of


def test_the_error_tree_draws_every_error() -> None:
    drawn = (PACKAGE / "errors.py").read_text(encoding="utf-8").split('"""')[1]
    assert all(name in drawn for name in error_names)


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = {"utils", "helpers", "common", "types", "models", "manager", "http", "mcp"}
    assert not vague & {path.stem for path in MODULES}


def test_tests_are_readable_sentences() -> None:
    for path in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert name.count("_") >= 2, f"{path.name}: {name}"


def _commands(group: Any = None, prefix: str = "") -> dict[str, Any]:
    """Every command by what is typed, those of a group by both words."""
    found: dict[str, Any] = {}
    for name, command in (group or get_command(app)).commands.items():
        inner = getattr(command, "commands", None)
        found |= _commands(command, f"{name} ") if inner else {prefix + name: command}
    return found


def _setting_names(model: type[BaseModel]) -> set[str]:
    names: set[str] = set()
    for name, field in model.model_fields.items():
        group = field.annotation
        if isinstance(group, type) and issubclass(group, BaseModel):
            names |= _setting_names(group)
        else:
            names.add(name)
    return names
