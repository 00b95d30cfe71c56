// A decision may end several facts now.
MATCH (decision:Decision) WHERE decision.superseded_id IS NOT NULL
SET decision.superseded_ids = [decision.superseded_id]
REMOVE decision.superseded_id;
