/** The AI SDK's adapter with the real package, its mock models and a real server. */

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { generateText, isStepCount, streamText, wrapLanguageModel } from "ai";
import * as ai6 from "ai-6";
import { MockLanguageModelV3 } from "ai-6/test";
import { MockLanguageModelV4 } from "ai/test";
import { Client } from "everlore";
import { memoryMiddleware, memoryTools } from "everlore/ai-sdk";
import { answered, called, startServer, streamed, turns } from "./models.ts";

let client: (user: string) => Client;
before(async () => {
  client = await startServer();
});

function promptOf(model: { doGenerateCalls: { prompt: unknown }[]; doStreamCalls: { prompt: unknown }[] }): string {
  return JSON.stringify([...model.doGenerateCalls, ...model.doStreamCalls].map((call) => call.prompt));
}

test("a fact of one conversation is in the prompt of the next", async () => {
  const memory = client("generate");
  const first = new MockLanguageModelV4({ doGenerate: answered("Noted.") });
  const monday = wrapLanguageModel({ model: first, middleware: memoryMiddleware(memory, { session: "monday" }) });
  await generateText({ model: monday, prompt: "I'm allergic to peanuts, please keep that in mind." });
  assert.deepEqual(await turns(memory), [["user", "I'm allergic to peanuts, please keep that in mind."], ["assistant", "Noted."]]);

  const second = new MockLanguageModelV4({ doGenerate: answered("Rice with vegetables.") });
  const tuesday = wrapLanguageModel({ model: second, middleware: memoryMiddleware(memory, { session: "tuesday", budget: 300 }) });
  const { text } = await generateText({ model: tuesday, instructions: "Be brief.", prompt: "Am I allergic to anything?" });
  assert.equal(text, "Rice with vegetables.");
  const [system, user] = second.doGenerateCalls[0]?.prompt ?? [];
  assert.equal(system?.content, "Be brief.");
  assert.match(JSON.stringify(user), /Am I allergic to anything\?.*memory-context.*peanuts/);
  const stored = await turns(memory);
  assert.deepEqual(stored.slice(2), [["user", "Am I allergic to anything?"], ["assistant", "Rice with vegetables."]]);
});

test("a streamed answer is passed on piece by piece and stored whole, in Chinese too", async () => {
  const memory = client("stream");
  await memory.remember("我喜欢喝龙井茶，每天早上一杯");
  const mock = new MockLanguageModelV4({ doStream: streamed("你早上", "喝龙井茶。") });
  const model = wrapLanguageModel({ model: mock, middleware: memoryMiddleware(memory, { session: "s1" }) });
  const pieces = [];
  for await (const piece of streamText({ model, prompt: "早上喝什么茶？" }).textStream) pieces.push(piece);
  assert.deepEqual(pieces, ["你早上", "喝龙井茶。"]);
  assert.match(promptOf(mock), /龙井茶/);
  assert.deepEqual(await turns(memory), [["user", "早上喝什么茶？"], ["assistant", "你早上喝龙井茶。"]]);
});

test("a reader that leaves a stream keeps what was said", async () => {
  const memory = client("left");
  const mock = new MockLanguageModelV4({ doStream: streamed("One.", " Two.", " Three.") });
  const wrapped = wrapLanguageModel({ model: mock, middleware: memoryMiddleware(memory) });
  const { stream } = await wrapped.doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "My bike is red" }] }] });
  const reader = stream.getReader();
  while (!JSON.stringify(await reader.read()).includes("One.")) continue;
  await reader.cancel();
  const [user, assistant] = await turns(memory);
  assert.deepEqual(user, ["user", "My bike is red"]);
  assert.match(assistant?.[1] ?? "", /^One\./);
});

