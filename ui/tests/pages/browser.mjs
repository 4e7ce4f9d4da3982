// Chromium for the tests, and what every page must keep to: no error in the console, no request to another origin.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { chromium } from "playwright-core";

const PROGRAMS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function launch() {
  const executablePath = PROGRAMS.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error("the page tests need Chromium: sudo apt install chromium, or name it in CHROMIUM");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });
}

/** `PAGE=FOLDER` tests the page in a folder, such as that of `make ui`, instead of the one that the program was built with. */
async function replacePage(context, home) {
  const folder = process.env.PAGE;
  if (!folder) return;
  await context.route((url) => url.href.startsWith(home.url) && (url.pathname === "/" || url.pathname.startsWith("/ui/")), async (route) => {
    const name = new URL(route.request().url()).pathname.replace(/^\/(ui\/)?/, "") || "index.html";
    const response = await route.fetch().catch(() => null);
    if (!response) return route.abort();
    return route.fulfill({ response, body: readFileSync(join(folder, name)) });
  });
}

/** Signs a browser in with a token or key, as the page does; returns the cookie. */
async function signedInCookie(home, secret) {
  const response = await fetch(`${home.url}/v1/sign-in`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ secret }) });
  if (!response.ok) throw new Error(`sign-in: ${response.status} ${await response.text()}`);
  const [name, value] = response.headers.get("set-cookie").split(";")[0].split("=");
  return { name, value, url: home.url, httpOnly: true, sameSite: "Strict" };
}

/** Nouns of the server's routes: `memories` of `/v1/memories/{id}`. */
async function describedNouns(home) {
  home.nouns ??= fetch(`${home.url}/v1/openapi.json`).then(async (answer) => new Set(Object.keys((await answer.json()).paths).map((path) => path.split("/")[2])));
  return home.nouns;
}

/** A page that is newer than its server asks for routes that are not there, says so, and the browser logs it. */
function isOfNewerPage(message, described) {
  const path = new URL(message.location().url || "about:blank").pathname;
  return message.text().includes("404") && path.startsWith("/v1/") && !described.has(path.split("/")[2]);
}

/** Counts what a page waits for; the stream of changes never ends, so it does not count. */
function countRequests(page) {
  const waiting = new Set();
  const isAwaited = (request) => !new URL(request.url()).pathname.endsWith("/events");
  page.on("request", (request) => isAwaited(request) && waiting.add(request));
  for (const event of ["requestfinished", "requestfailed"]) page.on(event, (request) => waiting.delete(request));
  return waiting;
}

/** Waits until a page has drawn all that it asked for. */
export async function idle(page) {
  const frames = () => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 0)))));
  const end = Date.now() + 60_000;
  for (let quiet = 0; quiet < 2; quiet = page.waiting.size === 0 ? quiet + 1 : 0) {
    if (Date.now() > end) throw new Error(`waited in vain for ${[...page.waiting].map((request) => request.url())}`);
    await frames();
  }
}

/** Opens a signed-in page. `faults` collects what must not happen. */
export async function openPage(browser, home, { language = "en", theme = "light", width = 1280, height = 820, token = home.token, path = "/" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, permissions: ["clipboard-read", "clipboard-write"], locale: language === "zh" ? "zh-CN" : "en-GB" });
  if (token) await context.addCookies([await signedInCookie(home, token)]);
  await replacePage(context, home);
  const page = await context.newPage();
  page.waiting = countRequests(page);
  const faults = [];
  const described = await describedNouns(home);
  page.on("console", (message) => message.type() === "error" && !isOfNewerPage(message, described) && faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.stack ?? error}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(home.url) && !url.startsWith("data:") && !url.startsWith("blob:")) faults.push(`foreign request: ${url}`);
  });
  await context.addInitScript(
    ([language, theme, isSignedIn]) => {
      if (location.protocol === "about:") return;
      localStorage.setItem("everlore.language", language);
      localStorage.setItem("everlore.theme", theme);
      if (isSignedIn) localStorage.setItem("everlore.signed_in", "yes");
    },
    [language, theme, Boolean(token)],
  );
  await page.goto(`${home.url}/#${path}`);
  return { context, page, faults };
}
