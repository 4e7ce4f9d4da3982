/** Drafts that wait for a decision, counted for the navigation. */

import type { QuarantinedDraft } from "../api/types";
import { Loaded } from "../lib/loaded.svelte";
import { session } from "./session.svelte";

class Inbox {
  readonly drafts = new Loaded<QuarantinedDraft[]>();
  /** Rejected, and removed from the server when the time to undo is over. */
  readonly leaving = $state<Record<string, boolean>>({});

  get waiting(): QuarantinedDraft[] {
    return (this.drafts.value ?? []).filter((draft) => !this.leaving[draft.memory.id]);
  }

  get count(): number {
    return this.waiting.length;
  }

  refresh(): Promise<void> {
    return this.drafts.load(async () => (await session.api.quarantine()).drafts);
  }
}

export const inbox = new Inbox();
