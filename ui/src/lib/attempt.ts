/** Does something on the server and says what became of it: done, with a way back, or what went wrong. */

import { t } from "../i18n/index.svelte";
import { toasts, type Toast } from "../state/toasts.svelte";
import { explain } from "./problems";

/** Does what a message offers; a failure is told, never silent. */
export async function takeAction(toast: Toast): Promise<void> {
  toasts.close(toast.id);
  try {
    await toast.action?.run();
  } catch (error) {
    tell(error);
  }
}

function tell(error: unknown): void {
  const { title, advice } = explain(error);
  toasts.show(`${title}. ${advice}`, { tone: "bad" });
}

export async function attempt<A>(work: () => Promise<A>, done: string, undo?: (answer: A) => Promise<unknown>): Promise<boolean> {
  try {
    const answer = await work();
    const run = async () => void (await attempt(() => undo?.(answer) ?? Promise.resolve(), t("undone", { count: 1 })));
    toasts.show(done, undo ? { action: { label: t("undo"), run } } : {});
    return true;
  } catch (error) {
    tell(error);
    return false;
  }
}
