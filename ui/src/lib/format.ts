/** Numbers, times and sizes as people read them. */

import { preferences } from "../state/preferences.svelte";

const MINUTE = 60;
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", MINUTE],
];

function locale(): string {
  return preferences.language === "zh" ? "zh-CN" : "en-GB";
}

/** Making a format takes longer than using it a hundred times, and a list shows hundreds. */
const made = new Map<string, unknown>();

function format<F>(name: string, make: (locale: string) => F): F {
  const key = `${locale()} ${name}`;
  if (!made.has(key)) made.set(key, make(locale()));
  return made.get(key) as F;
}

export function number(value: number, digits = 0): string {
  return format(`number ${digits}`, (tag) => new Intl.NumberFormat(tag, { maximumFractionDigits: digits })).format(value);
}

export function percent(share: number, digits = 0): string {
  return format(`percent ${digits}`, (tag) => new Intl.NumberFormat(tag, { style: "percent", maximumFractionDigits: digits })).format(share);
}

/** How long ago: "3 days ago"; `now` is an argument, so that tests can set it. */
export function ago(time: string, now = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1_000;
  const relative = format("ago", (tag) => new Intl.RelativeTimeFormat(tag, { numeric: "auto" }));
  const step = STEPS.find(([, size]) => Math.abs(seconds) >= size);
  return step ? relative.format(Math.round(seconds / step[1]), step[0]) : relative.format(0, "second");
}

/** Day and time, in the browser's zone if no other is named. */
export function dateTime(time: string, timeZone?: string): string {
  return dateFormat({ dateStyle: "medium", timeStyle: "short", ...(timeZone ? { timeZone } : {}) }).format(new Date(time));
}

export function day(time: string | Date): string {
  return dateFormat({ dateStyle: "medium" }).format(new Date(time));
}

/** Name of a month, short. */
export function month(time: string | Date): string {
  return dateFormat({ month: "short" }).format(new Date(time));
}

/** Name of a day of the week, short. */
export function weekdayName(time: string | Date): string {
  return dateFormat({ weekday: "short" }).format(new Date(time));
}

export function clock(time: string): string {
  return dateFormat({ timeStyle: "short" }).format(new Date(time));
}

function dateFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return format(JSON.stringify(options), (tag) => new Intl.DateTimeFormat(tag, options));
}

/** Day of a time in the browser's zone, as `2026-03-02`. */
export function dayKey(time: string | Date): string {
  const date = new Date(time);
  const pad = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

/** First line of a text, shortened: a title for what has none. */
export function headline(text: string, max = 120): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  const letters = [...line];
  return letters.length > max ? `${letters.slice(0, max).join("")}…` : line;
}
