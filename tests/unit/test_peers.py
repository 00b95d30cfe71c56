"""The comparison with other systems: its notes, what its model answers, its table."""

from __future__ import annotations

import json

import pytest

from benchmarks.peers import notes
from benchmarks.peers.answers import answer
from benchmarks.peers.environments import requirement_files
from benchmarks.peers.results import Result, tables
from benchmarks.peers.systems import SYSTEMS
from tests.tables import every

MEM0 = """\
## New Messages
user: Owns an example.

## Existing Memories
{known}

## New Messages
user: Owns a kayak.


## Observation Date
2026-01-05"""

NO_CANDIDATES = "<FACT INVALIDATION CANDIDATES>\n[]\n</FACT INVALIDATION CANDIDATES>\n"
EPISODE = "<CURRENT_MESSAGE>\nDana Whitfield: Owns a kayak.\n</CURRENT_MESSAGE>\n"


def test_the_three_hundred_notes_are_all_different():
    assert len({note.text for note in notes.distinct()}) == 300


def test_no_note_is_told_for_two_purposes():
    purposes = [note.text for note in notes.distinct()]
    purposes += [note.text for number in range(len(notes.SPARE)) for note in notes.spare(number)]
    purposes += [notes.raced(number).text for number in range(8)]
    purposes += [notes.acknowledged(number, "live").text for number in range(20)]
    assert len(set(purposes)) == len(purposes)


def test_the_reader_for_mem0_takes_the_new_message_down_word_for_word():
    [memory] = answer("", MEM0.format(known="[]"))["memory"]
    assert memory["text"] == "Owns a kayak."


def test_the_reader_for_mem0_leaves_out_what_the_prompt_says_is_known():
    known = json.dumps([{"id": "0", "text": "Owns a kayak."}])
    assert answer("", MEM0.format(known=known)) == {"memory": []}


def test_the_reader_for_graphiti_makes_one_edge_whose_fact_is_the_note():
    time = "<REFERENCE_TIME>\n2026-01-05 09:00:00+00:00  # ISO\n</REFERENCE_TIME>"
    [edge] = answer("ExtractedEdges", EPISODE + time)["edges"]
    ends = (edge["source_entity_name"], edge["target_entity_name"])
    assert (*ends, edge["fact"]) == ("Dana Whitfield", "a kayak", "Owns a kayak.")
    assert edge["valid_at"] == "2026-01-05T09:00:00+00:00"


def test_the_reader_for_graphiti_calls_only_the_same_words_a_duplicate():
    known = [{"idx": 0, "fact": "Invoice 1042 is unpaid."}, {"idx": 1, "fact": "It's Jo's."}]
    listed = f"<EXISTING FACTS>\n{known}\n</EXISTING FACTS>\n{NO_CANDIDATES}"
    same = answer("EdgeDuplicate", f"{listed}<NEW FACT>\nIt's Jo's.\n</NEW FACT>")
    near = answer("EdgeDuplicate", f"{listed}<NEW FACT>\nInvoice 1043 is unpaid.\n</NEW FACT>")
    assert (same["duplicate_facts"], near["duplicate_facts"]) == ([1], [])


def test_the_reader_for_graphiti_knows_an_entity_by_its_very_name():
    new = json.dumps([{"id": 0, "name": "seat 31"}, {"id": 1, "name": "seat 32"}])
    known = json.dumps([{"candidate_id": 4, "name": "seat 32"}])
    tags = f"<ENTITIES>{new}</ENTITIES><EXISTING ENTITIES>{known}</EXISTING ENTITIES>"
    resolved = answer("NodeResolutions", tags)["entity_resolutions"]
    assert [each["duplicate_candidate_id"] for each in resolved] == [-1, 4]


