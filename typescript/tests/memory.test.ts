/** `Memory.open`: a home without a server to run, and no server left behind however the process ends. */

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Client, Closed, Memory, Unavailable } from "../src/index.ts";
import { contract } from "./contract.ts";
import { PROGRAM, TestServer, command, firstLine, temporaryFolder, until } from "./server.ts";

process.env["EVERLORE_BINARY"] = PROGRAM;

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
}

/** Starts a program in a process group of its own, which opens a home, does what the test wants and prints the id of its server. */
async function program(home: string, rest: string): Promise<{ child: ChildProcess; server: number }> {
  const script = `
    import { Memory } from ${JSON.stringify(join(import.meta.dirname, "../src/index.ts"))};
    const memory = await Memory.open({ home: ${JSON.stringify(home)} });
    await memory.remember("Said by another program");
    ${rest}
    console.log(memory.serverProcessId);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: ["ignore", "pipe", "inherit"], detached: true });
  return { child, server: Number(await firstLine(child)) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await new Promise((settle) => child.once("exit", settle));
}

describe("a memory of a home", { timeout: 120_000 }, () => {
  let memory: Memory;
  before(async () => {
    memory = await Memory.open({ home: temporaryFolder() });
  });
  after(() => memory.close());

  contract(async (user) => memory.withScope({ agent: "tests", user }));
});

test("its server ends when it is closed, and the home stays", { timeout: 60_000 }, async () => {
  const home = join(temporaryFolder(), "new/家");
  const memory = await Memory.open({ home, agent: "helper", user: "ana" });
  assert.deepEqual([memory.home, memory.agent, memory.user], [home, "helper", "ana"]);
  await memory.remember("I'm allergic to peanuts");
  const server = memory.serverProcessId;
  assert.ok(server && isAlive(server));
  await memory.close();
  await memory.close();
  assert.ok(!isAlive(server) && !existsSync(join(home, "server.json")));
  await assert.rejects(memory.recall("anything"), Closed);
  assert.match(command(home, "--agent", "helper", "--user", "ana", "recall", "allergic to anything?"), /peanuts/);
  await using again = await Memory.open({ home, agent: "helper", user: "ana" });
  assert.equal((await again.list()).memories.length, 1);
});

test("memories of one home share a server, until the last is closed", { timeout: 60_000 }, async () => {
  const home = temporaryFolder();
  const [first, second] = await Promise.all([Memory.open({ home, user: "ana" }), Memory.open({ home, user: "mei" })]);
  assert.equal(first.serverProcessId, second.serverProcessId);
  await first.close();
  await second.remember("Still here");
  await second.close();
  assert.ok(!existsSync(join(home, "server.json")));
});

test("a server that runs on the home is used and left running", { timeout: 60_000 }, async () => {
  const server = await TestServer.start();
  await using memory = await Memory.open({ home: server.home, user: "ana" });
  assert.equal(memory.serverProcessId, undefined);
  await memory.remember("Said in the process");
  await memory.close();
  const client = new Client({ url: server.url, key: server.key, user: "ana" });
  assert.equal((await client.list()).memories[0]?.content, "Said in the process");
  await server.stop();
});

test("a killed server is started again, and nothing saved is lost", { timeout: 60_000 }, async () => {
  await using memory = await Memory.open({ home: temporaryFolder() });
  const { id } = await memory.remember("茶在左边的柜子里");
  const first = memory.serverProcessId ?? 0;
  process.kill(first, "SIGKILL");
  await until(() => !isAlive(first));
  assert.equal((await memory.get(id)).content, "茶在左边的柜子里");
  assert.notEqual(memory.serverProcessId, first);
});

test("no server is left when the process is killed", { timeout: 60_000 }, async () => {
  const home = temporaryFolder();
  const { child, server } = await program(home, "setInterval(() => undefined, 1000);");
  assert.ok(isAlive(server));
  child.kill("SIGKILL");
  await end(child);
  await until(() => !isAlive(server));
  await until(() => !existsSync(join(home, "server.json")));
  assert.match(command(home, "memory", "list"), /Said by another program/);
});

test("a process that forgets to close ends by itself, and its server too", { timeout: 60_000 }, async () => {
  const { child, server } = await program(temporaryFolder(), "");
  await end(child);
  assert.equal(child.exitCode, 0);
  await until(() => !isAlive(server));
});

test("Ctrl+C is for the process, which may still save", { timeout: 60_000 }, async () => {
  const home = temporaryFolder();
  const onInterrupt = 'process.on("SIGINT", async () => { await memory.remember("Saved at the end"); await memory.close(); process.exit(7); }); setInterval(() => undefined, 1000);';
  const { child, server } = await program(home, onInterrupt);
  // As a terminal does, to the whole process group.
  process.kill(-(child.pid ?? 0), "SIGINT");
  await end(child);
  assert.equal(child.exitCode, 7);
  assert.ok(!isAlive(server));
  assert.match(command(home, "memory", "list"), /Saved at the end/);
});

test("two processes share a home, and one takes over when the other ends", { timeout: 60_000 }, async () => {
  const home = temporaryFolder();
  const { child, server } = await program(home, "setInterval(() => undefined, 1000);");
  await using memory = await Memory.open({ home });
  assert.equal(memory.serverProcessId, undefined);
  assert.equal((await memory.list()).memories.length, 1);
  child.kill("SIGKILL");
  await end(child);
  await until(() => !isAlive(server));
  assert.equal((await memory.list()).memories.length, 1);
  assert.ok(memory.serverProcessId && isAlive(memory.serverProcessId));
});

test("a home that cannot be opened is an error with the reason", { timeout: 60_000 }, async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "config.toml"), "[recall\n");
  await assert.rejects(Memory.open({ home }), (error) => error instanceof Unavailable && error.code === "no_start" && /config\.toml/.test(error.hint));
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  await assert.rejects(Memory.open({ home: file }), /file/);
  mkdirSync(join(home, "other"));
  await (await Memory.open({ home: join(home, "other") })).close();
});

test("without a program, the error says what to do", async () => {
  process.env["EVERLORE_BINARY"] = "/nowhere/everlore";
  try {
    await assert.rejects(Memory.open({ home: temporaryFolder() }), { name: "Unavailable", code: "no_program" });
  } finally {
    process.env["EVERLORE_BINARY"] = PROGRAM;
  }
});
