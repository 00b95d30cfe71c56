/** Calling: requests, time-outs, repeats and errors, the same for every operation. */
import type { components, paths } from "./api.js";

type Problem = components["schemas"]["ProblemDetails"];
type Path = keyof paths;
type Parameters<Operation, In extends string> = Operation extends {
  parameters: { [key in In]?: infer Given };
}
  ? [Given] extends [never]
    ? undefined
    : Given
  : never;
/** All of it may be left out, or be undefined, also under `exactOptionalPropertyTypes`. */
export type Optional<Given> = { [Name in keyof Given]?: Given[Name] | undefined };
type Body<Operation> = Operation extends {
  requestBody: { content: { "application/json": infer Given } };
}
  ? Optional<Given>
  : undefined;
type Json<Status, Response> = [Status, Response] extends [
  200 | 202,
  { content: { "application/json": infer Given } },
]
  ? Given
  : never;
/** What an operation answers. */
export type Answer<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in keyof Responses]: Json<Status, Responses[Status]> }[keyof Responses]
  : never;

export interface ClientOptions {
  /** Where `reconciler serve` listens, such as `http://127.0.0.1:8766`. */
  baseUrl: string;
  /** What `reconciler token create` printed. */
  token: string;
  /** How long one attempt may take; 30,000. */
  timeoutMs?: number | undefined;
  /**
   * For how long a call is sent again after a failure that may pass, such as a restart of the
   * server; 10,000. The waits double. With 0 it is sent once.
   */
  retryMs?: number | undefined;
  /** Ends the calls, for example when the user has left. */
  signal?: AbortSignal | undefined;
}

/** What went wrong. `message` says what to do; `problem` is what the server said (RFC 9457). */
export class MemoryError extends Error {
  override readonly name = "MemoryError";
  /** No answer came: the call may have been carried out all the same. */
  readonly isUncertain: boolean;
  /** How long the server asks to wait. */
  readonly retryAfterMs: number | undefined;
  /** The key that a note was sent with: send the note again with it, and it is decided once. */
  idempotencyKey: string | undefined;

  constructor(
    readonly problem: Problem,
    told: { cause?: unknown; isUncertain?: boolean; retryAfterMs?: number | undefined } = {},
  ) {
    super(problem.detail, { cause: told.cause });
    this.isUncertain = told.isUncertain ?? false;
    this.retryAfterMs = told.retryAfterMs;
  }

  /** Which problem: `urn:reconciler:problem:` and words that never change. */
  get type(): string {
    return this.problem.type;
  }

  /** The HTTP status; 0 without an answer. */
  get status(): number {
    return this.problem.status;
  }

  /** Whether the same call may succeed later. */
  get isRetryable(): boolean {
    return this.problem.is_retryable;
  }
}

/** Carries out any operation of the API, by its path. */
export class Caller {
  readonly #root: string;

  constructor(readonly options: ClientOptions) {
    this.#root = rootOf(options.baseUrl);
    checkToken(options.token);
  }

  /** Reads. Where the path has a name in braces, `ids` has what it stands for. */
  async get<At extends Path>(
    path: At,
    ids: Parameters<paths[At]["get"], "path">,
    query: Optional<Parameters<paths[At]["get"], "query">> | {} = {},
  ): Promise<Answer<paths[At]["get"]>> {
    const asked = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      for (const one of [value].flat()) if (one != null) asked.append(name, String(one));
    return this.#answer(`${filled(path, ids)}?${asked}`, { method: "GET" }, true);
  }

  /** Acts. `mayRepeat`: a second request changes nothing if the first was carried out. */
  async post<At extends Path>(
    path: At,
    ids: Parameters<paths[At]["post"], "path">,
    body: Body<paths[At]["post"]>,
    { mayRepeat = false, idempotencyKey }: { mayRepeat?: boolean; idempotencyKey?: string } = {},
  ): Promise<Answer<paths[At]["post"]>> {
    const headers = idempotencyKey === undefined ? {} : keyed(idempotencyKey);
    const sent = { method: "POST", headers, ...(body && { body: JSON.stringify(body) }) };
    try {
      return await this.#answer(filled(path, ids), sent, mayRepeat);
    } catch (error) {
      if (error instanceof MemoryError) error.idempotencyKey = idempotencyKey;
      throw error;
    }
  }

