/** Number of the newest change: a page that reads it in an effect loads again when something changes anywhere. */

import { followChanges, type StreamState } from "../api/events";
import { reminders } from "./reminders.svelte";
import { session } from "./session.svelte";

/** Changes that arrive together are told once: an import writes thousands. */
const GATHER_MS = 300;

class Live {
  state = $state<StreamState>("connecting");
  /** Counts up with each batch of changes. */
  revision = $state(0);
  private stop: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;

  start(): void {
    this.stop?.abort();
    this.stop = new AbortController();
    this.state = "connecting";
    let wasOffline = false;
    void followChanges(
      session.api.http,
      {
        onChange: () => this.gather(),
        onReminder: (reminder) => reminders.tell(reminder),
        onState: (state) => {
          // What happened during a break was not told: everything is read again.
          if (state === "live" && wasOffline) this.revision += 1;
          wasOffline ||= state === "offline";
          this.state = state;
        },
      },
      this.stop.signal,
    );
  }

  end(): void {
    this.stop?.abort();
  }

  /** Tells all pages to read again, after a change that is no change of a memory. */
  touch(): void {
    this.revision += 1;
  }

  private gather(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.revision += 1;
    }, GATHER_MS);
  }
}

export const live = new Live();
