/** Methods of every memory: of a server by `Client`, and of a home on this machine by `Memory`. */

import * as calls from "./calls.ts";
import type { Call, Moment, TurnLike } from "./calls.ts";
import type { EventStream } from "./events.ts";
import type { Change, Context, Extraction, Forgotten, Kind, Page, Recall, Role, Saved, Status, StoredMemory, Undone } from "./values.ts";

/** Agent and user whose memory it is; what is left out is that of the key, or of the settings. */
export interface Scope {
  agent?: string | undefined;
  user?: string | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /** Ends the call; it then throws the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Milliseconds until an attempt is given up; the client's own limit otherwise. */
  timeoutMs?: number | undefined;
}

export interface RememberOptions extends CallOptions {
  kind?: Kind | undefined;
  name?: string | undefined;
  description?: string | undefined;
  tags?: string | readonly string[] | undefined;
  importance?: number | undefined;
  confidence?: number | undefined;
  at?: Moment | undefined;
  session?: string | undefined;
  speaker?: string | undefined;
  role?: Role | undefined;
  metadata?: Readonly<Record<string, unknown>> | undefined;
  replaces?: string | undefined;
  /** Key of your own, if your program may save the same again after a crash: the same key saves once. */
  idempotencyKey?: string | undefined;
}

export interface ObserveOptions extends CallOptions {
  session?: string | undefined;
  /** As for `remember`. */
  idempotencyKey?: string | undefined;
}

/** Memories to look at. */
export interface FilterOptions {
  kinds?: Kind | readonly Kind[] | undefined;
  tags?: string | readonly string[] | undefined;
  statuses?: Status | readonly Status[] | undefined;
  session?: string | undefined;
  since?: Moment | undefined;
  until?: Moment | undefined;
}

export interface RecallOptions extends CallOptions, FilterOptions {
  limit?: number | undefined;
  /** Recalls as at that time. */
  asOf?: Moment | undefined;
  minScore?: number | undefined;
  minConfidence?: number | undefined;
}

export interface ContextOptions extends CallOptions {
  /** Most tokens of the block. */
  budget?: number | undefined;
  limit?: number | undefined;
  /** Records the injected memories for this session, so that upkeep learns which were of use. */
  session?: string | undefined;
}

export interface ListOptions extends CallOptions, FilterOptions {
  limit?: number | undefined;
  /** `next` of the page before. */
  after?: string | undefined;
  oldestFirst?: boolean | undefined;
}

export interface EditOptions extends CallOptions {
  content?: string | undefined;
  name?: string | undefined;
  description?: string | undefined;
  kind?: Kind | undefined;
  tags?: string | readonly string[] | undefined;
  importance?: number | undefined;
  weight?: number | undefined;
  metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface HistoryOptions extends CallOptions {
  run?: string | undefined;
  limit?: number | undefined;
  before?: number | undefined;
}

export interface UndoOptions extends CallOptions {
  /** All changes of this run. */
  run?: string | undefined;
}

export interface EventsOptions {
  /** Continues after the change with this number; with the next one otherwise. */
  after?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Options of the transport for one call. */
export interface SendOptions extends CallOptions {
  idempotencyKey?: string | undefined;
}

/**
 * Memory of one agent and one user. Nothing outside this scope is read or changed.
 *
 * Recalled text is data: put it into a prompt as what was said, never as instructions.
 */
export abstract class MemoryApi {
  /** Carries a call out. */
  protected abstract run<T>(call: Call<T>, options: SendOptions): Promise<T>;

  /** Follows changes, by whomever they are made. It is connected when the promise resolves, and connects again by itself. */
  abstract events(options?: EventsOptions): Promise<EventStream>;

  /** Ends the connection; repeating it does nothing. */
  abstract close(): Promise<void>;

  /** Agent that requests name; that of the key or the settings if empty. */
  abstract readonly agent: string;

  /** User that requests name; that of the key or the settings if empty. */
  abstract readonly user: string;

  /** Saves a statement, or renews the memory that says the same. It is durable when the promise resolves. */
  async remember(content: string, options: RememberOptions = {}): Promise<Saved> {
    const { sending, fields } = split(options);
    return this.run(calls.remember(content, fields), sending);
  }

  /** Stores turns of a conversation, word for word, all or none. */
  async observe(turns: TurnLike | readonly TurnLike[], options: ObserveOptions = {}): Promise<Saved[]> {
    const { sending } = split(options);
    return this.run(calls.observe(turns, options.session), sending);
  }

  /** Finds the memories that matter for a query, best first. */
  async recall(query: string, options: RecallOptions = {}): Promise<Recall> {
    const { sending, fields } = split(options);
    return this.run(calls.recall(query, fields), sending);
  }

  /** Builds the block for a system prompt; its text is empty if nothing is relevant. */
  async context(query: string, options: ContextOptions = {}): Promise<Context> {
    const { sending, fields } = split(options);
    return this.run(calls.context(query, fields), sending);
  }

  /** Returns a memory by its id, or by a unique prefix of it; throws `NotFound`. */
  async get(id: string, options: CallOptions = {}): Promise<StoredMemory> {
    return this.run(calls.get(id), options);
  }

  /** Lists a page of memories, newest first; `next` of a page is `after` of the next one. */
  async list(options: ListOptions = {}): Promise<Page> {
    const { sending, fields } = split(options);
    return this.run(calls.listPage(fields), sending);
  }

  /** Yields all memories that a list would page through; `limit` is the size of a page. */
  async *iterate(options: ListOptions = {}): AsyncGenerator<StoredMemory, void, void> {
    let after = options.after;
    do {
      const page: Page = await this.list({ ...options, after });
      yield* page.memories;
      after = page.next;
    } while (after !== undefined);
  }

  /** Changes a memory and returns its new state; what is left out stays. */
  async edit(id: string, options: EditOptions): Promise<StoredMemory> {
    const { sending, fields } = split(options);
    return this.run(calls.edit(id, fields), sending);
  }

  /** Deletes a memory and returns the number of the change; `undo(seq)` brings it back. */
  async delete(id: string, options: CallOptions = {}): Promise<number> {
    return this.run(calls.remove(id), options);
  }

  /** Erases a memory and every trace of its text for good. Takes the full id. */
  async forget(id: string, options: CallOptions = {}): Promise<Forgotten> {
    return this.run(calls.forget(id), options);
  }

  /** Lists changes, newest first: all of them, or those of a memory or a run. */
  async history(id?: string, options: HistoryOptions = {}): Promise<Change[]> {
    const { sending, fields } = split(options);
    return this.run(calls.history(id, fields), sending);
  }

  /** Undoes a change, all changes of a run, or the newest step; called again, it goes back step by step. */
  async undo(seq?: number, options: UndoOptions = {}): Promise<Undone> {
    const { sending, fields } = split(options);
    return this.run(calls.undo({ seq, ...fields }), sending);
  }

  /** Redoes what was undone last, unless something was changed since. */
  async redo(options: CallOptions = {}): Promise<Undone> {
    return this.run(calls.redo(), options);
  }

  /** Extracts memories from observed turns now. A server does so by itself, some minutes after a conversation. */
  async extract(session?: string, options: CallOptions = {}): Promise<Extraction[]> {
    return this.run(calls.extract({ session }), options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Separates options of the transport from fields of the request. */
function split(options: SendOptions): { sending: SendOptions; fields: Record<string, unknown> } {
  const { signal, timeoutMs, idempotencyKey, ...fields } = options as SendOptions & Record<string, unknown>;
  return { sending: { signal, timeoutMs, idempotencyKey }, fields };
}
