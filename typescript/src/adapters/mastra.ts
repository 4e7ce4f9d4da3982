/** Mastra: a processor that recalls before and stores after each answer, and tools to remember and recall. */

import type { ProcessInputArgs, ProcessInputResult, ProcessOutputResultArgs, Processor, ProcessorMessageResult } from "@mastra/core/processors";
import { createTool, type Tool } from "@mastra/core/tools";
import type { MemoryApi } from "../api.ts";
import { QUESTION, RECALL, REMEMBER, STATEMENT, recallForModel, rememberForModel, unlessFailing, warn, type ErrorListener } from "./said.ts";

export interface MemoryProcessorOptions {
  /** Session that the turns belong to; the thread of the message otherwise. */
  session?: string | undefined;
  /** Most tokens of the block. */
  budget?: number | undefined;
  /** Stores what the user and the agent said: true by default. */
  store?: boolean | undefined;
  /** Hears that the memory failed; the answer goes on without it. A warning on the console by default. */
  onError?: ErrorListener | undefined;
}

type StoredMessage = ProcessInputArgs["messages"][number];

/** Words of the user, from the input to the output of a request. */
interface Question {
  text: string;
  session: string | undefined;
}

/**
 * Processor for `new Agent({ inputProcessors: [memory], outputProcessors: [memory] })`. Before an answer it adds the block of
 * what matters as a system message, which Mastra keeps in no thread; after it, it stores the question and the answer as turns.
 */
export class MemoryProcessor implements Processor<"everlore-memory"> {
  readonly id = "everlore-memory";
  readonly name = "Everlore memory";
  readonly #memory: MemoryApi;
  readonly #options: MemoryProcessorOptions;
  readonly #onError: ErrorListener;

  constructor(memory: MemoryApi, options: MemoryProcessorOptions = {}) {
    this.#memory = memory;
    this.#options = options;
    this.#onError = options.onError ?? warn;
  }

  async processInput(args: ProcessInputArgs): Promise<ProcessInputResult> {
    const { messages, systemMessages } = args;
    const question = this.#question(messages);
    if (!question.text.trim()) return { messages, systemMessages };
    const { budget } = this.#options;
    const recall = async (): Promise<string> => (await this.#memory.context(question.text, { budget, session: question.session })).text;
    const block = await unlessFailing(recall, "", this.#onError);
    return { messages, systemMessages: block ? [...systemMessages, { role: "system", content: block }] : systemMessages };
  }

  async processOutputResult(args: ProcessOutputResultArgs): Promise<Awaited<ProcessorMessageResult>> {
    const question = this.#question(args.messageList.get.all.db());
    const said: [string, string][] = [];
    if (question.text.trim()) said.push(["user", question.text]);
    if (args.result.text.trim()) said.push(["assistant", args.result.text]);
    if (said.length && this.#options.store !== false) {
      await unlessFailing(() => this.#memory.observe(said, { session: question.session }), [], this.#onError);
    }
    return args.messages;
  }

  #question(messages: readonly StoredMessage[]): Question {
    const message = messages.findLast(({ role }) => role === "user");
    const session = this.#options.session ?? message?.threadId;
    return { text: message ? textOf(message) : "", session };
  }
}

/** Returns the tools `remember` and `recall`, for `new Agent({ tools: memoryTools(memory) })`. */
export function memoryTools(memory: MemoryApi): { remember: Tool<unknown, unknown>; recall: Tool<unknown, unknown> } {
  return {
    remember: textTool("remember", REMEMBER, "statement", STATEMENT, (statement, signal) => rememberForModel(memory, statement, signal)),
    recall: textTool("recall", RECALL, "query", QUESTION, (query, signal) => recallForModel(memory, query, signal)),
  };
}

type Execute = (text: string, signal: AbortSignal | undefined) => Promise<string>;

function textTool(id: string, description: string, field: string, meaning: string, execute: Execute): Tool<unknown, unknown> {
  const inputSchema = {
    type: "object" as const,
    properties: { [field]: { type: "string" as const, description: meaning } },
    required: [field],
    additionalProperties: false,
  };
  const created = createTool({
    id,
    description,
    inputSchema,
    execute: async (input, context) => execute(String((input as Record<string, unknown>)[field]), context?.abortSignal),
  });
  return created as unknown as Tool<unknown, unknown>;
}

function textOf(message: StoredMessage): string {
  const texts = message.content.parts.map((part) => (part.type === "text" ? part.text : ""));
  return texts.filter(Boolean).join("\n") || (message.content.content ?? "");
}
