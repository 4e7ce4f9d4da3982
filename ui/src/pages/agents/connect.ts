/** What to run or paste to connect a client, for an agent and a user. */

import type { Scope } from "../../api/types";

/** Clients that `everlore connect` knows, with their names. */
export const COMMANDS: [string, string][] = [
  ["claude-code", "Claude Code"], ["codex", "Codex"], ["gemini", "Gemini CLI"], ["qwen-code", "Qwen Code"], ["opencode", "OpenCode"], ["cursor", "Cursor"],
  ["cline", "Cline"], ["continue", "Continue"], ["aider", "aider"], ["vscode", "VS Code"], ["windsurf", "Windsurf"], ["zed", "Zed"], ["claude-desktop", "Claude Desktop"],
];

/** Options that choose a scope; none for the default one. */
function scopeOptions({ agent, user }: Scope): string[] {
  return [...(agent === "default" ? [] : ["--agent", agent]), ...(user === "default" ? [] : ["--user", user])];
}

export function connectCommand(client: string, scope: Scope): string {
  return ["everlore", "connect", client, ...scopeOptions(scope).map(quoted)].join(" ");
}

export function mcpServers(scope: Scope): string {
  return JSON.stringify({ mcpServers: { everlore: { command: "everlore", args: ["mcp", ...scopeOptions(scope)] } } });
}

function quoted(word: string): string {
  return /^[\w.-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
