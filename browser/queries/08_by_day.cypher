// By day: how many notes were added, superseded, skipped, held and refused on each day (UTC).
// shows: table
MATCH (:Agent {tenant: $tenant, agent_id: $agent_id})-[:KNOWS]->(:Contact {contact_id: $contact_id})<-[:FOR]-(decision:Decision)
WITH date(decision.at) AS day, collect(decision.action) AS actions
RETURN day, size(actions) AS decisions,
       size([action IN actions WHERE action = 'ADD']) AS added,
       size([action IN actions WHERE action = 'UPDATE']) AS superseded,
       size([action IN actions WHERE action = 'SKIP']) AS said_again,
       size([action IN actions WHERE action = 'HOLD']) AS held,
       size([action IN actions WHERE action = 'REJECT']) AS refused
ORDER BY day DESC
LIMIT 100