test("in a tool loop the question is stored once, and each step sees the same block", async () => {
  const memory = client("tools");
  await memory.remember("The launch is on May 3");
  const steps = [called("remember", { statement: "The launch moved to May 9" }), answered("It moved to May 9.")];
  const mock: MockLanguageModelV4 = new MockLanguageModelV4({ doGenerate: async () => steps[mock.doGenerateCalls.length - 1] });
  const model = wrapLanguageModel({ model: mock, middleware: memoryMiddleware(memory, { session: "s1" }) });
  const result = await generateText({ model, tools: memoryTools(memory), stopWhen: isStepCount(3), prompt: "When is the launch?" });
  assert.equal(result.text, "It moved to May 9.");
  assert.match(JSON.stringify(result.steps[0]?.toolResults), /remembered as /);
  const blocks = mock.doGenerateCalls.map(({ prompt }) => JSON.stringify(prompt.find((message) => message.role === "user")));
  assert.match(blocks[0] ?? "", /May 3/);
  assert.equal(blocks[1], blocks[0]);
  assert.deepEqual(await turns(memory), [["user", "When is the launch?"], ["assistant", "It moved to May 9."]]);
});

test("a model recalls by tool", async () => {
  const memory = client("recall");
  await memory.remember("小美对花生过敏");
  const steps = [called("recall", { query: "小美对什么过敏？" }), answered("花生。")];
  const mock: MockLanguageModelV4 = new MockLanguageModelV4({ doGenerate: async () => steps[mock.doGenerateCalls.length - 1] });
  const result = await generateText({ model: mock, tools: memoryTools(memory), stopWhen: isStepCount(3), prompt: "查一下" });
  assert.match(JSON.stringify(result.steps[0]?.toolResults), /花生/);
});

test("a memory that does not answer leaves the answer as it is, and the program hears of it", async () => {
  const errors: unknown[] = [];
  const dead = new Client({ url: "http://127.0.0.1:1", key: "k", retries: 0 });
  const mock = new MockLanguageModelV4({ doGenerate: answered("Hello!") });
  const model = wrapLanguageModel({ model: mock, middleware: memoryMiddleware(dead, { onError: (error) => errors.push(error) }) });
  assert.equal((await generateText({ model, prompt: "Hi, what is my name?" })).text, "Hello!");
  assert.deepEqual(errors.map((error) => (error as { code: string }).code), ["unreachable", "unreachable"]);
});

test("an aborted call is aborted, not answered without memory", async () => {
  const controller = new AbortController();
  controller.abort();
  const mock = new MockLanguageModelV4({ doGenerate: answered("Hello!") });
  const model = wrapLanguageModel({ model: mock, middleware: memoryMiddleware(client("aborted")) });
  await assert.rejects(generateText({ model, prompt: "Hi", abortSignal: controller.signal, maxRetries: 0 }), { name: "AbortError" });
  assert.equal(mock.doGenerateCalls.length, 0);
});

test("nothing is stored if the program wants none, and without words of a user nothing is recalled", async () => {
  const memory = client("silent");
  const mock = new MockLanguageModelV4({ doGenerate: answered("Hello!") });
  const model = wrapLanguageModel({ model: mock, middleware: memoryMiddleware(memory, { store: false }) });
  await generateText({ model, prompt: "My car is blue" });
  await generateText({ model, messages: [{ role: "assistant", content: "Go on" }] });
  assert.deepEqual(await turns(memory), []);
});

test("the middleware works with the major version before", async () => {
  const memory = client("six");
  await memory.remember("I'm allergic to peanuts");
  const mock = new MockLanguageModelV3({ doGenerate: answered("No nuts, then."), doStream: streamed("No ", "nuts.") });
  const model = ai6.wrapLanguageModel({ model: mock, middleware: memoryMiddleware(memory) as never });
  assert.equal((await ai6.generateText({ model, prompt: "Am I allergic to anything?" })).text, "No nuts, then.");
  assert.equal(await ai6.streamText({ model, prompt: "Which nuts am I allergic to?" }).text, "No nuts.");
  assert.match(promptOf(mock), /memory-context.*peanuts/);
  assert.equal((await turns(memory)).length, 4);
});
