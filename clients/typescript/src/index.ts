/**
 * The memory of what agents know about their contacts, over the HTTP API of `reconciler serve`.
 *
 * Calls have the names of the Python package, in camelCase. What is sent and what comes back has the
 * API's own names; `api.ts`, which is generated from its document, has their types.
 */
import type { components, operations, paths } from "./api.js";
import { Caller, type Answer, type ClientOptions, type Optional } from "./calling.js";

export { MemoryError, type ClientOptions } from "./calling.js";
export type { components, operations, paths } from "./api.js";

/** The types that the API names, such as `Schemas["Decision"]`. */
export type Schemas = components["schemas"];

type Query<Name extends keyof operations> = Optional<
  Omit<NonNullable<operations[Name]["parameters"]["query"]>, "after">
>;
/** A body of which the server knows the rest. */
type Body<Name extends keyof Schemas, Needed extends keyof Schemas[Name] = never> = Optional<
  Schemas[Name]
> &
  Pick<Schemas[Name], Needed>;
type Item<List> = List extends { items: (infer One)[] } ? One : never;

/** A list that is read as it is needed: `for await` gives its items, `page` one page of them. */
export interface Pages<One> extends AsyncIterable<One> {
  page(after?: string | null): Promise<{ items: One[]; next: string | null }>;
}

const AGENT = "/v1/agents/{agent_id}";
const CONTACT = `${AGENT}/contacts/{contact_id}`;
const DECISION = `${CONTACT}/decisions/{decision_id}`;
const FACT = `${CONTACT}/facts/{fact_id}`;
const REPEATS = { mayRepeat: true };

/** A client of the HTTP API; it keeps no connection that has to be closed. */
export function createMemoryClient(options: ClientOptions): MemoryClient {
  return new MemoryClient(new Caller(options));
}

/** What a token reaches. `caller` carries out any operation of the API by its path. */
export class MemoryClient {
  constructor(readonly caller: Caller) {}

  /** The memory about one contact; `signal` ends its calls. */
  contact(agentId: string, contactId: string, signal?: AbortSignal): ContactMemory {
    const caller = signal ? new Caller({ ...this.caller.options, signal }) : this.caller;
    return new ContactMemory(caller, { agent_id: agentId, contact_id: contactId });
  }

  /** The memory of one agent, for an operator. */
  agent(agentId: string): AgentMemory {
    return new AgentMemory(this.caller, { agent_id: agentId });
  }

  /** What this token may reach. */
  access() {
    return this.caller.get("/v1/access", undefined);
  }
}

class Bound<Ids extends object> {
  constructor(
    protected readonly caller: Caller,
    protected readonly ids: Ids,
  ) {}

  protected list<At extends keyof paths>(
    path: At,
    query: object,
  ): Pages<Item<Answer<paths[At]["get"]>>> {
    const page: Pages<Item<Answer<paths[At]["get"]>>>["page"] = (after) =>
      this.caller.get(path, this.ids as never, { ...query, after }) as never;
    return {
      page,
      async *[Symbol.asyncIterator]() {
        let after: string | null = null;
        do {
          const { items, next }: Awaited<ReturnType<typeof page>> = await page(after);
          yield* items;
          after = next;
        } while (after !== null);
      },
    };
  }
}

/** The memory about one contact. An agent's token opens what stands before `get`. */
export class ContactMemory extends Bound<{ agent_id: string; contact_id: string }> {
  /** Remembers one fact, a sentence that stands alone; the decision says what was done with it. */
  note(
    text: string,
    fields: Omit<Body<"NoteBody">, "text"> & { idempotency_key?: string | undefined } = {},
  ) {
    const { idempotency_key: idempotencyKey = crypto.randomUUID(), ...rest } = fields;
    const sent = { ...rest, text };
    return this.caller.post(`${CONTACT}/notes`, this.ids, sent, { idempotencyKey, ...REPEATS });
  }

  /** The facts that fit a query, and what always holds; `prompt` has them for a model. */
  recall(query = "", options: Omit<Query<"recall">, "query"> = {}) {
    return this.caller.get(`${CONTACT}/recall`, this.ids, { ...options, query });
  }

