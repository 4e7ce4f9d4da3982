// The prompt inspector shows what the API would give a model, and why.

import assert from "node:assert/strict";

import { openPage } from "./browser.mjs";

export async function inspector({ browser, home }) {
  const { told: recorded } = (await home.api("/v1/stats")).usage;
  const { page, faults } = await openPage(browser, home, { path: "/inspector" });
  const message = "What should I cook tonight?";
  await page.locator("textarea").pressSequentially(message, { delay: 5 });
  const expected = await home.api("/v1/context", { body: { query: message } });
  assert.ok(expected.entries.length > 0);
  for (const entry of expected.entries) await page.locator(`[data-in="${entry.id}"]`).waitFor();
  const shown = await page.locator("pre").last().textContent();
  assert.equal(shown, expected.text, "the text is what the API gives, to the letter");
  await page.getByText("Steps of the gate").click();
  await page.getByRole("heading", { name: "Left out" }).waitFor();
  await page.locator("section", { hasText: "Left out" }).getByRole("status").nth(1).waitFor();
  // Each reason holds: what is told by a memory names one that is told, and no reason blames the settings.
  const left = await page.locator(".left section", { hasText: "Left out" }).last().innerText();
  assert.doesNotMatch(left, /`|the settings allow|[0-9a-f]{8}-[0-9a-f]{4}-/);
  const told = expected.entries.map((entry) => entry.id);
  for (const { id } of (await home.api("/v1/recall", { body: { query: message, limit: 12 } })).hits) {
    const why = (await home.api("/v1/context", { body: { query: message, why_not: id } })).why_not;
    const teller = /^the memory (\S+) was drawn/.exec(why?.message ?? "")?.[1];
    assert.ok(!teller || told.includes(teller), why?.message);
    assert.equal(why?.reason === "told", told.includes(id), why?.message);
  }
  await page.getByLabel("Budget (tokens)").fill("10");
  await page.getByText("Nothing is recalled for this message.").waitFor();
  await page.getByLabel("Budget (tokens)").fill("");
  await page.locator("textarea").fill("Thanks, that's all!");
  await page.getByText("Nothing is told").waitFor();
  assert.equal((await home.api("/v1/stats")).usage.told, recorded, "nothing is recorded");
  assert.deepEqual(faults, []);
}
