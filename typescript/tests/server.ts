/** A real server on a home of its own, in a temporary folder, and a server that a test scripts. */

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** The program that the tests run. */
export const PROGRAM: string = process.env["EVERLORE"] ?? join(import.meta.dirname, "../../target/debug/everlore");
if (!existsSync(PROGRAM)) throw new Error(`there is no program at ${PROGRAM}: build it with \`cargo build -p everlore-cli\`, or name it in EVERLORE`);

/** What is undone when the test process ends, newest first. */
const cleanups: (() => void)[] = [];
process.on("exit", () => cleanups.reverse().forEach((cleanup) => cleanup()));

/** Makes a temporary folder, removed when the test process ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "everlore-ts-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the program on a home and returns what it prints. */
export function command(home: string, ...args: string[]): string {
  return execFileSync(PROGRAM, ["--home", home, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

/** Server of the program on a home of its own. */
export class TestServer {
  readonly home: string;
  readonly url: string;
  readonly key: string;
  readonly #child: ChildProcess;

  private constructor(home: string, url: string, child: ChildProcess) {
    this.home = home;
    this.url = url;
    this.key = readFileSync(join(home, "server.token"), "utf8").trim();
    this.#child = child;
  }

  static async start(home: string = temporaryFolder(), port = 0): Promise<TestServer> {
    const child = spawn(PROGRAM, ["--home", home, "--json", "serve", "--port", String(port)], { stdio: ["ignore", "pipe", "ignore"] });
    cleanups.push(() => child.kill("SIGKILL"));
    const line = await firstLine(child);
    return new TestServer(home, JSON.parse(line).url, child);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Returns a key for one scope. */
  addKey(name: string, role: string, agent: string, user: string): string {
    const printed = command(this.home, "--json", "serve", "key", "add", name, "--role", role, "--agent", agent, "--user", user);
    return JSON.parse(printed).key;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((settle) => this.#child.once("exit", settle));
    this.#child.kill("SIGTERM");
    await ended;
  }
}

/** Waits for the first line that a process prints. */
export async function firstLine(child: ChildProcess): Promise<string> {
  let printed = "";
  return new Promise((settle, fail) => {
    child.stdout?.on("data", (data) => {
      printed += data;
      if (printed.includes("\n")) settle(printed.split("\n")[0] ?? "");
    });
    child.once("exit", (code) => fail(new Error(`it ended with ${code}: ${printed}`)));
  });
}

/** Server that answers as a test says, and records what it was asked. */
export class ScriptedServer {
  readonly requests: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(answer: (number: number, response: ServerResponse) => void): Promise<ScriptedServer> {
    const server = createServer();
    const scripted = new ScriptedServer(server);
    server.on("request", async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method = "", url = "", headers } = request;
      scripted.requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      answer(scripted.requests.length, response);
    });
    await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
    return scripted;
  }

  /** Starts a server that ends with the test. */
  static async startFor(test: TestContext, answer: (number: number, response: ServerResponse) => void): Promise<ScriptedServer> {
    const scripted = await ScriptedServer.start(answer);
    test.after(() => scripted.stop());
    return scripted;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((settle) => this.#server.close(settle));
  }
}

/** Sends JSON. */
export function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Returns a port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
  const { port } = server.address() as AddressInfo;
  await new Promise((settle) => server.close(settle));
  return port;
}

/** Waits until a condition holds; a test's own time limit ends it otherwise. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((settle) => setTimeout(settle, 20));
}