  /** What to know, and what to ask, when a conversation opens. */
  briefing(query = "", options: Omit<Query<"briefing">, "query"> = {}) {
    return this.caller.get(`${CONTACT}/briefing`, this.ids, { ...options, query });
  }

  /** Whether an act may rest on what is known: go, ask or stop, with reasons. */
  check(about: string[], options: Omit<Query<"check">, "about"> = {}) {
    return this.caller.get(`${CONTACT}/check`, this.ids, { ...options, about });
  }

  /** Records which facts a reply or an act used, so that a correction finds it. */
  recordAnswer(answer: Body<"CitationBody">) {
    return this.caller.post(`${CONTACT}/answers`, this.ids, answer, REPEATS);
  }

  /** Hands a conversation over; the job says how far its reading has got. */
  submitSession(
    messages: Schemas["MessageBody"][],
    options: Omit<Body<"SessionBody">, "messages"> = {},
  ) {
    return this.caller.post(`${CONTACT}/sessions`, this.ids, { ...options, messages }, REPEATS);
  }

  /** How far a conversation that was handed over has got. */
  job(job_id: string) {
    return this.caller.get(`${CONTACT}/jobs/{job_id}`, { ...this.ids, job_id });
  }

  /** The contact in numbers. */
  get() {
    return this.caller.get(CONTACT, this.ids);
  }

  /** The current values of all attributes: since when, and who said it. */
  profile() {
    return this.caller.get(`${CONTACT}/profile`, this.ids);
  }

  /** An attribute's current value; several where it holds many, or is in dispute. */
  value(attribute: string, query: Query<"value"> = {}) {
    return this.caller.get(`${CONTACT}/values/{attribute}`, { ...this.ids, attribute }, query);
  }

  /** The accounts that the contact belongs to, as facts; to revoke one of them ends it. */
  accounts(query: Query<"list_accounts"> = {}) {
    return this.caller.get(`${CONTACT}/accounts`, this.ids, query);
  }

  /** Makes the contact belong to an account, whose facts its recalls then tell too. */
  joinAccount(account: string, options: Omit<Body<"AccountBody">, "account"> = {}) {
    return this.caller.post(`${CONTACT}/accounts`, this.ids, { ...options, account }, REPEATS);
  }

  /** What superseded what, when and why; as of an instant, if it is given. */
  history(query: Query<"history"> = {}) {
    return this.list(`${CONTACT}/history`, query);
  }

  /** The history that a fact is in. */
  factHistory(fact_id: string, query: Query<"fact_history"> = {}) {
    return this.caller.get(`${FACT}/history`, { ...this.ids, fact_id }, query);
  }

  /** What a fact rests on: each turn, who said it, when and where. */
  evidence(fact_id: string) {
    return this.caller.get(`${FACT}/evidence`, { ...this.ids, fact_id });
  }

  /** The decisions, refusals among them, the newest first. */
  decisions(query: Query<"list_decisions"> = {}) {
    return this.list(`${CONTACT}/decisions`, query);
  }

  /** One decision, with what it was compared with. */
  decision(decision_id: string) {
    return this.caller.get(DECISION, { ...this.ids, decision_id });
  }

  /** Why a decision was made, in plain words. */
  explain(decision_id: string) {
    return this.caller.get(`${DECISION}/explanation`, { ...this.ids, decision_id });
  }

  /** Yes to what waits; `text` is the fact in the words of the answer, where they differ. */
  confirm(decision_id: string, answer: Body<"ConfirmationBody"> = {}) {
    return this.caller.post(`${DECISION}/confirm`, { ...this.ids, decision_id }, answer, REPEATS);
  }

  /** No to what waits; it is not asked again. */
  reject(decision_id: string, answer: Body<"AnswerBody"> = {}) {
    return this.caller.post(`${DECISION}/reject`, { ...this.ids, decision_id }, answer, REPEATS);
  }

  /** Takes back what waits, so that nothing is asked. */
  withdraw(decision_id: string, answer: Body<"AnswerBody"> = {}) {
    return this.caller.post(`${DECISION}/withdraw`, { ...this.ids, decision_id }, answer, REPEATS);
  }

  /** Undoes a decision: what it wrote no longer holds, and what it ended holds again. */
  revert(decision_id: string, why: Body<"ReversalBody", "reason">) {
    return this.caller.post(`${DECISION}/revert`, { ...this.ids, decision_id }, why);
  }

