// The memories page: each job done by clicking and typing, the result checked through the API.

import assert from "node:assert/strict";

import { openPage } from "./browser.mjs";
import { waitFor } from "./server.mjs";

const detail = (page) => page.locator("article.detail");

export async function newMemory(home, content) {
  return (await home.api("/v1/memories", { body: { content } })).id;
}

async function content(home, id) {
  return (await home.api(`/v1/memories/${id}`)).content;
}

export async function remember({ browser, home }) {
  const { page, faults } = await openPage(browser, home, { path: "/memories" });
  await page.locator(".memory-row").first().waitFor();
  await page.keyboard.press("n");
  await page.locator("dialog textarea").fill("The spare key is under the blue flowerpot 备用钥匙");
  await page.locator("dialog").getByRole("button", { name: "Remember" }).click();
  await detail(page).getByText("The spare key is under the blue flowerpot").first().waitFor();
  const found = await home.api("/v1/recall", { body: { query: "spare key flowerpot", limit: 1 } });
  assert.match(found.hits[0].content, /blue flowerpot/);
  await page.getByRole("button", { name: "Undo" }).click();
  await waitFor(async () => !(await home.api("/v1/recall", { body: { query: "spare key flowerpot", limit: 1 } })).hits[0]?.content.includes("flowerpot"), "undo of a new memory");
  assert.deepEqual(withoutMissing(faults), []);
}

export async function search({ browser, home }) {
  const { page, faults } = await openPage(browser, home, { path: "/memories" });
  await page.locator(".memory-row").first().waitFor();
  const [answer] = await Promise.all([page.waitForResponse((response) => response.url().includes("/v1/recall")), page.keyboard.press("/").then(() => page.keyboard.type("花生过敏"))]);
  await answer.finished();
  const expected = await home.api("/v1/recall", { body: { query: "花生过敏", limit: 1, filter: { statuses: ["active"], kinds: ["user", "feedback", "project", "reference", "knowledge", "experience", "session"] } } });
  const first = page.locator(`.memory-row[data-id="${expected.hits[0].id}"]`);
  await first.waitFor();
  await first.locator(".open-button").click();
  await detail(page).locator(".why summary").click();
  await detail(page).getByText("Common words").waitFor();
  await page.getByRole("button", { name: /^Project/ }).click();
  await page.waitForFunction(() => [...document.querySelectorAll(".memory-row .kind")].every((kind) => kind.textContent.includes("Project")));
  assert.deepEqual(faults, []);
}

/** The newest of each kind under its heading, and dates that end a list. */
export async function groups({ browser, home }) {
  const { page, faults } = await openPage(browser, home, { path: "/memories" });
  await page.locator(".memory-row").first().waitFor();
  await page.getByRole("button", { name: "Group by kind" }).click();
  await page.locator('[data-group="user"]').waitFor();
  const { memories } = await home.api("/v1/memories?kind=user&limit=1");
  assert.equal(await page.locator(".memory-row").first().getAttribute("data-id"), memories[0].id);
  await page.locator(".list > div").first().evaluate((list) => list.scrollTo(0, 1_300));
  await page.locator('[data-group="feedback"]').getByRole("button", { name: /^All / }).click();
  await page.locator("[data-group]").waitFor({ state: "detached" });
  await page.waitForFunction(() => document.querySelectorAll(".memory-row .kind").length && [...document.querySelectorAll(".memory-row .kind")].every((kind) => kind.textContent.includes("Feedback")));
  await page.getByRole("button", { name: /^All/ }).first().click();
  const day = new Date(Date.now() - 300 * 86_400_000);
  await page.getByLabel("until").fill(day.toISOString().slice(0, 10));
  const end = new Date(`${day.toISOString().slice(0, 10)}T00:00:00`).getTime() + 86_400_000;
  await page.waitForFunction((end) => [...document.querySelectorAll(".memory-row time")].every((time) => Date.parse(time.dateTime) < end) && document.querySelectorAll(".memory-row").length, end);
  assert.deepEqual(faults, []);
}

export async function feedback({ browser, home }) {
  const id = await newMemory(home, "The printer on the third floor is called Gutenberg.");
  const weight = async () => (await home.api(`/v1/memories/${id}`)).weight;
  const before = await weight();
  const { page, faults } = await openPage(browser, home, { path: `/memories/${id}` });
  await detail(page).getByRole("button", { name: "It helps" }).click();
  await waitFor(async () => (await weight()) > before, "a higher weight");
  await page.locator(".toast", { hasText: "Noted" }).getByRole("button", { name: "Undo" }).click();
  await waitFor(async () => (await weight()) === before, "the weight as it was");
  assert.deepEqual(faults, []);
}

