/** Decisions of the inbox that take several steps; a step that fails takes the earlier ones back. */

import type { Proposal } from "../../api/growth";
import type { LayerName } from "../../api/types";
import { proposedText } from "../../lib/proposals";
import { session } from "../../state/session.svelte";

type WayBack = () => Promise<void>;

/** Approves a proposal with another text; returns the way back. */
export async function approveEdited(proposal: Proposal, text: string): Promise<WayBack> {
  return proposal.target.startsWith("skill ") ? approveSkill(proposal, text) : approveLayer(proposal, text);
}

async function approveSkill(proposal: Proposal, text: string): Promise<WayBack> {
  const name = proposal.target.slice("skill ".length);
  const rollBack = await approved(proposal);
  try {
    const { version } = await session.api.skill("skills", name);
    await session.api.writeSkill(name, text);
    return async () => (await session.api.rollBackSkill("skills", name, version), await rollBack());
  } catch (error) {
    await rollBack();
    throw error;
  }
}

async function approveLayer(proposal: Proposal, text: string): Promise<WayBack> {
  const layer = proposal.target.replace(/\.md$/, "").toLowerCase() as LayerName;
  const read = async () => (await session.api.layer(layer)).data.text;
  const original = await read();
  const rollBack = await approved(proposal);
  // A file that was edited in between would keep the empty section.
  const restore = async () => (await rollBack(), await session.api.writeLayer(layer, await read(), original), undefined);
  try {
    const before = await read();
    // A function, since `$` in a replacement has a meaning of its own.
    const after = before.replace(proposedText(proposal) ?? "", () => text);
    await session.api.writeLayer(layer, before, after);
    return async () => (await session.api.writeLayer(layer, after, before), await restore());
  } catch (error) {
    await rollBack();
    throw error;
  }
}

async function approved(proposal: Proposal): Promise<WayBack> {
  await session.api.decide(proposal.id, "approve");
  return async () => void (await session.api.decide(proposal.id, "rollback"));
}
