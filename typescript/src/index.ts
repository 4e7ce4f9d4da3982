/** Long-term memory for LLM agents: `Memory` for a home on this machine, `Client` for a server. */

export { MemoryApi } from "./api.ts";
export type {
  CallOptions, ContextOptions, EditOptions, EventsOptions, FilterOptions, HistoryOptions, ListOptions, ObserveOptions,
  RecallOptions, RememberOptions, Scope, UndoOptions,
} from "./api.ts";
export type { Moment, Turn, TurnLike } from "./calls.ts";
export { Client, ScopedMemory, type ClientOptions } from "./client.ts";
export {
  AmbiguousId, Closed, Conflict, Damaged, Denied, EverloreError, Invalid, NotFound, RateLimited, ReadOnly, TooLong, Unavailable,
} from "./errors.ts";
export { EventStream } from "./events.ts";
export { Memory, type MemoryOptions } from "./memory.ts";
export { findProgram } from "./program.ts";
export type {
  Change, ChangeEvent, Context, ContextEntry, Extraction, Forgotten, Hit, Kind, MemoryEvent, Page, Recall, ReminderEvent, Role,
  Saved, Status, StoredMemory, Undone,
} from "./values.ts";
