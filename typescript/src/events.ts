/** Stream of changes: server-sent events, with a connection that is renewed where it left off. */

import { Unavailable } from "./errors.ts";
import { sleep } from "./http.ts";
import { readEvent, type MemoryEvent } from "./values.ts";

/** Opens the stream after a change. */
export type Connect = (after: number, signal: AbortSignal) => Promise<Response>;

/** The server sends a sign of life every 15 s; without one for this long, the connection is dead. */
const SILENCE_MS = 45_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
/** Attempts to connect again, half a minute in all, until the reader hears that the server is gone. */
const MAX_FAILURES = 10;

/** Changes and reminders, as they come: `for await (const event of stream)`. No change is missed while it is open. */
export class EventStream implements AsyncIterable<MemoryEvent> {
  readonly #connect: Connect;
  readonly #abort = new AbortController();
  readonly #onClose: () => void;
  #response: Response | undefined;
  #after: number;

  private constructor(connect: Connect, after: number, onClose: () => void) {
    this.#connect = connect;
    this.#after = after;
    this.#onClose = onClose;
  }

  /** Connects. The stream ends when the signal aborts; its owner has it while it is open. */
  static async open(connect: Connect, after: number, signal: AbortSignal | undefined, owner: Set<EventStream>): Promise<EventStream> {
    signal?.throwIfAborted();
    const abort = (): void => stream.close();
    const stream: EventStream = new EventStream(connect, after, () => {
      signal?.removeEventListener("abort", abort);
      owner.delete(stream);
    });
    signal?.addEventListener("abort", abort, { once: true });
    owner.add(stream);
    try {
      stream.#response = await connect(after, stream.#abort.signal);
    } catch (error) {
      stream.close();
      signal?.throwIfAborted();
      throw error;
    }
    return stream;
  }

  /** Number of the last change that was read. */
  get position(): number {
    return this.#after;
  }

  /** Ends the stream; a reader that waits gets its end. */
  close(): void {
    this.#abort.abort();
    this.#onClose();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<MemoryEvent, void, void> {
    try {
      while (!this.#abort.signal.aborted) {
        const response = this.#response ?? (await this.#reconnect());
        this.#response = undefined;
        yield* this.#read(response);
      }
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error;
    } finally {
      this.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  async *#read(response: Response): AsyncGenerator<MemoryEvent, void, void> {
    for await (const { id, event, data } of parse(chunks(response))) {
      const read = readEvent(event, JSON.parse(data));
      if (id) this.#after = Number(id);
      if (read) yield read;
    }
  }

  async #reconnect(): Promise<Response> {
    for (let failures = 0; ; failures += 1) {
      await sleep(Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS), this.#abort.signal);
      try {
        return await this.#connect(this.#after, this.#abort.signal);
      } catch (error) {
        if (!(error instanceof Unavailable) || failures >= MAX_FAILURES) throw error;
      }
    }
  }
}

/** Yields the text of a response until its end, a failure or silence: each is a reason to connect again. */
async function* chunks(response: Response): AsyncGenerator<string, void, void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read());
      if (done) return;
      yield value;
    }
  } catch {
    return;
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function withinSilence<T>(read: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("silence")), SILENCE_MS);
  });
  try {
    return await Promise.race([read, silence]);
  } finally {
    clearTimeout(timer);
  }
}

interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/** Parses server-sent events; comments and unknown fields are skipped, and half an event at the end is dropped. */
export async function* parse(texts: AsyncIterable<string>): AsyncGenerator<ServerEvent, void, void> {
  let rest = "";
  for await (const text of texts) {
    // A carriage return at the end may be half of a line break.
    const whole = (rest + text).replace(/\r\n/g, "\n");
    const blocks = whole.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parseBlock(block);
      if (event.data) yield event;
    }
  }
}

function parseBlock(block: string): ServerEvent {
  const event = { id: "", event: "message", data: "" };
  for (const line of block.split("\n")) {
    const [, name, value] = /^(id|event|data): ?(.*)$/s.exec(line) ?? [];
    if (name === "data") event.data += (event.data && "\n") + value;
    else if (name === "id" || name === "event") event[name] = value ?? "";
  }
  return event;
}
