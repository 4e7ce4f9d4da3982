import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { inChinese } from "../../src/i18n/server.svelte";
import { SERVER_TEXTS } from "../../src/i18n/zh/server";

const CRATES = join(import.meta.dirname, "../../../crates");
const names = (text) => [...text.matchAll(/\{(\w+)\*?\}/g)].map((found) => found[1]);

/** Sources of the engine and the server in one text, with strings that go over several lines joined. */
function sources() {
  const files = ["everlore/src", "everlore-server/src"].flatMap((folder) => readdirSync(join(CRATES, folder), { recursive: true, encoding: "utf8" }).map((name) => join(CRATES, folder, name)));
  return files.filter((file) => file.endsWith(".rs")).map((file) => readFileSync(file, "utf8").replace(/\\\n\s*/g, "")).join("\n");
}

describe("texts of the server", () => {
  it("are still said by the server", () => {
    const said = sources();
    const literals = (english) => english.split(/\{\w+\*?\}/).map((literal) => literal.replace(/^[\s`“”(]+|[\s`“”)]+$/g, "")).filter((literal) => /\w/.test(literal));
    const gone = SERVER_TEXTS.filter(([english]) => !literals(english).every((literal) => said.includes(literal))).map(([english]) => english);
    expect(gone).toEqual([]);
  });

  it("have no values in Chinese that the English lacks, and occur once", () => {
    for (const [english, chinese] of SERVER_TEXTS) expect(names(english), english).toEqual(expect.arrayContaining(names(chinese)));
    expect(new Set(SERVER_TEXTS.map(([english]) => english)).size).toBe(SERVER_TEXTS.length);
  });

  it("are found with their values, the most exact one first", () => {
    expect(inChinese("3 drafts wait in quarantine")).toBe("3 条草稿待审");
    expect(inChinese("it holds 2 secrets (API key, password)")).toBe("含有2 个机密（API 密钥、密码）");
    expect(inChinese("it held until 2026-03-02")).toBe("有效期曾到 2026-03-02");
    expect(inChinese("2 other memories say the same as “tea.*”")).toBe("另有 2 条记忆与“tea.*”内容相同");
    expect(inChinese("you said this 3 times: “I like ${tea}”; the agent would know it in every conversation")).toBe("你 3 次说过：“I like ${tea}”；批准后智能体在每次对话中都会知道");
    expect(inChinese("nobody ever translated this")).toBe("nobody ever translated this");
  });
});
