/** The store for LangGraph.js with the real package and a real server. */

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Annotation, END, START, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Client } from "everlore";
import { EverloreStore } from "everlore/langgraph";
import { startServer } from "./models.ts";

let client: (user: string) => Client;
before(async () => {
  client = await startServer();
});

const ANA = ["users", "ana"];

test("items come back as they were put, are replaced and deleted", async () => {
  const memory = client("items");
  const store = new EverloreStore(memory);
  await store.put(ANA, "diet", { text: "Ana is allergic to peanuts", since: 2019, deep: { list: [1, "二"] } });
  const found = await store.get(ANA, "diet");
  assert.deepEqual(found?.value, { text: "Ana is allergic to peanuts", since: 2019, deep: { list: [1, "二"] } });
  assert.deepEqual([found?.namespace, found?.key, found?.createdAt instanceof Date], [ANA, "diet", true]);
  // The Python adapter looks for these.
  const [stored] = (await memory.list()).memories;
  assert.deepEqual(stored?.tags, ['under:["users"]', 'under:["users", "ana"]', 'in:["users", "ana"]', "key:diet"]);
  await store.put(ANA, "diet", { text: "Ana eats everything" });
  assert.deepEqual((await store.get(ANA, "diet"))?.value, { text: "Ana eats everything" });
  await store.delete(ANA, "diet");
  assert.equal(await store.get(ANA, "diet"), null);
  assert.equal(await store.get(["users"], "diet"), null);
});

test("search is by meaning, within a namespace, in both languages", async () => {
  const store = new EverloreStore(client("search"));
  await store.put(ANA, "diet", { text: "Ana is allergic to peanuts" });
  await store.put(ANA, "茶", { text: "安娜每天早上喝一杯龙井茶" });
  await store.put(["users", "bo"], "diet", { text: "Bo is allergic to shellfish" });
  const [english] = await store.search(ANA, { query: "what is she allergic to?" });
  assert.equal(english?.value["text"], "Ana is allergic to peanuts");
  assert.ok((english?.score ?? 0) > 0);
  const [chinese] = await store.search(["users"], { query: "早上喝什么茶？" });
  assert.equal(chinese?.key, "茶");
  const all = await store.search(["users"], { query: "allergic", limit: 5 });
  assert.deepEqual(new Set(all.filter((item) => item.key === "diet").map((item) => item.namespace[1])), new Set(["ana", "bo"]));
});

test("a search without a query pages and filters", async () => {
  const store = new EverloreStore(client("filters"));
  for (const [key, stars] of [["one", 1], ["two", 2], ["three", 3]] as const) await store.put(["films"], key, { text: `Film ${key}`, stars });
  assert.deepEqual((await store.search(["films"], { limit: 2 })).map((item) => item.key), ["one", "two"]);
  assert.deepEqual((await store.search(["films"], { limit: 2, offset: 2 })).map((item) => item.key), ["three"]);
  assert.deepEqual((await store.search(["films"], { filter: { stars: { $gte: 2, $lt: 3 } } })).map((item) => item.key), ["two"]);
  assert.deepEqual((await store.search(["films"], { filter: { stars: 1 } })).map((item) => item.key), ["one"]);
  assert.deepEqual((await store.search(["films"], { filter: { stars: { $ne: 1 } } })).map((item) => item.key), ["two", "three"]);
  await assert.rejects(store.search(["films"], { filter: { stars: { $near: 2 } } }), /unknown operator \$near: use \$eq/);
});

test("only indexed texts are searched", async () => {
  const store = new EverloreStore(client("index"), { fields: ["title"] });
  await store.put(["notes"], "a", { title: "Garden plan", body: "The dentist is on Elm street" });
  await store.put(["notes"], "b", { title: "Hidden", body: "The plumber is called Silva" }, false);
  await store.put(["notes"], "c", { title: "Bills", body: "The landlord is called Mr. Costa" }, ["body"]);
  assert.equal((await store.search(["notes"], { query: "what is the landlord called?" }))[0]?.key, "c");
  assert.ok(!(await store.search(["notes"], { query: "plumber Silva" })).some((item) => item.key === "b"));
  assert.deepEqual((await store.get(["notes"], "b"))?.value, { title: "Hidden", body: "The plumber is called Silva" });
});

test("namespaces are listed by prefix, suffix and depth", async () => {
  const store = new EverloreStore(client("namespaces"));
  for (const namespace of [["a", "b", "x"], ["a", "c", "x"], ["d", "x"], ["d", "y"]]) await store.put(namespace, "k", { text: namespace.join(" ") });
  assert.deepEqual(await store.listNamespaces({ prefix: ["a"] }), [["a", "b", "x"], ["a", "c", "x"]]);
  assert.deepEqual(await store.listNamespaces({ suffix: ["x"], limit: 2, offset: 1 }), [["a", "c", "x"], ["d", "x"]]);
  assert.deepEqual(await store.listNamespaces({ maxDepth: 1 }), [["a"], ["d"]]);
  assert.deepEqual(await store.listNamespaces({ prefix: ["*", "c"] }), [["a", "c", "x"]]);
});

test("operations of a batch run in their order", async () => {
  const store = new EverloreStore(client("batch"));
  const [, found, , gone] = await store.batch([
    { namespace: ANA, key: "k", value: { text: "Ana lives in Lisbon" } },
    { namespace: ANA, key: "k" },
    { namespace: ANA, key: "k", value: null },
    { namespace: ANA, key: "k" },
  ]);
  assert.equal(found?.value["text"], "Ana lives in Lisbon");
  assert.equal(gone, null);
});

test("a graph remembers across threads", async () => {
  const State = Annotation.Root({ message: Annotation<string>, answer: Annotation<string> });
  const answer = async (state: typeof State.State, config: LangGraphRunnableConfig) => {
    if (state.message.startsWith("My")) await config.store?.put(ANA, "said", { text: state.message });
    const [found] = (await config.store?.search(ANA, { query: state.message, limit: 1 })) ?? [];
    return { answer: String(found?.value["text"] ?? "?") };
  };
  const graph = new StateGraph(State).addNode("answer_it", answer).addEdge(START, "answer_it").addEdge("answer_it", END);
  const compiled = graph.compile({ store: new EverloreStore(client("graph")) });
  await compiled.invoke({ message: "My dentist is on Elm street" }, { configurable: { thread_id: "1" } });
  const { answer: later } = await compiled.invoke({ message: "Where is the dentist?" }, { configurable: { thread_id: "2" } });
  assert.equal(later, "My dentist is on Elm street");
});
