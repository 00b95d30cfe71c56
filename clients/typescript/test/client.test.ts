/** The client against a running `reconciler serve`; tests/acceptance/test_typescript_client.py starts it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { createMemoryClient, MemoryError, type MemoryClient } from "graph-memory-reconciler";

const { RECONCILER_URL, RECONCILER_TOKEN, RECONCILER_OPERATOR_TOKEN } = process.env;
if (!RECONCILER_URL || !RECONCILER_TOKEN || !RECONCILER_OPERATOR_TOKEN)
  throw new Error("the tests need a server: run `make typescript`");

const agent = createMemoryClient({ baseUrl: RECONCILER_URL, token: RECONCILER_TOKEN });
const operator = createMemoryClient({ baseUrl: RECONCILER_URL, token: RECONCILER_OPERATOR_TOKEN });
const PUNE = { attribute: "city", value: "Pune" };
const GOA = { attribute: "city", value: "Goa" };

/** Each request by method and path, to compare with those that the document has. */
const asked = new Set<string>();
const platform = globalThis.fetch;
globalThis.fetch = (to, init) => {
  asked.add(`${init?.method?.toLowerCase()} ${new URL(String(to)).pathname}`);
  return platform(to, init);
};

let count = 0;
const stranger = () => `contact-${process.pid}-${++count}`;

async function all<One>(items: AsyncIterable<One>): Promise<One[]> {
  const found: One[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** The error that a call ends with. */
async function failure(call: Promise<unknown>): Promise<MemoryError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof MemoryError, String(error));
  return error;
}

/** A server that misbehaves; ends with the test. */
async function serving(
  t: { after(end: () => void): void },
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const clientOf = (baseUrl: string, others = {}): MemoryClient =>
  createMemoryClient({ baseUrl, token: RECONCILER_TOKEN, ...others });

function refuse(response: ServerResponse, problem: object, headers = {}): void {
  response.writeHead(503, { "Content-Type": "application/problem+json", ...headers });
  response.end(JSON.stringify({ type: "urn:reconciler:problem:busy", status: 503, ...problem }));
}

/** Hands a request on to the real server, and gives what it answered. */
async function passedOn(request: IncomingMessage): Promise<Response> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  const { method = "GET", url, headers } = request;
  const kept = ["authorization", "content-type", "idempotency-key"];
  const sent = Object.entries(headers).filter(([name]) => kept.includes(name)) as [string, string][];
  const body = chunks.length ? { body: Buffer.concat(chunks) } : {};
  return platform(RECONCILER_URL + url!, { method, headers: sent, ...body });
}

test("what is noted is recalled, and a new value takes the old one's place", async () => {
  const priya = agent.contact("crm", stranger());
  const first = await priya.note("Lives in Pune.", PUNE);
  assert.equal(first.answer, "Remembered as a new fact.");
  const moved = await priya.note("Lives in Goa.", GOA);
  assert.deepEqual(moved.superseded_ids, [first.fact_id]);
  const { prompt, facts } = await priya.recall("where does she live", { attribute: "city", tags: [], limit: 3 });
  assert.match(prompt, /Lives in Goa\. \[city=Goa\]/);
  assert.equal(facts[0]?.fact.slot?.value, "Goa");
  assert.match((await priya.briefing()).prompt, /Goa/);
  const { advice, reasons } = await priya.check(["city", "employer"], { act: "Send flowers." });
  assert.equal(advice, "ask");
  assert.deepEqual(reasons.map((each) => each.about), ["city", "employer"]);
});

test("what waits is asked, and answered once", async () => {
  const name = stranger();
  const held = [];
  for (const seat of ["window", "aisle", "back row"])
    held.push(await agent.contact("crm", name).note(`I guess I prefer ${seat} seats`, { importance: 0.8 }));
  const priya = operator.contact("crm", name);
  assert.equal((await all(priya.pending({ limit: 1 }))).length, 3);
  const [yes, no, off] = held.map((decision) => decision.decision_id) as [string, string, string];
  assert.equal((await priya.confirm(yes, { answered_by: "contact" })).disposal, "admit");
  await priya.reject(no);
  await priya.withdraw(off);
  assert.deepEqual(await all(priya.pending()), []);
  assert.equal((await failure(priya.confirm(no))).type, "urn:reconciler:problem:invalid-answer");
});

