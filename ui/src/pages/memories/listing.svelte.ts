/** Memories that the page shows: a list that grows while it is scrolled, or the hits of a search. */

import { isAbort } from "../../api/client";
import type { Kind, Memory, RecallHit, RecallResponse, Status } from "../../api/types";
import { session } from "../../state/session.svelte";

const PAGE = 200;
const MAX_HITS = 50;

/** Kinds of statements; turns are shown by the timeline, and here only if they are asked for. */
export const STATEMENTS: Kind[] = ["user", "feedback", "project", "reference", "knowledge", "experience", "session"];

export class Listing {
  query = $state("");
  kind = $state<Kind | "all">("all");
  status = $state<Status | "all">("active");
  tag = $state("");
  since = $state("");
  memories = $state.raw<(Memory | RecallHit)[]>([]);
  recalled = $state.raw<RecallResponse | null>(null);
  error = $state.raw<unknown>(null);
  loading = $state(false);
  millis = $state(0);
  selected = $state.raw<ReadonlySet<string>>(new Set());
  private next: string | null = null;
  private running: AbortController | null = null;

  get isSearch(): boolean {
    return this.query.trim() !== "";
  }

  get hasMore(): boolean {
    return !this.isSearch && this.next !== null;
  }

  get isFiltered(): boolean {
    return this.kind !== "all" || this.status !== "active" || this.tag !== "" || this.since !== "";
  }

  clearFilters(): void {
    this.kind = "all";
    this.status = "active";
    this.tag = "";
    this.since = "";
  }

  /** Loads anew; a list keeps its length, so that the place in it stays. */
  async load(): Promise<void> {
    await this.run(async (signal) => {
      if (this.isSearch) return this.search(signal);
      const wanted = Math.max(PAGE, this.recalled ? 0 : this.memories.length);
      const found: Memory[] = [];
      let after: string | null = null;
      do {
        const limit = Math.min(1_000, wanted - found.length);
        const page = await session.api.list({ ...this.filter(), limit, after }, signal);
        found.push(...page.memories);
        after = page.next;
      } while (after !== null && found.length < wanted);
      this.recalled = null;
      this.memories = found;
      this.next = after;
    });
  }

  /** Adds the next page of a list. */
  async more(): Promise<void> {
    if (!this.hasMore || this.loading) return;
    await this.run(async (signal) => {
      const page = await session.api.list({ ...this.filter(), limit: PAGE, after: this.next }, signal);
      this.memories = [...this.memories, ...page.memories];
      this.next = page.next;
    });
  }

  toggle(id: string, on = !this.selected.has(id)): void {
    const selected = new Set(this.selected);
    if (on) selected.add(id);
    else selected.delete(id);
    this.selected = selected;
  }

  selectAll(): void {
    this.selected = new Set(this.memories.map((memory) => memory.id));
  }

  selectNone(): void {
    this.selected = new Set();
  }

  private async search(signal: AbortSignal): Promise<void> {
    const started = performance.now();
    const answer = await session.api.recall(this.query, { filter: this.filter(), limit: MAX_HITS, explain: true }, signal);
    this.millis = performance.now() - started;
    this.recalled = answer;
    this.memories = answer.hits;
    this.next = null;
  }

  private filter() {
    return {
      kinds: this.kind === "all" ? STATEMENTS : [this.kind],
      statuses: this.status === "all" ? (["active", "superseded", "archived"] as Status[]) : [this.status],
      ...(this.tag ? { tags: [this.tag] } : {}),
      ...(this.since ? { since: `${this.since}T00:00:00Z` } : {}),
    };
  }

  private async run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.running?.abort();
    const run = new AbortController();
    this.running = run;
    this.loading = true;
    try {
      await work(run.signal);
      if (this.running === run) this.error = null;
    } catch (error) {
      if (!isAbort(error) && this.running === run) this.error = error;
    }
    if (this.running === run) this.loading = false;
  }
}

/** One for the whole page: what was typed stays while other pages are looked at. */
export const listing = new Listing();
