/** Calls: the HTTP request of each operation and the reader of its answer. */

import { Invalid } from "./errors.ts";
import * as values from "./values.ts";

/** Time: a `Date`, or RFC 3339. */
export type Moment = Date | string;

/** Turn of a conversation. `content` is another name for `text`, as chat models use it. */
export interface Turn {
  text?: string;
  content?: string;
  role?: values.Role;
  speaker?: string;
  session?: string;
  time?: Moment;
}

/** Turn: its text (of the user), a pair of role and text, or an object. */
export type TurnLike = string | readonly [role: values.Role, text: string] | Turn;

/** HTTP request of a call. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
  /** Sent with an idempotency key, so that a repetition does not save twice. */
  readonly isKeyed?: boolean;
  /** It changes nothing, so that it may be sent again. */
  readonly isRead?: boolean;
}

/** Operation and the reader of its answer. */
export interface Call<T> {
  readonly request: HttpRequest;
  readonly read: (json: values.Json) => T;
}

const TURN_FIELDS = ["content", "role", "session", "speaker", "text", "time"];
const FILTERS = ["kinds", "tags", "statuses", "session", "since", "until"];
const REPEATED: Record<string, string> = { kinds: "kind", statuses: "status", tags: "tag" };

type Fields = Record<string, unknown>;

export function remember(content: string, fields: Fields): Call<values.Saved> {
  const body = { content, ...given(fields) };
  return { request: { method: "POST", path: "/v1/memories", body, isKeyed: true }, read: values.readSaved };
}

export function observe(turns: TurnLike | readonly TurnLike[], session: string | undefined): Call<values.Saved[]> {
  const body = { turns: listOfTurns(turns).map((turn) => turnFields(turn, session)) };
  return { request: { method: "POST", path: "/v1/turns/batch", body, isKeyed: true }, read: values.readAllSaved };
}

export function recall(query: string, fields: Fields): Call<values.Recall> {
  const filter = given(pick(fields, FILTERS));
  const rest = given(omit(fields, FILTERS));
  const body = { query, ...rest, ...(Object.keys(filter).length ? { filter } : {}) };
  return { request: { method: "POST", path: "/v1/recall", body, isRead: true }, read: values.readRecall };
}

export function context(query: string, fields: Fields): Call<values.Context> {
  const body = { query, ...given(fields) };
  // With a session, the server records what it told.
  return { request: { method: "POST", path: "/v1/context", body, isRead: fields["session"] === undefined }, read: values.readContext };
}

export function get(id: string): Call<values.StoredMemory> {
  return { request: { method: "GET", path: memoryPath(id), isRead: true }, read: values.readMemory };
}

export function listPage(fields: Fields): Call<values.Page> {
  const { oldestFirst, ...rest } = fields;
  const query = rename(given({ ...rest, order: oldestFirst ? "oldest" : undefined }));
  return { request: { method: "GET", path: "/v1/memories", query, isRead: true }, read: values.readPage };
}

export function edit(id: string, fields: Fields): Call<values.StoredMemory> {
  return { request: { method: "PATCH", path: memoryPath(id), body: given(fields) }, read: values.readMemory };
}

export function remove(id: string): Call<number> {
  return { request: { method: "DELETE", path: memoryPath(id) }, read: (json) => json.seq };
}

export function forget(id: string): Call<values.Forgotten> {
  return { request: { method: "POST", path: memoryPath(id, "/forget") }, read: values.readForgotten };
}

export function history(id: string | undefined, fields: Fields): Call<values.Change[]> {
  const path = id === undefined ? "/v1/history" : memoryPath(id, "/history");
  return { request: { method: "GET", path, query: given(fields), isRead: true }, read: values.readChanges };
}

export function undo(fields: Fields): Call<values.Undone> {
  return { request: { method: "POST", path: "/v1/undo", body: given(fields) }, read: values.readUndone };
}

export function redo(): Call<values.Undone> {
  return { request: { method: "POST", path: "/v1/redo" }, read: values.readUndone };
}

export function extract(fields: Fields): Call<values.Extraction[]> {
  return { request: { method: "POST", path: "/v1/extract", body: given(fields) }, read: values.readExtractions };
}

function memoryPath(id: string, part = ""): string {
  if (typeof id !== "string" || !id) throw new Invalid("the id of a memory is missing", "give the `id` of a saved or listed memory", "invalid");
  return `/v1/memories/${encodeURIComponent(id)}${part}`;
}

function listOfTurns(turns: TurnLike | readonly TurnLike[]): readonly TurnLike[] {
  if (typeof turns === "string" || !Array.isArray(turns)) return [turns as TurnLike];
  // A pair of strings is one turn if its first part is a role, and two texts otherwise.
  return isPair(turns) ? [turns] : (turns as readonly TurnLike[]);
}

function isPair(turns: readonly unknown[]): turns is readonly [string, string] {
  const roles = ["user", "assistant", "system", "tool"];
  return turns.length === 2 && turns.every((part) => typeof part === "string") && roles.includes(turns[0] as string);
}

function turnFields(turn: TurnLike, session: string | undefined): Fields {
  const { content, ...fields } = turnObject(turn);
  return { ...given({ session }), ...given({ ...fields, text: fields["text"] ?? content }) };
}

function turnObject(turn: TurnLike): Fields {
  if (typeof turn === "string") return { text: turn, role: "user" };
  if (Array.isArray(turn)) return { role: turn[0], text: turn[1] };
  const unknown = Object.keys(turn).find((name) => !TURN_FIELDS.includes(name));
  if (unknown) throw new Invalid(`a turn has no field \`${unknown}\``, `use ${TURN_FIELDS.join(", ")}`, "invalid");
  return { ...(turn as Fields) };
}

/** Returns the fields that were given, in the server's names, with times written and single texts as lists. */
function given(fields: Fields): Fields {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [snakeCase(name), plain(name, value)]));
}

function plain(name: string, value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "string" && ["kinds", "tags", "statuses"].includes(name) ? [value] : value;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function rename(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [REPEATED[name] ?? name, value]));
}

function pick(fields: Fields, names: string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
}

function omit(fields: Fields, names: string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
