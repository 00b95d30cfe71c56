"""The shipped schema of an export has a place for all that the tables hold."""

from __future__ import annotations

import json
import re

from reconciler.service.checking.lines import KEY_OF, LINKS
from reconciler.service.stores.contact_store import LINK_PROPERTIES
from tools.export_schema import ROOT, TARGET, as_text


def test_the_shipped_schema_of_an_export_is_what_its_script_makes_of_the_tables() -> None:
    assert TARGET.read_text(encoding="utf-8") == as_text()


def test_links_that_are_written_a_page_at_a_time_lose_no_property() -> None:
    schema = json.loads(TARGET.read_text(encoding="utf-8"))["$defs"]
    one_by_one = {"SUPERSEDES", "CONFLICTS_WITH"}
    for kind in set(LINKS) - one_by_one:
        held = schema[kind]["properties"]["properties"]["properties"]
        assert set(held) == set(LINK_PROPERTIES.get(kind, ()))


def test_every_table_of_the_schema_has_a_place_in_an_export() -> None:
    """A new label or relationship needs its queries, and a section in ``restore_*.cypher``."""
    migrations = (ROOT / "cypher" / "embedded" / "migrations").glob("*.cypher")
    text = "".join(path.read_text(encoding="utf-8") for path in migrations)
    tables = set(re.findall(r"CREATE (?:NODE|REL) TABLE IF NOT EXISTS `?(\w+)", text))
    implied = {"Agent", "Store", "Webhook", "KNOWS", "ABOUT", "FOR", "CONCERNS", "ERASES"}
    assert tables == {*KEY_OF, *LINKS, *implied}
