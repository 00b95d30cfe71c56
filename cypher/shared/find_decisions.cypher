// The records of decisions about a contact by their ids, in no order. A decision about another contact gives
// no row, as if it did not exist. The contact's key stands in the same MATCH on purpose: without it one
// engine scans the decisions of the whole store.
// mode: read
// script for each: wanted_id of decision_ids
MATCH (decision:Decision {decision_id: $wanted_id})-[:`FOR`]->(contact:Contact {contact_key: $contact_key})
RETURN decision.decision_id AS decision_id, decision.record AS record,
       decision.correction AS correction, decision.at AS at