test("an operator settles, corrects, undoes and ends", async () => {
  const name = stranger();
  const kept = (await agent.contact("crm", name).note("Lives in Pune.", PUNE)).fact_id!;
  const priya = operator.contact("crm", name);
  await priya.note("Lives in Goa.", { ...GOA, source_kind: "operator" });
  const [dispute] = await all(priya.disputes());
  assert.equal(dispute?.facts.length, 2);
  assert.equal((await all(operator.agent("crm").disputes())).length, 1);
  assert.ok((await all(operator.agent("crm").changes())).some((change) => change.fact_id === kept));
  await priya.resolve({ keep: [kept], reason: "She said so by phone." });
  const amended = await priya.amend({ text: "Lives in Rome.", attribute: "city", value: "Rome", reason: "By phone." });
  assert.equal((await priya.value("city"))[0]?.value, "Rome");
  await priya.revert(amended.decision_id, { reason: "Wrong person." });
  assert.equal((await priya.profile())[0]?.value, "Pune");
  await priya.revoke(kept, { reason: "It is over." });
  assert.deepEqual(await priya.profile(), []);
});

test("an operator says who belongs to an account", async () => {
  const acme = stranger();
  const limit = { source_kind: "operator" } as const;
  await operator.contact("crm", `account:${acme}`).note("Never call in August.", limit);
  const priya = operator.contact("crm", stranger());
  await priya.joinAccount(acme);
  assert.equal((await priya.accounts())[0]?.slot?.value, `account:${acme}`);
  assert.equal((await priya.recall()).facts[0]?.account, acme);
});

test("an answer is kept, and found when its fact is corrected", async () => {
  const name = stranger();
  const used = [(await agent.contact("crm", name).note("Lives in Pune.", PUNE)).fact_id!];
  const { recall_id } = await agent.contact("crm", name).recall();
  const kept = await agent.contact("crm", name).recordAnswer({ recall_id, reference: "ticket-17", used });
  assert.equal(kept.verdict.action, "CITE");
  const priya = operator.contact("crm", name);
  const { decision_id } = await priya.revoke(used[0]!, { reason: "It was typed wrongly." });
  assert.equal((await priya.impact({ decision_id }))[0]?.reference, "ticket-17");
  assert.equal((await priya.impact({ fact: used[0]! })).length, 1);
});

test("an operator merges two contacts, splits them and gives one a new id", async () => {
  const [name, twin, later] = [stranger(), stranger(), stranger()];
  await agent.contact("crm", name).note("Lives in Pune.", PUNE);
  await agent.contact("crm", twin).note("Lives in Goa.", GOA);
  const priya = operator.contact("crm", name);
  await priya.identify({ act: "merge", other: twin, reason: "The same number." });
  assert.equal((await all(operator.contact("crm", twin).disputes())).length, 1);
  await priya.identify({ act: "split", other: twin, reason: "Two people." });
  await priya.identify({ act: "rename", other: later, reason: "A new id." });
  assert.equal((await operator.contact("crm", later).profile())[0]?.value, "Pune");
});

test("an operator sees why, since when and on what word", async () => {
  const name = stranger();
  const before = new Date().toISOString();
  const noted = await agent.contact("crm", name).note("Lives in Pune.", PUNE);
  const priya = operator.contact("crm", name);
  assert.equal((await priya.evidence(noted.fact_id!)).has_contacts_words, true);
  assert.equal((await priya.factHistory(noted.fact_id!)).facts.length, 1);
  assert.equal((await all(priya.history())).length, 1);
  assert.equal((await all(priya.history({ at: before }))).length, 0);
  assert.equal((await priya.decision(noted.decision_id)).decision_id, noted.decision_id);
  assert.ok((await priya.explain(noted.decision_id)).outcome);
  assert.equal((await priya.get()).contact_id, name);
  assert.ok((await priya.health()).total);
});

test("a conversation that is handed over twice is one job", async () => {
  const name = stranger();
  const messages = [{ role: "user" as const, content: "I live in Pune." }];
  const jobs = [1, 2].map(() => agent.contact("crm", name).submitSession(messages, { session_id: "chat-1" }));
  const [first, second] = await Promise.all(jobs);
  assert.equal(first?.job_id, second?.job_id);
  assert.equal((await agent.contact("crm", name).job(first!.job_id)).session_id, "chat-1");
  const priya = operator.contact("crm", name);
  assert.equal((await all(priya.jobs()))[0]?.job_id, first?.job_id);
  assert.equal((await priya.retry(first!.job_id)).job_id, first?.job_id);
  assert.ok(await priya.session("chat-1"));
});

