/** A value from the server with its state. A newer load cancels an older one; what is shown stays until then. */

import { isAbort } from "../api/client";

export class Loaded<T> {
  value = $state.raw<T | null>(null);
  error = $state.raw<unknown>(null);
  loading = $state(false);
  private running: AbortController | null = null;

  async load(fetch: (signal: AbortSignal) => Promise<T>): Promise<void> {
    this.running?.abort();
    const run = new AbortController();
    this.running = run;
    this.loading = true;
    try {
      const value = await fetch(run.signal);
      if (this.running !== run) return;
      this.value = value;
      this.error = null;
    } catch (error) {
      if (this.running !== run || isAbort(error)) return;
      this.error = error;
    }
    this.loading = false;
  }

  cancel(): void {
    this.running?.abort();
    this.running = null;
    this.loading = false;
  }
}
