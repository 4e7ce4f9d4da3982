/** MCP: how to start Everlore's server for a client, and how to reach one over HTTP. */

import type { Scope } from "./api.ts";
import { findProgram } from "./program.ts";

/** Sets of tools that the server offers. */
export type ToolSet = "core" | "layers" | "anthropic" | "fs" | "growth" | "graph" | "search";

export interface McpCommandOptions extends Scope {
  /** Home folder; that of the environment, or `~/.everlore`, otherwise. */
  home?: string | undefined;
  /** Sets of tools: `core` by default. */
  tools?: readonly ToolSet[] | undefined;
  /** Offers only tools that change nothing. */
  readOnly?: boolean | undefined;
  /** Starts it by `npx`, for settings that travel to other machines; by the path of the program otherwise. */
  npx?: boolean | undefined;
}

/** Command that starts the server on standard input and output. */
export interface McpCommand {
  command: string;
  args: string[];
}

/**
 * Returns the command of the MCP server, for `new StdioClientTransport(mcpCommand())` and for the settings of clients.
 * The server ends when its input closes.
 */
export function mcpCommand(options: McpCommandOptions = {}): McpCommand {
  const args = [...globalArguments(options), "mcp"];
  if (options.tools?.length) args.push("--tools", options.tools.join(","));
  if (options.readOnly) args.push("--read-only");
  return options.npx ? { command: "npx", args: ["-y", "everlore", ...args] } : { command: findProgram(), args };
}

/** Returns settings as most clients read them: `{ "mcpServers": { "everlore": … } }`. */
export function mcpConfig(options: McpCommandOptions = {}, name = "everlore"): { mcpServers: Record<string, McpCommand> } {
  return { mcpServers: { [name]: mcpCommand(options) } };
}

export interface McpHttpOptions extends Scope {
  /** Address of the server, as for `Client`. */
  url: string;
  /** Key or token. */
  key: string;
}

/** Address of a server's MCP endpoint, and the headers of every request. */
export interface McpEndpoint {
  url: string;
  headers: Record<string, string>;
}

/**
 * Returns the endpoint of a server that runs, for `new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })`
 * and for settings of clients that speak HTTP.
 */
export function mcpHttp(options: McpHttpOptions): McpEndpoint {
  const url = new URL(`${options.url.replace(/\/+$/, "")}/mcp`);
  if (options.agent) url.searchParams.set("agent", options.agent);
  if (options.user) url.searchParams.set("user", options.user);
  return { url: url.href, headers: { Authorization: `Bearer ${options.key}` } };
}

function globalArguments({ home, agent, user }: McpCommandOptions): string[] {
  const named = Object.entries({ home, agent, user }).filter(([, value]) => value);
  return named.flatMap(([name, value]) => [`--${name}`, String(value)]);
}
