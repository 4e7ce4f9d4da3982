/** Mastra's adapter with the real package, the AI SDK's mock models and a real server. */

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Agent } from "@mastra/core/agent";
import { MockLanguageModelV3 } from "ai-6/test";
import { Client } from "everlore";
import { MemoryProcessor, memoryTools } from "everlore/mastra";
import { answered, called, startServer, streamed, turns } from "./models.ts";

let client: (user: string) => Client;
before(async () => {
  client = await startServer();
});

interface Answers {
  generate?: unknown[];
  stream?: unknown[];
}

/** Returns a model that gives its answers one after the other. */
function scripted({ generate = [], stream = [] }: Answers): MockLanguageModelV3 {
  const model: MockLanguageModelV3 = new MockLanguageModelV3({
    doGenerate: async () => generate[model.doGenerateCalls.length - 1] as never,
    doStream: async () => stream[model.doStreamCalls.length - 1] as never,
  });
  return model;
}

function agent(model: MockLanguageModelV3, memory: Client, processor = new MemoryProcessor(memory, { session: "s1" })): Agent {
  return new Agent({
    id: "assistant",
    name: "assistant",
    instructions: "Be brief.",
    model: model as never,
    tools: memoryTools(memory),
    inputProcessors: [processor],
    outputProcessors: [processor],
  }) as never;
}

function prompts(model: MockLanguageModelV3): string {
  return JSON.stringify([...model.doGenerateCalls, ...model.doStreamCalls].map((call) => call.prompt));
}

test("a fact of one conversation is in the prompt of the next", async () => {
  const memory = client("generate");
  const first = scripted({ generate: [answered("Noted.")] });
  await agent(first, memory).generate("I'm allergic to peanuts, please keep that in mind.");
  assert.deepEqual(await turns(memory), [["user", "I'm allergic to peanuts, please keep that in mind."], ["assistant", "Noted."]]);

  const second = scripted({ generate: [answered("To peanuts.")] });
  const later = new MemoryProcessor(memory, { session: "s2" });
  assert.equal((await agent(second, memory, later).generate("Am I allergic to anything?")).text, "To peanuts.");
  assert.match(prompts(second), /Be brief\..*memory-context.*peanuts.*Am I allergic to anything\?/);
  assert.equal((await turns(memory)).length, 4);
});

test("a streamed answer is stored whole, in Chinese too", async () => {
  const memory = client("stream");
  await memory.remember("我喜欢喝龙井茶，每天早上一杯");
  const model = scripted({ stream: [streamed("你早上", "喝龙井茶。")] });
  const output = await agent(model, memory).stream("早上喝什么茶？");
  assert.equal(await output.text, "你早上喝龙井茶。");
  assert.match(prompts(model), /龙井茶/);
  assert.deepEqual(await turns(memory), [["user", "早上喝什么茶？"], ["assistant", "你早上喝龙井茶。"]]);
});

test("an agent remembers and recalls by tools", async () => {
  const memory = client("tools");
  const model = scripted({
    generate: [called("remember", { statement: "The launch is on May 9" }), answered("Kept."), called("recall", { query: "when is the launch?" }), answered("On May 9.")],
  });
  const assistant = agent(model, memory, new MemoryProcessor(memory, { store: false }));
  await assistant.generate("Keep this, please.");
  assert.equal((await memory.list()).memories[0]?.content, "The launch is on May 9");
  const result = await assistant.generate("Look it up.");
  assert.match(JSON.stringify(result.toolResults), /May 9/);
  assert.equal(result.text, "On May 9.");
  assert.deepEqual(await turns(memory), []);
});

test("a tool that is called wrongly saves nothing", async () => {
  const memory = client("wrong");
  const model = scripted({ generate: [called("remember", { sentence: 7 }), answered("Sorry.")] });
  await agent(model, memory, new MemoryProcessor(memory, { store: false })).generate("Keep this, please.");
  assert.deepEqual((await memory.list()).memories, []);
});

test("a memory that does not answer leaves the answer as it is, and the program hears of it", async () => {
  const errors: unknown[] = [];
  const dead = new Client({ url: "http://127.0.0.1:1", key: "k", retries: 0 });
  const processor = new MemoryProcessor(dead, { onError: (error) => errors.push(error) });
  const answer = await agent(scripted({ generate: [answered("Hello!")] }), dead, processor).generate("Hi, what is my name?");
  assert.equal(answer.text, "Hello!");
  assert.deepEqual(errors.map((error) => (error as { code: string }).code), ["unreachable", "unreachable"]);
});
