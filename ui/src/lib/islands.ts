/**
 * A map of texts without a model: texts with common words become islands, and islands with common words are neighbours.
 *
 * Each text is hashed into a short vector of its words, weighted by rarity; the vectors are grouped by k-means; similar
 * groups attract each other, and the most typical texts of a group lie in its middle.
 */

export interface MapText {
  id: string;
  text: string;
}

export interface MapPoint {
  id: string;
  x: number;
  y: number;
  island: number;
}

export interface Island {
  x: number;
  y: number;
  radius: number;
  size: number;
  terms: string[];
}

export interface TextMap {
  points: MapPoint[];
  islands: Island[];
  /** Pairs of texts that share a rare word. */
  links: [number, number][];
}

const DIMENSIONS = 48;
const ROUNDS = 8;
/** A word that more texts share tells nothing about two of them. */
const MAX_LINK_SHARE = 6;
const MAX_LINKS = 6_000;

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const COMMON = new Set("the and for with that this from have has are was were not but you your our they she his her its will would can about into than then also when what which who how why where does did doing been being there their them these those some any all more most much many very just only over under after before between because while should could must may might shall let like get got make made use used using one two three new now every each other another same such own per via too yet off out onto upon again once here him hers our ours yours mine myself want wants need needs prefer prefers please always never often sometimes usually 我们 他们 这个 那个 一个 什么 可以 没有 就是 因为 所以 自己 现在 时候 你们 它们 大家 这些 那些 这样 那样 怎么 如何 哪里 为什么 以及 并且 或者 但是 如果 虽然 还是 已经 正在 需要 应该 必须 可能 能够 一些 一种 每次 每天 总是 从不 经常 有时 知道 使用 进行 通过 关于 对于 其中 之后 之前".split(" "));

export function terms(text: string): string[] {
  const found = new Set<string>();
  for (const { segment, isWordLike } of segmenter.segment(text.slice(0, 2_000))) {
    const word = segment.toLowerCase();
    const isHan = /\p{Script=Han}/u.test(word);
    if (isWordLike && (isHan ? word.length >= 2 : word.length >= 3) && !COMMON.has(word) && !/^\d+$/.test(word)) found.add(word);
  }
  return [...found];
}

export function mapTexts(texts: MapText[]): TextMap {
  const words = texts.map((one) => terms(one.text));
  const frequency = countWords(words);
  const vectors = words.map((list) => vectorOf(list, frequency, texts.length));
  const k = Math.max(1, Math.min(28, Math.round(Math.sqrt(texts.length / 10))));
  const groups = groupVectors(vectors, k);
  const islands = describe(groups, words, frequency, vectors);
  placeIslands(islands.list, islands.centres);
  const points = placePoints(texts, groups, vectors, islands);
  return { points, islands: islands.list, links: findLinks(words, frequency) };
}

function countWords(words: string[][]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const list of words) for (const word of list) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function hash(word: string): number {
  let value = 2_166_136_261;
  for (let index = 0; index < word.length; index++) value = Math.imul(value ^ word.charCodeAt(index), 16_777_619);
  return value >>> 0;
}

/** Each word adds to four places with signs that its hash decides: words that differ seldom meet. */
function vectorOf(words: string[], frequency: Map<string, number>, total: number): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const word of words) {
    const rarity = Math.log(1 + total / (frequency.get(word) ?? 1));
    let bits = hash(word);
    for (let turn = 0; turn < 4; turn++) {
      const at = bits % DIMENSIONS;
      vector[at] = (vector[at] ?? 0) + (bits & 0x80000000 ? rarity : -rarity);
      bits = Math.imul(bits ^ (bits >>> 15), 2_246_822_519) >>> 0;
    }
  }
  return normalize(vector);
}

function normalize(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector)) || 1;
  return vector.map((value) => value / length);
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

/** Spherical k-means; the first centres are spread over the list, so that the same texts give the same map. */
function groupVectors(vectors: Float32Array[], k: number): Uint16Array {
  const group = new Uint16Array(vectors.length);
  let centres = Array.from({ length: k }, (_, index) => vectors[Math.floor((index * vectors.length) / k)] ?? new Float32Array(DIMENSIONS));
  for (let round = 0; round < ROUNDS; round++) {
    const sums = centres.map(() => new Float32Array(DIMENSIONS));
    vectors.forEach((vector, index) => {
      let [best, score] = [0, -Infinity];
      centres.forEach((centre, at) => {
        const similarity = dot(vector, centre);
        if (similarity > score) [best, score] = [at, similarity];
      });
      group[index] = best;
      const sum = sums[best];
      if (sum) for (let at = 0; at < DIMENSIONS; at++) sum[at] = (sum[at] ?? 0) + (vector[at] ?? 0);
    });
    centres = sums.map(normalize);
  }
  return group;
}

