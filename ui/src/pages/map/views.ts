/** The two maps: by the server's vectors, and by common words, computed here. */

import type { Api } from "../../api/routes";
import type { Kind, Memory } from "../../api/types";
import { headline } from "../../lib/format";
import { mapTexts, type Island } from "../../lib/islands";
import { regionsOf } from "../../lib/regions";
import { STATEMENTS } from "../memories/listing.svelte";

export interface MapItem {
  id: string;
  x: number;
  y: number;
  kind: Kind;
  weight: number;
  at: string;
  title: string;
  superseded_by?: string | null | undefined;
}

export interface ShownMap {
  items: MapItem[];
  islands: Island[];
  /** Pairs of items that share a rare word; `null` until somebody asks for them. */
  links: [number, number][] | null;
  /** Number of memories that match; `null` if it is not known and there are more than are shown. */
  total: number | null;
  waiting: number;
}

const MAX_POINTS = 10_000;
const PAGE = 1_000;

/** Returns the map of meaning; `null` if the server has no vectors. */
export async function mapByMeaning(api: Api, signal: AbortSignal): Promise<ShownMap | null> {
  const { model, points, total, waiting } = await api.map(signal);
  if (model === null || (points.length === 0 && waiting > 0)) return null;
  return { items: points, islands: regionsOf(points), links: null, total, waiting };
}

export async function mapByWords(api: Api, onProgress: (count: number) => void, signal: AbortSignal): Promise<ShownMap> {
  const memories: Memory[] = [];
  let after: string | null = null;
  do {
    const page = await api.list({ kinds: STATEMENTS, statuses: ["active", "superseded"], limit: PAGE, after }, signal);
    memories.push(...page.memories);
    after = page.next;
    onProgress(memories.length);
  } while (after && memories.length < MAX_POINTS);
  const { points, islands, links } = mapTexts(memories.map((one) => ({ id: one.id, text: `${one.content} ${one.tags.join(" ")}` })));
  const items = memories.map((memory, index) => ({
    id: memory.id, kind: memory.kind, weight: memory.weight, at: memory.at, superseded_by: memory.superseded_by,
    title: headline(memory.content, 400), x: points[index]?.x ?? 0, y: points[index]?.y ?? 0,
  }));
  return { items, islands, links, total: after ? null : memories.length, waiting: 0 };
}
