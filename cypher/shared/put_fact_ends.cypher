// Set the ends of facts that a forgotten plan was to end; facts that ended meanwhile are left alone.
// mode: write
// script for each: each of ends
MATCH (fact:Fact {fact_id: $each.fact_id}) WHERE fact.state IN ['live', 'expired', 'archived']
SET fact.valid_to = $each.valid_to, fact.expires_at = $each.expires_at
RETURN fact.fact_id AS fact_id
