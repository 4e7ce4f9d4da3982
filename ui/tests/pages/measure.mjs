// Measures the page with many memories: `EVERLORE=PROGRAM node tests/pages/measure.mjs 100000`. Times belong to a machine, so
// this is no test; each figure stands beside what the machine gives without the page.

import { launch, openPage } from "./browser.mjs";
import { Home } from "./server.mjs";
import { statements } from "./texts.mjs";

const COUNT = Number(process.argv[2] ?? 100_000);
const BATCH = 20_000;
const ROUNDS = 3;
const QUERIES = ["花生过敏", "who decides about the checkout migration", "dashboard for billing", "龙井茶", "Kafka disk quota", "release waits for review", "备份保留几天", "sourdough", "杭州出差", "connections limited per node"];
/** What the page searches: all kinds of statements, with explanations. */
const FILTER = { statuses: ["active"], kinds: ["user", "feedback", "project", "reference", "knowledge", "experience", "session"] };

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
const shown = (values) => `median ${percentile(values, 0.5).toFixed(0)} ms, p95 ${percentile(values, 0.95).toFixed(0)} ms`;
const everyQuery = Array.from({ length: ROUNDS }, () => QUERIES).flat();

/** The server alone, asked as the page asks. */
async function recalls(home) {
  const times = [];
  for (const query of everyQuery) {
    const began = performance.now();
    await home.api("/v1/recall", { body: { query, filter: FILTER, limit: 50, explain: true } });
    times.push(performance.now() - began);
  }
  return times;
}

/** From the last key to the frame that shows the hits. */
async function searches(page) {
  const times = [];
  for (const query of everyQuery) {
    await page.locator("input[type=search]").fill("");
    // The list is back, so that no earlier hits are taken for the new ones.
    await page.waitForFunction(() => /^\s*200 shown/.test(document.querySelector(".summary").textContent));
    times.push(
      await page.evaluate(async (text) => {
        const box = document.querySelector("input[type=search]");
        const summary = document.querySelector(".summary");
        const started = performance.now();
        box.value = text;
        box.dispatchEvent(new Event("input", { bubbles: true }));
        while (!/candidates/.test(summary.textContent)) await new Promise(requestAnimationFrame);
        return performance.now() - started;
      }, query),
    );
  }
  return times;
}

/** Times between frames while something scrolls, and the tasks of the page that took longer than 50 ms. */
function frames(page, selector) {
  return page.evaluate(async (selector) => {
    const list = document.querySelector(selector);
    const [deltas, tasks] = [[], []];
    const observer = new PerformanceObserver((found) => tasks.push(...found.getEntries().map((entry) => entry.duration)));
    observer.observe({ type: "longtask" });
    let last = performance.now();
    for (let step = 0; step < 600; step++) {
      list.scrollTop += 180;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      deltas.push(now - last);
      last = now;
    }
    observer.disconnect();
    return { deltas, tasks };
  }, selector);
}

const frameLine = ({ deltas, tasks }) =>
  `median frame ${percentile(deltas, 0.5).toFixed(1)} ms, p99 ${percentile(deltas, 0.99).toFixed(1)} ms, longest ${Math.max(...deltas).toFixed(1)} ms, frames over 50 ms: ${deltas.filter((one) => one > 50).length} of ${deltas.length}, tasks over 50 ms: ${tasks.length}`;

/** A page without anything of ours, that scrolls as many lines. */
async function plainFrames(browser) {
  const page = await browser.newPage();
  await page.setContent(`<div id="list" style="height: 600px; overflow: auto">${"<p>A line 一行</p>".repeat(4_000)}</div>`);
  const measured = await frames(page, "#list");
  await page.close();
  return measured;
}

async function firstPaint(page) {
  const times = [];
  for (let round = 0; round < 7; round++) {
    await page.reload();
    await page.locator("main h1").waitFor();
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
    times.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
  }
  return times;
}

async function mapReady(page, home) {
  const times = [];
  for (let round = 0; round < 5; round++) {
    await page.goto(`${home.url}/#/health`);
    await page.locator("main h1").waitFor();
    const began = performance.now();
    await page.evaluate(() => (location.hash = "#/map"));
    await page.locator('[data-ready="true"]').waitFor({ timeout: 60_000 });
    times.push(performance.now() - began);
  }
  return times;
}

const home = new Home();
const browser = await launch();
try {
  await home.start();
  const all = statements(COUNT);
  for (let at = 0; at < COUNT; at += BATCH) await home.importStatements(all.slice(at, at + BATCH), "", at);
  await recalls(home);
  console.log(`scrolling an empty page: ${frameLine(await plainFrames(browser))}`);
  console.log(`recall by the server alone, ${COUNT} memories: ${shown(await recalls(home))}`);
  const { page } = await openPage(browser, home, { path: "/memories" });
  await page.locator(".memory-row").first().waitFor();
  console.log(`search, last key to hits on the screen:  ${shown(await searches(page))}`);
  await page.locator("input[type=search]").fill("");
  await page.locator(".memory-row").first().waitFor();
  console.log(`scrolling the memories:  ${frameLine(await frames(page, ".list > div"))}`);
  console.log(`first paint of a warm server: ${shown(await firstPaint(page))}`);
  const points = Math.min(COUNT, 10_000);
  const began = performance.now();
  await home.api("/v1/map");
  console.log(`map of ${points} points by the server alone: ${(performance.now() - began).toFixed(0)} ms`);
  console.log(`map of ${points} points ready: ${shown(await mapReady(page, home))}`);
} finally {
  await browser.close();
  await home.remove();
}
