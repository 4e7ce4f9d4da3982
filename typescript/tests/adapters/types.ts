/** Types of the package as its users see them: what is wrong does not compile. Nothing here runs. */

import { Client, type Hit, type MemoryEvent, type Recall } from "everlore";
import { Client as OnlyClient } from "everlore/client";
import { memoryMiddleware } from "everlore/ai-sdk";
import { EverloreStore } from "everlore/langgraph";
import { MemoryProcessor } from "everlore/mastra";
import { mcpCommand } from "everlore/mcp";

export async function wrongUses(client: Client): Promise<void> {
  // @ts-expect-error: a user is a text
  new Client({ user: 7 });
  // @ts-expect-error: a limit is a number
  await client.recall("tea", { limit: "3" });
  // @ts-expect-error: no such option
  await client.remember("tea", { importence: 1 });
  // @ts-expect-error: a memory is needed
  memoryMiddleware({});
  // @ts-expect-error: a memory is needed
  new EverloreStore("home");
  // @ts-expect-error: no such option
  new MemoryProcessor(client, { sesion: "s" });
  // @ts-expect-error: no such set of tools
  mcpCommand({ tools: ["all"] });
  const recalled: Recall = await new OnlyClient().recall("tea");
  const best: Hit | undefined = recalled.hits[0];
  // @ts-expect-error: results are not for changing
  if (best) best.content = "coffee";
}

export function seq(event: MemoryEvent): number {
  // @ts-expect-error: a reminder has no number
  event.seq;
  return event.type === "change" ? event.seq : 0;
}
