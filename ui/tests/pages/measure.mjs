// Measures the page with many memories and compares with what it should reach: `make ui-bench`, or
// `EVERLORE=PROGRAM node tests/pages/measure.mjs 100000 [FOLDER]`; FOLDER keeps the home for the next time. Times belong to a
// machine, so this is no test; each figure stands beside what the machine gives without the page.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { launch, openPage } from "./browser.mjs";
import { Home } from "./server.mjs";
import { statements } from "./texts.mjs";

const COUNT = Number(process.argv[2] ?? 100_000);
const BATCH = 20_000;
const ROUNDS = 10;
const QUERIES = ["花生过敏", "who decides about the checkout migration", "dashboard for billing", "龙井茶", "Kafka disk quota", "release waits for review", "备份保留几天", "sourdough", "杭州出差", "connections limited per node"];
/** What the page searches: all kinds of statements, with explanations. */
const FILTER = { statuses: ["active"], kinds: ["user", "feedback", "project", "reference", "knowledge", "experience", "session"] };
const BUNDLE = join(import.meta.dirname, "../../../crates/everlore-server/src/page/ui");

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
const shown = (values) => `median ${percentile(values, 0.5).toFixed(0)} ms, p95 ${percentile(values, 0.95).toFixed(0)} ms`;
const everyQuery = Array.from({ length: ROUNDS }, () => QUERIES).flat();

/** Prints a figure; with a limit, also whether it is reached. */
function say(what, text, value = null, limit = null) {
  const verdict = limit === null ? "" : value < limit ? `  ok (under ${limit})` : `  MISSED (should be under ${limit})`;
  console.log(`${what.padEnd(46)} ${text}${verdict}`);
}

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

/** From the last key to the frame that shows the hits, and how much of that the page itself took. */
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
function frames(page, selector, steps) {
  return page.evaluate(async ([selector, steps]) => {
    const list = document.querySelector(selector);
    const [deltas, tasks] = [[], []];
    const observer = new PerformanceObserver((found) => tasks.push(...found.getEntries().map((entry) => entry.duration)));
    observer.observe({ type: "longtask" });
    let last = performance.now();
    for (let step = 0; step < steps; step++) {
      list.scrollTop += 180;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      deltas.push(now - last);
      last = now;
    }
    observer.disconnect();
    return { deltas, tasks, scrolled: list.scrollTop };
  }, [selector, steps]);
}

const frameLine = ({ deltas, tasks }) =>
  `median ${percentile(deltas, 0.5).toFixed(1)} ms, p99 ${percentile(deltas, 0.99).toFixed(1)} ms, longest ${Math.max(...deltas).toFixed(1)} ms; over 50 ms: ${deltas.filter((one) => one > 50).length} of ${deltas.length} frames, ${tasks.length} tasks`;

/** A page without anything of ours, that scrolls as many lines. */
async function plainFrames(browser, steps) {
  const page = await browser.newPage();
  await page.setContent(`<div id="list" style="height: 600px; overflow: auto">${"<p>A line 一行</p>".repeat(12_000)}</div>`);
  const measured = await frames(page, "#list", steps);
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
    await page.goto(`${home.url}/#/agents`);
    await page.locator("main h1").waitFor();
    // From the click to the picture, on the page's own clock.
    times.push(
      await page.evaluate(async () => {
        const started = performance.now();
        location.hash = "#/map";
        while (!document.querySelector('[data-ready="true"]')) await new Promise(requestAnimationFrame);
        return performance.now() - started;
      }),
    );
  }
  return times;
}

async function fill(home) {
  const { total } = await home.api("/v1/stats");
  const all = statements(COUNT);
  for (let at = Math.floor(total / BATCH) * BATCH; at < COUNT; at += BATCH) {
    await home.importStatements(all.slice(at, at + BATCH), "", at);
    console.log(`${Math.min(COUNT, at + BATCH)} memories stored`);
  }
}

const home = new Home(process.argv[3] ?? null);
const browser = await launch();
try {
  await home.start();
  await fill(home);
  await recalls(home);
  const compressed = readdirSync(BUNDLE).reduce((sum, name) => sum + gzipSync(readFileSync(join(BUNDLE, name)), { level: 9 }).length, 0);
  say("assets, compressed", `${Math.round(compressed / 1_000)} kB`, compressed / 1_000, 500);
  const alone = await recalls(home);
  say(`recall by the server alone, ${COUNT} memories`, shown(alone));
  const search = await openPage(browser, home, { path: "/memories" });
  await search.page.locator(".memory-row").first().waitFor();
  const found = await searches(search.page);
  say("search, last key to hits on the screen", shown(found), percentile(found, 0.95), 100);
  await search.context.close();
  say("frames while an empty page scrolls", frameLine(await plainFrames(browser, 1_200)));
  const { page } = await openPage(browser, home, { path: "/memories" });
  await page.locator(".memory-row").first().waitFor();
  const scrolled = await frames(page, ".list > div", 1_200);
  say(`frames while ${Math.round(scrolled.scrolled / 62)} memories scroll by`, frameLine(scrolled), Math.max(...scrolled.deltas), 50);
  const painted = await firstPaint(page);
  say("first paint of a warm server", shown(painted), percentile(painted, 0.95), 1_000);
  const began = performance.now();
  await home.api("/v1/map");
  say(`map of ${Math.min(COUNT, 10_000)} points by the server alone`, `${(performance.now() - began).toFixed(0)} ms`);
  const ready = await mapReady(page, home);
  say(`map of ${Math.min(COUNT, 10_000)} points, click to picture`, shown(ready), percentile(ready, 0.95), 2_000);
} finally {
  await browser.close();
  await home.remove();
}
