// Add to the facts' counts of recalls, and note the last one. No contact's version changes, so that no writer
// has to look again; a fact that is gone meanwhile is left out.
// mode: write
// script for each: each of used
MATCH (fact:Fact {fact_id: $each.fact_id})
SET fact.recall_count = coalesce(fact.recall_count, 0) + $each.recalls, fact.last_recalled_at = $each.at
RETURN fact.fact_id AS fact_id
