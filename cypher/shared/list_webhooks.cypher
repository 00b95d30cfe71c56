// All webhooks that were sent to, with the state of each.
// mode: read
MATCH (webhook:Webhook)
RETURN webhook.name AS name, webhook.state AS state
ORDER BY name
