// The pages of what an agent learns: each job done by clicking and typing, the result checked through the API.

import assert from "node:assert/strict";

import { openPage } from "./browser.mjs";
import { waitFor } from "./server.mjs";

/** Clicks the way back of a toast; an older toast may still be there. */
const undo = (page, done, label = "Undo") => page.locator(".toast", { hasText: done }).last().getByRole("button", { name: label }).click();

export async function profile({ browser, home }) {
  const fields = async () => (await home.api("/v1/profile")).fields;
  const { page, faults } = await openPage(browser, home, { path: "/profile" });
  // A profile is made of all memories on every read, which takes a while in a program that is not optimized.
  await page.locator('[data-field="role"]').getByText("flight nurse").waitFor({ timeout: 120_000 });
  await page.getByLabel("Field").fill("industry");
  await page.getByLabel("Value").fill("航空医疗");
  await page.getByRole("button", { name: "Set a field" }).click();
  await page.locator('[data-field="industry"]').getByText("航空医疗").waitFor({ timeout: 120_000 });
  assert.ok((await fields()).some((one) => one.name === "industry" && one.value === "航空医疗" && one.basis === "set"));
  await page.locator('[data-field="industry"]').getByRole("button", { name: "Take back" }).click();
  await waitFor(async () => !(await fields()).some((one) => one.value === "航空医疗"), "the field to be taken back");
  await undo(page, "Taken back");
  await waitFor(async () => (await fields()).some((one) => one.value === "航空医疗"), "its undo");
  await page.locator('[data-field="role"] summary').first().click();
  await page.locator('[data-field="role"] li').first().waitFor();
  assert.deepEqual(faults, []);
}

export async function experiences({ browser, home }) {
  const listed = async () => (await home.api("/v1/experiences?retired=true")).experiences;
  const { page, faults } = await openPage(browser, home, { path: "/experiences" });
  await page.getByRole("heading", { name: "cargo cannot link" }).waitFor();
  // The same failure in other words.
  await page.getByLabel("It is an error message").check();
  await page.getByLabel("Find by words or by an error").fill("error: linking failed: linker `cc` not found");
  await page.getByText("the same failure").waitFor();
  await page.getByLabel("Find by words or by an error").fill("");
  const card = (text) => page.locator("[data-experience]", { hasText: text });
  const worked = (await listed()).find((one) => one.pain === "cargo cannot link").worked;
  await card("cargo cannot link").getByRole("button", { name: "Worked" }).click();
  await waitFor(async () => (await listed()).find((one) => one.pain === "cargo cannot link").worked === worked + 1, "the report");
  await undo(page, "Noted");
  await waitFor(async () => (await listed()).find((one) => one.pain === "cargo cannot link").worked === worked, "its undo");
  await page.getByRole("button", { name: "New experience" }).click();
  await page.getByLabel("Problem").fill("打印机连不上");
  await page.getByLabel("What was tried").fill("重启打印服务");
  await page.getByLabel("How it went").fill("好了");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "New experience" }).click();
  assert.equal(await page.getByLabel("Problem").inputValue(), "打印机连不上", "closing keeps the draft");
  await page.getByRole("button", { name: "Save" }).click();
  await card("打印机连不上").waitFor();
  await card("打印机连不上").getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("What was tried").fill("重启打印服务，再重新连接");
  await page.getByRole("button", { name: "Save" }).click();
  await waitFor(async () => (await listed()).some((one) => one.solution === "重启打印服务，再重新连接"), "the edit");
  await card("打印机连不上").getByRole("button", { name: "Delete" }).click();
  await waitFor(async () => !(await listed()).some((one) => one.pain === "打印机连不上"), "the deletion");
  await undo(page, "Deleted");
  await waitFor(async () => (await listed()).some((one) => one.pain === "打印机连不上"), "its undo");
  assert.deepEqual(faults, []);
}

export async function schedules({ browser, home }) {
  const listed = async () => (await home.api("/v1/schedules")).schedules;
  const { page, faults } = await openPage(browser, home, { path: "/schedules", language: "zh" });
  await page.locator("[data-schedule]", { hasText: "water the plants" }).waitFor();
  const phrase = page.getByLabel("时间和事项");
  await phrase.fill("三点开会");
  await page.getByText("还不明确").waitFor();
  await phrase.fill("每周二下午三点半开例会");
  await page.locator(".runs li").nth(4).waitFor();
  await page.getByRole("button", { name: "添加" }).click();
  await page.locator("[data-schedule]", { hasText: "例会" }).waitFor();
  assert.ok((await listed()).some((one) => one.cron === "30 15 * * 2"), "the rule is what was said");
  assert.equal(await phrase.inputValue(), "");
  await page.locator("[data-schedule]", { hasText: "例会" }).getByRole("button", { name: "移除" }).click();
  await waitFor(async () => !(await listed()).some((one) => one.task.includes("例会")), "the removal");
  await undo(page, "已移除", "撤销");
  await waitFor(async () => (await listed()).some((one) => one.task.includes("例会")), "its undo");
  assert.deepEqual(faults, []);
}

/** A reminder that is due is told in the page, and stays readable after it was closed. */
export async function reminder({ browser, home }) {
  const { page, faults } = await openPage(browser, home, { path: "/schedules" });
  await page.locator(".lamp.live").waitFor();
  await home.api("/v1/schedules", { body: { text: "in 1 second", task: "检查烤箱 oven", zone: "UTC" } });
  await page.locator(".toast", { hasText: "Reminder: 检查烤箱 oven" }).waitFor({ timeout: 60_000 });
  await page.locator(".toast").getByRole("button", { name: "Close" }).last().click();
  await page.locator("section", { hasText: "Told in this browser" }).getByText("检查烤箱 oven").waitFor();
  assert.deepEqual(faults, []);
}

export async function proposals({ browser, home }) {
  const listed = async () => (await home.api("/v1/proposals")).proposals;
  const open = (await listed()).filter((one) => one.state === "open");
  assert.ok(open.length > 0, "reflection proposes something");
  const { page, faults } = await openPage(browser, home, { path: "/inbox" });
  const state = async (id) => (await listed()).find((one) => one.id === id).state;
  const card = page.locator(`[data-proposal="${open[0].id}"]`);
  await card.locator("ins, del, .code > span").first().waitFor();
  await card.getByRole("button", { name: "Approve" }).click();
  await waitFor(async () => (await state(open[0].id)) === "approved", "the approval");
  await page.getByText("Decided").click();
  await card.getByRole("button", { name: "Take back" }).click();
  await waitFor(async () => (await state(open[0].id)) === "rolled_back", "the way back");
  assert.deepEqual(faults, []);
}
