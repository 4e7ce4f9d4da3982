// The pages of what an agent learns: each job done by clicking and typing, the result checked through the API.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

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

/** A layer's proposal is edited before it is approved; the way back leads to where it was. */
export async function editedProposal({ browser, home }) {
  const layer = async () => (await home.api("/v1/layers/soul")).text;
  const before = await layer();
  const open = (await home.api("/v1/proposals")).proposals.find((one) => one.state === "open" && one.target === "SOUL.md");
  const { page, faults } = await openPage(browser, home, { path: "/inbox" });
  const card = page.locator(`[data-proposal="${open.id}"]`);
  await card.getByRole("button", { name: "Reject" }).focus();
  await page.keyboard.press("e");
  await card.locator("textarea").fill("- Answer in short paragraphs, 先给结论.");
  await page.reload();
  await card.locator("textarea").waitFor();
  assert.equal(await card.locator("textarea").inputValue(), "- Answer in short paragraphs, 先给结论.", "a reload keeps the draft");
  await card.getByRole("button", { name: "Approve as edited" }).click();
  await waitFor(async () => (await layer()).includes("- Answer in short paragraphs, 先给结论."), "the edited line");
  await undo(page, "Approved");
  await waitFor(async () => (await layer()) === before, "the layer as it was");
  assert.deepEqual(faults, []);
}

/** Two statements that cannot both hold are shown with their texts; the newer one stays, and everything can be taken back. */
export async function contradiction({ browser, home }) {
  const { proposals } = await home.api("/v1/proposals");
  const open = proposals.find((one) => one.state === "open" && one.reason === "contradiction");
  const [, older] = /^supersede (\S+) by/.exec(open.diff);
  const status = async () => (await home.api(`/v1/memories/${older}`)).status;
  const { page, faults } = await openPage(browser, home, { path: "/inbox", language: "zh" });
  const card = page.locator(`[data-proposal="${open.id}"]`);
  await card.locator(".old", { hasText: "I live in Berlin." }).waitFor();
  await card.locator(".new", { hasText: "I live in Lisbon." }).waitFor();
  await card.getByText("“I live in Lisbon.”与“I live in Berlin.”不能同时成立").waitFor();
  await card.getByRole("button", { name: "保留较新的" }).focus();
  await page.keyboard.press("a");
  await waitFor(async () => (await status()) === "superseded", "the older statement to be replaced");
  await page.getByText("已决定").click();
  await card.getByRole("button", { name: "撤回" }).click();
  await waitFor(async () => (await status()) === "active", "its return");
  await card.getByRole("button", { name: "重新打开" }).click();
  // Or the other way round: the older one stays, and the newer is put away.
  await card.getByRole("button", { name: "保留另一条" }).click();
  const [, newer] = / by (\S+)$/m.exec(open.diff);
  await waitFor(async () => (await home.api(`/v1/memories/${newer}`)).status === "archived", "the newer to be put away");
  await page.locator(".toast", { hasText: "保留了另一条" }).last().getByRole("button", { name: "撤销" }).click();
  await waitFor(async () => (await home.api(`/v1/memories/${newer}`)).status === "active", "its undo");
  await card.getByRole("button", { name: "两条都保留" }).waitFor();
  assert.deepEqual(faults, []);
}

