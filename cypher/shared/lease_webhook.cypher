// Take a webhook, so that only one worker sends; no row means that another one has it. The first SET takes the
// lock; a long text that is set to itself comes back damaged from the embedded engine. If the answer was lost and the call repeated, it has this lease already.
// mode: write
MERGE (webhook:Webhook {name: $name})
SET webhook.locked_by = $lease_id
WITH webhook
WHERE webhook.leased_until IS NULL OR webhook.leased_until <= $now OR webhook.leased_by = $lease_id
SET webhook.leased_by = $lease_id, webhook.leased_until = $until
RETURN webhook.state AS state
