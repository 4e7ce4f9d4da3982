/** `npx everlore`: the launcher with the real program, and without one. */

import assert from "node:assert/strict";
import { spawn, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PLATFORMS } from "../src/program.ts";
import { PROGRAM, firstLine, temporaryFolder } from "./server.ts";

const LAUNCHER = join(import.meta.dirname, "../src/launcher.ts");
const ROOT = join(import.meta.dirname, "../..");

function launch(args: string[], environment: Record<string, string> = { EVERLORE_BINARY: PROGRAM }, input = ""): SpawnSyncReturns<string> {
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, [LAUNCHER, ...args], { encoding: "utf8", env, input });
}

test("arguments, streams and exit codes are passed on", () => {
  const home = temporaryFolder();
  assert.equal(launch(["--version"]).stdout, `everlore ${version()}\n`);
  const saved = launch(["--home", home, "remember", "-"], { EVERLORE_BINARY: PROGRAM }, "我喜欢喝龙井茶");
  assert.equal(saved.status, 0, saved.stderr);
  assert.match(launch(["--home", home, "recall", "喝什么茶？"]).stdout, /龙井茶/);
  const [nothing, wrong] = [launch(["--home", home, "recall", "--tag", "none", "tea"]), launch(["--home", home, "frobnicate"])];
  assert.equal(nothing.status, 1);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /frobnicate/);
});

test("a signal reaches the program, which ends in its own way", { timeout: 30_000 }, async () => {
  for (const [signal, expected] of [["SIGTERM", 0], ["SIGINT", 0]] as const) {
    const args = [LAUNCHER, "--home", temporaryFolder(), "--json", "serve", "--port", "0"];
    const child = spawn(process.execPath, args, { env: { ...process.env, EVERLORE_BINARY: PROGRAM }, stdio: ["ignore", "pipe", "ignore"] });
    const server = JSON.parse(await firstLine(child));
    const ended = new Promise((settle) => child.once("exit", (code) => settle(code)));
    child.kill(signal);
    assert.equal(await ended, expected);
    assert.throws(() => process.kill(server.pid, 0), { code: "ESRCH" });
  }
});

test("a program that a signal ends makes the launcher end by it", async () => {
  const folder = temporaryFolder();
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\nkill -KILL $$\n");
  chmodSync(program, 0o755);
  const done = launch([], { EVERLORE_BINARY: program });
  assert.deepEqual([done.status, done.signal], [null, "SIGKILL"]);
});

test("without a program, the message says what to do", () => {
  const platform = `${process.platform}-${process.arch}`;
  const missing = launch(["--version"], { EVERLORE_BINARY: "" });
  assert.equal(missing.status, 2);
  assert.match(missing.stderr, new RegExp(`@everlore/${platform}.*is not installed\\n.*--omit=optional.*EVERLORE_BINARY`));
  const wrong = launch(["--version"], { EVERLORE_BINARY: "/nowhere/everlore" });
  assert.match(wrong.stderr, /EVERLORE_BINARY names \/nowhere\/everlore, which does not exist\n/);
  const folder = temporaryFolder();
  const unusable = launch(["--version"], { EVERLORE_BINARY: folder });
  assert.equal(unusable.status, 2);
  assert.match(unusable.stderr, /cannot be run/);
});

test("the program is found in the package of the platform", () => {
  const folder = temporaryFolder();
  cpSync(join(import.meta.dirname, "../src"), join(folder, "everlore"), { recursive: true });
  writeFileSync(join(folder, "everlore/package.json"), '{"type":"module"}');
  const installed = join(folder, "node_modules/@everlore", `${process.platform}-${process.arch}`);
  mkdirSync(join(installed, "bin"), { recursive: true });
  writeFileSync(join(installed, "package.json"), "{}");
  symlinkSync(PROGRAM, join(installed, "bin/everlore"));
  const { EVERLORE_BINARY: _, ...env } = process.env;
  const done = spawnSync(process.execPath, [join(folder, "everlore/launcher.ts"), "--version"], { encoding: "utf8", env });
  assert.equal(done.stdout, `everlore ${version()}\n`, done.stderr);
});

test("the version of the package is that of the program, and every platform is known to the packer", () => {
  const cargo = readFileSync(join(ROOT, "Cargo.toml"), "utf8");
  assert.equal(version(), /^version = "(.*)"$/m.exec(cargo)?.[1]);
  const packer = readFileSync(join(ROOT, "typescript/pack.mjs"), "utf8");
  for (const platform of PLATFORMS) assert.ok(packer.includes(`"${platform}"`), platform);
});

function version(): string {
  return JSON.parse(readFileSync(join(ROOT, "typescript/package.json"), "utf8")).version;
}
