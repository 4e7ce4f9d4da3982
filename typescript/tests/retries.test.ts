/** What is repeated, what is not, and how long a call waits: against a server that a test scripts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, Unavailable } from "../src/index.ts";
import { ScriptedServer, answer } from "./server.ts";

const SAVED = { id: "1", uri: "u", kind: "user", receipt: { seq: 1, known: false } };
const BUSY = { code: "busy", title: "too many requests", detail: "wait" };
const STORE = { code: "store", title: "the database does not answer", detail: "try again" };

test("a save is repeated with the same idempotency key", async (t) => {
  const server = await ScriptedServer.startFor(t, (number, response) => {
    if (number === 1) response.socket?.destroy();
    else if (number === 2) answer(response, 503, STORE);
    else answer(response, 201, SAVED);
  });
  const saved = await new Client({ url: server.url, key: "k" }).remember("Tea 茶");
  assert.equal(saved.id, "1");
  const keys = server.requests.map((request) => request.headers["idempotency-key"]);
  assert.equal(keys.length, 3);
  assert.ok(keys[0] && new Set(keys).size === 1);
  assert.deepEqual(JSON.parse(server.requests[2]?.body ?? ""), { content: "Tea 茶" });
});

test("a change that has no key is sent once if the server may have seen it", async (t) => {
  const server = await ScriptedServer.startFor(t, (_, response) => response.socket?.destroy());
  const client = new Client({ url: server.url, key: "k" });
  for (const call of [() => client.undo(), () => client.forget("1"), () => client.context("tea", { session: "s" })]) {
    const before = server.requests.length;
    await assert.rejects(call, Unavailable);
    assert.equal(server.requests.length, before + 1);
  }
});

test("what the server refused before it acted is sent again after the time that it asks for", async (t) => {
  const server = await ScriptedServer.startFor(t, (number, response) => {
    if (number === 1) answer(response, 503, BUSY, { "retry-after": "0" });
    else if (number === 2) answer(response, 429, { code: "too_often", title: "slow down", detail: "wait" }, { "retry-after": "0" });
    else answer(response, 200, { undone: [4] });
  });
  assert.deepEqual((await new Client({ url: server.url, key: "k" }).undo()).changes, [4]);
  assert.equal(server.requests.length, 3);
});

test("a server that asks for a long pause is told to the caller", async (t) => {
  const server = await ScriptedServer.startFor(t, (_, response) => answer(response, 429, { code: "too_often", title: "slow down", detail: "wait" }, { "retry-after": "60" }));
  await assert.rejects(new Client({ url: server.url, key: "k" }).list(), { name: "RateLimited", retryAfter: 60 });
  assert.equal(server.requests.length, 1);
});

test("retries end, and none are made if none are wanted", async (t) => {
  const server = await ScriptedServer.startFor(t, (_, response) => answer(response, 503, STORE));
  await assert.rejects(new Client({ url: server.url, key: "k", retries: 1 }).list(), { code: "store" });
  assert.equal(server.requests.length, 2);
  await assert.rejects(new Client({ url: server.url, key: "k", retries: 0 }).list(), { code: "store" });
  assert.equal(server.requests.length, 3);
});

test("a server that never answers is given up, and the limit is named", async (t) => {
  const server = await ScriptedServer.startFor(t, () => undefined);
  const client = new Client({ url: server.url, key: "k", timeoutMs: 50 });
  await assert.rejects(client.remember("tea"), { name: "Unavailable", code: "timeout", message: /0\.05 s.*timeoutMs/ });
  await assert.rejects(client.events(), { code: "timeout" });
  // On a busy machine a request may not even arrive in time, and none is sent twice.
  assert.ok(server.requests.length <= 2, `${server.requests.length}`);
});

test("a call that waits for a repetition can be aborted", async (t) => {
  const server = await ScriptedServer.startFor(t, (_, response) => answer(response, 503, BUSY, { "retry-after": "9" }));
  const controller = new AbortController();
  const call = new Client({ url: server.url, key: "k" }).list({ signal: controller.signal });
  while (server.requests.length === 0) await new Promise((settle) => setImmediate(settle));
  setTimeout(() => controller.abort(new Error("the user left")), 20);
  await assert.rejects(call, /the user left/);
});

test("a server that is another program is named as such", async (t) => {
  const server = await ScriptedServer.startFor(t, (number, response) => {
    if (number === 1) response.writeHead(200, { "content-type": "text/html" }).end("<h1>hello</h1>");
    else response.writeHead(404).end("not here");
  });
  const client = new Client({ url: server.url, key: "k" });
  await assert.rejects(client.list(), /is no Everlore server: check the address/);
  await assert.rejects(client.list(), { status: 404, message: /status 404/ });
});

test("scope, filters and times are sent as the server reads them", async (t) => {
  const server = await ScriptedServer.startFor(t, (_, response) => answer(response, 200, { memories: [], next: null }));
  const client = new Client({ url: `${server.url}/base/`, key: "k", agent: "a b", user: "小美" });
  await client.list({ kinds: ["user", "turn"], tags: "茶", since: new Date(0), oldestFirst: true, limit: 3 });
  const url = new URL(server.requests[0]?.url ?? "", server.url);
  assert.equal(url.pathname, "/base/v1/memories");
  const given = [["agent", "a b"], ["user", "小美"], ["kind", "user"], ["kind", "turn"], ["tag", "茶"], ["since", "1970-01-01T00:00:00.000Z"], ["limit", "3"], ["order", "oldest"]];
  assert.deepEqual([...url.searchParams].sort(), given.sort());
  assert.equal(server.requests[0]?.headers.authorization, "Bearer k");
});
