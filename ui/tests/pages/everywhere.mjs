// What must hold on every page: accessible in both themes, fits a phone, and shows hostile text as text.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { idle, openPage } from "./browser.mjs";
import { HOSTILE } from "./texts.mjs";
import { Home } from "./server.mjs";

const PAGES = ["/", "/memories", "/inspector", "/timeline", "/map", "/layers/user", "/inbox", "/profile", "/experiences", "/skills", "/schedules", "/trajectories", "/agents", "/health"];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What is not there when a page opens: dialogs, editors, other views. They have the colours of the pages, so one theme is enough. */
const STATES = {
  "/memories dialog": (page) => page.keyboard.press("n"),
  "/memories help": (page) => page.keyboard.press("?"),
  "/memories groups": (page) => page.getByRole("button", { name: /Group by kind|按类别分组/ }).click(),
  "/experiences dialog": (page) => page.getByRole("button", { name: /New experience|新经验/ }).click(),
  "/layers/user editor": (page) => page.getByRole("button", { name: /^(Edit|编辑)$/ }).click(),
  "/skills text": (page) => page.locator("[data-skill] summary").nth(1).click(),
  "/map words": (page) => page.getByLabel(/Placed by|排布依据/).selectOption("words"),
};

async function settle(page, home, path) {
  await page.goto(`${home.url}/#${path}`);
  await page.locator("main h1").waitFor();
  await idle(page);
}

async function violations(page) {
  const found = await page.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ["violations"] })).violations);
  return found.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? ""}`).join(" | ")}`);
}

export async function access({ browser, home }) {
  const id = (await home.api("/v1/memories?limit=1&kind=user")).memories[0].id;
  const all = [];
  for (const [theme, language] of [["light", "en"], ["dark", "zh"]]) {
    const { page, context } = await openPage(browser, home, { theme, language });
    for (const [path, prepare] of [...PAGES.map((path) => [path]), [`/memories/${id}`], ["/timeline/kitchen-plans"], ["/trajectories/release-wednesday"], ["/inspector/kitchen-plans/1"], ...(theme === "dark" ? Object.entries(STATES) : [])]) {
      await settle(page, home, path.split(" ")[0]);
      if (path === "/inspector") await page.locator("textarea").fill("What should I cook tonight? 喝什么茶").then(() => page.locator("[data-in]").first().waitFor());
      await prepare?.(page);
      await idle(page);
      // The content security policy forbids injected script tags; evaluating in the page is the debugger's right.
      await page.evaluate(AXE);
      all.push(...(await violations(page)).map((one) => `${theme} ${path} ${one}`));
      await page.keyboard.press("Escape");
    }
    await context.close();
  }
  assert.deepEqual(all, []);
}

export async function phone({ browser, home }) {
  for (const language of ["en", "zh"]) await fitsPhone(browser, home, language);
  const { page, faults } = await openPage(browser, home, { width: 390, height: 844, language: "zh" });
  const menu = page.getByRole("button", { name: "菜单" });
  await menu.click();
  // The menu keeps the keys until Escape closes it.
  for (let tabs = 0; tabs < 30; tabs++) {
    await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest("#side") !== null), "the focus stays in the menu");
  }
  await page.locator("#side nav a").first().focus();
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-controls") === "side");
  await menu.click();
  await page.getByRole("link", { name: "记忆", exact: true }).click();
  await page.locator(".open-button").first().click();
  await page.getByRole("button", { name: "返回" }).click();
  await page.locator(".open-button").first().waitFor();
  assert.deepEqual(faults, []);
}

async function fitsPhone(browser, home, language) {
  const { page, context, faults } = await openPage(browser, home, { width: 390, height: 844, language });
  for (const path of PAGES) {
    await settle(page, home, path);
    const overflow = await page.evaluate(() => {
      const main = document.getElementById("main");
      const beyond = [...main.querySelectorAll("*")].filter((one) => !one.closest(".scroll-x, .scroll, .log") && one.getBoundingClientRect().right > main.clientWidth + 0.5);
      return { by: [document.documentElement.scrollWidth - innerWidth, main.scrollWidth - main.clientWidth], beyond: beyond.slice(0, 5).map((one) => one.outerHTML.slice(0, 160)) };
    });
    assert.deepEqual(overflow.by, [0, 0], `${path} is wider than the phone (${language}): ${overflow.beyond.join("\n")}`);
  }
  assert.deepEqual(faults, []);
  await context.close();
}

export async function hostile({ browser }) {
  const home = new Home();
  try {
    await home.start();
    await home.fillHostile();
    const { page, faults } = await openPage(browser, home);
    const memories = (await home.api("/v1/memories?limit=100&kind=user")).memories;
    const sessions = (await home.api("/v1/fs/ls?uri=sessions")).items;
    const skill = (await home.api("/v1/skills")).skills[0].name;
    const trajectories = (await home.api("/v1/trajectories")).trajectories.map((one) => `/trajectories/${encodeURIComponent(one.session)}`);
    const paths = [...PAGES, ...trajectories, "/skills/workflows", "/inspector/x%3Cscript%3E/1", ...memories.slice(0, 11).map((memory) => `/memories/${memory.id}`), ...sessions.map((one) => `/timeline/${encodeURIComponent(decodeURIComponent(one.uri.replace(/\/$/, "").split("/").at(-1)))}`)];
    for (const path of paths) {
      await settle(page, home, path);
      if (path === "/inspector") await page.locator("textarea").fill(HOSTILE[1]).then(() => page.locator("[data-in]").first().waitFor());
      await page.evaluate(() => document.querySelectorAll("main details").forEach((details) => (details.open = true)));
      await idle(page);
      assert.equal(await page.evaluate(() => globalThis.__hacked), undefined, path);
      assert.equal(await page.locator("main iframe, main script, main img").count(), 0, path);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.equal(wider, 0, `${path} is wider than the window`);
    }
    const script = memories.find((memory) => memory.content === HOSTILE[0]);
    await settle(page, home, `/memories/${script.id}`);
    await page.locator("article.detail .content").getByText(HOSTILE[0], { exact: true }).waitFor();
    await settle(page, home, "/experiences");
    await page.getByRole("heading", { name: HOSTILE[0], exact: true }).waitFor();
    await settle(page, home, "/trajectories/%3Cb%3Ework%3C%2Fb%3E");
    await page.locator(".step code", { hasText: HOSTILE[0] }).first().waitFor();
    await settle(page, home, "/skills");
    await page.locator(`[data-skill="${skill}"] summary`).nth(1).click();
    await page.locator(`[data-skill="${skill}"] pre`, { hasText: HOSTILE[0] }).waitFor();
    assert.deepEqual(faults, []);
  } finally {
    await home.remove();
  }
}
