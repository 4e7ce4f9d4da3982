// Pictures of every page in both languages, both themes and at phone width: `make screenshots`.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { launch, openPage } from "./browser.mjs";
import { Home } from "./server.mjs";

const OUT = process.env.SCREENSHOTS ?? join(import.meta.dirname, "../../screenshots");
const SHOTS = [
  ["overview", "/"],
  ["memories", "/memories"],
  ["memory", "/memories", async (page) => (await page.fill("input[type=search]", "allergic 过敏"), await page.waitForSelector(".memory-row .score"), await page.locator(".open-button").first().click(), await page.locator(".why summary").click())],
  ["edit", "/memories", async (page) => (await page.locator(".open-button").nth(2).click(), await page.keyboard.press("e"), await page.locator("form textarea").fill("It was changed a little."))],
  ["inspector", "/inspector", async (page) => (await page.fill("textarea", "What should I cook tonight?"), await page.waitForSelector("[data-in]"))],
  ["past-prompt", "/inspector/kitchen-plans/1", (page) => page.waitForSelector("[data-told]")],
  ["timeline", "/timeline/kitchen-plans"],
  ["map", "/map", (page) => page.waitForSelector("[data-ready=true]")],
  ["layers", "/layers/user"],
  ["inbox", "/inbox"],
  ["profile", "/profile"],
  ["experiences", "/experiences"],
  ["skills", "/skills"],
  ["schedules", "/schedules", async (page) => (await page.locator("form input").first().fill("每周二下午三点半开例会"), await page.waitForSelector(".runs li"))],
  ["trajectories", "/trajectories", async (page) => (await page.locator(".item").count()) && page.locator(".item").first().click()],
  ["agents", "/agents"],
  ["health", "/health"],
  ["audit", "/health", async (page) => (await page.getByRole("button", { name: /^(Audit now|现在审查)$/ }).click(), await page.getByText(/^(Score|得分)/).waitFor(), await page.getByRole("heading", { name: /^(Audit|审查)$/ }).scrollIntoViewIfNeeded())],
  ["help", "/memories", (page) => page.keyboard.press("?")],
];
const LOOKS = [
  { name: "en-light", language: "en", theme: "light" },
  { name: "zh-dark", language: "zh", theme: "dark" },
  { name: "zh-light", language: "zh", theme: "light" },
  { name: "en-dark", language: "en", theme: "dark" },
  { name: "en-phone", language: "en", theme: "light", width: 390, height: 844 },
  { name: "zh-phone-dark", language: "zh", theme: "dark", width: 390, height: 844 },
];

mkdirSync(OUT, { recursive: true });
const home = process.env.EVERLORE_URL ? { url: process.env.EVERLORE_URL, token: process.env.EVERLORE_TOKEN } : new Home();
if (home.start) {
  await home.start();
  await home.fill(1_000);
}
const browser = await launch();
const wanted = process.argv.slice(2);
try {
  for (const { name, ...look } of LOOKS) {
    for (const [shot, path, prepare] of SHOTS) {
      if (wanted.length && !wanted.includes(shot) && !wanted.includes(name)) continue;
      const { context, page } = await openPage(browser, home, { ...look, path });
      await page.waitForSelector("main h1, main h2");
      await page.waitForFunction(() => !/Loading…|加载中/.test(document.querySelector("main").textContent), null, { timeout: 120_000 });
      await page.waitForTimeout(600);
      if (prepare) await prepare(page);
      await page.waitForTimeout(300);
      await page.screenshot({ path: join(OUT, `${shot}-${name}.png`) });
      await context.close();
    }
  }
} finally {
  await browser.close();
  await home.remove?.();
}
console.log(`pictures are in ${OUT}`);
