import { describe, expect, it } from "vitest";

import { en } from "../../src/i18n/en";
import { fill } from "../../src/i18n/index.svelte";
import { zh } from "../../src/i18n/zh";

const names = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

describe("messages", () => {
  it("have the same keys in both languages", () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  });

  it("name the same values in both languages", () => {
    for (const [key, text] of Object.entries(en)) expect(names(zh[key as keyof typeof zh]), key).toEqual(names(text));
  });

  it("are translated", () => {
    const same = Object.entries(en).filter(([key, text]) => zh[key as keyof typeof zh] === text).map(([key]) => key);
    expect(same).toEqual(["actor.engine"]);
  });

  it("choose by number and fill in values as they are", () => {
    expect(fill("{count} turn|{count} turns", { count: 1 })).toBe("1 turn");
    expect(fill("{count} turn|{count} turns", { count: 0 })).toBe("0 turns");
    expect(fill("{name}: {missing}", { name: "a|b {count}" })).toBe("a|b {count}: {missing}");
  });
});
