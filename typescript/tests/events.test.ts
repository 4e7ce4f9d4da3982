/** The parser of server-sent events: text arrives in pieces of any size. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../src/events.ts";

const STREAM = ':\n\nid: 7\nevent: change\ndata: {"op":"add",\ndata: "id":"茶"}\n\n: alive\n\nevent: reminder\r\ndata: {"task":"x: y"}\r\n\r\nid: 8\nevent: cha';

async function parsed(pieces: string[]): Promise<unknown[]> {
  async function* texts(): AsyncGenerator<string> {
    yield* pieces;
  }
  const events = [];
  for await (const event of parse(texts())) events.push(event);
  return events;
}

const EVENTS = [
  { id: "7", event: "change", data: '{"op":"add",\n"id":"茶"}' },
  { id: "", event: "reminder", data: '{"task":"x: y"}' },
];

test("events are parsed, comments and half an event at the end are skipped", async () => {
  assert.deepEqual(await parsed([STREAM]), EVENTS);
});

test("events do not depend on how the text is cut", async () => {
  for (let size = 1; size < 12; size += 1) {
    const pieces = STREAM.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    assert.deepEqual(await parsed(pieces), EVENTS, `pieces of ${size}`);
  }
});
