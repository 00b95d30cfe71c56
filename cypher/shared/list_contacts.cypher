// The contacts of an agent, by id, with what is known about each in numbers. A lifetime ends without
// a write, so of what has not ended the time decides.
// mode: read
// params: agent_key, now
// returns: tenant, agent_id, contact_id, name, live_facts, expired_facts, archived_facts, superseded_facts, revoked_facts, erased_facts, facts, last_decision_at, recalls, empty_recalls
MATCH (agent:Agent {agent_key: $agent_key})-[:KNOWS]->(contact:Contact)
OPTIONAL MATCH (contact)<-[:ABOUT]-(fact:Fact)
WITH contact, count(fact) AS facts,
     count(CASE WHEN fact.state IN ['live', 'expired'] AND coalesce(fact.expires_at > $now, true)
                THEN 1 END) AS live_facts,
     count(CASE WHEN fact.state IN ['live', 'expired'] AND fact.expires_at <= $now
                THEN 1 END) AS expired_facts,
     count(CASE WHEN fact.state = 'archived' THEN 1 END) AS archived_facts,
     count(CASE WHEN fact.state = 'superseded' THEN 1 END) AS superseded_facts,
     count(CASE WHEN fact.state = 'revoked' THEN 1 END) AS revoked_facts,
     count(CASE WHEN fact.state = 'erased' THEN 1 END) AS erased_facts
RETURN contact.tenant AS tenant, contact.agent_id AS agent_id, contact.contact_id AS contact_id,
       contact.name AS name, live_facts, expired_facts, archived_facts, superseded_facts,
       revoked_facts, erased_facts, facts, contact.last_decision_at AS last_decision_at,
       coalesce(contact.recalls, 0) AS recalls, coalesce(contact.empty_recalls, 0) AS empty_recalls
ORDER BY contact_id
