/** The MCP helper with the real client of the protocol. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client as McpClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client } from "../src/index.ts";
import { mcpCommand, mcpConfig, mcpHttp } from "../src/mcp.ts";
import { PROGRAM, TestServer, temporaryFolder } from "./server.ts";

process.env["EVERLORE_BINARY"] = PROGRAM;

async function tools(client: McpClient): Promise<string[]> {
  return (await client.listTools()).tools.map((tool) => tool.name);
}

async function call(client: McpClient, name: string, args: Record<string, unknown>): Promise<string> {
  const result = (await client.callTool({ name, arguments: args })) as { content: { type: string; text?: string }[]; isError?: boolean };
  assert.ok(!result.isError, JSON.stringify(result));
  return result.content.map((part) => part.text ?? "").join("\n");
}

test("the command serves the SDK's client, which saves and recalls", { timeout: 60_000 }, async () => {
  const client = new McpClient({ name: "tests", version: "1" });
  await client.connect(new StdioClientTransport({ ...mcpCommand({ home: temporaryFolder(), agent: "helper", user: "小美" }), stderr: "ignore" }));
  assert.ok((await tools(client)).includes("memory_recall"));
  await call(client, "memory_save", { content: "我喜欢喝龙井茶，每天早上一杯" });
  await call(client, "memory_save", { content: "The launch is on May 3" });
  assert.match(await call(client, "memory_recall", { query: "早上喝什么茶？" }), /龙井茶/);
  await client.close();
});

test("a read-only command offers no tool that saves", { timeout: 60_000 }, async () => {
  const client = new McpClient({ name: "tests", version: "1" });
  await client.connect(new StdioClientTransport({ ...mcpCommand({ home: temporaryFolder(), readOnly: true, tools: ["core", "fs"] }), stderr: "ignore" }));
  const offered = await tools(client);
  assert.ok(offered.includes("memory_recall") && !offered.includes("memory_save"), offered.join());
  await client.close();
});

test("a server is reached over HTTP, in the scope that is named", { timeout: 60_000 }, async () => {
  const server = await TestServer.start();
  const memory = new Client({ url: server.url, key: server.key, agent: "helper", user: "ana" });
  await memory.remember("Ana's dentist is on Elm street");
  const { url, headers } = mcpHttp({ url: server.url, key: server.key, agent: "helper", user: "ana" });
  const client = new McpClient({ name: "tests", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as never);
  assert.match(await call(client, "memory_recall", { query: "where is the dentist?" }), /Elm street/);
  await client.close();
  await server.stop();
});

test("settings name the program, or npx for other machines", () => {
  assert.deepEqual(mcpConfig({ user: "ana" }), { mcpServers: { everlore: { command: PROGRAM, args: ["--user", "ana", "mcp"] } } });
  const portable = mcpConfig({ npx: true, readOnly: true, tools: ["core", "growth"] }, "memory");
  assert.deepEqual(portable.mcpServers["memory"], { command: "npx", args: ["-y", "everlore", "mcp", "--tools", "core,growth", "--read-only"] });
});