export async function skills({ browser, home }) {
  const path = "/v1/skills/release-web-app";
  const skill = () => home.api(path);
  const first = await skill();
  const { page, faults } = await openPage(browser, home, { path: "/skills" });
  const card = page.locator('[data-skill="release-web-app"]');
  await card.getByText("these 3 steps were taken in this order in 3 conversations").waitFor();
  await card.getByRole("button", { name: "Worked" }).click();
  await waitFor(async () => (await skill()).effect.worked === first.effect.worked + 1, "the report");
  await undo(page, "Noted");
  await waitFor(async () => (await skill()).effect.worked === first.effect.worked, "its undo");
  await card.locator("summary", { hasText: "Text" }).click();
  await card.getByRole("button", { name: "Edit" }).click();
  const text = card.getByLabel("Text");
  await text.fill("no front matter");
  await card.getByRole("button", { name: "Save" }).click();
  await card.locator("[role=alert]").waitFor();
  assert.equal(await text.inputValue(), "no front matter", "a refusal keeps what was typed");
  faults.length = 0;
  await text.fill(`${first.text}\nTell the team. 告诉大家。\n`);
  await card.getByRole("button", { name: "Save" }).click();
  await waitFor(async () => (await skill()).text.includes("告诉大家"), "the new version");
  await card.locator("summary", { hasText: "Versions" }).click();
  await card.locator("li", { hasText: "version 1" }).getByRole("button", { name: "Return to this version" }).click();
  await waitFor(async () => (await skill()).text === first.text, "the first version, to the letter");
  await card.getByRole("button", { name: "Retire" }).click();
  await card.waitFor({ state: "detached" });
  assert.equal((await skill()).state, "retired");
  await page.getByLabel("Also retired ones").check();
  await card.getByRole("button", { name: "Restore" }).click();
  await waitFor(async () => (await skill()).state === "active", "its return");
  await card.getByRole("button", { name: "Delete" }).click();
  await waitFor(() => home.api(path).then(() => false, () => true), "the deletion");
  await undo(page, "Deleted");
  await waitFor(() => home.api(path).then(() => true, () => false), "its undo");
  assert.deepEqual(faults.filter((fault) => !fault.includes("404")), []);
}

/** Steps that follow each other are suggested, approved in the inbox, and are a workflow then. */
export async function workflows({ browser, home }) {
  const { page, faults } = await openPage(browser, home, { path: "/skills", language: "zh" });
  await page.getByRole("link", { name: /待审中有 \d+ 条建议/ }).click();
  const card = page.locator("[data-proposal]", { hasText: "git-pull-npm-ci-test" });
  await card.getByText("这 3 个步骤在 3 次对话中以此顺序进行").waitFor();
  await card.getByRole("button", { name: "批准" }).click();
  await waitFor(async () => (await home.api("/v1/workflows")).workflows.length === 1, "the workflow");
  await page.goto(`${home.url}/#/skills`);
  await page.getByRole("tab", { name: "工作流" }).click();
  const steps = page.locator('[data-skill="git-pull-npm-ci-test"] .steps li');
  await steps.nth(2).getByText("npm test").waitFor();
  assert.equal(await steps.count(), 3);
  assert.deepEqual(faults, []);
}

export async function trajectories({ browser, home }) {
  const expected = await home.api("/v1/trajectories/release-wednesday");
  const { page, faults } = await openPage(browser, home, { path: "/trajectories" });
  await page.locator(".item").first().waitFor();
  await page.locator(".list > div").first().evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await page.locator(".item", { hasText: "release-wednesday" }).click();
  await page.locator(".step").nth(expected.steps.length - 1).waitFor();
  assert.equal(await page.locator(".step").count(), expected.steps.length);
  await page.locator(".step.wrong", { hasText: "borrow of moved value" }).getByText("failed", { exact: true }).waitFor();
  await page.getByText("the user said that it worked").waitFor();
  for (const [format, name] of [["atif", "release-wednesday.json"], ["openai", "release-wednesday.jsonl"]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: format }).click()]);
    assert.equal(download.suggestedFilename(), name);
    const saved = readFileSync(await download.path(), "utf8");
    assert.equal(saved, await home.api(`/v1/trajectories/release-wednesday/export?format=${format}`, { raw: true }), "the file is what the API gives");
  }
  await page.getByLabel("Compress to (tokens)").fill("60");
  const short = await home.api("/v1/trajectories/release-wednesday?budget=60");
  await page.getByText(`${short.compressed.tokens} of ${short.compressed.of} tokens`).waitFor();
  assert.equal(await page.locator(".step").count(), short.steps.length);
  await page.getByRole("link", { name: "Show the conversation" }).click();
  await page.locator(".turn", { hasText: "Release the web app now." }).waitFor();
  assert.deepEqual(faults, []);
}
