/** Message that the inspector looks at; stays while other pages are open. */

import { keepDraft, readDraft } from "../../state/drafts";

class Question {
  message = $state(readDraft("inspector") ?? "");
  budget = $state<number | null>(null);
  limit = $state<number | null>(null);

  set(message: string): void {
    this.message = message;
    keepDraft("inspector", message);
  }
}

export const question = new Question();