  /** What the server calls retryable it has not done; after no answer, `mayRepeat` decides. */
  async #answer<Data>(path: string, sent: RequestInit, mayRepeat: boolean): Promise<Data> {
    const { timeoutMs = 30_000, retryMs = 10_000, signal } = this.options;
    let until: number | undefined;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(path, sent, timeoutMs);
      } catch (cause) {
        signal?.throwIfAborted();
        const error = cause instanceof MemoryError ? cause : this.#unanswered(cause, timeoutMs);
        until ??= Date.now() + retryMs;
        const leftMs = until - Date.now();
        const growingMs = 200 * 2 ** attempt * (0.5 + Math.random());
        const waitMs = Math.max(error.retryAfterMs ?? 0, Math.min(growingMs, leftMs));
        const mayHelp = error.isRetryable && (mayRepeat || !error.isUncertain);
        if (!mayHelp || leftMs <= 0 || waitMs > leftMs) throw error;
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  async #attempt<Data>(path: string, sent: RequestInit, timeoutMs: number): Promise<Data> {
    const { token, signal } = this.options;
    const late = AbortSignal.timeout(timeoutMs);
    const response = await fetch(this.#root + path, {
      ...sent,
      headers: {
        ...sent.headers,
        ...(sent.body && { "Content-Type": "application/json" }),
        Authorization: `Bearer ${token}`,
      },
      signal: signal ? AbortSignal.any([signal, late]) : late,
    });
    const text = await response.text();
    const kind = response.headers.get("Content-Type") ?? "";
    if (response.ok && kind.startsWith("application/json")) return JSON.parse(text);
    if (!kind.startsWith("application/problem+json")) throw this.#strange(response.status);
    const seconds = response.headers.get("Retry-After");
    throw new MemoryError(JSON.parse(text), {
      retryAfterMs: seconds === null ? undefined : Number(seconds) * 1000,
    });
  }

  #unanswered(cause: unknown, timeoutMs: number): MemoryError {
    const isLate = cause instanceof Error && cause.name === "TimeoutError";
    const detail = isLate
      ? `${this.#root} did not answer within ${timeoutMs} ms`
      : `${this.#root} cannot be reached; is \`reconciler serve\` running there?`;
    return new MemoryError(problem("no-answer", detail, 0, true), { cause, isUncertain: true });
  }

  /** What stands between answered, or it is another server. */
  #strange(status: number): MemoryError {
    const detail = `${this.#root} answered ${status}, but not as the HTTP API does; check baseUrl`;
    return new MemoryError(problem("not-the-api", detail, status, status > 501), {
      isUncertain: true,
    });
  }
}

function problem(kind: string, detail: string, status = 0, is_retryable = false): Problem {
  const type = `urn:reconciler:problem:${kind}`;
  return { type, title: kind, status, detail, is_retryable, errors: null, decision_ids: null };
}

function wrongInput(detail: string): MemoryError {
  return new MemoryError(problem("invalid-request", detail));
}

/** The server's address, without the `/v1` that `reconciler serve` prints. */
function rootOf(baseUrl: string): string {
  if (/^https?:/i.test(baseUrl) && URL.canParse(baseUrl))
    return new URL(baseUrl).href.replace(/\/(v1\/?)?$/, "");
  const given = JSON.stringify(baseUrl);
  throw wrongInput(
    `baseUrl is ${given}; give the address that \`reconciler serve\` prints, with http:// or ` +
      "https://, such as http://127.0.0.1:8766",
  );
}

/** Without repeating it: an error may be shown or logged. */
function checkToken(token: string): void {
  const remedy = "give the whole line that `reconciler token create` printed";
  if (!token) throw wrongInput(`token is empty; ${remedy}`);
  if (!/^[\x21-\x7e]+$/.test(token))
    throw wrongInput(`token has a space, a line end or a sign such as "…" in it; ${remedy}`);
}

/** The header; one holds Latin-1 alone. */
function keyed(idempotencyKey: string): { "Idempotency-Key": string } {
  if (/^[\x20-\x7e\xa0-\xff]+$/.test(idempotencyKey)) return { "Idempotency-Key": idempotencyKey };
  const given = JSON.stringify(idempotencyKey);
  throw wrongInput(
    `idempotency_key cannot be ${given}: it travels in a header; use letters without accents, ` +
      "digits and signs such as - / :",
  );
}

function filled(path: string, ids: object | undefined): string {
  const known = new Map(Object.entries(ids ?? {}));
  return path.replace(/\{(\w+)\}/g, (_, name) => part(name, known.get(name)));
}

/** An id as part of a path. Nothing, or dots alone, would lead to another path. */
function part(name: string, id: unknown): string {
  if (typeof id === "string" && !/^\.{0,2}$/.test(id)) return encodeURIComponent(id);
  throw wrongInput(
    `${name} cannot be ${JSON.stringify(id)}; give a string that is neither empty nor only dots`,
  );
}
