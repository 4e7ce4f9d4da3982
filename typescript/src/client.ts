/** Memory on a server that `everlore serve` runs. Needs nothing but `fetch`: Node.js, Deno, Bun and workers have it. */

import { MemoryApi, type EventsOptions, type Scope, type SendOptions } from "./api.ts";
import type { Call } from "./calls.ts";
import { Closed, Invalid } from "./errors.ts";
import { EventStream } from "./events.ts";
import { Transport, type Endpoints } from "./http.ts";

export interface ClientOptions extends Scope {
  /** Address of the server; `EVERLORE_URL`, or `http://127.0.0.1:6636`, otherwise. */
  url?: string | undefined;
  /** Key that opens one agent and user, or the owner's token; `EVERLORE_KEY` otherwise. */
  key?: string | undefined;
  /** Milliseconds until an attempt is given up: 30,000. */
  timeoutMs?: number | undefined;
  /** Attempts after the first, for what may be repeated: 2. */
  retries?: number | undefined;
  /** Another `fetch`, such as one with certificates or a proxy of your own. */
  fetch?: typeof fetch | undefined;
}

const DEFAULT_URL = "http://127.0.0.1:6636";
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_RETRIES = 2;

/** Memory that sends its calls to a server. */
export abstract class RemoteMemory extends MemoryApi {
  readonly #transport: Transport;
  readonly #scope: Scope;
  #isClosed = false;
  readonly #streams = new Set<EventStream>();

  protected constructor(transport: Transport, scope: Scope) {
    super();
    this.#transport = transport;
    this.#scope = { agent: scope.agent, user: scope.user };
  }

  get agent(): string {
    return this.#scope.agent ?? "";
  }

  get user(): string {
    return this.#scope.user ?? "";
  }

  async events(options: EventsOptions = {}): Promise<EventStream> {
    this.#checkOpen();
    const after = options.after ?? (await this.#newestChange(options.signal));
    const connect = (position: number, signal: AbortSignal): Promise<Response> =>
      this.#transport.open("/v1/events", this.#scope, { "last-event-id": String(position) }, signal);
    return EventStream.open(connect, after, options.signal, this.#streams);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stream of this.#streams) stream.close();
  }

  protected async run<T>(call: Call<T>, options: SendOptions): Promise<T> {
    this.#checkOpen();
    return call.read(await this.#transport.send(call.request, this.#scope, options));
  }

  async #newestChange(signal: AbortSignal | undefined): Promise<number> {
    const [newest] = await this.history(undefined, { limit: 1, signal });
    return newest?.seq ?? 0;
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new Closed("the memory is closed", "open another one", "closed");
  }
}

/**
 * Memory on a server that `everlore serve` runs.
 *
 * @example
 * const memory = new Client({ key, user: "ana" });
 * await memory.remember("I'm allergic to peanuts");
 */
export class Client extends RemoteMemory {
  readonly #transport: Transport;

  /** Connects on first use. */
  constructor(options: ClientOptions = {}) {
    const transport = transportTo(fixedEndpoint(options), options);
    super(transport, options);
    this.#transport = transport;
  }

  /** Returns a client for another agent or user, over the same connections. */
  withScope(scope: Scope): ScopedMemory {
    return new ScopedMemory(this.#transport, { agent: this.agent, user: this.user, ...scope });
  }
}

/** Memory of another scope, over the connections of the one that made it. */
export class ScopedMemory extends RemoteMemory {
  constructor(transport: Transport, scope: Scope) {
    super(transport, scope);
  }
}

/** Returns the transport with the time limit and the number of retries of the options. */
export function transportTo(endpoints: Endpoints, options: ClientOptions): Transport {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, retries = DEFAULT_RETRIES } = options;
  if (!(timeoutMs > 0)) throw new Invalid(`timeoutMs is ${timeoutMs}`, "give a number of milliseconds above 0", "invalid");
  if (!(retries >= 0)) throw new Invalid(`retries is ${retries}`, "give 0 or more", "invalid");
  return new Transport(endpoints, { timeoutMs, retries, fetch: options.fetch ?? ((...args) => fetch(...args)) });
}

function fixedEndpoint(options: ClientOptions): Endpoints {
  const url = (options.url ?? environment("EVERLORE_URL") ?? DEFAULT_URL).replace(/\/+$/, "");
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
    throw new Invalid(`\`${url}\` is no address of a server`, `give one like ${DEFAULT_URL}`, "invalid");
  }
  const key = (options.key ?? environment("EVERLORE_KEY") ?? "").trim();
  if (!/^[\x21-\x7e]*$/.test(key)) throw new Invalid("the key has characters that no key has", "copy it again as it was printed", "invalid");
  return { current: async () => ({ url, key }) };
}

/** Returns a variable of the environment; workers have none. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}
