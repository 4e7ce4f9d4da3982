/** Activity by day, made ready for the calendar and the growth chart. */

import type { Activity } from "../api/types";
import { dayKey } from "./format";

export interface CalendarDay {
  day: string;
  count: number;
  /** 0 for nothing, 1 to 4 by how much happened compared with the busiest days. */
  level: number;
}

const DAY_MS = 86_400_000;

/** Weeks from Monday to Sunday that end with the week of `today`; days to come are left out. */
export function calendarWeeks(activity: Activity, today: Date, weeks = 53): CalendarDay[][] {
  const counts = new Map(activity.days.map((one) => [one.day, one.memories + one.turns]));
  const steps = levels([...counts.values()]);
  const monday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - ((today.getDay() + 6) % 7));
  return Array.from({ length: weeks }, (_, week) =>
    Array.from({ length: 7 }, (_, index) => new Date(monday.getFullYear(), monday.getMonth(), monday.getDate() - (weeks - 1 - week) * 7 + index))
      .filter((date) => date.getTime() <= today.getTime())
      .map((date) => {
        const key = dayKey(date);
        const count = counts.get(key) ?? 0;
        return { day: key, count, level: steps.filter((step) => count >= step).length };
      }),
  );
}

/** Smallest counts of the levels 1 to 4: quartiles of the days on which anything happened. */
function levels(counts: number[]): number[] {
  const sorted = counts.filter((count) => count > 0).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Infinity;
  return [1, at(0.25) + 1, at(0.5) + 1, at(0.75) + 1].map((step, index) => Math.max(step, index + 1));
}

/** Running totals: times in seconds, and the number of memories stored until then. */
export function growth(activity: Activity, totalNow: number): [number[], number[]] {
  const days = activity.days;
  const added = days.reduce((sum, one) => sum + one.memories, 0);
  let total = Math.max(0, totalNow - added);
  const times: number[] = [];
  const totals: number[] = [];
  for (const one of days) {
    total += one.memories;
    times.push(Date.parse(`${one.day}T12:00:00Z`) / 1_000);
    totals.push(total);
  }
  return [times, totals];
}

/** Adds the days without activity between the first and the last day, so that a chart does not jump. */
export function withEmptyDays(activity: Activity, until: string): Activity {
  const known = new Map(activity.days.map((one) => [one.day, one]));
  const first = activity.days[0]?.day;
  if (!first) return activity;
  const days: Activity["days"] = [];
  for (let time = Date.parse(`${first}T00:00:00Z`); time <= Date.parse(`${until}T00:00:00Z`); time += DAY_MS) {
    const key = new Date(time).toISOString().slice(0, 10);
    days.push(known.get(key) ?? { day: key, memories: 0, turns: 0 });
  }
  return { days };
}