  /** Merges another contact into this one, takes that back, or gives this one another id. */
  identify(who: Schemas["IdentityBody"]) {
    return this.caller.post(`${CONTACT}/identity`, this.ids, who);
  }

  /** What waits for an answer: held notes, then disputes. */
  pending(query: Query<"list_pending"> = {}) {
    return this.list(`${CONTACT}/pending`, query);
  }

  /** Facts that contradict each other. */
  disputes(query: Query<"list_disputes"> = {}) {
    return this.list(`${CONTACT}/disputes`, query);
  }

  /** Settles a dispute: the facts to keep hold, and those against them end; or none holds. */
  resolve(what: Body<"ResolutionBody", "reason">) {
    return this.caller.post(`${CONTACT}/disputes/resolve`, this.ids, what);
  }

  /** Corrects a fact in the operator's name. */
  amend(what: Schemas["AmendmentBody"]) {
    return this.caller.post(`${CONTACT}/amendments`, this.ids, what);
  }

  /** Ends a fact without replacing it; its history is kept. */
  revoke(fact_id: string, why: Body<"RevocationBody", "reason">) {
    return this.caller.post(`${FACT}/revoke`, { ...this.ids, fact_id }, why);
  }

  /** Erases what is known, or a part, for good; the answer holds the receipt. */
  forget(what: Body<"ForgettingBody", "reason">) {
    return this.caller.post(`${CONTACT}/erasures`, this.ids, what, REPEATS);
  }

  /** The erasures of the contact, the oldest first. */
  erasures(query: Query<"list_erasures"> = {}) {
    return this.list(`${CONTACT}/erasures`, query);
  }

  /** The answers that used a fact, or that a decision corrected, the newest first. */
  impact(query: Query<"impact">) {
    return this.caller.get(`${CONTACT}/impact`, this.ids, query);
  }

  /** A conversation as it is kept, and what was decided about it. */
  session(session_id: string) {
    return this.caller.get(`${CONTACT}/sessions/{session_id}`, { ...this.ids, session_id });
  }

  /** The conversations that were handed over, the newest first. */
  jobs(query: Query<"list_jobs"> = {}) {
    return this.list(`${CONTACT}/jobs`, query);
  }

  /** Begins a dead or waiting job again now. */
  retry(job_id: string) {
    return this.caller.post(`${CONTACT}/jobs/{job_id}/retry`, { ...this.ids, job_id }, undefined);
  }

  /** The health of what is known, in numbers. */
  health() {
    return this.caller.get(`${CONTACT}/health`, this.ids);
  }
}

/** The memory of one agent: what an operator's token opens of all of its contacts. */
export class AgentMemory extends Bound<{ agent_id: string }> {
  /** The contacts, by id. */
  contacts(query: Query<"list_contacts"> = {}) {
    return this.list(`${AGENT}/contacts`, query);
  }

  /** The facts of all contacts that are nearest to a query. */
  find(query: string, options: Omit<Query<"find">, "query"> = {}) {
    return this.caller.get(`${AGENT}/find`, this.ids, { ...options, query });
  }

  /** The decisions about all contacts, refusals among them, the newest first. */
  decisions(query: Query<"list_agent_decisions"> = {}) {
    return this.list(`${AGENT}/decisions`, query);
  }

  /** Every decision and erasure in one order; keep the `cursor` of the last one as `after`. */
  changes(query: Query<"list_agent_changes"> = {}) {
    return this.list(`${AGENT}/changes`, query);
  }

  /** What waits for an answer, of all contacts. */
  pending(query: Query<"list_agent_pending"> = {}) {
    return this.list(`${AGENT}/pending`, query);
  }

  /** Facts that contradict each other, of all contacts. */
  disputes(query: Query<"list_agent_disputes"> = {}) {
    return this.list(`${AGENT}/disputes`, query);
  }

  /** The conversations that were handed over, the newest first. */
  jobs(query: Query<"list_agent_jobs"> = {}) {
    return this.list(`${AGENT}/jobs`, query);
  }

  /** The health of the agent's memory; every fact is read, so it takes a while. */
  health() {
    return this.caller.get(`${AGENT}/health`, this.ids);
  }
}