test("erasing is for good, and has a receipt", async () => {
  const name = stranger();
  await agent.contact("crm", name).note("Lives in Pune.", PUNE);
  const priya = operator.contact("crm", name);
  const { state, receipt } = await priya.forget({ reason: "She asked." });
  assert.deepEqual([state, receipt?.remaining_ids], ["done", []]);
  assert.equal((await all(priya.erasures())).length, 1);
  assert.deepEqual((await agent.contact("crm", name).recall()).facts, []);
});

test("a list is read page by page, each item once", async () => {
  const name = stranger();
  const made = [];
  for (const city of ["Pune", "Goa", "Rome", "Lyon", "Bonn"])
    made.unshift((await agent.contact("crm", name).note(`Lives in ${city}.`, { attribute: "city", value: city })).decision_id);
  const decisions = operator.contact("crm", name).decisions({ limit: 2 });
  const { items, next } = await decisions.page();
  assert.deepEqual(items.map((item) => item.decision_id), made.slice(0, 2));
  assert.deepEqual((await decisions.page(next)).items.map((item) => item.decision_id), made.slice(2, 4));
  assert.deepEqual((await all(decisions)).map((item) => item.decision_id), made);
});

test("an operator sees all of an agent's contacts", async () => {
  const name = stranger();
  await agent.contact("crm", name).note("Collects antique clocks.");
  const crm = operator.agent("crm");
  assert.ok((await all(crm.contacts({ limit: 2 }))).some((contact) => contact.contact_id === name));
  assert.ok((await crm.find("antique clocks")).some((found) => /clocks/.test(found.fact.text)));
  assert.ok((await crm.decisions().page()).items.length > 0);
  await Promise.all([all(crm.pending()), all(crm.jobs()), crm.health()]);
  assert.equal((await operator.access()).profile, "operator");
});

test("an id with a slash, and texts of all scripts, arrive as they are", async () => {
  const priya = agent.contact("crm", `${stranger()}/ü {contact_id} $&`);
  const text = "Lives in 東京 & likes “ñandú”?";
  await priya.note(text, { attribute: "city", value: "東京" });
  assert.equal((await priya.recall("ñandú & 東京?")).facts[0]?.fact.text, text);
});

test("an id that would lead to another path is refused before it is sent", async () => {
  for (const id of ["", ".", "..", undefined as unknown as string]) {
    const error = await failure(agent.contact("crm", id).recall());
    assert.deepEqual([error.type, error.status], ["urn:reconciler:problem:invalid-request", 0]);
  }
});

test("an error has the server's remedy, and is not retried in vain", async () => {
  const error = await failure(agent.contact("crm", stranger()).profile());
  assert.deepEqual([error.type, error.status, error.isRetryable], ["urn:reconciler:problem:not-granted", 403, false]);
  assert.match(error.message, /reconciler token create --profile operator/);
  const wrong = await failure(agent.contact("crm", stranger()).note("Pune.", { value: true as never }));
  assert.match(wrong.problem.errors!.join(), /value/);
  const unknown = await failure(clientOf(RECONCILER_URL, { token: "wrong" }).access());
  assert.equal(unknown.status, 401);
  assert.match(unknown.message, /`reconciler token list` .* `reconciler token create`/);
});

test("what cannot be sent is named, with what to give instead, before anything is sent", async () => {
  for (const token of ["rcl_…", "rcl_x\n", "", undefined as unknown as string])
    assert.throws(() => clientOf(RECONCILER_URL, { token }), /^MemoryError: token .*`reconciler token create` printed/);
  for (const url of ["localhost:8766", "127.0.0.1:8766", "http://", undefined as unknown as string])
    assert.throws(() => clientOf(url), /^MemoryError: baseUrl is .* such as http:\/\/127/);
  for (const idempotency_key of ["kü€", "a\nb", ""]) {
    const error = await failure(agent.contact("crm", stranger()).note("Lives in Pune.", { idempotency_key }));
    assert.match(error.message, /^idempotency_key cannot be ".*": it travels in a header; use letters/);
  }
});

test("a note that was carried out but not answered is sent again, and decided once", async (t) => {
  let seen = 0;
  const url = await serving(t, async (request, response) => {
    const answer = await passedOn(request);
    const body = await answer.text();
    if (++seen === 1) return void request.socket.destroy();
    response.writeHead(answer.status, { "Content-Type": "application/json" }).end(body);
  });
  const name = stranger();
  const decision = await clientOf(url).contact("crm", name).note("Lives in Pune.", PUNE);
  assert.deepEqual([seen, decision.replayed], [2, true]);
  assert.equal((await all(operator.contact("crm", name).decisions())).length, 1);
});

