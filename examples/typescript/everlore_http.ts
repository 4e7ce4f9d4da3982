// Memory over HTTP with nothing but fetch. Node 24 runs it as it is:
//
//     everlore serve
//     EVERLORE_URL=http://127.0.0.1:6636 EVERLORE_TOKEN="$(cat ~/.everlore/server.token)" node everlore_http.ts

type Memory = { id: string; content: string; kind: string; version: number };
type Recall = { hits: (Memory & { score: number })[]; abstained: boolean; confidence: number };
type Problem = { code: string; title: string; detail: string };

/** Client for the memory of one agent and one user. */
class Everlore {
  private readonly url: string;
  private readonly token: string;
  private readonly scope: string;

  constructor(url: string, token: string, agent = "default", user = "default") {
    this.url = url.replace(/\/$/, "");
    this.token = token;
    this.scope = new URLSearchParams({ agent, user }).toString();
  }

  /** Sends a request; throws an error that says what to do. */
  private async request<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(`${this.url}${path}?${this.scope}`, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json", ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok) {
      const problem = (await response.json()) as Problem;
      throw new Error(`${problem.title}: ${problem.detail} (${problem.code})`);
    }
    return { value: (await response.json()) as T, headers: response.headers };
  }

  /** Saves a statement and returns its id. The idempotency key makes a retry save it only once. */
  async remember(content: string, kind?: string): Promise<string> {
    const once = { "Idempotency-Key": crypto.randomUUID() };
    return (await this.request<Memory>("POST", "/v1/memories", { content, kind }, once)).value.id;
  }

  /** Stores a turn of a conversation, word for word. */
  async observe(text: string, session: string, role = "user"): Promise<void> {
    await this.request("POST", "/v1/turns", { text, session, role });
  }

  /** Returns the text to append to the system prompt before answering; empty if no memory is relevant. */
  async context(query: string): Promise<string> {
    return (await this.request<{ text: string }>("POST", "/v1/context", { query })).value.text;
  }

  /** Returns the best memories for a question. */
  async recall(query: string, limit = 5): Promise<string[]> {
    const { value } = await this.request<Recall>("POST", "/v1/recall", { query, limit });
    return value.hits.map((hit) => hit.content);
  }

  /** Changes a memory, unless another client changed it since it was read. */
  async edit(id: string, content: string): Promise<void> {
    const { headers } = await this.request<Memory>("GET", `/v1/memories/${id}`);
    await this.request("PATCH", `/v1/memories/${id}`, { content }, { "If-Match": headers.get("etag") ?? "*" });
  }
}

const memory = new Everlore(
  process.env.EVERLORE_URL ?? "http://127.0.0.1:6636",
  process.env.EVERLORE_TOKEN ?? "",
  "default",
  "typescript-example",
);
const id = await memory.remember("Mei prefers oolong tea in the afternoon", "user");
await memory.remember("小美对花生过敏", "user");
await memory.observe("The deployment window is on Thursday at nine.", "planning");
console.log("recall:", (await memory.recall("What does Mei drink?"))[0]);
console.log("回忆:", (await memory.recall("小美对什么过敏？"))[0]);
console.log("context:", (await memory.context("When is the deployment window?")).includes("Thursday"));
await memory.edit(id, "Mei prefers jasmine tea in the afternoon 茉莉花茶");
console.log("edited:", (await memory.recall("What does Mei drink?"))[0]);
