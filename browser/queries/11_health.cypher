// Health: facts by state, disputes, questions and refusals of each contact, the one asked about first.
// shows: table
MATCH (:Agent {tenant: $tenant, agent_id: $agent_id})-[:KNOWS]->(contact:Contact)
RETURN contact.contact_id AS contact_id, contact.name AS name,
       COUNT { (contact)<-[:ABOUT]-(:Fact {state: 'live'}) } AS live,
       COUNT { (contact)<-[:ABOUT]-(:Superseded) } AS superseded,
       COUNT { (contact)<-[:ABOUT]-(:Revoked) } AS revoked,
       COUNT { (contact)<-[:ABOUT]-(:Fact {state: 'live'})-[conflict:CONFLICTS_WITH]->(:Fact {state: 'live'})
               WHERE coalesce(conflict.decided_by, '') <> 'answer' } AS disputes,
       COUNT { (contact)<-[:FOR]-(held:Decision {action: 'HOLD'})
               WHERE held.held_id IS NULL AND (held.lapses_at IS NULL OR held.lapses_at > datetime())
                 AND held.record CONTAINS '"question":"'
                 AND NOT EXISTS { (:Decision)-[:SETTLES]->(held) } } AS questions,
       COUNT { (contact)<-[:FOR]-(:Decision {action: 'REJECT'}) } AS refused
ORDER BY contact.contact_id = $contact_id DESC, contact_id
LIMIT 200
