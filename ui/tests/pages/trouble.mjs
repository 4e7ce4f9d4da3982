// Signing in, other writers, refusals and outages: the page says what happens and keeps what was typed.

import assert from "node:assert/strict";

import { openPage } from "./browser.mjs";
import { newMemory } from "./memories.mjs";
import { waitFor } from "./server.mjs";

export async function signIn({ browser, home }) {
  assert.ok(home.link, "the server prints a link");
  const { page, context, faults } = await openPage(browser, home, { token: "", path: "/" });
  await page.goto("about:blank");
  await page.goto(home.link);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  assert.ok(!page.url().includes("sign-in"), "the code does not stay in the address bar");
  assert.deepEqual(faults, []);
  const [cookie] = await context.cookies();
  assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, "Strict"]);
  assert.deepEqual(await page.evaluate(() => [document.cookie, Object.values(localStorage).some((value) => value.includes("evl_"))]), ["", false], "no script can read the secret");
  await page.reload();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.equal((await fetch(`${home.url}/v1/me`, { headers: { cookie: `${cookie.name}=${cookie.value}`, "x-everlore-page": "1" } })).status, 401, "signing out ends the session on the server");
  await context.close();
  const again = await openPage(browser, home, { token: "" });
  await again.page.goto("about:blank");
  await again.page.goto(home.link);
  await again.page.getByText("This link was used already").waitFor();
  await again.page.getByLabel("Or paste the owner's token or a key").fill("evl_wrong");
  await again.page.getByRole("button", { name: "Sign in" }).click();
  await again.page.getByText("does not accept this token").waitFor();
  await again.page.getByLabel("Or paste the owner's token or a key").fill(home.token);
  await again.page.getByRole("button", { name: "Sign in" }).click();
  await again.page.getByRole("heading", { name: "Overview" }).waitFor();
}

export async function live({ browser, home }) {
  const { page, faults } = await openPage(browser, home, { path: "/memories" });
  await page.locator(".lamp.live").waitFor();
  await page.locator(".memory-row").first().waitFor();
  const id = await newMemory(home, "This came from another program.");
  await page.locator(`.memory-row[data-id="${id}"]`).waitFor();
  await home.api(`/v1/memories/${id}`, { method: "DELETE" });
  await page.locator(`.memory-row[data-id="${id}"]`).waitFor({ state: "detached" });
  assert.deepEqual(faults, []);
}

/** Two people at once: what one does appears to the other, and each keeps what they type. */
export async function twoBrowsers({ browser, home }) {
  const id = await newMemory(home, "Two people look at this.");
  const one = await openPage(browser, home, { path: `/memories/${id}` });
  const other = await openPage(browser, home, { path: `/memories/${id}`, language: "zh" });
  await other.page.locator("article.detail").getByRole("button", { name: "编辑" }).click();
  await other.page.locator("article.detail textarea").fill("另一个人正在写。");
  await one.page.locator("article.detail").getByRole("button", { name: "Edit" }).click();
  await one.page.locator("article.detail textarea").fill("One of them was faster.");
  await one.page.locator("article.detail").getByRole("button", { name: "Save" }).click();
  await waitFor(async () => (await home.api(`/v1/memories/${id}`)).content === "One of them was faster.", "the first save");
  assert.equal(await other.page.locator("article.detail textarea").inputValue(), "另一个人正在写。");
  // The event of the first save tells the second person; nothing can be saved over it unasked.
  await other.page.locator("article.detail").getByRole("alert").getByText("One of them was faster.").first().waitFor();
  assert.ok(await other.page.locator("article.detail").getByRole("button", { name: "保存" }).isDisabled());
  assert.equal((await home.api(`/v1/memories/${id}`)).content, "One of them was faster.", "nobody is overwritten unasked");
  assert.equal(await other.page.locator("article.detail textarea").inputValue(), "另一个人正在写。");
  assert.deepEqual(one.faults, []);
}

/** The owner signs another browser out: it is refused at once and keeps what was typed. */
export async function revoked({ browser, home }) {
  const victim = await openPage(browser, home, { path: "/inspector" });
  await victim.page.locator("textarea").fill("This stays.");
  await victim.page.locator(".lamp.live").waitFor();
  const { page, faults } = await openPage(browser, home, { path: "/agents" });
  const { browsers } = await home.api("/v1/browsers");
  await page.locator(`[data-browser="${browsers[1].id}"]`).getByRole("button", { name: "Sign out" }).click();
  await victim.page.getByRole("heading", { name: "Sign in again" }).waitFor();
  assert.equal(await victim.page.locator("textarea").inputValue(), "This stays.");
  assert.deepEqual(faults, []);
}

