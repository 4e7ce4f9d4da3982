/** Short messages at the edge of the page; one may offer an action, such as undo. */

export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "bad";
  action?: { label: string; run: () => void | Promise<void> };
  millis: number;
}

const SHOWN_MS = 7_000;
/** Time to go on after the reader has let go of the messages. */
const AFTER_HOLD_MS = 3_000;
const MAX_SHOWN = 4;

class Toasts {
  list = $state<Toast[]>([]);
  private lastId = 0;
  private isHeld = false;
  private readonly timers = new Map<number, ReturnType<typeof setTimeout>>();

  show(text: string, options: { tone?: Toast["tone"]; action?: Toast["action"]; millis?: number } = {}): number {
    const toast: Toast = { id: ++this.lastId, text, tone: options.tone ?? "plain", millis: options.millis ?? SHOWN_MS };
    if (options.action) toast.action = options.action;
    this.list = [...this.list.slice(1 - MAX_SHOWN), toast];
    if (!this.isHeld) this.closeAfter(toast.id, toast.millis);
    return toast.id;
  }

  close(id: number): void {
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  /** The newest message that offers something. */
  get newestAction(): Toast | null {
    return this.list.findLast((toast) => toast.action) ?? null;
  }

  /** Keeps all messages as long as somebody points at them or is in them. */
  hold(): void {
    this.isHeld = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }

  release(): void {
    this.isHeld = false;
    for (const toast of this.list) this.closeAfter(toast.id, toast.millis > SHOWN_MS ? toast.millis : AFTER_HOLD_MS);
  }

  private closeAfter(id: number, millis: number): void {
    clearTimeout(this.timers.get(id));
    this.timers.set(id, setTimeout(() => this.close(id), millis));
  }
}

export const toasts = new Toasts();
