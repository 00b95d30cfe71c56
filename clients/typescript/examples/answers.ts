import { createMemoryClient } from "graph-memory-reconciler";

const { RECONCILER_URL: baseUrl = "http://127.0.0.1:8766" } = process.env;
const { RECONCILER_TOKEN = "", RECONCILER_OPERATOR_TOKEN = "" } = process.env;
const agent = createMemoryClient({ baseUrl, token: RECONCILER_TOKEN });
const operator = createMemoryClient({ baseUrl, token: RECONCILER_OPERATOR_TOKEN });
const elif = operator.contact("crm", "elif");

// The agent puts this question to the contact. Your code records the contact's answer.
const held = await agent.contact("crm", "elif").note("Has been diagnosed with diabetes.");
console.log(held.answer);
for await (const { question } of elif.pending()) console.log("waits:", question);
console.log((await elif.confirm(held.decision_id, { answered_by: "contact" })).answer);

// The contact's word is trusted more than yours, so yours does not replace it: both are in dispute.
await agent.contact("crm", "elif").note("Lives in Pune.", { attribute: "city", value: "Pune" });
await elif.note("Lives in Goa.", { attribute: "city", value: "Goa", source_kind: "operator" });
for await (const { question, facts } of elif.disputes()) {
  console.log(question);
  const keep = facts.flatMap((fact) => (fact.slot?.value === "Goa" ? fact.fact_id : []));
  await elif.resolve({ keep, reason: "She said so by phone." });
}
console.log((await elif.value("city")).map((current) => current.value));
