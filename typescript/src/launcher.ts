#!/usr/bin/env node
/** `npx everlore`: runs the program of this platform and passes arguments, streams, signals and the exit code on. */

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { EverloreError } from "./errors.ts";
import { findProgram } from "./program.ts";

/** Exit code of the program for failures. */
const FAILED = 2;

try {
  launch(findProgram());
} catch (error) {
  if (!(error instanceof EverloreError)) throw error;
  fail(`${error.title}\n${error.hint}`);
}

function launch(program: string): void {
  const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
  for (const signal of forwarded()) process.on(signal, () => child.kill(signal));
  // A terminal sends Ctrl+C to both: the program decides, and the launcher waits for it.
  if (isInTerminal()) process.on("SIGINT", () => undefined);
  child.on("error", (error) => fail(`${program} cannot be run: ${error.message}`));
  child.on("exit", (code, signal) => end(code, signal));
}

function forwarded(): NodeJS.Signals[] {
  if (process.platform === "win32") return [];
  const always: NodeJS.Signals[] = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"];
  return isInTerminal() ? always : [...always, "SIGINT"];
}

function isInTerminal(): boolean {
  return process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
}

/** Ends as the program did: callers and shells tell a signal from an exit code. */
function end(code: number | null, signal: NodeJS.Signals | null): void {
  if (!signal) return process.exit(code ?? FAILED);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Where a signal does not end a process, the code says the same.
  setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 1000);
}

function fail(message: string): void {
  process.stderr.write(`everlore: ${message}\n`);
  process.exitCode = FAILED;
}
