// The book of `make book` in a real browser: every page opens without an error and fits a phone, nothing is loaded from
// elsewhere, and the search finds English and Chinese.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./pages/browser.mjs";

/** What people look for, and the page that must be among the first three. */
const QUERIES = [
  ["heartbeat", "docs/growth.html"],
  ["three-way merge", "docs/vault.html"],
  ["telemetry", "docs/privacy.html"],
  ["钩子", "docs/zh/connect.html"],
  ["同步怎样决定", "docs/zh/vault.html"],
  ["没有遥测", "docs/zh/privacy.html"],
  ["怎么清除一位客户", "docs/zh/cookbook.html"],
  ["怎么撤销导入？", "docs/zh/import.html"],
  ["从 SQLite 迁移", "docs/zh/cookbook.html"],
];
const NOT_FOUND = ["zyxxqwv", "鑫龘靐"];
const PHONE = { width: 390, height: 800 };

const folder = resolve(process.argv[2] ?? "../target/book");
const address = (page) => pathToFileURL(join(folder, page)).href;
const pages = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".html") && !["404.html", "toc.html"].includes(entry.name))
  .map((entry) => relative(folder, join(entry.parentPath, entry.name)));

const browser = await launch();
try {
  await opens();
  await finds();
  await needsOurSearch();
} finally {
  await browser.close();
}
console.log(`${pages.length} pages open, ${QUERIES.length} queries find their page`);

async function opens() {
  const { page, faults } = await watched({ viewport: PHONE });
  for (const path of pages) {
    await page.goto(address(path));
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(overflow <= 1, `${path} is ${overflow} pixels wider than a phone`);
  }
  assert.ok(pages.length > 45, `${pages.length} pages`);
  assert.deepEqual(faults, []);
}

async function finds() {
  const { page, faults } = await watched();
  for (const [query, expected] of QUERIES) {
    const links = await search(page, query);
    assert.ok(links.slice(0, 3).some((link) => link.startsWith(address(expected))), `${query}: ${links.slice(0, 3).join(" ")}`);
  }
  for (const query of NOT_FOUND) assert.deepEqual(await search(page, query), [], query);
  await search(page, "没有遥测");
  assert.match(await page.locator("#mdbook-searchresults .teaser em").first().innerText(), /没有遥测/);
  await page.locator("#mdbook-searchresults a").first().click();
  await page.locator("mark").first().waitFor();
  assert.deepEqual(faults, []);
}

/** Without our script mdBook finds no Chinese: if that changes, the script can go. */
async function needsOurSearch() {
  const { page } = await watched();
  await page.route("**/han_search*", (route) => route.abort());
  assert.deepEqual(await search(page, "钩子"), []);
  assert.ok((await search(page, "heartbeat")).length > 0);
}

/** Returns a page, and what went wrong on it: errors, and requests that leave the book. */
async function watched(options = {}) {
  const page = await (await browser.newContext(options)).newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("request", (request) => request.url().startsWith("file:") || request.url().startsWith("data:") || faults.push(request.url()));
  return { page, faults };
}

/** Searches from the first page, and returns where the results lead. */
async function search(page, query) {
  await page.goto(`${address("index.html")}?search=${encodeURIComponent(query)}`);
  await page.locator("#mdbook-searchresults-header", { hasText: "search result" }).waitFor();
  return page.locator("#mdbook-searchresults a").evaluateAll((links) => links.map((link) => link.href));
}
