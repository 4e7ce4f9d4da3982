/** Parts that the tests of adapters share: a server, and the answers of the AI SDK's own mock models. */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, findProgram } from "everlore";

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const STOP = { unified: "stop", raw: undefined } as const;

/** Starts a server; its process ends with that of the tests. */
export async function startServer(): Promise<(user: string) => Client> {
  const home = mkdtempSync(join(tmpdir(), "everlore-adapters-"));
  const child = spawn(findProgram(), ["--home", home, "--json", "serve", "--port", "0", "--until-stdin-closes"], { stdio: ["pipe", "pipe", "ignore"] });
  process.on("exit", () => {
    child.kill("SIGKILL");
    rmSync(home, { recursive: true, force: true });
  });
  const url: string = await new Promise((settle) => child.stdout.once("data", (line) => settle(JSON.parse(String(line)).url)));
  for (const handle of [child, child.stdin, child.stdout]) (handle as unknown as { unref(): void }).unref();
  const key = readFileSync(join(home, "server.token"), "utf8").trim();
  return (user) => new Client({ url, key, agent: "adapters", user });
}

/** Returns the texts that a client remembers, oldest first. */
export async function turns(memory: Client): Promise<[string | undefined, string][]> {
  const said: [string | undefined, string][] = [];
  for await (const turn of memory.iterate({ kinds: "turn", oldestFirst: true })) said.push([turn.role, turn.content]);
  return said;
}

/** Returns an answer of a model. */
export function answered(text: string): any {
  return { content: [{ type: "text", text }], finishReason: STOP, usage: USAGE, warnings: [] };
}

/** Returns a call of a tool by a model. */
export function called(toolName: string, input: unknown): any {
  const call = { type: "tool-call", toolCallId: "call-1", toolName, input: JSON.stringify(input) };
  return { content: [call], finishReason: { unified: "tool-calls", raw: undefined }, usage: USAGE, warnings: [] };
}

/** Returns an answer of a model in pieces. */
export function streamed(...deltas: string[]): any {
  const texts = deltas.map((delta) => ({ type: "text-delta", id: "1", delta }));
  const parts = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "1" },
    ...texts,
    { type: "text-end", id: "1" },
    { type: "finish", finishReason: STOP, usage: USAGE },
  ];
  return { stream: ReadableStream.from(parts) };
}
