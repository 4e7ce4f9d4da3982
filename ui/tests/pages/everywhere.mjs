// What must hold on every page: accessible in both themes, fits a phone, and shows hostile text as text.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { openPage } from "./browser.mjs";
import { HOSTILE } from "./texts.mjs";
import { Home } from "./server.mjs";

const PAGES = ["/", "/memories", "/inspector", "/timeline", "/map", "/layers/user", "/inbox", "/profile", "/experiences", "/skills", "/schedules", "/trajectories", "/agents", "/health"];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function settle(page, home, path) {
  await page.goto(`${home.url}/#${path}`);
  await page.locator("main h1").waitFor();
  // The stream of changes never ends, so there is no idle network to wait for.
  await page.waitForTimeout(400);
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
    for (const path of [...PAGES, `/memories/${id}`, "/timeline/kitchen-plans"]) {
      await settle(page, home, path);
      if (path === "/inspector") await page.locator("textarea").fill("What should I cook tonight? 喝什么茶").then(() => page.waitForTimeout(500));
      // The content security policy forbids injected script tags; evaluating in the page is the debugger's right.
      await page.evaluate(AXE);
      all.push(...(await violations(page)).map((one) => `${theme} ${path} ${one}`));
    }
    await context.close();
  }
  assert.deepEqual(all, []);
}

export async function phone({ browser, home }) {
  const { page, faults } = await openPage(browser, home, { width: 390, height: 844, language: "zh" });
  for (const path of PAGES) {
    await settle(page, home, path);
    const overflow = await page.evaluate(() => {
      const main = document.getElementById("main");
      return [document.documentElement.scrollWidth - innerWidth, main.scrollWidth - main.clientWidth];
    });
    assert.deepEqual(overflow, [0, 0], `${path} is wider than the phone`);
  }
  await page.getByRole("button", { name: "菜单" }).click();
  await page.getByRole("link", { name: "记忆", exact: true }).click();
  await page.locator(".open-button").first().click();
  await page.getByRole("button", { name: "返回" }).click();
  await page.locator(".open-button").first().waitFor();
  assert.deepEqual(faults, []);
}

export async function hostile({ browser }) {
  const home = new Home();
  try {
    await home.start();
    await home.fillHostile();
    const { page, faults } = await openPage(browser, home);
    const memories = (await home.api("/v1/memories?limit=100&kind=user")).memories;
    const sessions = (await home.api("/v1/fs/ls?uri=sessions")).items;
    const paths = [...PAGES, ...memories.slice(0, 11).map((memory) => `/memories/${memory.id}`), ...sessions.map((one) => `/timeline/${encodeURIComponent(decodeURIComponent(one.uri.replace(/\/$/, "").split("/").at(-1)))}`)];
    for (const path of paths) {
      await settle(page, home, path);
      if (path === "/inspector") await page.locator("textarea").fill(HOSTILE[1]).then(() => page.waitForTimeout(600));
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
    assert.deepEqual(faults, []);
  } finally {
    await home.remove();
  }
}
