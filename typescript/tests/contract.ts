/** The contract of every memory: one suite for a server and for a home on this machine. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { EverloreError, Invalid, NotFound, type MemoryApi } from "../src/index.ts";

/** Opens a memory of a user that no other test has. */
export type Opener = (user: string) => Promise<MemoryApi>;

export function contract(open: Opener): void {
  const cases = Object.entries(CASES);
  for (const [name, body] of cases) {
    test(name.replaceAll("_", " "), async () => {
      const memory = await open(name);
      await body(memory);
    });
  }
}

const CASES: Record<string, (memory: MemoryApi) => Promise<void>> = {
  async a_statement_is_recalled_in_other_words(memory) {
    await memory.remember("I'm allergic to peanuts");
    await memory.remember("我喜欢喝龙井茶，每天早上一杯");
    const english = await memory.recall("am I allergic to anything?");
    const chinese = await memory.recall("早上喝什么茶？");
    assert.equal(english.hits[0]?.content, "I'm allergic to peanuts");
    assert.ok(english.hits[0].score > 0 && english.hits[0].score <= 1);
    assert.equal(chinese.hits[0]?.content, "我喜欢喝龙井茶，每天早上一杯");
    assert.ok(chinese.confidence > 0);
  },

  async nothing_relevant_is_nothing(memory) {
    await memory.remember("The printer is on the third floor");
    const recalled = await memory.recall("xyzzy quux", { minConfidence: 0.99 });
    assert.deepEqual([recalled.hits.length, recalled.abstained], [0, true]);
    assert.equal((await memory.context("thanks!")).text, "");
  },

  async fields_come_back_as_given(memory) {
    const at = new Date("2026-03-02T09:30:00+08:00");
    const given = { kind: "project", name: "Launch", tags: ["work", "发布"], importance: 0.9, session: "plan", at };
    const saved = await memory.remember("The launch is on May 3", { ...given, metadata: { ticket: { id: 7 } } });
    const found = await memory.get(saved.id);
    assert.deepEqual({ kind: found.kind, name: found.name, tags: found.tags, importance: found.importance, session: found.session, at: found.at }, given);
    assert.deepEqual(found.metadata["ticket"], { id: 7 });
    assert.ok(found.createdAt instanceof Date && found.status === "active");
  },

  async one_tag_may_be_a_text(memory) {
    await memory.remember("The cat sleeps on the sofa", { tags: "home" });
    await memory.remember("The cat of the office sleeps on the printer", { tags: "work" });
    const { hits } = await memory.recall("where does the cat sleep?", { tags: "work" });
    assert.deepEqual(hits.map((hit) => hit.tags), [["work"]]);
  },

  async turns_keep_role_order_and_session(memory) {
    await memory.observe([["user", "支付模块周三上线。"], { role: "assistant", content: "好的。" }], { session: "s1" });
    await memory.observe("Something else entirely", { session: "s2" });
    await memory.observe(["assistant", "A pair is one turn"], { session: "s3" });
    const turns = await memory.list({ session: "s1", kinds: ["turn"], oldestFirst: true });
    assert.deepEqual(turns.memories.map((turn) => [turn.role, turn.content]), [["user", "支付模块周三上线。"], ["assistant", "好的。"]]);
    const [pair] = (await memory.list({ session: "s3" })).memories;
    assert.deepEqual([pair?.role, pair?.content], ["assistant", "A pair is one turn"]);
  },

  async a_block_has_what_matters_and_keeps_its_budget(memory) {
    await memory.observe([["user", "My landlord is called Mr. Silva and the rent is 1450 euros."]], { session: "monday" });
    const block = await memory.context("how much is my rent?", { budget: 200, session: "tuesday" });
    assert.ok(block.text.includes("1450") && block.tokens > 0 && block.tokens <= 200);
    assert.equal(block.entries.length, 1);
  },

  async a_newer_statement_supersedes_and_its_run_can_be_undone(memory) {
    const old = await memory.remember("我住在上海");
    const fresh = await memory.remember("我现在住在杭州");
    assert.deepEqual(fresh.superseded, [old.id]);
    assert.equal((await memory.get(old.id)).supersededBy, fresh.id);
    await memory.undo(undefined, { run: fresh.run });
    assert.equal((await memory.get(old.id)).status, "active");
  },

  async secrets_are_masked(memory) {
    const saved = await memory.remember("my key is sk-proj-Abcdefghij0123456789Abcdefghij0123456789");
    assert.ok(saved.masked.length > 0 && !(await memory.get(saved.id)).content.includes("Abcdefghij"));
  },

  async changes_are_journaled_undone_and_redone(memory) {
    const { id } = await memory.remember("The launch is on May 3");
    await memory.edit(id, { content: "The launch is on May 9" });
    const [edited, added] = await memory.history(id);
    assert.deepEqual([edited?.op, added?.op], ["update", "add"]);
    assert.ok(edited?.before?.content.endsWith("May 3") && edited.after?.content.endsWith("May 9"));
    await memory.undo();
    assert.ok((await memory.get(id)).content.endsWith("May 3"));
    await memory.redo();
    assert.ok((await memory.get(id)).content.endsWith("May 9"));
  },

  async a_deleted_memory_can_come_back_and_a_forgotten_one_not(memory) {
    const { id } = await memory.remember("外婆的电话是 555-0100");
    const seq = await memory.delete(id);
    await memory.undo(seq);
    assert.ok((await memory.get(id)).content.startsWith("外婆"));
    assert.deepEqual((await memory.forget(id)).ids, [id]);
    await assert.rejects(memory.get(id), NotFound);
    await assert.rejects(memory.undo(seq), EverloreError);
  },

  async pages_follow_each_other(memory) {
    for (let number = 0; number < 5; number += 1) await memory.remember(`Room ${number} has ${number} windows`, { tags: ["rooms"] });
    const first = await memory.list({ tags: ["rooms"], limit: 3 });
    const second = await memory.list({ tags: ["rooms"], limit: 3, after: first.next });
    assert.deepEqual([first.memories.length, second.memories.length, second.next], [3, 2, undefined]);
    const all = [];
    for await (const found of memory.iterate({ tags: ["rooms"], limit: 2 })) all.push(found.id);
    assert.deepEqual(all, [...first.memories, ...second.memories].map((found) => found.id));
  },

  async turns_become_memories(memory) {
    await memory.observe([["user", "I'm vegetarian and I live in Lisbon."]], { session: "s1" });
    const [report] = await memory.extract("s1");
    assert.equal(report?.turns, 1);
    assert.ok(report.stored.some((text) => text.includes("vegetarian")));
  },

  async the_same_idempotency_key_saves_once(memory) {
    const idempotencyKey = `order-17-${memory.user}`;
    const first = await memory.remember("Order 17 was shipped", { idempotencyKey });
    const again = await memory.remember("Order 17 was shipped", { idempotencyKey });
    assert.equal(again.seq, first.seq);
    await assert.rejects(memory.remember("Order 18 was shipped", { idempotencyKey }), { code: "key_reused", name: "Conflict" });
  },

  async bad_input_is_refused_with_advice(memory) {
    const calls: (() => Promise<unknown>)[] = [
      () => memory.remember(""),
      () => memory.remember("x", { importance: 7 }),
      () => memory.remember("x", { kind: "nonsense" }),
      () => memory.recall("x", { minScore: 2 }),
      () => memory.undo(1, { run: "both" }),
      () => memory.get(""),
      () => memory.observe([{ content: "hi", rolle: "user" } as never]),
      () => memory.remember("x", { colour: "red" } as never),
    ];
    for (const call of calls) {
      await assert.rejects(call, (error) => error instanceof Invalid && error.hint !== "", call.toString());
    }
  },

  async an_unknown_id_is_not_found(memory) {
    await assert.rejects(memory.get("0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000"), { code: "not_found", name: "NotFound", status: 404 });
  },

  async a_call_can_be_aborted(memory) {
    await assert.rejects(memory.recall("tea", { signal: AbortSignal.abort() }), { name: "AbortError" });
    const controller = new AbortController();
    const recalled = memory.recall("tea", { signal: controller.signal });
    controller.abort(new Error("the user left"));
    await assert.rejects(recalled, /the user left/);
  },

  async changes_are_streamed(memory) {
    await memory.remember("Before the stream began");
    const stream = await memory.events();
    const { id } = await memory.remember("茶室的密码换了");
    await memory.delete(id);
    const seen = [];
    for await (const event of stream) {
      seen.push(event.type === "change" ? [event.op, event.id] : []);
      if (seen.length === 2) break;
    }
    assert.deepEqual(seen, [["add", id], ["delete", id]]);
  },
};
