/** Follows the changes of a scope. The browser's own EventSource cannot send the page's header, so the stream is read with fetch. */

import { createParser, type EventSourceMessage } from "eventsource-parser";

import { Problem, isAbort, type Client } from "./client";
import type { Reminder } from "./growth";
import type { ChangeEvent } from "./types";

export type StreamState = "connecting" | "live" | "offline";

export interface Follower {
  onChange(change: ChangeEvent): void;
  /** A reminder is told once, to whoever listens: it must be shown. */
  onReminder(reminder: Reminder): void;
  onState(state: StreamState): void;
}

/** Longest wait between two attempts to reconnect. */
const MAX_WAIT_MS = 15_000;

/** Follows until the signal aborts; reconnects where it broke off, so that no change is missed. */
export async function followChanges(http: Client, follower: Follower, signal: AbortSignal): Promise<void> {
  let last: string | undefined;
  let wait = 500;
  while (!signal.aborted) {
    try {
      const response = await http.open("/v1/events", { signal, lastEventId: last });
      follower.onState("live");
      wait = 500;
      await readStream(response, signal, (event) => {
        last = event.id ?? last;
        if (event.event === "reminder") follower.onReminder(JSON.parse(event.data) as Reminder);
        else follower.onChange(JSON.parse(event.data) as ChangeEvent);
      });
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      if (error instanceof Problem && error.status === 401) return;
    }
    follower.onState("offline");
    await pause(wait, signal);
    wait = Math.min(wait * 2, MAX_WAIT_MS);
  }
}

async function readStream(response: Response, signal: AbortSignal, deliver: (event: EventSourceMessage) => void): Promise<void> {
  const parser = createParser({ onEvent: deliver });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (reader && !signal.aborted) {
    const { value, done } = await reader.read();
    if (done) return;
    parser.feed(value);
  }
}

function pause(millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, millis);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
