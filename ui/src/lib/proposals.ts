/** What a proposal would change, read from its diff. */

import type { Proposal } from "../api/growth";

export interface MemoryStep {
  action: "merge" | "supersede" | "archive";
  id: string;
  /** Memory that takes its place; none if it is only put away. */
  into: string | null;
}

/** Memories that a proposal merges, replaces or archives; empty if it changes a file. */
export function memorySteps(proposal: Proposal): MemoryStep[] {
  if (proposal.target !== "memories") return [];
  const found = proposal.diff.split("\n").map((line) => /^(merge|supersede|archive) (\S+)(?: (?:into|by) (\S+))?$/.exec(line));
  return found.filter((one) => one !== null).map((one) => ({ action: one[1] as MemoryStep["action"], id: one[2] ?? "", into: one[3] ?? null }));
}

/** Text that can be edited before it is approved: the new line of a layer, or a whole skill or workflow. */
export function proposedText(proposal: Proposal): string | null {
  if (!/^(SOUL|USER|MEMORY)\.md$|^(skill|workflow) /.test(proposal.target)) return null;
  const lines = proposal.diff.split("\n").filter((line) => line.startsWith("+") && !line.startsWith("+++"));
  return lines.length ? lines.map((line) => line.slice(1)).join("\n") : null;
}
