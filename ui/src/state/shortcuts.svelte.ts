/** Keyboard shortcuts: pages register theirs, the help lists all that work now. */

export interface Shortcut {
  keys: string;
  label: () => string;
  run: (event: KeyboardEvent) => void;
}

class Shortcuts {
  groups = $state.raw<Shortcut[][]>([]);
  helpOpen = $state(false);

  /** Adds shortcuts; the returned function removes them. Later ones win over earlier ones. */
  add(shortcuts: Shortcut[]): () => void {
    this.groups = [...this.groups, shortcuts];
    return () => {
      this.groups = this.groups.filter((group) => group !== shortcuts);
    };
  }

  private pending = "";

  onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    // A dialog has its own keys, and Escape closes it.
    if (document.querySelector("dialog[open]")) return;
    const pressed = this.pending ? `${this.pending} ${event.key}` : event.key;
    const found = this.groups.flat().findLast((one) => one.keys === pressed);
    this.pending = !found && event.key === "g" && !this.pending ? "g" : "";
    if (!found) return;
    event.preventDefault();
    found.run(event);
  }
}

/** Inputs into which nothing is typed: their own keys are Space and the arrows, which no shortcut uses. */
const WITHOUT_TEXT = /^(checkbox|radio|button|submit|reset|file|color)$/;

export function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !WITHOUT_TEXT.test(target.type);
  return target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName));
}

export const shortcuts = new Shortcuts();
