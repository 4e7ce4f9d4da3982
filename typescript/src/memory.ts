/** Memory of a home on this machine, without a server to run: `Memory.open()`. */

import type { Scope } from "./api.ts";
import { RemoteMemory, ScopedMemory, transportTo, type ClientOptions } from "./client.ts";
import type { Transport } from "./http.ts";
import { homeFolder, PrivateServer } from "./private-server.ts";

export interface MemoryOptions extends Scope, Pick<ClientOptions, "timeoutMs" | "retries"> {
  /** Home folder with database, settings and layers; `EVERLORE_HOME`, or `~/.everlore`, otherwise. */
  home?: string | undefined;
}

/**
 * Memory of a home on this machine. A server of this process works for it, on a loopback port, and ends with the process
 * however that ends. If a server runs on the home already, it is used and left running.
 *
 * @example
 * await using memory = await Memory.open({ user: "ana" });
 * await memory.remember("I'm allergic to peanuts");
 */
export class Memory extends RemoteMemory {
  readonly #server: PrivateServer;
  readonly #transport: Transport;
  #isStopped = false;

  private constructor(server: PrivateServer, transport: Transport, scope: Scope) {
    super(transport, scope);
    this.#server = server;
    this.#transport = transport;
  }

  /** Opens a home, and makes it if it is new. */
  static async open(options: MemoryOptions = {}): Promise<Memory> {
    const server = PrivateServer.on(homeFolder(options.home));
    try {
      const memory = new Memory(server, transportTo(server, options), options);
      await server.current();
      return memory;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** Folder of the home. */
  get home(): string {
    return this.#server.home;
  }

  /** Process id of the server that this process started; `undefined` if one ran before. */
  get serverProcessId(): number | undefined {
    return this.#server.processId;
  }

  /** Returns a memory for another agent or user of the same home. It ends with this one. */
  withScope(scope: Scope): ScopedMemory {
    return new ScopedMemory(this.#transport, { agent: this.agent, user: this.user, ...scope });
  }

  override async close(): Promise<void> {
    await super.close();
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.#server.stop();
  }
}
