import { describe, expect, it } from "vitest";

import { pathWithQuery, problemOf } from "../../src/api/client";
import { calendarWeeks, growth, withEmptyDays } from "../../src/lib/activity";
import { textDiff } from "../../src/lib/diff";
import { ago, headline } from "../../src/lib/format";
import { mapTexts, terms } from "../../src/lib/islands";
import { memorySteps, proposedText } from "../../src/lib/proposals";
import { regionsOf } from "../../src/lib/regions";
import { spendingByJob } from "../../src/lib/spending";
import { wordsIn } from "../../src/lib/words";

describe("requests", () => {
  it("repeat lists and leave out what is not given", () => {
    expect(pathWithQuery("/v1/memories", { kind: ["user", "turn"], tag: "茶 & tea", after: null, session: "" })).toBe("/v1/memories?kind=user&kind=turn&tag=%E8%8C%B6+%26+tea");
  });

  it("become problems, also when a proxy answers with something else", async () => {
    const problem = await problemOf(new Response("<html>", { status: 502, statusText: "Bad Gateway" }));
    expect([problem.status, problem.code]).toEqual([502, "http"]);
    const limited = await problemOf(new Response(JSON.stringify({ code: "too_often", title: "t", detail: "d", retry_after: 3 }), { status: 429 }));
    expect(limited.retryAfter).toBe(3);
  });
});

describe("a diff", () => {
  it("goes by words, and by Chinese words", () => {
    expect(textDiff("watered on Mondays", "watered on Fridays").filter((piece) => piece.kind !== "same")).toEqual([
      { kind: "removed", text: "Mondays" },
      { kind: "added", text: "Fridays" },
    ]);
    expect(textDiff("我喜欢喝龙井茶", "我喜欢喝普洱茶").find((piece) => piece.kind === "same")?.text).toContain("喜欢");
  });

  it("put together gives both texts", () => {
    const [before, after] = ["one\ntwo three", "one\nthree four"];
    const pieces = textDiff(before, after);
    expect(pieces.filter((piece) => piece.kind !== "added").map((piece) => piece.text).join("")).toBe(before);
    expect(pieces.filter((piece) => piece.kind !== "removed").map((piece) => piece.text).join("")).toBe(after);
  });
});

describe("activity", () => {
  const activity = { days: [{ day: "2026-03-01", memories: 2, turns: 1 }, { day: "2026-03-04", memories: 5, turns: 0 }] };

  it("fills a calendar from Monday to today", () => {
    const weeks = calendarWeeks(activity, new Date(2026, 2, 4), 2);
    expect(weeks.map((week) => week.length)).toEqual([7, 3]);
    expect(weeks.at(-1)?.at(-1)).toMatchObject({ day: "2026-03-04", count: 5 });
    expect(weeks[0]?.[0]).toMatchObject({ count: 0, level: 0 });
  });

  it("grows to what there is now", () => {
    expect(growth(withEmptyDays(activity, "2026-03-05"), 10)[1]).toEqual([5, 5, 5, 10, 10]);
  });
});

describe("texts", () => {
  it("are dated and shortened by characters, not by bytes", () => {
    const now = Date.parse("2026-03-04T12:00:00Z");
    expect(ago("2026-03-01T12:00:00Z", now)).toBe("3 days ago");
    expect(headline("😀".repeat(5), 3)).toBe("😀😀😀…");
  });
});

describe("the map", () => {
  const texts = ["peanut allergy snacks", "allergy to peanut butter", "kafka cluster broker", "broker restarts of the kafka cluster"].map((text, id) => ({ id: String(id), text }));

  it("puts texts with common words together, the same way each time", () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ ...texts[index % 4]!, id: String(index) }));
    const { points, islands } = mapTexts(many);
    expect(points).toHaveLength(40);
    expect(islands.reduce((sum, island) => sum + island.size, 0)).toBe(40);
    expect(mapTexts(many)).toEqual(mapTexts(many));
  });

  it("names the regions of a map with places by what is frequent there and rare elsewhere", () => {
    const points = texts.flatMap((one, index) => Array.from({ length: 5 }, (_, at) => ({ title: `${one.text} report ${at}`, x: index < 2 ? -0.8 : 0.8, y: 0 })));
    const regions = regionsOf(points).sort((a, b) => a.x - b.x);
    expect(regions.map((region) => region.size)).toEqual([10, 10]);
    expect(regions[0]?.terms).toEqual(expect.arrayContaining(["peanut", "allergy"]));
    expect(regions[1]?.terms).toEqual(expect.arrayContaining(["kafka", "broker"]));
    expect(regions[0]?.terms).not.toContain("report");
  });

  it("finds words of both languages", () => {
    expect(terms("The 龙井茶 is in /var/log, 我们喜欢")).toEqual(expect.arrayContaining(["var", "log", "喜欢"]));
  });
});

describe("a diff of another text", () => {
  it("is not woven together", () => {
    expect(textDiff("端口被占用，服务启动不了", "It was changed a little.").map((piece) => piece.kind)).toEqual(["removed", "same", "added"]);
  });
});

describe("a proposal", () => {
  const proposal = { id: "p", state: "open", reason: "contradiction", why: "", evidence: [], at: "" } as const;

  it("tells which memories it replaces", () => {
    const found = memorySteps({ ...proposal, evidence: [], target: "memories", diff: "supersede a1 by b2\narchive c3" });
    expect(found).toEqual([{ action: "supersede", id: "a1", into: "b2" }, { action: "archive", id: "c3", into: null }]);
  });

  it("has a text to edit if it changes a layer or a skill", () => {
    expect(proposedText({ ...proposal, evidence: [], target: "USER.md", diff: "--- USER.md\n+++ USER.md\n@@ Food @@\n-- old\n+- new" })).toBe("- new");
    expect(proposedText({ ...proposal, evidence: [], target: "skill a", diff: "--- a\n+++ a\n+---\n+name: a" })).toBe("---\nname: a");
    expect(proposedText({ ...proposal, evidence: [], target: "workflow a", diff: "+++ a\n+x" })).toBe("x");
  });
});

describe("spending", () => {
  it("is summed by job, the largest first", () => {
    const none = { calls: 0, read: 0, cached: 0, written: 0, millis: 0, cost: 0 };
    const ledger = { spending: [{ day: "1", job: "a", calls: 1, read: 5 }, { day: "1", job: "b", calls: 1, read: 9 }, { day: "2", job: "a", calls: 2, written: 7 }], total: none, today: none, allowance: { allowed: true, reason: null } };
    expect(spendingByJob(ledger).map((one) => [one.job, one.calls, one.read + one.written])).toEqual([["a", 3, 12], ["b", 1, 9]]);
  });
});

describe("looked-up words", () => {
  it("are words, not the pairs of letters that a search is made of", () => {
    const shown = (pieces: string[], text: string) => wordsIn(pieces, (piece) => piece, text);
    expect(shown(["今晚", "晚我", "做什", "什么", "tea"], "今晚我做什么 tea")).toEqual(["今晚", "什么", "tea"]);
    expect(shown(["晚我"], "今晚我")).toEqual(["晚我"]);
    expect(shown(["peanut"], "What about peanuts?")).toEqual(["peanut"]);
  });
});
