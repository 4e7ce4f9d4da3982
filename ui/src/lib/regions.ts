/** Names for the regions of a map whose points have places already: frequent words of a region that are rare elsewhere. */

import { terms, type Island } from "./islands";

export interface PlacedTitle {
  x: number;
  y: number;
  title: string;
}

/** Cells of the grid in each direction; more would name single points. */
const CELLS = 6;
/** Titles that are read for the names: splitting all of 10,000 into words would hold up the first picture. */
const MAX_TITLES = 2_000;
/** Share of all points that a region needs for a name. */
const MIN_SHARE = 0.008;
/** Bounds of a region's radius: its name stands at its edge, and a click zooms to it. */
const MIN_RADIUS = 0.06;
const MAX_RADIUS = 0.3;

interface Region {
  members: PlacedTitle[];
  words: Map<string, number>;
}

/** Splits a map with coordinates from -1 to 1 into regions, and names each that has enough points. */
export function regionsOf(points: PlacedTitle[]): Island[] {
  const cells = new Map<number, Region>();
  const everywhere = new Map<string, number>();
  const every = Math.ceil(points.length / MAX_TITLES);
  for (const [index, point] of points.entries()) {
    const cell = cellOf(point.x) * CELLS + cellOf(point.y);
    const region = cells.get(cell) ?? { members: [], words: new Map<string, number>() };
    cells.set(cell, region);
    region.members.push(point);
    for (const word of index % every === 0 ? terms(point.title) : []) {
      region.words.set(word, (region.words.get(word) ?? 0) + 1);
      everywhere.set(word, (everywhere.get(word) ?? 0) + 1);
    }
  }
  const least = Math.max(3, points.length * MIN_SHARE);
  const regions = [...cells.values()].filter((region) => region.members.length >= least);
  return merged(regions, everywhere).map((region) => describe(region, everywhere));
}

/** Cells cut through what belongs together: regions with the same name are one. */
function merged(regions: Region[], everywhere: Map<string, number>): Region[] {
  const byName = new Map<string, Region>();
  for (const region of regions) {
    const name = namesOf(region.words, everywhere).slice(0, 2).sort().join(" ");
    const known = byName.get(name);
    if (known) byName.set(name, { members: [...known.members, ...region.members], words: summed(known.words, region.words) });
    else byName.set(name, region);
  }
  return [...byName.values()];
}

function summed(one: Map<string, number>, other: Map<string, number>): Map<string, number> {
  const sum = new Map(one);
  for (const [word, count] of other) sum.set(word, (sum.get(word) ?? 0) + count);
  return sum;
}

/** Words of a region, those that name it best first: frequent here and rare elsewhere. */
function namesOf(words: Map<string, number>, everywhere: Map<string, number>): string[] {
  const weighed = [...words].map(([word, here]) => [word, (here * here) / (everywhere.get(word) ?? 1)] as const);
  return weighed.sort((a, b) => b[1] - a[1]).map(([word]) => word);
}

function cellOf(value: number): number {
  return Math.min(CELLS - 1, Math.max(0, Math.floor(((value + 1) / 2) * CELLS)));
}

function describe({ members, words }: Region, everywhere: Map<string, number>): Island {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(members.map((one) => one.x)), mean(members.map((one) => one.y))];
  const spread = Math.sqrt(mean(members.map((one) => (one.x - x) ** 2 + (one.y - y) ** 2)));
  return { x, y, radius: Math.min(MAX_RADIUS, Math.max(MIN_RADIUS, spread)), size: members.length, terms: namesOf(words, everywhere).slice(0, 3) };
}
