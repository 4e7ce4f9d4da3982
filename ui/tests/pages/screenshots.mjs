// Pictures of every page in both languages, both themes and at phone width: `make screenshots`.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { idle, launch, openPage } from "./browser.mjs";
import { Home } from "./server.mjs";

const OUT = process.env.SCREENSHOTS ?? join(import.meta.dirname, "../../screenshots");
const SHOTS = [
  ["overview", "/"],
  ["memories", "/memories"],
  ["memory", "/memories", async (page) => (await page.fill("input[type=search]", "allergic 过敏"), await page.waitForSelector(".memory-row .score"), await page.locator(".open-button").first().click(), await page.locator(".why summary").click())],
  ["groups", "/memories", async (page) => (await page.getByRole("button", { name: /^(Group by kind|按类别分组)$/ }).click(), page.waitForSelector("[data-group]"))],
  ["edit", "/memories", async (page) => (await page.locator(".open-button").nth(2).click(), await page.locator("article.detail .content").waitFor(), await page.keyboard.press("e"), await page.locator("form textarea").fill("It was changed a little."))],
  ["inspector", "/inspector", async (page) => (await page.fill("textarea", "What should I cook tonight?"), await page.waitForSelector("[data-in]"))],
  ["past-prompt", "/inspector/kitchen-plans/1", (page) => page.waitForSelector("[data-told]")],
  ["timeline", "/timeline/kitchen-plans"],
  ["map", "/map", (page) => page.waitForSelector("[data-ready=true]")],
  ["map-words", "/map", async (page) => (await page.getByLabel(/Placed by|排布依据/).selectOption("words"), await idle(page), await page.getByLabel(/Links|连线/).check(), await idle(page), page.waitForSelector("[data-ready=true]"))],
  ["layers", "/layers/user"],
  ["inbox", "/inbox"],
  ["profile", "/profile"],
  ["experiences", "/experiences"],
  ["skills", "/skills", (page) => page.locator("[data-skill=release-web-app] summary").nth(1).click()],
  ["schedules", "/schedules", async (page) => (await page.locator("form input").first().fill("每周二下午三点半开例会"), await page.waitForSelector(".runs li"))],
  ["trajectories", "/trajectories/release-wednesday"],
  ["trajectory-list", "/trajectories"],
  ["new-experience", "/experiences", (page) => page.getByRole("button", { name: /^(New experience|新经验)$/ }).click()],
  ["agents", "/agents"],
  ["health", "/health"],
  ["audit", "/health", async (page) => (await page.getByRole("button", { name: /^(Audit now|现在审查)$/ }).click(), await page.getByText(/^(Score|得分)/).waitFor(), await page.getByRole("heading", { name: /^(Audit|审查)$/ }).scrollIntoViewIfNeeded())],
  ["help", "/memories", (page) => page.keyboard.press("?")],
  ["menu", "/", async (page) => { const menu = page.getByRole("button", { name: /^(Menu|菜单)$/ }); if (await menu.isVisible()) await menu.click(); }],
  ["first-run", "/", async (page) => (await page.evaluate(() => localStorage.setItem("everlore.scope", JSON.stringify({ agent: "fresh", user: "anna" }))), await page.reload(), page.waitForSelector(".guide"))],
  ["sign-in", "/", async (page) => (await page.context().clearCookies(), await page.reload(), page.waitForSelector(".sign-in"))],
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
      await page.locator("main :is(h1, h2)").filter({ visible: true }).first().waitFor();
      await idle(page);
      if (prepare) await prepare(page);
      await idle(page);
      await page.screenshot({ path: join(OUT, `${shot}-${name}.png`) });
      await context.close();
    }
  }
} finally {
  await browser.close();
  await home.remove?.();
}
console.log(`pictures are in ${OUT}`);
