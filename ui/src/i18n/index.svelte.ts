/** Texts of the page in the chosen language. */

import { preferences, type Language } from "../state/preferences.svelte";
import { en } from "./en";
import { zh } from "./zh";

export type MessageKey = keyof typeof en;
export type Messages = Record<MessageKey, string>;

const CATALOGUES: Record<Language, Messages> = { en, zh };

const NUMBERS: Record<Language, Intl.NumberFormat> = { en: new Intl.NumberFormat("en"), zh: new Intl.NumberFormat("zh") };

/**
 * Returns a text, with `{name}` replaced by the values. A `one|other` text chooses by `count`. A key may end with a word of the
 * server; one that this page does not know is shown as it is.
 */
export function t(key: MessageKey, values: Record<string, string | number> = {}): string {
  const text: string | undefined = CATALOGUES[preferences.language][key];
  return fill(text ?? key.slice(key.indexOf(".") + 1), values);
}

export function fill(text: string, values: Record<string, string | number>): string {
  const [one, other] = text.split("|");
  const chosen = other === undefined || values["count"] === 1 ? (one ?? "") : other;
  return chosen.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? NUMBERS[preferences.language].format(value) : value;
  });
}
