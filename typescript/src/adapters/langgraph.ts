/**
 * LangGraph.js: a `BaseStore` with search, for graphs that remember across threads.
 *
 * Each item is a memory of the kind `reference`: its text is searched by meaning, its value comes back as it was put. An item
 * that contradicts an older one supersedes it: search leaves the older one out, and `get` still returns it. Items are kept as
 * the Python adapter keeps them, so that graphs of both languages share a store.
 */

import {
  BaseStore, type GetOperation, type Item, type ListNamespacesOperation, type MatchCondition, type Operation, type OperationResults,
  type PutOperation, type SearchItem, type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import type { MemoryApi } from "../api.ts";
import { Invalid } from "../errors.ts";
import type { StoredMemory } from "../values.ts";

export interface EverloreStoreOptions {
  /** Fields of values that are searched; all texts in them by default. */
  fields?: readonly string[] | undefined;
}

/** Metadata of an item: namespace, key and value. */
const ITEM = "langgraph";
/** Kind and statuses that items have; deleted ones are gone, archived ones were pruned by upkeep. */
const KIND = "reference";
const STATUSES = ["active", "superseded"];
const PAGE = 500;
const DEFAULT_LIMIT = 10;

type Value = Record<string, unknown>;

interface StoredItem {
  namespace: string[];
  key: string;
  value: Value;
  hidden?: boolean;
}

/** Store on an Everlore memory: `builder.compile({ store: new EverloreStore(memory) })`. */
export class EverloreStore extends BaseStore {
  readonly memory: MemoryApi;
  readonly #fields: readonly string[] | undefined;

  constructor(memory: MemoryApi, options: EverloreStoreOptions = {}) {
    super();
    this.memory = memory;
    this.#fields = options.fields;
  }

  /** Runs operations in their order. */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = [];
    for (const operation of operations) results.push(await this.#run(operation));
    return results as OperationResults<Op>;
  }

  async #run(operation: Operation): Promise<unknown> {
    if ("namespacePrefix" in operation) return this.#search(operation);
    if ("value" in operation) return this.#put(operation);
    if ("key" in operation) return this.#get(operation);
    return this.#namespaces(operation);
  }

  async #get({ namespace, key }: GetOperation): Promise<Item | null> {
    const found = await this.#find(namespace, key);
    return found ? itemOf(found) : null;
  }

  async #find(namespace: string[], key: string): Promise<StoredMemory | undefined> {
    const page = await this.memory.list({ kinds: KIND, statuses: STATUSES, tags: [namespaceTag(namespace), keyTag(key)] });
    return page.memories.find((found) => hasAddress(found, namespace, key));
  }

  async #put({ namespace, key, value, index }: PutOperation): Promise<void> {
    const found = await this.#find(namespace, key);
    if (found && (value === null || found.status !== "active")) await this.memory.delete(found.id);
    if (value === null) return;
    const content = textOf(value, Array.isArray(index) ? index : this.#fields);
    const stored: StoredItem = { namespace, key, value, ...(index === false ? { hidden: true } : {}) };
    const metadata = { [ITEM]: stored };
    if (found?.status === "active") {
      await this.memory.edit(found.id, { content, metadata });
      return;
    }
    const tags = [...prefixTags(namespace), namespaceTag(namespace), keyTag(key)];
    await this.memory.remember(content, { kind: KIND, name: [...namespace, key].join("/"), tags, metadata });
  }

  async #search({ namespacePrefix, query, filter, limit = DEFAULT_LIMIT, offset = 0 }: SearchOperation): Promise<SearchItem[]> {
    const tags = namespacePrefix.length ? [prefixTag(namespacePrefix)] : undefined;
    const found: SearchItem[] = query ? await this.#recall(query, tags, filter ? PAGE : offset + limit) : await this.#listed(tags);
    return found.filter((item) => matches(item.value, filter)).slice(offset, offset + limit);
  }

  async #recall(query: string, tags: string[] | undefined, limit: number): Promise<SearchItem[]> {
    const { hits } = await this.memory.recall(query, { kinds: KIND, tags, limit });
    const shown = hits.filter((hit) => ITEM in hit.metadata && !storedOf(hit).hidden);
    return shown.map((hit) => ({ ...itemOf(hit), score: hit.score }));
  }

  async #listed(tags: string[] | undefined): Promise<SearchItem[]> {
    return (await this.#all(tags)).map(itemOf);
  }

  async #namespaces({ matchConditions, maxDepth, limit, offset }: ListNamespacesOperation): Promise<string[][]> {
    const namespaces = (await this.#all(undefined)).map((found) => storedOf(found).namespace);
    const meeting = namespaces.filter((namespace) => (matchConditions ?? []).every((condition) => meets(namespace, condition)));
    const unique = new Map(meeting.map((namespace) => namespace.slice(0, maxDepth)).map((part) => [JSON.stringify(part), part]));
    const sorted = [...unique].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, namespace]) => namespace);
    return sorted.slice(offset, offset + limit);
  }

  async #all(tags: string[] | undefined): Promise<StoredMemory[]> {
    const options = { kinds: KIND, statuses: STATUSES, tags, limit: PAGE, oldestFirst: true };
    const items: StoredMemory[] = [];
    for await (const found of this.memory.iterate(options)) if (ITEM in found.metadata) items.push(found);
    return items;
  }
}