/** On a slow network the page stays usable, says that it waits, and keeps what is typed meanwhile. */
export async function slow({ browser, home }) {
  const { page, faults } = await openPage(browser, home, { path: "/inspector" });
  await page.locator(".lamp.live").waitFor();
  await page.route("**/v1/**", async (route) => (await new Promise((resolve) => setTimeout(resolve, 1_500)), route.fallback()));
  await page.locator("textarea").pressSequentially("What should I cook tonight?", { delay: 2 });
  await page.getByText("Loading…").waitFor();
  assert.equal(await page.locator("textarea").inputValue(), "What should I cook tonight?");
  await page.locator("[data-in]").first().waitFor();
  // A save that takes long cannot be sent twice, and the text is there until it is stored.
  await page.keyboard.press("Escape");
  await page.locator("h1").click();
  await page.keyboard.press("n");
  await page.locator("dialog textarea").fill("The network was slow 网络很慢");
  await page.locator("dialog").getByRole("button", { name: "Remember" }).click();
  assert.ok(await page.locator("dialog").getByRole("button", { name: "Remember" }).isDisabled());
  assert.equal(await page.locator("dialog textarea").inputValue(), "The network was slow 网络很慢");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal((await home.api("/v1/recall", { body: { query: "网络很慢", limit: 1 } })).hits[0].content, "The network was slow 网络很慢");
  await page.unrouteAll({ behavior: "ignoreErrors" });
  assert.deepEqual(faults, []);
}

