// The prompt inspector shows what the API would give a model, and why.

import assert from "node:assert/strict";

import { openPage } from "./browser.mjs";

export async function inspector({ browser, home }) {
  const { told } = (await home.api("/v1/stats")).usage;
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
  await page.locator("section", { hasText: "Left out" }).getByRole("status").first().waitFor();
  await page.getByLabel("Budget (tokens)").fill("10");
  await page.getByText("Nothing is recalled for this message.").waitFor();
  await page.getByLabel("Budget (tokens)").fill("");
  await page.locator("textarea").fill("Thanks, that's all!");
  await page.getByText("Nothing is told").waitFor();
  assert.equal((await home.api("/v1/stats")).usage.told, told, "nothing is recorded");
  assert.deepEqual(faults, []);
}