interface Described {
  list: Island[];
  centres: Float32Array[];
}

function describe(groups: Uint16Array, words: string[][], frequency: Map<string, number>, vectors: Float32Array[]): Described {
  const count = Math.max(0, ...groups) + 1;
  const list: Island[] = [];
  const centres: Float32Array[] = [];
  for (let island = 0; island < count; island++) {
    const inside = new Map<string, number>();
    const sum = new Float32Array(DIMENSIONS);
    let size = 0;
    groups.forEach((group, index) => {
      if (group !== island) return;
      size += 1;
      for (const word of words[index] ?? []) inside.set(word, (inside.get(word) ?? 0) + 1);
      vectors[index]?.forEach((value, at) => (sum[at] = (sum[at] ?? 0) + value));
    });
    // A word names an island if it is frequent there and rare elsewhere.
    const names = [...inside].map(([word, here]) => [word, (here * here) / (frequency.get(word) ?? 1)] as const);
    names.sort((a, b) => b[1] - a[1]);
    list.push({ x: 0, y: 0, radius: Math.sqrt(size) + 0.5, size, terms: names.slice(0, 3).map(([word]) => word) });
    centres.push(normalize(sum));
  }
  return { list, centres };
}

/** Places islands on a spiral, then pulls similar ones together and pushes overlapping ones apart. */
function placeIslands(list: Island[], centres: Float32Array[]): void {
  const gap = 1.5;
  list.forEach((island, index) => {
    const angle = index * 2.399_963;
    const distance = 8 * Math.sqrt(index);
    island.x = Math.cos(angle) * distance;
    island.y = Math.sin(angle) * distance;
  });
  for (let round = 0; round < 300; round++) {
    const heat = 1 - round / 300;
    for (let a = 0; a < list.length; a++) {
      for (let b = a + 1; b < list.length; b++) moveApart(list[a], list[b], dot(centres[a] ?? new Float32Array(), centres[b] ?? new Float32Array()), heat, gap);
    }
  }
}

function moveApart(one: Island | undefined, other: Island | undefined, similarity: number, heat: number, gap: number): void {
  if (!one || !other) return;
  const [dx, dy] = [other.x - one.x, other.y - one.y];
  const distance = Math.hypot(dx, dy) || 0.01;
  const wanted = one.radius + other.radius + gap;
  const push = distance < wanted ? (distance - wanted) / 2 : (Math.max(0, similarity) * 0.04 + 0.004) * heat * (distance - wanted);
  const [x, y] = [(dx / distance) * push, (dy / distance) * push];
  one.x += x;
  one.y += y;
  other.x -= x;
  other.y -= y;
}

/** Inside an island, the most typical texts lie in the middle, on a spiral of even density. */
function placePoints(texts: MapText[], groups: Uint16Array, vectors: Float32Array[], islands: Described): MapPoint[] {
  const members: number[][] = islands.list.map(() => []);
  groups.forEach((group, index) => members[group]?.push(index));
  const points: MapPoint[] = new Array<MapPoint>(texts.length);
  members.forEach((indices, island) => {
    const { x, y, radius } = islands.list[island] ?? { x: 0, y: 0, radius: 1 };
    const centre = islands.centres[island] ?? new Float32Array(DIMENSIONS);
    const ranked = indices.map((index) => ({ index, near: dot(vectors[index] ?? centre, centre) })).sort((a, b) => b.near - a.near);
    ranked.forEach(({ index }, rank) => {
      const angle = rank * 2.399_963;
      const distance = radius * 0.95 * Math.sqrt((rank + 0.5) / ranked.length);
      points[index] = { id: texts[index]?.id ?? "", x: x + Math.cos(angle) * distance, y: y + Math.sin(angle) * distance, island };
    });
  });
  return points;
}

/** Pairs of texts that share a rare word, such as a name. */
export function linksOf(texts: string[]): [number, number][] {
  const words = texts.map(terms);
  return findLinks(words, countWords(words));
}

function findLinks(words: string[][], frequency: Map<string, number>): [number, number][] {
  const first = new Map<string, number>();
  const links: [number, number][] = [];
  words.forEach((list, index) => {
    for (const word of list) {
      const count = frequency.get(word) ?? 0;
      if (count < 2 || count > MAX_LINK_SHARE) continue;
      const other = first.get(word);
      if (other === undefined) first.set(word, index);
      else if (links.length < MAX_LINKS) links.push([other, index]);
    }
  });
  return links;
}