/** What a browser loads for the first page, and how soon something is seen. */
export async function weight({ browser, home }) {
  const { page, faults } = await openPage(browser, home, { path: "/" });
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
  assert.ok(paint < 5_000, `first paint after ${Math.round(paint)} ms`);
  const answers = await Promise.all(["/", "/ui/app.js", "/ui/app.css"].map((path) => fetch(home.url + path)));
  for (const answer of answers) assert.match(answer.headers.get("content-security-policy"), /default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.deepEqual(faults, []);
}

export async function readOnly({ browser, home }) {
  const { secret } = await home.api("/v1/keys", { body: { name: "viewer", agent: "default", user: "default", role: "read" } });
  const id = await newMemory(home, "A reader may look at this.");
  const { page, faults } = await openPage(browser, home, { token: secret, path: `/memories/${id}` });
  const detail = page.locator("article.detail");
  await detail.locator(".content").waitFor();
  for (const name of ["Edit", "Archive", "Delete", "Forget for good"]) assert.ok(await detail.getByRole("button", { name, exact: true }).isDisabled(), `${name} is off`);
  assert.equal(await page.getByRole("button", { name: "New", exact: true }).count(), 0);
  // Everything can be read, and nothing that is refused can be clicked.
  const off = { "/layers/user": ["Edit"], "/inbox": ["Approve", "Edit", "Reject"], "/experiences": ["Worked", "Failed", "Edit", "Delete"], "/skills": ["Worked", "Failed"], "/schedules": ["Remove"], "/health": ["Learn now", "Preview"] };
  for (const path of ["/", "/inspector", "/timeline", "/map", "/layers/user", "/inbox", "/profile", "/experiences", "/skills", "/schedules", "/trajectories", "/agents", "/health"]) {
    await page.goto(`${home.url}/#${path}`);
    await page.locator("main h1").waitFor();
    for (const name of off[path] ?? []) {
      await page.locator("main").getByRole("button", { name, exact: true }).first().waitFor();
      assert.equal(await page.locator("main").getByRole("button", { name, exact: true, disabled: false }).count(), 0, `${path}: ${name} is off`);
    }
  }
  assert.equal(await page.getByRole("button", { name: /New experience|Set a field|Make a key|Export to a file|Reflect now/ }).count(), 0);
  // The page says which key it uses, and does not even ask for what the key may not see.
  await page.getByText("Key viewer: read").waitFor();
  await page.getByText("This key may only read.").waitFor();
  assert.deepEqual(faults, []);
  await home.api("/v1/keys/viewer", { method: "DELETE" });
}

export async function keyRemoved({ browser, home }) {
  const { secret } = await home.api("/v1/keys", { body: { name: "short", agent: "default", user: "default", role: "write" } });
  const id = await newMemory(home, "The key of this page will be removed.");
  const { page } = await openPage(browser, home, { token: secret, path: `/memories/${id}` });
  await page.locator("article.detail").getByRole("button", { name: "Edit" }).click();
  await page.locator("article.detail textarea").fill("What I typed must stay.");
  await home.api("/v1/keys/short", { method: "DELETE" });
  await page.getByRole("heading", { name: "Sign in again" }).waitFor();
  await page.getByLabel("Or paste the owner's token or a key").fill(home.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Sign in again" }).waitFor({ state: "detached" });
  assert.equal(await page.locator("article.detail textarea").inputValue(), "What I typed must stay.");
}

export async function refusals({ browser, home }) {
  const { page } = await openPage(browser, home, { path: "/memories" });
  const answers = [
    [413, { code: "too_large", title: "x", detail: "y" }, "too large for the server"],
    [429, { code: "too_often", title: "x", detail: "y", retry_after: 3 }, "Wait 3 s"],
  ];
  await page.locator(".memory-row").first().waitFor();
  await page.keyboard.press("n");
  await page.locator("dialog textarea").fill("A long story");
  for (const [status, body, text] of answers) {
    await page.route("**/v1/memories?**", (route) => (route.request().method() === "POST" ? route.fulfill({ status, contentType: "application/problem+json", body: JSON.stringify(body) }) : route.fallback()));
    await page.route("**/v1/memories", (route) => (route.request().method() === "POST" ? route.fulfill({ status, contentType: "application/problem+json", body: JSON.stringify(body) }) : route.fallback()));
    await page.locator("dialog").getByRole("button", { name: "Remember" }).click();
    await page.locator("dialog [role=alert]").getByText(text).waitFor();
    assert.equal(await page.locator("dialog textarea").inputValue(), "A long story");
    await page.unrouteAll({ behavior: "wait" });
  }
}

/** The same refusals in every form of the growth pages: each says what to do and keeps what was typed, also over a reload. */
export async function refusedForms({ browser, home }) {
  const { page } = await openPage(browser, home, { path: "/profile" });
  const refuse = async (status, body) => {
    await page.unrouteAll({ behavior: "wait" });
    await page.route(/\/v1\/(profile\/|experiences|schedules)(?!\/explain)/, (route) => (route.request().method() === "GET" ? route.fallback() : route.fulfill({ status, contentType: "application/problem+json", body: JSON.stringify(body) })));
  };
  const tooLarge = [413, { code: "too_large", title: "x", detail: "y" }];
  const tooOften = [429, { code: "too_often", title: "x", detail: "y", retry_after: 3 }];
  await refuse(...tooOften);
  await page.getByLabel("Value").fill("急诊护士 nurse");
  await page.getByRole("button", { name: "Set a field" }).click();
  await page.locator(".toast", { hasText: "Wait 3 s" }).waitFor();
  assert.equal(await page.getByLabel("Value").inputValue(), "急诊护士 nurse");
  await page.reload();
  await page.waitForFunction(() => [...document.querySelectorAll("form input")].some((input) => input.value === "急诊护士 nurse"));
  await page.getByLabel("Value").fill("");
  await page.goto(`${home.url}/#/schedules`);
  await page.getByLabel("When, and what").fill("every Monday at 9 write the plan");
  await page.locator(".runs li").first().waitFor();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.locator(".toast", { hasText: "Wait 3 s" }).last().waitFor();
  assert.equal(await page.getByLabel("When, and what").inputValue(), "every Monday at 9 write the plan");
  await page.getByLabel("When, and what").fill("");
  await refuse(...tooLarge);
  await page.goto(`${home.url}/#/experiences`);
  await page.getByRole("button", { name: "New experience" }).click();
  await page.getByLabel("Problem").fill("A long story");
  await page.getByLabel("What was tried").fill("Everything");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("dialog [role=alert]").getByText("too large for the server").waitFor();
  await page.reload();
  await page.getByRole("button", { name: "New experience" }).click();
  assert.deepEqual([await page.getByLabel("Problem").inputValue(), await page.getByLabel("What was tried").inputValue()], ["A long story", "Everything"]);
}

/** The same in every editor: the message says what to do, and the text is there after it, and after a reload. */
export async function refusedEdits({ browser, home }) {
  const id = await newMemory(home, "This will be edited in vain.");
  const { page } = await openPage(browser, home, { path: `/memories/${id}` });
  const answers = { tooLarge: [413, { code: "too_large", title: "x", detail: "y" }], tooOften: [429, { code: "too_often", title: "x", detail: "y", retry_after: 3 }] };
  const refuse = async ([status, body]) => {
    await page.unrouteAll({ behavior: "wait" });
    await page.route(/\/v1\//, (route) => (route.request().method() === "GET" || /recall|context|prompt|explain/.test(route.request().url()) ? route.fallback() : route.fulfill({ status, contentType: "application/problem+json", body: JSON.stringify(body) })));
  };
  const keeps = async (box, text, reopen) => {
    assert.equal(await box.inputValue(), text);
    await page.reload();
    await reopen?.();
    await box.waitFor();
    assert.equal(await box.inputValue(), text, "a reload keeps it too");
  };
  await refuse(answers.tooLarge);
  const detail = page.locator("article.detail");
  await detail.getByRole("button", { name: "Edit" }).click();
  await detail.locator("textarea").fill("A new text 新内容");
  await detail.getByRole("button", { name: "Save" }).click();
  await detail.locator("[role=alert]").getByText("too large for the server").waitFor();
  await keeps(detail.locator("textarea"), "A new text 新内容");
  await page.goto(`${home.url}/#/layers/user`);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Text (Markdown)").fill("## Food\n\n- tea 茶\n");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("main [role=alert]").getByText("too large for the server").waitFor();
  await keeps(page.getByLabel("Text (Markdown)"), "## Food\n\n- tea 茶\n");
  await refuse(answers.tooOften);
  await page.goto(`${home.url}/#/skills`);
  const card = page.locator("[data-skill]").first();
  await card.locator("summary", { hasText: "Text" }).click();
  await card.getByRole("button", { name: "Edit" }).click();
  await card.getByLabel("Text").fill("a new skill 新技能");
  await card.getByRole("button", { name: "Save" }).click();
  await card.locator("[role=alert]").getByText("Wait 3 s").waitFor();
  await keeps(card.getByLabel("Text"), "a new skill 新技能");
  await page.goto(`${home.url}/#/inbox`);
  const draft = page.locator("[data-draft]").first();
  await draft.getByRole("button", { name: "Edit" }).click();
  await draft.locator("textarea").fill("A better text 更好的说法");
  await draft.getByRole("button", { name: "Approve as edited" }).click();
  await page.locator(".toast", { hasText: "Too many requests" }).waitFor();
  await keeps(draft.locator("textarea"), "A better text 更好的说法", () => draft.getByRole("button", { name: "Edit" }).click());
  await page.goto(`${home.url}/#/agents`);
  await page.getByLabel("Memories per prompt").fill("9");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("form [role=alert]").getByText("Wait 3 s").waitFor();
  assert.equal(await page.getByLabel("Memories per prompt").inputValue(), "9");
  await page.getByLabel("Name", { exact: true }).fill("tablet");
  await page.getByRole("button", { name: "Make a key" }).click();
  await page.locator("section", { hasText: "API keys" }).locator("[role=alert]").getByText("Wait 3 s").waitFor();
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "tablet");
  await page.unrouteAll({ behavior: "ignoreErrors" });
}

export async function restart({ browser, home }) {
  const { page } = await openPage(browser, home, { path: "/inspector" });
  await page.locator("textarea").fill("Where do we live now?");
  await page.locator(".lamp.live").waitFor();
  // Another browser is in the middle of an edit, and saves while nobody answers.
  const id = await newMemory(home, "The server will restart soon.");
  const other = await openPage(browser, home, { path: `/memories/${id}`, language: "zh" });
  const detail = other.page.locator("article.detail");
  await detail.getByRole("button", { name: "编辑" }).click();
  await detail.locator("textarea").fill("服务器重启过了。");
  await home.stop();
  await page.getByText("The server does not answer.").first().waitFor();
  await detail.getByRole("button", { name: "保存" }).click();
  await detail.locator("[role=alert]").waitFor();
  await home.start(home.port);
  await page.locator(".lamp.live").waitFor({ timeout: 30_000 });
  assert.equal(await page.locator("textarea").inputValue(), "Where do we live now?");
  assert.equal(await detail.locator("textarea").inputValue(), "服务器重启过了。");
  await detail.getByRole("button", { name: "保存" }).click();
  await waitFor(async () => (await home.api(`/v1/memories/${id}`)).content === "服务器重启过了。", "the edit after the restart");
}
