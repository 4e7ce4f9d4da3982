/** Texts that were typed in place of those of drafts and proposals, by their ids: what is approved is what is shown. */

import { draftsOf, dropDraft, keepDraft, readDraft } from "../../state/drafts";

const BEGINNING = "inbox.";

class Edits {
  private texts = $state<Record<string, string>>(kept());

  /** The typed text; `undefined` where nobody edits. */
  of(id: string): string | undefined {
    return this.texts[id];
  }

  begin(id: string, text: string): void {
    this.texts[id] ??= text;
  }

  type(id: string, text: string): void {
    this.texts[id] = text;
    keepDraft(BEGINNING + id, text);
  }

  end(id: string): void {
    delete this.texts[id];
    dropDraft(BEGINNING + id);
  }
}

function kept(): Record<string, string> {
  return Object.fromEntries(draftsOf(BEGINNING).map((name) => [name.slice(BEGINNING.length), readDraft(name) ?? ""]));
}

export const edits = new Edits();
