/** Errors, by what the caller can do about them. */

/** Error of a call. `code` is a short, stable word, `hint` says what to do, `status` is that of the HTTP answer, if there was one. */
export class EverloreError extends Error {
  readonly code: string;
  readonly hint: string;
  readonly status: number | undefined;
  /** Sentence without the hint. */
  readonly title: string;

  constructor(title: string, hint = "", code = "internal", options: { status?: number; cause?: unknown } = {}) {
    super(hint ? `${title}: ${hint}` : title, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.title = title;
    this.hint = hint;
    this.code = code;
    this.status = options.status;
  }
}

/** The named memory does not exist in this scope. */
export class NotFound extends EverloreError {}

/** A shortened id matches more than one memory. */
export class AmbiguousId extends EverloreError {}

/** The input cannot be accepted as it is. */
export class Invalid extends EverloreError {}

/** The input is too long. */
export class TooLong extends Invalid {}

/** Another writer changed the same memory first. */
export class Conflict extends EverloreError {}

/** The key or token may not do this. */
export class Denied extends EverloreError {}

/** The home can be read but not written. */
export class ReadOnly extends EverloreError {}

/** The server accepts no more requests for now; `retryAfter` seconds may help. */
export class RateLimited extends EverloreError {
  retryAfter: number | undefined;
}

/** The database, a model or the server does not answer. Retrying may help. */
export class Unavailable extends EverloreError {
  retryAfter: number | undefined;
}

/** The stored data contradicts itself, or a newer version wrote it. */
export class Damaged extends EverloreError {}

/** The memory was closed. */
export class Closed extends EverloreError {}

type ErrorKind = typeof EverloreError;

const CODES: [ErrorKind, string[]][] = [
  [NotFound, ["not_found", "gone", "no_route"]],
  [AmbiguousId, ["ambiguous"]],
  [Invalid, ["invalid", "usage", "not_done", "no_method", "unsupported_type", "used_link"]],
  [TooLong, ["too_long", "too_large"]],
  [Conflict, ["conflict", "changed", "key_reused", "in_progress"]],
  [Denied, ["role", "scope", "unauthorized", "foreign_host", "foreign_origin", "keys_unreadable"]],
  [ReadOnly, ["read_only"]],
  [RateLimited, ["too_often"]],
  [Unavailable, ["store", "moving", "remote", "io", "busy", "not_ready", "too_slow", "unreachable", "timeout", "no_program", "no_start"]],
  [Damaged, ["damaged", "too_new"]],
  [Closed, ["closed"]],
];
const BY_CODE = new Map(CODES.flatMap(([kind, codes]) => codes.map((code) => [code, kind] as const)));

/** Returns the error for a code. */
export function errorFrom(code: string, title: string, hint: string, options: { status?: number; cause?: unknown } = {}): EverloreError {
  return new (BY_CODE.get(code) ?? EverloreError)(title, hint, code, options);
}
