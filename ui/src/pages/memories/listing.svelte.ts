/** Memories that the page shows: a list that grows while it is scrolled, or the hits of a search. */

import { isAbort } from "../../api/client";
import type { Kind, Memory, RecallHit, RecallResponse, Stats, Status } from "../../api/types";
import { session } from "../../state/session.svelte";

const PAGE = 200;
const MAX_HITS = 50;
/** Memories of a group; its heading leads to the others. */
const GROUP = 20;

/** Kinds of statements; turns are shown by the timeline, and here only if they are asked for. */
export const STATEMENTS: Kind[] = ["user", "feedback", "project", "reference", "knowledge", "experience", "session"];

export class Listing {
  query = $state("");
  kind = $state<Kind | "all">("all");
  status = $state<Status | "all">("active");
  tag = $state("");
  since = $state("");
  until = $state("");
  /** Shows the newest of each kind under a heading, instead of the newest of all. */
  byKind = $state(false);
  /** The memories lie in groups, one kind after the other. */
  hasGroups = $state(false);
  memories = $state.raw<(Memory | RecallHit)[]>([]);
  recalled = $state.raw<RecallResponse | null>(null);
  error = $state.raw<unknown>(null);
  loading = $state(false);
  millis = $state(0);
  selected = $state.raw<ReadonlySet<string>>(new Set());
  private next = $state<string | null>(null);
  private running: AbortController | null = null;

  get isSearch(): boolean {
    return this.query.trim() !== "";
  }

  get hasMore(): boolean {
    return !this.isSearch && this.next !== null;
  }

  /** A search is ranked, and a single kind needs no groups. */
  private get wantsGroups(): boolean {
    return this.byKind && !this.isSearch && this.kind === "all";
  }

  get isFiltered(): boolean {
    return this.kind !== "all" || this.status !== "active" || this.tag !== "" || this.since !== "" || this.until !== "";
  }

  clearFilters(): void {
    this.kind = "all";
    this.status = "active";
    this.tag = "";
    this.since = "";
    this.until = "";
  }

  /** Loads anew; a list keeps its length, so that the place in it stays. */
  async load(): Promise<void> {
    await this.run(async (signal) => {
      if (this.isSearch) return this.search(signal);
      if (this.wantsGroups) return this.loadGroups(signal);
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
      this.hasGroups = false;
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

  /** The newest of each kind, one kind after the other. */
  private async loadGroups(signal: AbortSignal): Promise<void> {
    const pages = await Promise.all(STATEMENTS.map((kind) => session.api.list({ ...this.filter(), kinds: [kind], limit: GROUP }, signal)));
    this.recalled = null;
    this.hasGroups = true;
    this.memories = pages.flatMap((page) => page.memories);
    this.next = null;
  }

  private async search(signal: AbortSignal): Promise<void> {
    const started = performance.now();
    const answer = await session.api.recall(this.query, { filter: this.filter(), limit: MAX_HITS, explain: true }, signal);
    this.millis = performance.now() - started;
    this.recalled = answer;
    this.hasGroups = false;
    this.memories = answer.hits;
    this.next = null;
  }

  private filter() {
    return {
      kinds: this.kind === "all" ? STATEMENTS : [this.kind],
      statuses: this.status === "all" ? (["active", "superseded", "archived"] as Status[]) : [this.status],
      ...(this.tag ? { tags: [this.tag] } : {}),
      ...(this.since ? { since: startOfDay(this.since) } : {}),
      ...(this.until ? { until: startOfDay(this.until, 1) } : {}),
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

export function countByKind(found: Stats | null, status: Status | "all"): Partial<Record<Kind, number>> {
  const counted: Partial<Record<Kind, number>> = {};
  for (const one of found?.memories ?? []) {
    if (status === "all" || one.status === status) counted[one.kind] = (counted[one.kind] ?? 0) + one.count;
  }
  return counted;
}

/** Moment at which a day begins where the browser is; `later` days after it. */
function startOfDay(day: string, later = 0): string {
  const start = new Date(`${day}T00:00:00`);
  start.setDate(start.getDate() + later);
  return start.toISOString();
}

/** One for the whole page: what was typed stays while other pages are looked at. */
export const listing = new Listing();
