/** Short messages at the edge of the page; one may offer an action, such as undo. */

export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "bad";
  action?: { label: string; run: () => void | Promise<void> };
}

const SHOWN_MS = 7_000;

class Toasts {
  list = $state<Toast[]>([]);
  private lastId = 0;

  show(text: string, options: { tone?: Toast["tone"]; action?: Toast["action"]; millis?: number } = {}): number {
    const toast: Toast = { id: ++this.lastId, text, tone: options.tone ?? "plain" };
    if (options.action) toast.action = options.action;
    this.list = [...this.list.slice(-3), toast];
    setTimeout(() => this.close(toast.id), options.millis ?? SHOWN_MS);
    return toast.id;
  }

  close(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();
