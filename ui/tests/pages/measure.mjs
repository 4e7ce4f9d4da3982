// Measures the page with many memories: `EVERLORE=PROGRAM node tests/pages/measure.mjs 100000`. Times belong to a machine, so
// this is no test.

import { launch, openPage } from "./browser.mjs";
import { Home } from "./server.mjs";
import { statements } from "./texts.mjs";

const COUNT = Number(process.argv[2] ?? 100_000);
const BATCH = 20_000;
const QUERIES = ["花生过敏", "who decides about the checkout migration", "dashboard for billing", "龙井茶", "Kafka disk quota", "release waits for review", "备份保留几天", "sourdough", "杭州出差", "connections limited per node"];

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

async function searches(page) {
  const times = [];
  for (const query of [...QUERIES, ...QUERIES]) {
    await page.locator("input[type=search]").fill("");
    await page.waitForTimeout(250);
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

async function frames(page) {
  return page.evaluate(async () => {
    const list = document.querySelector(".list > div");
    const deltas = [];
    let last = performance.now();
    for (let step = 0; step < 300; step++) {
      list.scrollTop += 180;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      deltas.push(now - last);
      last = now;
    }
    return deltas;
  });
}

const home = new Home();
const browser = await launch();
try {
  await home.start();
  const all = statements(COUNT);
  for (let at = 0; at < COUNT; at += BATCH) await home.importStatements(all.slice(at, at + BATCH), "", at);
  const { page } = await openPage(browser, home, { path: "/memories" });
  await page.locator(".memory-row").first().waitFor();
  const found = await searches(page);
  console.log(`search, typing to hits: median ${percentile(found, 0.5).toFixed(0)} ms, p95 ${percentile(found, 0.95).toFixed(0)} ms`);
  await page.locator("input[type=search]").fill("");
  await page.waitForTimeout(500);
  const scrolled = await frames(page);
  console.log(`scrolling: median frame ${percentile(scrolled, 0.5).toFixed(1)} ms, p99 ${percentile(scrolled, 0.99).toFixed(1)} ms, longest ${Math.max(...scrolled).toFixed(1)} ms`);
  const began = Date.now();
  await page.goto(`${home.url}/#/map`);
  await page.locator('[data-ready="true"]').waitFor({ timeout: 60_000 });
  console.log(`map of 10,000 points: ${Date.now() - began} ms`);
} finally {
  await browser.close();
  await home.remove();
}
