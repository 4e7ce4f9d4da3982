/** Drafts and proposals that wait for a decision, counted for the navigation. */

import type { Proposal } from "../api/growth";
import type { QuarantinedDraft } from "../api/types";
import { Loaded } from "../lib/loaded.svelte";
import { session } from "./session.svelte";

class Inbox {
  readonly drafts = new Loaded<QuarantinedDraft[]>();
  readonly decisions = new Loaded<Proposal[]>();

  get waiting(): QuarantinedDraft[] {
    return this.drafts.value ?? [];
  }

  get count(): number {
    return this.waiting.length + this.proposals.length;
  }

  /** Proposals without a decision. */
  get proposals(): Proposal[] {
    return (this.decisions.value ?? []).filter((proposal) => proposal.state === "open");
  }

  async refresh(): Promise<void> {
    await Promise.all([
      this.drafts.load(async () => (await session.api.quarantine()).drafts),
      this.decisions.load(async () => (await session.api.proposals()).proposals),
    ]);
  }
}

export const inbox = new Inbox();
