/** The client against a real server. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Client, Closed, Denied, Invalid, Unavailable } from "../src/index.ts";
import { contract } from "./contract.ts";
import { TestServer, freePort, until } from "./server.ts";

describe("a client", { timeout: 60_000 }, () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.start();
  });
  after(() => server.stop());

  contract(async (user) => new Client({ url: server.url, key: server.key, agent: "tests", user }));

  test("scopes are separate", async () => {
    const client = new Client({ url: server.url, key: server.key, agent: "tests" });
    const [ana, mei] = [client.withScope({ user: "ana" }), client.withScope({ user: "小美" })];
    await ana.remember("Ana's locker is 12");
    await mei.remember("小美的柜子是 13 号");
    assert.deepEqual((await mei.list()).memories.map((found) => [found.agent, found.user]), [["tests", "小美"]]);
    assert.equal((await ana.list()).memories[0]?.content, "Ana's locker is 12");
  });

  test("a wrong key is denied", async () => {
    const refused = new Client({ url: server.url, key: "wrong" }).recall("anything");
    await assert.rejects(refused, (error) => error instanceof Denied && error.code === "unauthorized" && error.hint !== "");
  });

  test("a key to read reads and may not write", async () => {
    const owner = new Client({ url: server.url, key: server.key, agent: "tests", user: "reader" });
    await owner.remember("The meeting room is on the second floor");
    const reader = new Client({ url: server.url, key: server.addKey("reader", "read", "tests", "reader") });
    assert.equal((await reader.recall("where is the meeting room?")).hits.length, 1);
    for (const call of [() => reader.remember("x"), () => reader.observe("x"), () => reader.undo(), () => reader.forget("x")]) {
      await assert.rejects(call, { name: "Denied", code: "role", status: 403 });
    }
    await assert.rejects(reader.withScope({ user: "somebody else" }).list(), { name: "Denied", code: "scope" });
    assert.equal((await owner.list()).memories.length, 1);
  });

  test("an address or key that is none is refused at once", () => {
    for (const url of ["localhost", "ftp://127.0.0.1", "http://"]) {
      assert.throws(() => new Client({ url, key: "k" }), (error) => error instanceof Invalid && /http:\/\/127.0.0.1:6636/.test(error.message));
    }
    assert.throws(() => new Client({ url: server.url, key: "键" }), Invalid);
    assert.throws(() => new Client({ timeoutMs: 0 }), Invalid);
    assert.throws(() => new Client({ retries: -1 }), Invalid);
  });

  test("address and key come from the environment", async () => {
    Object.assign(process.env, { EVERLORE_URL: `${server.url}/`, EVERLORE_KEY: server.key });
    try {
      assert.ok((await new Client({ user: "environment" }).remember("The password policy changed")).id);
    } finally {
      delete process.env["EVERLORE_URL"];
      delete process.env["EVERLORE_KEY"];
    }
  });

  test("many calls run at once", async () => {
    const client = new Client({ url: server.url, key: server.key, user: "many" });
    const saved = await Promise.all(Array.from({ length: 20 }, (_, number) => client.remember(`Shelf ${number} holds box ${number}`)));
    assert.equal(new Set(saved.map((one) => one.id)).size, 20);
  });

  test("a closed client refuses and ends its streams", async () => {
    const client = new Client({ url: server.url, key: server.key, user: "closed" });
    const stream = await client.events();
    const read = (async () => {
      for await (const event of stream) assert.fail(JSON.stringify(event));
    })();
    await client.close();
    await client.close();
    await read;
    await assert.rejects(client.recall("anything"), Closed);
  });

  test("a reminder that is due is streamed", async () => {
    const stream = await new Client({ url: server.url, key: server.key, user: "reminded" }).events();
    const headers = { authorization: `Bearer ${server.key}`, "content-type": "application/json" };
    const body = JSON.stringify({ text: "in 1 second", task: "检查烤箱 oven", zone: "UTC" });
    const made = await fetch(`${server.url}/v1/schedules?user=reminded`, { method: "POST", headers, body });
    assert.equal(made.status, 201);
    for await (const event of stream) {
      if (event.type === "change") continue;
      assert.equal(event.task, "检查烤箱 oven");
      assert.match(event.due, /^\d{4}-\d\d-\d\dT/);
      break;
    }
  });

  test("a stream that is aborted ends", async () => {
    const client = new Client({ url: server.url, key: server.key, user: "aborted" });
    const controller = new AbortController();
    const stream = await client.events({ signal: controller.signal });
    const read = stream[Symbol.asyncIterator]().next();
    controller.abort();
    assert.deepEqual(await read, { done: true, value: undefined });
  });
});

test("a server that is not there is named", async () => {
  const port = await freePort();
  const refused = new Client({ url: `http://127.0.0.1:${port}`, key: "key" }).remember("anything");
  await assert.rejects(refused, (error) => error instanceof Unavailable && error.code === "unreachable" && error.message.includes(`${port}`) && /everlore serve/.test(error.hint));
});

test("a stream goes on where it was when the server comes back", { timeout: 60_000 }, async () => {
  const first = await TestServer.start();
  const client = new Client({ url: first.url, key: first.key, user: "restart" });
  const stream = await client.events();
  const events = stream[Symbol.asyncIterator]();
  const before = await client.remember("Said before the restart");
  const seen = await events.next();
  assert.equal(seen.value?.type === "change" && seen.value.id, before.id);
  await first.stop();
  const second = await TestServer.start(first.home, first.port);
  const meanwhile = await client.remember("Said after the restart");
  const next = await events.next();
  assert.equal(next.value?.type === "change" && next.value.id, meanwhile.id);
  assert.equal(stream.position, meanwhile.seq);
  stream.close();
  await until(async () => (await events.next()).done === true);
  await second.stop();
});
