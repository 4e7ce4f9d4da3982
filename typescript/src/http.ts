/** Transport: sends requests with `fetch`, waits no longer than asked, and repeats what may be repeated. */

import type { Scope, SendOptions } from "./api.ts";
import type { HttpRequest } from "./calls.ts";
import { EverloreError, RateLimited, Unavailable, errorFrom } from "./errors.ts";
import type { Json } from "./values.ts";

/** Address of a server and the secret that opens it. */
export interface Endpoint {
  readonly url: string;
  readonly key: string;
}

/** Where requests go. `lost` hears that nothing listens there, so that the next `current` may be another. */
export interface Endpoints {
  current(): Promise<Endpoint>;
  lost?(endpoint: Endpoint): void;
}

export interface TransportOptions {
  /** Milliseconds until an attempt is given up. */
  timeoutMs: number;
  /** Attempts after the first. */
  retries: number;
  fetch: typeof fetch;
}

/** Errors of a connection that was never made: the server has not seen the request. */
const NOT_SENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT", "ConnectionRefused"];
/** Codes by which a server refuses a request before it acts. */
const REFUSED = ["busy", "not_ready"];
/** First pause before a repetition; each further one is twice as long. */
const FIRST_PAUSE_MS = 100;
/** Longest pause that a server's `Retry-After` can cause; after that, the caller hears of it. */
const MAX_PAUSE_MS = 10_000;

/** Unreachable server, and if it may have seen the request. */
class ConnectionError extends Unavailable {
  wasSent = true;
}

export class Transport {
  readonly #endpoints: Endpoints;
  readonly #options: TransportOptions;

  constructor(endpoints: Endpoints, options: TransportOptions) {
    this.#endpoints = endpoints;
    this.#options = options;
  }

  /** Sends a request and returns the JSON of its answer. */
  async send(request: HttpRequest, scope: Scope, options: SendOptions): Promise<Json> {
    const headers: Record<string, string> = { accept: "application/json" };
    // The same key for every attempt, so that the server saves once.
    if (request.isKeyed) headers["idempotency-key"] = options.idempotencyKey ?? crypto.randomUUID();
    return this.#repeat(request, options, (signal) => this.#exchange(request, scope, headers, signal));
  }

  /** Opens a stream of events; only the connection is bound to the time limit. */
  async open(path: string, scope: Scope, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const request: HttpRequest = { method: "GET", path, isRead: true };
    const connect = async (attempt: AbortSignal): Promise<Response> => {
      const limit = new AbortController();
      const abort = (): void => limit.abort(attempt.reason);
      attempt.addEventListener("abort", abort, { once: true });
      const either = AbortSignal.any([signal, limit.signal]);
      const response = await this.#fetch(request, scope, { accept: "text/event-stream", ...headers }, either);
      attempt.removeEventListener("abort", abort);
      if (!response.ok) throw await problemOf(response);
      return response;
    };
    return this.#repeat(request, { signal }, connect);
  }

  async #repeat<T>(request: HttpRequest, options: SendOptions, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await this.#withLimit(options, attempt);
      } catch (error) {
        const pause = pauseBefore(failures, error);
        if (failures >= this.#options.retries || !mayRepeat(request, error) || pause > MAX_PAUSE_MS) throw error;
        await sleep(pause, options.signal);
      }
    }
  }

  async #withLimit<T>(options: SendOptions, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal, timeoutMs = this.#options.timeoutMs } = options;
    signal?.throwIfAborted();
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    const timer = setTimeout(() => controller.abort(timeoutError(timeoutMs)), timeoutMs);
    try {
      return await attempt(controller.signal);
    } catch (error) {
      // fetch may wrap the reason; the caller gets what was given.
      throw controller.signal.aborted ? controller.signal.reason : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  async #exchange(request: HttpRequest, scope: Scope, headers: Record<string, string>, signal: AbortSignal): Promise<Json> {
    const response = await this.#fetch(request, scope, headers, signal);
    if (!response.ok) throw await problemOf(response);
    try {
      return await response.json();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw unreachable(response.url, error);
      throw errorFrom("unreachable", `${new URL(response.url).origin} is no Everlore server`, "check the address", { cause: error });
    }
  }

  async #fetch(request: HttpRequest, scope: Scope, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const endpoint = await this.#endpoints.current();
    signal.throwIfAborted();
    const sent: Record<string, string> = { ...headers, authorization: `Bearer ${endpoint.key}` };
    if (request.body !== undefined) sent["content-type"] = "application/json";
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    try {
      return await this.#options.fetch(target(endpoint.url, request, scope), { method: request.method, headers: sent, body, signal });
    } catch (error) {
      const failure = unreachable(endpoint.url, error);
      if (!failure.wasSent) this.#endpoints.lost?.(endpoint);
      throw failure;
    }
  }
}

function target(url: string, request: HttpRequest, scope: Scope): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ agent: scope.agent, user: scope.user, ...request.query })) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined && one !== "") query.append(name, String(one));
  }
  return `${url}${request.path}${query.size ? `?${query}` : ""}`;
}

function mayRepeat(request: HttpRequest, error: unknown): boolean {
  if (error instanceof ConnectionError) return !error.wasSent || isSafe(request);
  if (error instanceof RateLimited) return true;
  if (!(error instanceof EverloreError)) return false;
  if (REFUSED.includes(error.code)) return true;
  return isSafe(request) && ["store", "moving", "in_progress"].includes(error.code);
}

function isSafe(request: HttpRequest): boolean {
  return request.isKeyed === true || request.isRead === true;
}

/** Returns the milliseconds to wait: what the server asks for, or twice as long each time, spread so that clients do not march in step. */
function pauseBefore(failures: number, error: unknown): number {
  const asked = error instanceof RateLimited || error instanceof Unavailable ? error.retryAfter : undefined;
  if (asked !== undefined) return asked * 1000;
  return FIRST_PAUSE_MS * 2 ** failures * (0.5 + Math.random() / 2);
}

/** Waits, or throws the reason of the signal. */
export async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

function timeoutError(milliseconds: number): EverloreError {
  const title = `the server did not answer within ${milliseconds / 1000} s`;
  return errorFrom("timeout", title, "try again, or allow more time with `timeoutMs`");
}

function unreachable(url: string, error: unknown): ConnectionError {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  const reason = cause?.code ?? cause?.message ?? (error instanceof Error ? error.message : String(error));
  const hint = "start it with `everlore serve`, or check the address";
  const failure = new ConnectionError(`the server at ${url} does not answer: ${reason}`, hint, "unreachable", { cause: error });
  failure.name = "Unavailable";
  failure.wasSent = !NOT_SENT.includes(cause?.code ?? "");
  return failure;
}

/** Returns the problem that a server tells (RFC 9457). */
async function problemOf(response: Response): Promise<EverloreError> {
  const problem: Json = await response.json().catch(() => ({}));
  const title = problem?.title ?? `the server answered with status ${response.status}`;
  const code = problem?.code ?? (response.status === 429 ? "too_often" : "internal");
  const error = errorFrom(code, title, problem?.detail ?? "check the address", { status: response.status });
  const asked = Number(response.headers.get("retry-after") ?? Number.NaN);
  if ((error instanceof RateLimited || error instanceof Unavailable) && Number.isFinite(asked)) error.retryAfter = asked;
  return error;
}