export async function edit({ browser, home }) {
  const id = await newMemory(home, "The office plants are watered on Mondays.");
  const { page, faults } = await openPage(browser, home, { path: `/memories/${id}` });
  await detail(page).getByRole("button", { name: "Edit" }).click();
  await detail(page).locator("textarea").fill("The office plants are watered on Thursdays.");
  await detail(page).locator("ins", { hasText: "Thursdays" }).waitFor();
  await page.reload();
  assert.equal(await detail(page).locator("textarea").inputValue(), "The office plants are watered on Thursdays.", "a reload keeps the draft");
  await detail(page).getByRole("button", { name: "Save" }).click();
  await waitFor(async () => (await content(home, id)).includes("Thursdays"), "the edit");
  await detail(page).getByRole("heading", { name: "History" }).waitFor();
  await detail(page).locator("li del", { hasText: "Mondays" }).waitFor();
  await detail(page).locator("li").getByRole("button", { name: "Undo" }).click();
  await waitFor(async () => (await content(home, id)).includes("Mondays"), "the undo");
  await page.keyboard.press("a");
  await waitFor(async () => (await home.api(`/v1/memories/${id}`)).status === "archived", "the archive key");
  await detail(page).getByRole("button", { name: "Restore" }).click();
  await waitFor(async () => (await home.api(`/v1/memories/${id}`)).status === "active", "the restore");
  assert.deepEqual(faults, []);
}

export async function bulk({ browser, home }) {
  for (const number of [1, 2, 3]) await home.api("/v1/memories", { body: { content: `Bulk statement ${number} about zeppelins`, tags: ["zeppelin"] } });
  const { page, faults } = await openPage(browser, home, { path: "/memories" });
  await page.getByPlaceholder("Tag").fill("zeppelin");
  await page.waitForFunction(() => document.querySelectorAll(".memory-row").length === 3);
  await page.locator(".memory-row input").first().check();
  // A ticked box takes no letters: the keys of the page go on.
  await page.keyboard.press("j");
  await page.waitForFunction(() => /memories\/.+/.test(location.hash));
  await page.getByRole("button", { name: "All shown" }).click();
  await page.getByRole("button", { name: "Delete" }).first().click();
  const left = async () => (await home.api("/v1/memories?tag=zeppelin")).memories.length;
  await waitFor(async () => (await left()) === 0, "the bulk delete");
  await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
  await waitFor(async () => (await left()) === 3, "its undo");
  // The memory that was opened is gone for a moment.
  assert.deepEqual(faults.filter((fault) => !fault.includes("404")), []);
}

export async function forget({ browser, home }) {
  const id = await newMemory(home, "My old locker code was 4711 and must go.");
  const { page, faults } = await openPage(browser, home, { path: `/memories/${id}` });
  await detail(page).getByRole("button", { name: "Forget for good" }).click();
  await page.locator("dialog").getByRole("button", { name: "Forget for good" }).click();
  await detail(page).getByText("Index entries").waitFor();
  await assert.rejects(home.api(`/v1/memories/${id}`), /404/);
  assert.deepEqual(withoutMissing(faults), []);
}

export async function conflict({ browser, home }) {
  const id = await newMemory(home, "The meeting room is on floor two.");
  const { page, faults } = await openPage(browser, home, { path: `/memories/${id}` });
  await detail(page).getByRole("button", { name: "Edit" }).click();
  await detail(page).locator("textarea").fill("The meeting room is on floor five.");
  await home.api(`/v1/memories/${id}`, { method: "PATCH", body: { content: "The meeting room is on floor three." } });
  await detail(page).getByText("Someone changed it while you were editing").waitFor();
  assert.equal(await detail(page).locator("textarea").inputValue(), "The meeting room is on floor five.");
  await detail(page).getByRole("button", { name: "Keep my text" }).click();
  await detail(page).getByRole("button", { name: "Save" }).click();
  await waitFor(async () => (await content(home, id)).includes("five"), "the edit over the newer version");
  assert.deepEqual(faults, []);
}

export async function keyboard({ browser, home }) {
  const { page, faults } = await openPage(browser, home);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await page.locator(".memory-row").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await detail(page).locator(".content").waitFor();
  await page.keyboard.press("?");
  await page.locator("dialog").getByText("Archive or restore").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.getByText("Choose a memory").waitFor();
  // Scrolling far loads more, and only what is seen is in the document.
  await page.locator(".list > div").first().evaluate((list) => list.scrollTo(0, 11_000));
  await page.waitForFunction(() => /[4-9]00 shown/.test(document.querySelector(".summary").textContent));
  assert.ok((await page.locator(".memory-row").count()) < 80);
  assert.deepEqual(faults, []);
}

/** A memory that is gone may be looked up once more before the page knows. */
function withoutMissing(faults) {
  return faults.filter((fault) => !fault.includes("404"));
}
