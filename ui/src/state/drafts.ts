/** Typed text that was not saved yet, kept until it is: a reload, an error or a lost session loses nothing. */

const PREFIX = "everlore.draft.";

export function readDraft(name: string): string | null {
  return sessionStorage.getItem(PREFIX + name);
}

export function keepDraft(name: string, text: string): void {
  sessionStorage.setItem(PREFIX + name, text);
}

export function dropDraft(name: string): void {
  sessionStorage.removeItem(PREFIX + name);
}
