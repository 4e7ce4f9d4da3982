/** Typed text that was not saved yet, kept until it is: a reload, an error or a lost session loses nothing. */

import { session } from "./session.svelte";

const PREFIX = "everlore.draft.";

/** Name of a draft that belongs to the chosen agent and user. */
export function scopedDraft(name: string): string {
  const agent = session.scope.agent ?? session.identity?.agent ?? "";
  const user = session.scope.user ?? session.identity?.user ?? "";
  return `${name}.${encodeURIComponent(agent)}.${encodeURIComponent(user)}`;
}

/** Names of all drafts that begin so. */
export function draftsOf(beginning: string): string[] {
  return Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX + beginning)).map((key) => key.slice(PREFIX.length));
}

export function readDraft(name: string): string | null {
  return sessionStorage.getItem(PREFIX + name);
}

export function keepDraft(name: string, text: string): void {
  sessionStorage.setItem(PREFIX + name, text);
}

export function dropDraft(name: string): void {
  sessionStorage.removeItem(PREFIX + name);
}
