import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { en } from "../../src/i18n/en";
import { t } from "../../src/i18n/index.svelte";
import { COMMANDS, connectCommand, mcpServers } from "../../src/pages/agents/connect";

const CRATES = join(import.meta.dirname, "../../../crates");
/** Words of the server that the page names, and where the sources list them. */
const WORDS = [
  ["part", "everlore/src/prompt/part.rs", "PromptPartName"],
  ["status", "everlore/src/types/memory.rs", "Status"],
  ["kind", "everlore/src/types/kind.rs", "Kind"],
  ["tier", "everlore/src/types/tier.rs", "Tier"],
  ["trust", "everlore/src/types/trust.rs", "Trust"],
  ["check", "everlore/src/types/check.rs", "CheckStatus"],
  ["beatjob", "everlore/src/growth/heartbeat.rs", "HeartbeatJob"],
  ["outcome", "everlore/src/growth/trajectory/outcome.rs", "TrajectoryOutcomeKind"],
  ["fault", "everlore/src/growth/audit/fault.rs", "FaultKind"],
  ["fix", "everlore/src/growth/audit/fault.rs", "AuditFix"],
  ["reason", "everlore/src/growth/reflection/proposal.rs", "ProposalReason"],
  ["proposal.state", "everlore/src/growth/reflection/proposal.rs", "ProposalState"],
  ["job", "everlore/src/engine/lifecycle/upkeep_report.rs", "UpkeepJob"],
  ["layer", "everlore/src/files/layers/layer.rs", "Layer"],
  ["keyrole", "everlore-server/src/auth.rs", "KeyRole"],
];

function variants(file, type) {
  const list = new RegExp(`variant_names! \\{ *(?:pub(?:\\([^)]*\\))? )?${type}:([^}]*)\\}`).exec(readFileSync(join(CRATES, file), "utf8"))?.[1];
  return [...(list ?? "").matchAll(/"([^"]+)"/g)].map((found) => found[1]);
}

describe("words of the server", () => {
  it.each(WORDS)("have names on the page: %s", (prefix, file, type) => {
    const found = variants(file, type);
    expect(found.length).toBeGreaterThan(1);
    expect(found.filter((word) => !(`${prefix}.${word}` in en))).toEqual([]);
  });

  it("that the page does not know are shown as they are", () => {
    expect(t("part.brand_new")).toBe("brand_new");
  });
});

describe("clients", () => {
  it("can be connected by the program", () => {
    const known = variants("everlore-cli/src/commands/connect/agents.rs", "CodingAgent");
    expect(COMMANDS.map(([id]) => id).toSorted()).toEqual(known.toSorted());
  });

  it("are connected for the chosen agent and user", () => {
    expect(connectCommand("codex", { agent: "default", user: "default" })).toBe("everlore connect codex");
    expect(connectCommand("aider", { agent: "助手", user: "o'neil" })).toBe("everlore connect aider --agent '助手' --user 'o'\\''neil'");
    expect(JSON.parse(mcpServers({ agent: "helper", user: "default" })).mcpServers.everlore.args).toEqual(["mcp", "--agent", "helper"]);
  });
});
