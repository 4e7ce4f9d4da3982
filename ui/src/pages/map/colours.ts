/** Colours of the points. A canvas knows no custom properties, so they are read from the page. */

import { KINDS, type Kind } from "../../api/types";

export type ColourBy = "kind" | "age" | "weight";

export interface Palette {
  kinds: Record<Kind, string>;
  ramp: [number, number, number][];
  ink: string;
  line: string;
  accent: string;
}

const YEAR_MS = 365 * 86_400_000;

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(name).trim();
  return {
    kinds: Object.fromEntries(KINDS.map((kind) => [kind, value(`--kind-${kind}`)])) as Record<Kind, string>,
    ramp: [rgb(value("--line")), rgb(value("--accent"))],
    ink: value("--ink"),
    line: value("--line-strong"),
    accent: value("--accent"),
  };
}

export function colourOf(memory: { kind: Kind; at: string; weight: number }, by: ColourBy, palette: Palette, now: number): string {
  if (by === "kind") return palette.kinds[memory.kind];
  const share = by === "age" ? 1 - Math.min(1, (now - Date.parse(memory.at)) / YEAR_MS) : Math.min(1, memory.weight / 2);
  return mix(palette.ramp[0] ?? [0, 0, 0], palette.ramp[1] ?? [0, 0, 0], Math.max(0, share));
}

function rgb(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function mix(from: [number, number, number], to: [number, number, number], share: number): string {
  const parts = from.map((start, at) => Math.round(start + ((to[at] ?? 0) - start) * share).toString(16).padStart(2, "0"));
  return `#${parts.join("")}`;
}
