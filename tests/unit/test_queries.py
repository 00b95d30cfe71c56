from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import pytest

from reconciler import queries
from reconciler.adapters.embedded_statements import bound_together
from reconciler.errors import ConfigurationError, QueryFileError
from reconciler.queries import load_migrations, load_queries, newest_schema_version, parse_query
from reconciler.resources import engine_names, resource_path
from reconciler.service.checking.lines import load_export_schema
from tests.tables import every

ENGINES = engine_names()
GOOD = """// Find the facts of a contact.
// mode: read
MATCH (fact:Fact {contact_key: $contact_key})
// A comment between the lines, with a $name that counts for nothing.
RETURN fact.fact_id AS fact_id, fact.text
ORDER BY fact_id
LIMIT $limit
"""


@pytest.fixture
def cypher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cypher/ folder in place of the shipped one."""
    for folder in ("shared", "neo4j/migrations", "embedded/migrations"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(queries, "resource_path", lambda _: tmp_path)
    for loader in (load_queries, load_migrations):
        monkeypatch.setattr(queries, loader.__name__, loader.__wrapped__)
    return tmp_path


def test_a_good_file_becomes_a_query() -> None:
    query = parse_query("find_facts", GOOD)
    assert (query.name, query.mode) == ("find_facts", "read")
    assert query.params == {"contact_key", "limit"}
    assert query.returns == ("fact_id", "text")
    [statement] = query.statements
    assert statement.text.startswith("MATCH")
    assert "//" not in statement.text


def test_a_file_may_take_no_parameters_and_return_nothing() -> None:
    query = parse_query("touch", "// mode: write\nCREATE (:Store)")
    assert (query.params, query.returns) == (frozenset(), ())


@every(
    "returned",
    [
        "fact.fact_id AS fact_id, fact.text AS text",
        "fact_id, text",
        "DISTINCT fact.fact_id AS fact_id, fact.text",
        "fact.fact_id, coalesce(fact.text, '', 'none') AS text",
        "fact.fact_id, [fact.text, fact.text] AS text",
        "fact.fact_id, coalesce(texts[size([1, 2])], fact.text, '') AS text",
        "count(fact) AS fact_id, size([1, 2, 3]) AS text LIMIT $limit",
        "fact_id, text ORDER BY text DESC SKIP 1 LIMIT $limit",
    ],
)
def test_columns_are_read_from_the_last_return(returned: str) -> None:
    assert parse_query("columns", f"// mode: read\nRETURN {returned}").returns == (
        "fact_id",
        "text",
    )


def test_a_script_is_divided_at_semicolons_that_end_a_line() -> None:
    text = "// mode: write\nCREATE (:A {b: ';x'});\nRETURN 1 AS n;\n"
    texts = [statement.text for statement in parse_query("script", text).statements]
    assert texts == ["CREATE (:A {b: ';x'})", "RETURN 1 AS n"]


@every(("line", "is_text"), [("", False), ("// times: as text\n", True)])
def test_a_header_says_whether_times_go_as_text(line: str, is_text: bool) -> None:
    assert parse_query("find_facts", line + GOOD).takes_times_as_text is is_text


CONDITIONAL = """// mode: write
// only when action is ADD, UPDATE
CREATE (:Fact {fact_id: $fact_id});
RETURN 1 AS n
"""


@every(("action", "applies"), [("ADD", True), ("UPDATE", True), ("SKIP", False)])
def test_a_statement_with_a_condition_applies_to_the_values_it_names_only(
    action: str, applies: bool
) -> None:
    first, last = parse_query("script", CONDITIONAL).statements
    assert first.applies({"action": action, "fact_id": "f"}) is applies
    assert last.applies({"action": action, "fact_id": "f"})


def test_a_condition_on_a_boolean_is_written_as_in_python() -> None:
    text = CONDITIONAL.replace("action is ADD, UPDATE", "is_new is True").replace(
        "action", "is_new"
    )
    first, _ = parse_query("script", text).statements
    assert [first.applies({"is_new": each}) for each in (True, False)] == [True, False]


@every(("listed", "is_one"), [([], False), (["a"], True), (["a", "b"], False)])
def test_a_condition_may_look_for_a_list_of_one_element(listed: list[str], is_one: bool) -> None:
    for words, expected in (("one", is_one), ("not one", not is_one)):
        text = CONDITIONAL.replace("action is ADD, UPDATE", f"action is {words}")
        first, _ = parse_query("script", text).statements
        assert first.applies({"action": listed, "fact_id": "f"}) is expected


def test_what_a_condition_names_is_a_parameter_of_the_query() -> None:
    assert parse_query("script", CONDITIONAL).params == {"action", "fact_id"}


def test_a_server_gets_one_statement_and_no_condition() -> None:
    for query in load_queries("neo4j").values():
        *usual, whole = query.statements
        assert len(usual) == (query.name == "commit_decisions")
        assert whole.condition is None


RARE = """// mode: write
// only when contacts is without absorbs, parts, kept
UNWIND $contacts AS each
// rare
SET each.absorbs = 1
// end
SET each.name = 2
// rare
SET each.kept = 3
// end
RETURN each.name AS name
"""


def test_a_part_that_few_calls_need_is_left_out_of_the_others() -> None:
    usual, whole = parse_query("rare", RARE).statements
    assert [each.text.count("SET") for each in (usual, whole)] == [1, 3]
    for named in ("absorbs", "parts", "kept"):
        for empty in (None, [], {}):
            assert usual.applies({"contacts": [{named: empty, "name": "Priya"}]})
            assert usual.applies({"contacts": [{"commits": [{named: empty}]}]})
        assert not usual.applies({"contacts": [{}, {named: {"version": 1}}]})
        assert not usual.applies({"contacts": [{"commits": [{}, {named: ["fact-1"]}]}]})
    assert whole.applies({"contacts": [{"kept": 1}]})


@pytest.mark.parametrize(
    ("given", "missing", "unknown"),
    [
        ({}, ["contact_key", "limit"], []),
        ({"contact_key": "a"}, ["limit"], []),
        ({"contact_key": "a", "limit": 1, "at": 2}, [], ["at"]),
        ({"contact_key": "a", "limits": 1}, ["limit"], ["limits"]),
    ],
)
def test_a_call_must_give_exactly_the_parameters_in_the_text(
    given: dict[str, object], missing: list[str], unknown: list[str]
) -> None:
    with pytest.raises(QueryFileError) as raised:
        parse_query("find_facts", GOOD).check_parameters(given)
    assert str(raised.value) == f"query find_facts: missing {missing}, unknown {unknown}"


def test_none_is_a_parameter_like_any_other() -> None:
    parse_query("find_facts", GOOD).check_parameters({"contact_key": None, "limit": 1})


@every("engine", ENGINES)
def test_every_shipped_file_keeps_its_promise(engine: str) -> None:
    folder = resource_path("cypher")
    paths = [path for place in ("shared", engine) for path in (folder / place).glob("*.cypher")]
    names = [path.stem for path in paths]
    assert len(names) == len(set(names)) > 0, "a name is in shared/ and in the engine's folder"
    assert set(load_queries(engine)) == set(names)
    for query in load_queries(engine).values():
        assert query.mode in ("read", "write"), query.name
        assert query.statements, query.name
    for path in paths:
        said = re.findall(r"^// (times|rows): *(.*?) *$", path.read_text(), re.MULTILINE)
        assert set(said) <= {("times", "as text"), ("rows", "by column")}, path.name


def test_both_engines_run_the_same_queries_with_the_same_parameters_and_columns() -> None:
    promises = [
        {name: (query.mode, query.params, query.returns) for name, query in load_queries(e).items()}
        for e in ENGINES
    ]
    assert promises[0] == promises[1]


@every("engine", ENGINES)
def test_a_read_query_writes_nothing(engine: str) -> None:
    for query in load_queries(engine).values():
        words = {word for statement in query.statements for word in statement.text.split()}
        writes = words & {"CREATE", "MERGE", "SET", "DELETE", "REMOVE"}
        assert bool(writes) == (query.mode == "write"), query.name


@every("engine", ENGINES)
def test_an_unknown_query_is_refused_by_name(engine: str) -> None:
    with pytest.raises(QueryFileError, match="no query file is named find_everything"):
        load_queries(engine)["find_everything"]


@pytest.mark.parametrize("engine", ENGINES)
def test_shipped_migrations_are_numbered_from_1(engine: str) -> None:
    paths = sorted((resource_path("cypher") / engine / "migrations").glob("*.cypher"))
    numbers = [int(path.stem.split("_")[0]) for path in paths]
    assert numbers == list(range(1, newest_schema_version(engine) + 1))
    empty = [each.version for each in load_migrations(engine) if not each.statements]
    assert empty == ([2] if engine == "embedded" else [])


SHIPPED_STEPS = {
    "embedded": ["2c247c5cc02a6307", "4f53cda18c2baa0c", "805cbf9d04e66bde"],
    "neo4j": ["b45ca938d9f8b6ee", "bebcaf6784ccd816", "641f506ab5604db7"],
}
"""A mark of the statements of each step that a release has shipped."""


@every("engine", ENGINES)
def test_a_shipped_step_of_the_schema_is_never_changed(engine: str) -> None:
    """A store that has run it never runs it again: a new column is a new step, and a mark here."""
    texts = [[" ".join(s.text.split()) for s in m.statements] for m in load_migrations(engine)]
    marks = [sha256(repr(step).encode()).hexdigest()[:16] for step in texts]
    assert marks == SHIPPED_STEPS[engine]


def test_all_engines_are_at_the_same_schema_version() -> None:
    assert len({newest_schema_version(engine) for engine in ENGINES}) == 1


def test_migrations_run_in_the_order_of_their_numbers(cypher: Path) -> None:
    for number in range(1, 11):
        path = cypher / "neo4j" / "migrations" / f"{number:04}_step.cypher"
        path.write_text(f"CREATE (:Step {{number: {number}}});")
    assert [each.version for each in queries.load_migrations("neo4j")] == list(range(1, 11))


def test_an_installation_without_its_folders_says_so() -> None:
    with pytest.raises(ConfigurationError, match="has no folder no-such-folder/"):
        resource_path("no-such-folder")


@every("engine", ENGINES)
def test_columns_that_several_queries_return_stand_in_one_file(engine: str) -> None:
    shown = set(load_queries(engine)["list_facts"].returns)
    assert set(load_queries(engine)["find_facts"].returns) == shown | {"version"}
    assert len(shown) > 20


def test_a_fragment_is_put_into_the_text(cypher: Path) -> None:
    (cypher / "fragments").mkdir()
    (cypher / "fragments" / "fact.cypher").write_text("// Why.\nfact.a AS a,\nf(fact.b, 1) AS b\n")
    text = GOOD.replace("fact.fact_id AS fact_id, fact.text", "fact.fact_id,\n  // include: fact")
    query = parse_query("fragmented", text)
    assert query.returns == ("fact_id", "a", "b")
    assert "f(fact.b, 1) AS b\nORDER BY" in query.statements[0].text


def test_an_order_of_joins_is_a_hint_to_one_engine_and_a_comment_to_the_other() -> None:
    texts = {
        engine: load_queries(engine)["list_revoked"].statements[0].text
        for engine in ("embedded", "neo4j")
    }
    assert "HINT ((decision JOIN revoked) JOIN fact)" in texts["embedded"]
    assert "HINT" not in texts["neo4j"]


MAPS = """// Write some facts.
// mode: write
// script for each: commit of commits
// for each session of commit.sessions
MERGE (:Session {session_key: $session.session_key});
// only when commit.fact is not empty
CREATE (fact:Fact $commit.fact);
RETURN $commit.fact.fact_id AS fact_id
"""


def test_a_script_runs_for_each_element_and_a_statement_for_each_in_it() -> None:
    query = parse_query("write_facts", MAPS)
    assert query.params == {"commits"}
    commits = [{"fact": None, "sessions": [{"session_key": key} for key in ("a", "b")]}, {}]
    [first, _] = query.repetitions({"commits": commits})
    sessions, fact, _ = query.statements
    assert [each["session"]["session_key"] for each in sessions.repetitions(first)] == ["a", "b"]
    assert list(fact.repetitions(first)) == []


def test_runs_of_a_statement_in_one_have_a_list_for_each_value() -> None:
    told = "// for each fact of facts\n// all of them in one\nCREATE (fact:Fact $fact)"
    [statement] = parse_query("write_facts", f"// mode: write\n{told}").statements
    facts = [{"fact_id": "f1", "topic": None, "text": None}, {"fact_id": "f2", "topic": "billing"}]
    runs = list(statement.repetitions({"facts": facts}))
    [(text, given)] = bound_together(statement, runs)
    assert statement.is_together
    assert "CREATE (fact:Fact {fact_id: fact__fact_id, topic: fact__topic})" in text
    lists = {"fact__fact_id": ["f1", "f2"], "fact__topic": [None, "billing"]}
    assert given == {"count_of_rows": 2} | lists


def test_a_map_that_lacks_what_a_text_names_is_refused() -> None:
    [_, fact, _] = parse_query("write_facts", MAPS).statements
    with pytest.raises(QueryFileError, match=r"^\$commit\.fact: there is no fact$"):
        list(fact.repetitions({"commit": {"sessions": []}}))


@every("engine", ENGINES)
def test_every_fragment_is_used(engine: str) -> None:
    folder = resource_path("cypher")
    paths = [path for place in ("shared", engine) for path in (folder / place).glob("*.cypher")]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    wanted = {f"include: {path.stem}" for path in (folder / "fragments").glob("*")}
    assert {each for each in wanted if not any(each in text for text in texts)} == set()


@every("engine", ENGINES)
def test_a_header_says_nothing_that_follows_from_the_text(engine: str) -> None:
    folder = resource_path("cypher")
    for path in (path for place in ("shared", engine) for path in (folder / place).glob("*")):
        if path.is_file():
            stray = re.findall(r"^// (?:params|returns|map .*):", path.read_text(), re.MULTILINE)
            assert not stray, path.name


BY_KEY_OF_A_LIST = re.compile(r"MATCH \((?:\w+:)?\w+ \{\w+: ([^$'\s}][^}]*|\$\w+\[[^}]*)\}\)(.*)")
"""A MATCH of a node by a key that is no parameter, and what stands beside that node."""


@every("name", sorted(load_queries("embedded")))
def test_a_node_is_looked_up_by_a_key_out_of_a_list_alone(name: str) -> None:
    """With a link or a node beside it the embedded engine reads the table, once for each key."""
    for statement in load_queries("embedded")[name].statements:
        for key, beside in BY_KEY_OF_A_LIST.findall(statement.text):
            assert re.fullmatch(r"\w+", key), f"give {key} a name in a WITH before the MATCH"
            assert not beside.strip(), f"{name}: use `script for each`, or a MATCH of its own"


def test_a_look_up_beside_something_else_is_seen() -> None:
    beside = "UNWIND $ids AS id MATCH (fact:Fact {fact_id: id})-[:ABOUT]->(c)"
    in_place = "MATCH (fact:Fact {fact_id: $ids[place]})"
    assert [BY_KEY_OF_A_LIST.findall(text) for text in (beside, in_place)] == [
        [("id", "-[:ABOUT]->(c)")],
        [("$ids[place]", "")],
    ]
    assert not BY_KEY_OF_A_LIST.findall("MATCH (fact:Fact {fact_id: $id})-[:ABOUT]->(c)")


def filtered_beside_another_link(text: str) -> set[str]:
    """The links that a part of a statement filters by, where it goes along others as well."""
    found: set[str] = set()
    for part in re.split(r"\b(?:WITH|SET|RETURN|CREATE)\b", text):
        matched, _, filters = part.partition("WHERE")
        if len(re.findall(r"-\[", matched)) > 1:
            links = re.findall(r"-\[(\w+):", matched)
            found |= {link for link in links if re.search(rf"\b{link}\.", filters)}
    return found


@every("name", sorted(load_queries("embedded")))
def test_no_link_is_filtered_by_beside_another(name: str) -> None:
    """The embedded engine may forget the filter: rows come twice, and others not at all."""
    for statement in load_queries("embedded")[name].statements:
        assert not filtered_beside_another_link(statement.text), "put a WITH before WHERE"


def test_a_filter_beside_another_link_is_seen() -> None:
    matched, filtered = "MATCH (a)<-[:ONE]-(b) MATCH (b)-[link:TWO]->(c)", "WHERE link.x = 1"
    assert filtered_beside_another_link(f"{matched} {filtered} RETURN c") == {"link"}
    assert not filtered_beside_another_link(f"{matched} WITH link, c {filtered} RETURN c")


def test_an_export_reads_every_property_of_a_fact_that_has_a_place_on_its_line() -> None:
    exported = load_export_schema()["$defs"]["Fact"]["properties"]["properties"]["properties"]
    [statement] = load_queries("embedded")["list_whole_facts"].statements
    assert not [name for name in exported if f"{name}: fact.{name}" not in statement.text]
