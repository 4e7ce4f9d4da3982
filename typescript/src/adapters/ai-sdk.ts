/** Vercel AI SDK: middleware that recalls before and stores after each answer, and tools to remember and recall. */

import { jsonSchema, tool, type LanguageModelMiddleware, type Tool } from "ai";
import type { MemoryApi } from "../api.ts";
import { QUESTION, RECALL, REMEMBER, STATEMENT, recallForModel, rememberForModel, unlessFailing, warn, type ErrorListener } from "./said.ts";

export interface MemoryMiddlewareOptions {
  /** Session that the turns belong to. */
  session?: string | undefined;
  /** Most tokens of the block. */
  budget?: number | undefined;
  /** Stores what the user and the model said: true by default. */
  store?: boolean | undefined;
  /** Hears that the memory failed; the answer goes on without it. A warning on the console by default. */
  onError?: ErrorListener | undefined;
}

type TransformOptions = Parameters<NonNullable<LanguageModelMiddleware["transformParams"]>>[0];
type GenerateOptions = Parameters<NonNullable<LanguageModelMiddleware["wrapGenerate"]>>[0];
type StreamOptions = Parameters<NonNullable<LanguageModelMiddleware["wrapStream"]>>[0];
type Generated = Awaited<ReturnType<GenerateOptions["doGenerate"]>>;
type Streamed = Awaited<ReturnType<StreamOptions["doStream"]>>;
type Part = Streamed["stream"] extends ReadableStream<infer P> ? P : never;
type Params = TransformOptions["params"];

/** Blocks that are kept, so that the steps of one answer see the same text and the prompt cache holds. */
const MAX_BLOCKS = 100;

/**
 * Returns middleware for `wrapLanguageModel`. Before each answer it adds the block of what matters, after the last words of
 * the user; after it, it stores these words and the answer as turns.
 */
export function memoryMiddleware(memory: MemoryApi, options: MemoryMiddlewareOptions = {}): LanguageModelMiddleware {
  const turns = new MiddlewareTurns(memory, options);
  return {
    transformParams: ({ params }: TransformOptions) => turns.withBlock(params),
    async wrapGenerate({ doGenerate, params }: GenerateOptions): Promise<Generated> {
      const result = await doGenerate();
      const texts = result.content.map((part) => (part.type === "text" ? part.text : ""));
      await turns.store(params, texts.join(""));
      return result;
    },
    async wrapStream({ doStream, params }: StreamOptions): Promise<Streamed> {
      const result = await doStream();
      return { ...result, stream: heard(result.stream, (text) => turns.store(params, text)) };
    },
  };
}

/** Returns the tools `remember` and `recall`, for `generateText({ tools: memoryTools(memory) })`. */
export function memoryTools(memory: MemoryApi): { remember: Tool<{ statement: string }, string>; recall: Tool<{ query: string }, string> } {
  return {
    remember: tool({
      description: REMEMBER,
      inputSchema: jsonSchema<{ statement: string }>(oneText("statement", STATEMENT)),
      execute: ({ statement }, { abortSignal }) => rememberForModel(memory, statement, abortSignal),
    }),
    recall: tool({
      description: RECALL,
      inputSchema: jsonSchema<{ query: string }>(oneText("query", QUESTION)),
      execute: ({ query }, { abortSignal }) => recallForModel(memory, query, abortSignal),
    }),
  };
}

/** Words of the user, and if they are new: in the steps of a tool loop they are not. */
interface Question {
  text: string;
  isNew: boolean;
}

/** Blocks and turns of one middleware. */
class MiddlewareTurns {
  readonly #memory: MemoryApi;
  readonly #options: MemoryMiddlewareOptions;
  readonly #onError: ErrorListener;
  /** Words of the user as they were before the block was added. */
  readonly #questions = new WeakMap<object, Question>();
  readonly #blocks = new Map<string, string>();

  constructor(memory: MemoryApi, options: MemoryMiddlewareOptions) {
    this.#memory = memory;
    this.#options = options;
    this.#onError = options.onError ?? warn;
  }

  async withBlock(params: Params): Promise<Params> {
    const question = questionOf(params);
    const block = await this.#block(question, params.abortSignal);
    const changed: Params = block ? { ...params, prompt: promptWithBlock(params.prompt, block) } : { ...params };
    this.#questions.set(changed, question);
    return changed;
  }

  async store(params: Params, answer: string): Promise<void> {
    const question = this.#questions.get(params);
    const said: [string, string][] = [];
    if (question?.isNew && question.text) said.push(["user", question.text]);
    if (answer.trim()) said.push(["assistant", answer]);
    if (!said.length || this.#options.store === false) return;
    await unlessFailing(() => this.#memory.observe(said, { session: this.#options.session }), [], this.#onError);
  }

  async #block(question: Question, signal: AbortSignal | undefined): Promise<string> {
    if (!question.text.trim()) return "";
    const known = question.isNew ? undefined : this.#blocks.get(question.text);
    if (known !== undefined) return known;
    const { budget, session } = this.#options;
    const recall = async (): Promise<string> => (await this.#memory.context(question.text, { budget, session, signal })).text;
    const block = await unlessFailing(recall, "", this.#onError, signal);
    this.#keep(question.text, block);
    return block;
  }

  #keep(question: string, block: string): void {
    this.#blocks.delete(question);
    this.#blocks.set(question, block);
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > MAX_BLOCKS && oldest !== undefined) this.#blocks.delete(oldest);
  }
}

function questionOf({ prompt }: Params): Question {
  const index = prompt.findLastIndex((message) => message.role === "user");
  const message = prompt[index];
  if (message?.role !== "user") return { text: "", isNew: false };
  const texts = message.content.map((part) => (part.type === "text" ? part.text : ""));
  return { text: texts.filter(Boolean).join("\n"), isNew: index === prompt.length - 1 };
}

/** Adds the block after the last words of the user: what stands before stays, so that the prompt cache holds. */
function promptWithBlock(prompt: Params["prompt"], block: string): Params["prompt"] {
  const index = prompt.findLastIndex((message) => message.role === "user");
  return prompt.map((message, at) =>
    at === index && message.role === "user" ? { ...message, content: [...message.content, { type: "text" as const, text: block }] } : message,
  );
}

/** Passes a stream on and tells the text of the answer at its end, also if the reader leaves or the model fails. */
function heard(stream: ReadableStream<Part>, tell: (text: string) => Promise<void>): ReadableStream<Part> {
  const reader = stream.getReader();
  let text = "";
  return new ReadableStream<Part>({
    async pull(controller) {
      const next = await reader.read().catch(async (error: unknown) => {
        await tell(text);
        throw error;
      });
      if (next.done) {
        await tell(text);
        return controller.close();
      }
      if (next.value.type === "text-delta") text += next.value.delta;
      controller.enqueue(next.value);
    },
    async cancel(reason) {
      await tell(text);
      await reader.cancel(reason);
    },
  });
}

function oneText(name: string, description: string): { type: "object"; properties: Record<string, object>; required: string[]; additionalProperties: false } {
  return { type: "object", properties: { [name]: { type: "string", description } }, required: [name], additionalProperties: false };
}