def test_the_reader_for_graphiti_says_which_fact_the_news_replaces():
    known = [{"idx": 0, "fact": "Drives a Volvo."}]
    candidates = [{"idx": 1, "fact": "Lives in Leeds."}]
    listed = (
        f"<EXISTING FACTS>\n{known}\n</EXISTING FACTS>\n"
        f"<FACT INVALIDATION CANDIDATES>\n{candidates}\n</FACT INVALIDATION CANDIDATES>\n"
    )
    said = answer("EdgeDuplicate", f"{listed}<NEW FACT>\nHas moved to York.\n</NEW FACT>")
    assert said == {"duplicate_facts": [], "contradicted_facts": [1]}


def test_the_reader_for_memvara_gives_the_later_news_the_relation_of_the_earlier():
    turns = "Known predicates:\n(none yet)\n\nTurns:\n[0] user: Lives in Leeds.\n"
    claims = answer("claims", f"{turns}[1] user: Has moved to York.")["claims"]
    told = [(claim["predicate"], claim["object"], claim["source_index"]) for claim in claims]
    assert told == [("lives_in", "Leeds", 0), ("lives_in", "York", 1)]


@every(("relation", "has"), [("drives", "one"), ("owns", "many")])
def test_a_relation_by_which_a_change_is_told_has_one_value(relation, has):
    said = answer("predicate_resolution", f"new predicate: {relation}\nexisting predicates:\n")
    assert (said["canonical"], said["cardinality"]) == (None, has)


def test_our_judge_names_the_fact_that_the_news_replaces():
    facts = [{"number": 1, "text": "Drives a Volvo."}, {"number": 2, "text": "Lives in Leeds."}]
    verdicts = []
    for text in ("Has moved to York.", "Owns a kayak."):
        data = json.dumps({"note": {"text": text}, "facts": facts})
        verdicts.append(answer("answer", f"<data>\n{data}\n</data>"))
    assert [(said["relation"], said["target"]) for said in verdicts] == [
        ("replaces", 2),
        ("coexists", None),
    ]


def test_no_later_news_holds_the_word_for_the_earlier_value():
    for change in notes.changes():
        assert change.before.thing not in change.after.text


def test_an_unknown_schema_is_an_error_and_no_empty_answer():
    with pytest.raises(KeyError):
        answer("Sentiment", "How does she feel?")


def test_rows_give_the_median_of_the_rounds_and_every_round_of_copies():
    result = Result("key", "label", "door")
    result.embedding_ms, result.insert_ms, result.write_ms = [2, 2, 2], [3, 3, 3], [10, 5, 20]
    result.told, result.kept, result.copies, result.writers = 300, 299, [1, 16], "threads"
    result.kills, result.lost, result.lost_background = 20, 0, 1
    result.few_ms, result.many_ms = 4, 5
    result.changes, result.newest_first, result.stale_shown = 20, 19, 2
    times, counts = (line for line in tables([result]) if line.startswith("| label"))
    assert times == ("| label | `door` | 5.0 | 10.0 | 2.00 (1.00 to 4.00) | – | – | – | – | 1.25 |")
    assert counts == (
        "| label | 299 of 300 | – | 19 of 20 | 2 of 20 | 1, 16 | threads "
        "| 0 of 20; background door 1 of 20 |"
    )


def test_what_was_not_measured_is_a_dash():
    lines = [line for line in tables([Result("key", "label", "door")]) if "label" in line]
    assert lines == ["| label | `door`" + 8 * " | –" + " |", "| label" + 7 * " | –" + " |"]


def test_figures_survive_their_file():
    result = Result("key", "label", "door", copies=[1, 1], not_measured={"lost": "it ended"})
    assert Result.from_json(json.loads(json.dumps(result.as_json))) == result


def test_every_package_is_pinned_and_no_file_names_an_address():
    for file in requirement_files():
        lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
        assert all("==" in line and "/" not in line and "-i" not in line.split() for line in lines)


def test_every_system_of_others_has_its_requirements():
    wanted = {system.environment for system in SYSTEMS if system.environment}
    assert wanted == {file.stem for file in requirement_files()}