test("a note that got no answer is sent again with the error's key, and decided once", async (t) => {
  const url = await serving(t, async (request) => {
    await passedOn(request);
    request.socket.destroy();
  });
  const name = stranger();
  const lost = await failure(clientOf(url, { retryMs: 0 }).contact("crm", name).note("Lives in Pune.", PUNE));
  assert.equal(lost.isUncertain, true);
  const fields = { ...PUNE, idempotency_key: lost.idempotencyKey };
  assert.equal((await agent.contact("crm", name).note("Lives in Pune.", fields)).replayed, true);
});

test("a call outlasts a restart of the server", async (t) => {
  const server = createServer(async (request, response) => {
    const answer = await passedOn(request);
    response.writeHead(answer.status, { "Content-Type": "application/json" }).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const restart = setTimeout(() => server.listen(port, "127.0.0.1"), 3_000);
  t.after(() => (clearTimeout(restart), server.closeAllConnections(), server.close()));
  assert.equal((await clientOf(`http://127.0.0.1:${port}`).access()).profile, "agent");
});

test("a correction that was not answered is not sent again", async (t) => {
  let seen = 0;
  const url = await serving(t, (request) => void (++seen, request.socket.destroy()));
  const priya = clientOf(url).contact("crm", "priya");
  const error = await failure(priya.amend({ text: "Lives in Rome.", attribute: "city", reason: "By phone." }));
  assert.deepEqual([seen, error.isUncertain, error.isRetryable], [1, true, true]);
});

test("a retryable problem is sent again after the time that the server names", async (t) => {
  let seen = 0;
  const began = Date.now();
  const url = await serving(t, async (request, response) => {
    if (++seen === 1) return refuse(response, { is_retryable: true, detail: "busy" }, { "Retry-After": "1" });
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(await (await passedOn(request)).text());
  });
  await clientOf(url).contact("crm", stranger()).recall();
  assert.equal(seen, 2);
  assert.ok(Date.now() - began >= 1000);
});

test("retries end, and a wait that is too long is not begun", async (t) => {
  let seen = 0;
  let wait = "0";
  const url = await serving(t, (_, response) => {
    seen += 1;
    refuse(response, { is_retryable: true, detail: "busy" }, { "Retry-After": wait });
  });
  const began = Date.now();
  assert.equal((await failure(clientOf(url, { retryMs: 1_000 }).access())).message, "busy");
  assert.ok(seen > 2 && Date.now() - began >= 1_000 && Date.now() - began < 3_000);
  wait = "3600";
  const before = seen;
  assert.equal((await failure(clientOf(url).access())).retryAfterMs, 3_600_000);
  assert.equal(seen, before + 1);
});

test("a server that is silent, away or another is told apart", async (t) => {
  const silent = await serving(t, () => {});
  const late = await failure(clientOf(silent, { timeoutMs: 100, retryMs: 0 }).access());
  assert.match(late.message, /did not answer within 100 ms/);
  const away = await failure(clientOf("http://127.0.0.1:1", { retryMs: 0 }).access());
  assert.match(away.message, /is `reconciler serve` running there\?/);
  const other = await serving(t, (_, response) => void response.end("<html>"));
  assert.match((await failure(clientOf(other).access())).message, /check baseUrl/);
});

test("a signal ends a call with its reason", async (t) => {
  const silent = await serving(t, () => {});
  const left = new AbortController();
  const call = clientOf(silent).contact("crm", "priya", left.signal).recall();
  left.abort(new Error("the user has left"));
  await assert.rejects(call, /the user has left/);
});

test("the address may be the one that `reconciler serve` prints", async () => {
  assert.equal((await clientOf(`${RECONCILER_URL}/v1`).access()).profile, "agent");
});

after(() => {
  const document = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf-8"));
  const missing = Object.entries<object>(document.paths)
    .filter(([path]) => path.startsWith("/v1/"))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`))
    .filter((one) => {
      const pattern = new RegExp(`^${one.replace(/\{\w+\}/g, "[^/]+")}$`);
      return ![...asked].some((each) => pattern.test(each));
    });
  assert.deepEqual(missing, [], "operations that no test has called");
});
