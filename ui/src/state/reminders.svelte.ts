/** Reminders that this browser was told. The server tells each once, so that they are kept here until they are read. */

import type { Reminder } from "../api/growth";
import { t } from "../i18n/index.svelte";
import { toasts } from "./toasts.svelte";

const KEPT = "everlore.reminders";
const MAX_KEPT = 50;
/** A reminder stays in sight until somebody closes it, as far as a page that is open for days can promise that. */
const SHOWN_MS = 86_400_000;

export interface ToldReminder extends Reminder {
  toldAt: string;
}

class Reminders {
  told = $state.raw<ToldReminder[]>(stored());

  tell(reminder: Reminder): void {
    this.keep([{ ...reminder, toldAt: new Date().toISOString() }, ...this.told].slice(0, MAX_KEPT));
    toasts.show(t("reminder.due", { task: reminder.task }), { millis: SHOWN_MS });
  }

  clear(): void {
    this.keep([]);
  }

  private keep(told: ToldReminder[]): void {
    this.told = told;
    localStorage.setItem(KEPT, JSON.stringify(told));
  }
}

function stored(): ToldReminder[] {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "[]") as ToldReminder[];
  } catch {
    return [];
  }
}

export const reminders = new Reminders();
