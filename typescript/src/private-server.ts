/** Server of this process: started on a loopback port for one home, and ended with the process, however it ends. */

import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { Closed, errorFrom } from "./errors.ts";
import { sleep, type Endpoint, type Endpoints } from "./http.ts";
import { findProgram } from "./program.ts";

/** Time for a start, and for another process that is just starting a server on the same home. */
const START_LIMIT_MS = 60_000;
const STARTING_PAUSE_MS = 100;
/** Time for requests in flight, after which the server is killed; it loses nothing that it acknowledged. */
const STOP_LIMIT_MS = 35_000;

/** Homes that this process has open, so that memories of one home share one server. */
const open = new Map<string, PrivateServer>();

/** Returns the folder of a home, as the program finds it. */
export function homeFolder(home: string | undefined): string {
  return resolve(home || process.env["EVERLORE_HOME"] || join(homedir(), ".everlore"));
}

/** Server on a home: our own, or one that runs there already. */
export class PrivateServer implements Endpoints {
  readonly home: string;
  #users = 0;
  #child: ChildProcess | undefined;
  #endpoint: Promise<Endpoint> | undefined;
  #isStopping = false;

  private constructor(home: string) {
    this.home = home;
  }

  /** Returns the server of a home; each caller stops it once. */
  static on(home: string): PrivateServer {
    const server = open.get(home) ?? new PrivateServer(home);
    open.set(home, server);
    server.#users += 1;
    return server;
  }

  /** Process id of the server, if it is ours. */
  get processId(): number | undefined {
    return this.#child?.pid;
  }

  async current(): Promise<Endpoint> {
    if (this.#isStopping) throw new Closed("the memory is closed", "open another one", "closed");
    this.#endpoint ??= this.#find().catch((error: unknown) => {
      this.#endpoint = undefined;
      throw error;
    });
    return this.#endpoint;
  }

  /** The server is gone: ours was killed, or that of another process ended with it. The next call starts one. */
  lost(): void {
    this.#endpoint = undefined;
  }

  /** Ends the server with its last user, when requests in flight are answered. One that ran before runs on. */
  async stop(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#isStopping = true;
    if (open.get(this.home) === this) open.delete(this.home);
    await this.#endpoint?.catch(() => undefined);
    if (this.#child) await end(this.#child);
  }

  /** Starts a server, or finds the one that was faster. */
  async #find(): Promise<Endpoint> {
    const until = Date.now() + START_LIMIT_MS;
    mkdirSync(this.home, { recursive: true, mode: 0o700 });
    for (;;) {
      const started = await start(this.home);
      if (started.child) this.#child = started.child;
      if (!started.refusal) return endpointOf(this.home);
      const isTaken = /already runs on this home|just starting on this home/.test(started.refusal);
      if (!isTaken || Date.now() > until) throw errorFrom("no_start", "the server of this home did not start", started.refusal);
      const running = await runningEndpoint(this.home);
      if (running) return running;
      await sleep(STARTING_PAUSE_MS, undefined);
    }
  }
}

interface Started {
  child?: ChildProcess;
  refusal?: string;
}

/** Starts a server and waits for its address, or for the reason why there is none. */
async function start(home: string): Promise<Started> {
  const args = ["--home", home, "--json", "--lang", "en", "serve", "--host", "127.0.0.1", "--port", "0", "--until-stdin-closes"];
  // Of its own process group, because Ctrl+C is for this process: it may still have something to save.
  // Nobody reads its log: a pipe that is full would stop the server while this process is busy.
  const stdio: ["pipe", "pipe", "ignore"] = ["pipe", "pipe", "ignore"];
  const child = spawn(findProgram(), args, { stdio, detached: process.platform !== "win32", windowsHide: true });
  let output = "";
  child.stdin.on("error", () => undefined);
  const refusal = await new Promise<string | undefined>((settle) => {
    child.once("error", (error) => settle(error.message));
    child.once("close", () => settle(refusalIn(output) ?? "it ended without a word: run `everlore serve` to see why"));
    child.stdout.on("data", (data) => {
      output += data;
      if (/"url"/.test(output) && output.includes("\n")) settle(undefined);
    });
  });
  if (refusal !== undefined) return { refusal };
  unref(child);
  return { child };
}

/** Lets the process end although the server runs: the server then ends because its input closes. */
function unref(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref(): void }).unref();
}

function refusalIn(output: string): string | undefined {
  try {
    const { message, hint } = JSON.parse(output).error;
    return `${message}; ${hint}`;
  } catch {
    return output.trim() || undefined;
  }
}

/** Returns the address for programs of this machine, and the owner's token, from the files of the home. */
function endpointOf(home: string): Endpoint {
  const info = JSON.parse(readFileSync(join(home, "server.json"), "utf8"));
  const address: string = (info.local ?? info.address).replace(/^0\.0\.0\.0:/, "127.0.0.1:").replace(/^\[::\]:/, "[::1]:");
  return { url: `http://${address}`, key: readFileSync(join(home, "server.token"), "utf8").trim() };
}

/** Returns the server that runs on a home, if its files name one that answers. */
async function runningEndpoint(home: string): Promise<Endpoint | undefined> {
  try {
    const endpoint = endpointOf(home);
    await fetch(`${endpoint.url}/health`, { signal: AbortSignal.timeout(STOP_LIMIT_MS) });
    return endpoint;
  } catch {
    return undefined;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = new Promise<void>((settle) => child.once("exit", () => settle()));
  child.stdin?.end();
  const kill = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
  await ended;
  clearTimeout(kill);
}
