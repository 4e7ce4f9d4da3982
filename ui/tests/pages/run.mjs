// Page tests in a real browser against a real server: `make ui-test`, part of `make test`.

import { launch } from "./browser.mjs";
import { Home } from "./server.mjs";
import { agents, health, inbox, layers, map, moveAgent, overview, timeline } from "./jobs.mjs";
import { bulk, conflict, edit, feedback, forget, groups, keyboard, remember, search } from "./memories.mjs";
import { contradiction, editedProposal, experiences, profile, reminder, schedules, skills, trajectories, workflows } from "./growth.mjs";
import { draftDecisions, experienceDrafts, failedUndo, heldToasts, keptFields, longSession, proposalDecisions, sameHeadings } from "./decisions.mjs";
import { inspector } from "./inspector.mjs";
import { access, hostile, phone } from "./everywhere.mjs";
import { keyRemoved, live, readOnly, refusals, refusedEdits, refusedForms, restart, revoked, signIn, slow, twoBrowsers, weight } from "./trouble.mjs";

/** The order matters a little: a restart ends what others wait for, so it comes last. */
const TESTS = {
  signIn, overview, remember, search, groups, edit, feedback, bulk, forget, conflict, keyboard, inspector, timeline, inbox, layers, map, agents, moveAgent, health,
  profile, experiences, skills, workflows, trajectories, schedules, reminder, editedProposal, contradiction,
  draftDecisions, proposalDecisions, failedUndo, heldToasts, sameHeadings, keptFields, experienceDrafts, longSession,
  live, twoBrowsers, revoked, readOnly, keyRemoved, refusals, refusedForms, refusedEdits, slow, weight, phone, access, hostile, restart,
};
const MEMORIES = 3_000;

const wanted = process.argv.slice(2);
const home = new Home();
const browser = await launch();
let failed = 0;
const started = Date.now();
try {
  await home.start();
  await home.fill(MEMORIES);
  for (const [name, test] of Object.entries(TESTS)) {
    if (wanted.length && !wanted.includes(name)) continue;
    const began = Date.now();
    try {
      await test({ browser, home });
      console.log(`ok    ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL  ${name}\n${error.stack ?? error}\n`);
    } finally {
      for (const context of browser.contexts()) await context.close();
    }
  }
} finally {
  await browser.close();
  await home.remove();
}
console.log(`${failed ? `${failed} page tests failed` : "all page tests passed"} in ${Math.round((Date.now() - started) / 1_000)} s`);
process.exitCode = failed ? 1 : 0;
