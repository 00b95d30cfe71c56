#!/usr/bin/env bash
# neo4j-graphrag 1.22.0, with neo4j 6.4.1.
#
# Most engineers expect that a query that is valid Cypher reaches the database as
# the model wrote it.
#
# Seen: Text2CypherRetriever puts backticks around labels with a space, and takes
# the words behind a label for part of it. WHERE (n:Person OR n:Company) is sent
# as WHERE (n:`Person OR n`:Company), which asks for two labels at once, one of
# them unknown. (n:Person WHERE n.age > 3) is sent with the label `Person WHERE
# n`. Texts in quotes change, too: 'Milk, call mum: now' gets backticks. The same
# condition without parentheses is left alone.
#
# Why it matters: a right query finds no rows or is an error, and the answer is
# that nothing is known.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'neo4j-graphrag==1.22.0' 'neo4j==6.4.1'

cat > check.py <<'PY'
import logging
from unittest.mock import MagicMock

from neo4j import Driver, Record
from neo4j_graphrag.llm import LLMResponse
from neo4j_graphrag.retrievers import Text2CypherRetriever

logging.disable(logging.CRITICAL)
queries = (
    "MATCH (n) WHERE (n:Person OR n:Company) RETURN n",
    "MATCH (n) WHERE n:Person OR n:Company RETURN n",
    "MATCH (n) WHERE NOT (n:Person AND n.hidden) RETURN n",
    "MATCH (n:Person WHERE n.age > 3) RETURN n",
    "MATCH (n:Note {text: 'Milk, call mum: now'}) RETURN n",
    "MATCH (n:Note) WHERE n.text CONTAINS '(see: the shop)' RETURN n",
    "MATCH (n:Note) RETURN n",
)
for query in queries:
    driver = MagicMock(spec=Driver)
    rows = [Record({"versions": ["2026.8.0"], "edition": "enterprise"})]
    driver.execute_query.return_value = (rows, MagicMock(query_type="r"), [])
    model = MagicMock()
    model.invoke.return_value = LLMResponse(content=query)
    Text2CypherRetriever(driver, model, neo4j_schema="(any)").search("anything")
    sent = driver.execute_query.call_args.kwargs.get("query_") or driver.execute_query.call_args.args[0]
    print("written", query)
    print("  sent ", "the same" if sent == query else sent)
PY

cat > expected.txt <<'TXT'
written MATCH (n) WHERE (n:Person OR n:Company) RETURN n
  sent  MATCH (n) WHERE (n:`Person OR n`:Company) RETURN n
written MATCH (n) WHERE n:Person OR n:Company RETURN n
  sent  the same
written MATCH (n) WHERE NOT (n:Person AND n.hidden) RETURN n
  sent  MATCH (n) WHERE NOT (n:`Person AND n`.hidden) RETURN n
written MATCH (n:Person WHERE n.age > 3) RETURN n
  sent  MATCH (n:`Person WHERE n`.age > 3) RETURN n
written MATCH (n:Note {text: 'Milk, call mum: now'}) RETURN n
  sent  MATCH (n:Note {text: 'Milk, `call mum`: now'}) RETURN n
written MATCH (n:Note) WHERE n.text CONTAINS '(see: the shop)' RETURN n
  sent  MATCH (n:Note) WHERE n.text CONTAINS '(see:`the shop`)' RETURN n
written MATCH (n:Note) RETURN n
  sent  the same
TXT

venv/bin/python -I check.py > seen.txt 2> errors.txt || cat errors.txt >> seen.txt
cat seen.txt
if diff -u expected.txt seen.txt > difference.txt; then
    echo "As described."
else
    cat difference.txt
    echo "This has changed: the output is not the one described above."
    exit 1
fi
