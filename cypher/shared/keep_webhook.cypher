// Record what was sent, and keep the lease; no row means that another worker has taken it.
// mode: write
MATCH (webhook:Webhook {name: $name})
SET webhook.locked_by = $lease_id
WITH webhook
WHERE webhook.leased_by = $lease_id
SET webhook.state = $state, webhook.leased_until = $until
RETURN webhook.name AS name
