/** One place that talks HTTP: adds the page's header and the scope, and turns every failure into a `Problem`. */

import type { Scope } from "./types";

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly retryAfter: number | null = null,
  ) {
    super(title);
  }

  /** The server could not be reached at all. */
  get isOffline(): boolean {
    return this.code === "offline";
  }
}

export interface Call {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  query?: Record<string, string | number | boolean | string[] | undefined | null>;
  body?: unknown;
  /** Lines of JSON that are sent as they are, in place of `body`. */
  lines?: Blob | undefined;
  ifMatch?: string | undefined;
  lastEventId?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The path names the agent, or the route is for all agents: no scope is added. */
  unscoped?: boolean;
}

export interface Answer<T> {
  data: T;
  etag: string | null;
}

/** Builds a path with its query; empty values are left out. */
export function pathWithQuery(path: string, query: Call["query"] = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    const values = Array.isArray(value) ? value : [value];
    for (const one of values) {
      if (one !== undefined && one !== null && one !== "") params.append(name, String(one));
    }
  }
  const text = params.toString();
  return text ? `${path}?${text}` : path;
}

export class Client {
  constructor(
    private readonly scope: () => Partial<Scope>,
    private readonly onUnauthorized: () => void = () => {},
  ) {}

  /** Sends a request and returns the parsed answer with its ETag. */
  async send<T>(path: string, call: Call = {}): Promise<Answer<T>> {
    const response = await this.open(path, call);
    const text = await response.text();
    const isJson = (response.headers.get("content-type") ?? "").includes("json");
    return { data: (isJson && text ? JSON.parse(text) : text) as T, etag: response.headers.get("etag") };
  }

  async get<T>(path: string, call: Call = {}): Promise<T> {
    return (await this.send<T>(path, call)).data;
  }

  async post<T>(path: string, body: unknown = {}, call: Call = {}): Promise<T> {
    return (await this.send<T>(path, { ...call, method: "POST", body })).data;
  }

  /** Sends a request and returns the open response, for streams. */
  async open(path: string, call: Call = {}): Promise<Response> {
    // The cookie of the browser counts only with this header, which no page of another site can send.
    const headers = new Headers({ "x-everlore-page": "1" });
    if (call.body !== undefined) headers.set("content-type", "application/json");
    if (call.lines) headers.set("content-type", "application/x-ndjson");
    if (call.ifMatch) headers.set("if-match", call.ifMatch);
    if (call.lastEventId) headers.set("last-event-id", call.lastEventId);
    const query = call.unscoped ? call.query : { ...this.scope(), ...call.query };
    let response: Response;
    try {
      response = await fetch(pathWithQuery(path, query), {
        method: call.method ?? "GET",
        headers,
        body: call.lines ?? (call.body === undefined ? null : JSON.stringify(call.body)),
        signal: call.signal ?? null,
        cache: "no-store",
      });
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      throw new Problem(0, "offline", "", "");
    }
    if (response.ok) return response;
    if (response.status === 401) this.onUnauthorized();
    throw await problemOf(response);
  }
}

/** Reads the problem document of a failed response. */
export async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = (await response.json()) as { code: string; title: string; detail: string; retry_after?: number };
    return new Problem(response.status, body.code, body.title, body.detail ?? "", body.retry_after ?? null);
  } catch {
    return new Problem(response.status, "http", `HTTP ${response.status}`, response.statusText);
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
