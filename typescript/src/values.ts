/** Values that calls return: plain objects with times as `Date`, and the readers that make them of the server's JSON. */

/** Kinds of memories that the server makes; others may follow. */
export type Kind = "user" | "feedback" | "project" | "reference" | "knowledge" | "experience" | "session" | "turn" | (string & {});
/** States of a memory. */
export type Status = "active" | "superseded" | "archived" | "deleted" | (string & {});
/** Speakers of turns. */
export type Role = "user" | "assistant" | "system" | "tool" | (string & {});

/** One stored statement or turn, with its source. */
export interface StoredMemory {
  readonly id: string;
  readonly content: string;
  readonly kind: Kind;
  readonly status: Status;
  readonly agent: string;
  readonly user: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly importance: number;
  readonly confidence: number;
  readonly weight: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly session: string | undefined;
  readonly speaker: string | undefined;
  readonly role: Role | undefined;
  readonly at: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly supersededBy: string | undefined;
  readonly uri: string;
  readonly version: number;
}

/** Memory with its score for a query. `unverified` warns that it reads like an instruction that nobody approved. */
export interface Hit extends StoredMemory {
  readonly score: number;
  readonly newer: string | undefined;
  readonly unverified: boolean;
}

/** Hits of a query, best first. `confidence` is the probability that the best one answers it. */
export interface Recall {
  readonly hits: readonly Hit[];
  readonly confidence: number;
  readonly abstained: boolean;
  readonly candidates: number;
  /** Reason why no vectors took part; `undefined` if they did. */
  readonly withoutMeaning: string | undefined;
}

/** Memory shown in a block, and how much of it: `L0` one line, `L1` an overview, `L2` the full text. */
export interface ContextEntry {
  readonly id: string;
  readonly tier: string;
  readonly score: number;
}

/** Block for a system prompt; `text` is empty if nothing is relevant. */
export interface Context {
  readonly text: string;
  readonly tokens: number;
  readonly entries: readonly ContextEntry[];
}

/** Receipt of a save. `known` says that the same memory existed and was renewed; `run` undoes all of it. */
export interface Saved {
  readonly id: string;
  readonly uri: string;
  readonly kind: Kind;
  readonly seq: number;
  readonly known: boolean;
  readonly masked: readonly string[];
  readonly superseded: readonly string[];
  readonly run: string | undefined;
}

/** Line of the journal. `before` and `after` are missing where there was no memory, or its text was erased. */
export interface Change {
  readonly seq: number;
  readonly at: Date;
  readonly op: string;
  readonly id: string;
  readonly actor: string;
  readonly cause: string;
  readonly run: string | undefined;
  readonly before: StoredMemory | undefined;
  readonly after: StoredMemory | undefined;
}

/** Page of memories. `next` is the value of `after` for the next one, `undefined` on the last. */
export interface Page {
  readonly memories: readonly StoredMemory[];
  readonly next: string | undefined;
}

/** Sequence numbers of the changes that were taken back. */
export interface Undone {
  readonly changes: readonly number[];
}

/** Receipt of an erasure. `warnings` name places that may still hold the text, such as backups. */
export interface Forgotten {
  readonly ids: readonly string[];
  readonly warnings: readonly string[];
}

/** Report about one session: `stored` has the texts that became memories, `run` undoes them. */
export interface Extraction {
  readonly session: string | undefined;
  readonly turns: number;
  readonly by: string;
  readonly stored: readonly string[];
  readonly run: string | undefined;
}

/** Change of a memory as the stream tells it: never with its text. */
export interface ChangeEvent {
  readonly type: "change";
  readonly seq: number;
  readonly at: Date;
  readonly op: string;
  readonly id: string;
  readonly actor: string;
  readonly cause: string;
  readonly run: string | undefined;
}

/** Reminder that is due: the task of a schedule, and its time with the offset of its zone. */
export interface ReminderEvent {
  readonly type: "reminder";
  readonly id: string;
  readonly task: string;
  readonly due: string;
}

export type MemoryEvent = ChangeEvent | ReminderEvent;

/** JSON of the server. Its shapes are those of the OpenAPI description, so that readers take them as they are. */
export type Json = any;

export function readMemory(json: Json): StoredMemory {
  return {
    id: json.id,
    content: json.content,
    kind: json.kind,
    status: json.status,
    agent: json.scope.agent,
    user: json.scope.user,
    name: json.name ?? "",
    description: json.description ?? "",
    tags: json.tags ?? [],
    importance: json.importance,
    confidence: json.confidence,
    weight: json.weight,
    metadata: json.metadata ?? {},
    session: json.source.session ?? undefined,
    speaker: json.source.speaker ?? undefined,
    role: json.source.role ?? undefined,
    at: new Date(json.at),
    createdAt: new Date(json.created_at),
    updatedAt: new Date(json.updated_at),
    supersededBy: json.superseded_by ?? undefined,
    uri: json.uri,
    version: json.version,
  };
}

export function readRecall(json: Json): Recall {
  return {
    hits: json.hits.map(readHit),
    confidence: json.confidence,
    abstained: json.abstained,
    candidates: json.candidates,
    withoutMeaning: json.without_meaning ?? undefined,
  };
}

export function readContext(json: Json): Context {
  const entries = json.entries.map(({ id, tier, score }: Json) => ({ id, tier, score }));
  return { text: json.text, tokens: json.tokens, entries };
}

export function readSaved(json: Json): Saved {
  return {
    id: json.id,
    uri: json.uri,
    kind: json.kind,
    seq: json.receipt.seq,
    known: json.receipt.known ?? false,
    masked: json.masked ?? [],
    superseded: (json.superseded ?? []).map((older: Json) => older.id),
    run: json.undo?.run ?? undefined,
  };
}

export function readAllSaved(json: Json): Saved[] {
  return json.saved.map(readSaved);
}

export function readPage(json: Json): Page {
  return { memories: json.memories.map(readMemory), next: json.next ?? undefined };
}

export function readChanges(json: Json): Change[] {
  return json.changes.map(readChange);
}

export function readUndone(json: Json): Undone {
  return { changes: json.undone };
}

export function readForgotten(json: Json): Forgotten {
  return { ids: json.forgotten.map((report: Json) => report.id), warnings: json.warnings ?? [] };
}

export function readExtractions(json: Json): Extraction[] {
  return json.extractions.map(readExtraction);
}

/** Reads an event of the stream; `undefined` for kinds that this version does not know. */
export function readEvent(kind: string, json: Json): MemoryEvent | undefined {
  if (kind === "reminder") return { type: "reminder", id: json.id, task: json.task, due: json.due };
  if (kind !== "change") return undefined;
  const { seq, op, id, actor, cause } = json;
  return { type: "change", seq, at: new Date(json.at), op, id, actor, cause, run: json.run ?? undefined };
}

function readHit(json: Json): Hit {
  return { ...readMemory(json), score: json.score, newer: json.newer ?? undefined, unverified: json.unverified ?? false };
}

function readChange(json: Json): Change {
  return {
    seq: json.seq,
    at: new Date(json.at),
    op: json.op,
    id: json.id,
    actor: json.actor,
    cause: json.cause,
    run: json.run ?? undefined,
    before: json.before ? readMemory(json.before) : undefined,
    after: json.after ? readMemory(json.after) : undefined,
  };
}

function readExtraction(json: Json): Extraction {
  const stored = json.drafts.filter((draft: Json) => "id" in draft).map((draft: Json) => draft.statement);
  return { session: json.session ?? undefined, turns: json.turns, by: json.by, stored, run: json.run ?? undefined };
}
