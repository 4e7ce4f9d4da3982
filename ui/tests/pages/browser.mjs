// Chromium for the tests, and what every page must keep to: no error in the console, no request to another origin.

import { existsSync } from "node:fs";

import { chromium } from "playwright-core";

const PROGRAMS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function launch() {
  const executablePath = PROGRAMS.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error("the page tests need Chromium: sudo apt install chromium, or name it in CHROMIUM");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });
}

/** Opens a signed-in page. `faults` collects what must not happen. */
export async function openPage(browser, home, { language = "en", theme = "light", width = 1280, height = 820, token = home.token, path = "/" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, permissions: ["clipboard-read", "clipboard-write"], locale: language === "zh" ? "zh-CN" : "en-GB" });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => message.type() === "error" && faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.stack ?? error}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(home.url) && !url.startsWith("data:") && !url.startsWith("blob:")) faults.push(`foreign request: ${url}`);
  });
  await context.addInitScript(
    ([language, theme, token]) => {
      if (location.protocol === "about:") return;
      localStorage.setItem("everlore.language", language);
      localStorage.setItem("everlore.theme", theme);
      if (token) localStorage.setItem("everlore.token", token);
    },
    [language, theme, token],
  );
  await page.goto(`${home.url}/#${path}`);
  return { context, page, faults };
}