/** Writes a namespace as Python's `json.dumps` does: stores of both languages share their tags. */
function listText(namespace: readonly string[]): string {
  return `[${namespace.map((part) => JSON.stringify(part)).join(", ")}]`;
}

function namespaceTag(namespace: readonly string[]): string {
  return `in:${listText(namespace)}`;
}

function prefixTag(prefix: readonly string[]): string {
  return `under:${listText(prefix)}`;
}

function prefixTags(namespace: readonly string[]): string[] {
  return namespace.map((_, index) => prefixTag(namespace.slice(0, index + 1)));
}

function keyTag(key: string): string {
  return `key:${key}`;
}

function storedOf(found: StoredMemory): StoredItem {
  return found.metadata[ITEM] as StoredItem;
}

function hasAddress(found: StoredMemory, namespace: readonly string[], key: string): boolean {
  if (!(ITEM in found.metadata)) return false;
  const stored = storedOf(found);
  return stored.key === key && listText(stored.namespace) === listText(namespace);
}

function itemOf(found: StoredMemory): Item {
  const { namespace, key, value } = storedOf(found);
  return { namespace, key, value, createdAt: found.createdAt, updatedAt: found.updatedAt };
}

/** Returns the text to search: the strings of the value, or of some of its fields. */
function textOf(value: Value, fields: readonly string[] | undefined): string {
  const chosen = fields?.length ? fields.map((field) => value[field]) : value;
  const texts = [...strings(chosen)].filter((text) => text.trim());
  return texts.join("\n") || JSON.stringify(value);
}

function* strings(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (value && typeof value === "object") for (const part of Object.values(value)) yield* strings(part);
}

const COMPARE: Record<string, (value: never, wanted: never) => boolean> = {
  $eq: (value, wanted) => isSame(value, wanted),
  $ne: (value, wanted) => !isSame(value, wanted),
  $gt: (value, wanted) => value > wanted,
  $gte: (value, wanted) => value >= wanted,
  $lt: (value, wanted) => value < wanted,
  $lte: (value, wanted) => value <= wanted,
};

function matches(value: Value, filter: Value | undefined): boolean {
  return Object.entries(filter ?? {}).every(([field, condition]) => fieldMatches(value[field], condition));
}

function fieldMatches(value: unknown, condition: unknown): boolean {
  const operators = condition && typeof condition === "object" ? Object.entries(condition).filter(([name]) => name.startsWith("$")) : [];
  if (!operators.length) return isSame(value, condition);
  return operators.every(([name, wanted]) => {
    const compare = COMPARE[name];
    if (!compare) throw new Invalid(`unknown operator ${name}`, `use ${Object.keys(COMPARE).join(", ")}`, "invalid");
    return (value !== undefined || name === "$ne" || name === "$eq") && compare(value as never, wanted as never);
  });
}

function isSame(value: unknown, wanted: unknown): boolean {
  return value === wanted || JSON.stringify(value) === JSON.stringify(wanted);
}

function meets(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  if (path.length > namespace.length) return false;
  const part = matchType === "prefix" ? namespace.slice(0, path.length) : namespace.slice(-path.length);
  return path.every((wanted, index) => wanted === "*" || wanted === part[index]);
}
