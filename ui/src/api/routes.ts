/** Every route that the pages call, typed. A route that the server lacks fails here and nowhere else. */

import { Client, Problem, type Answer } from "./client";
import type * as G from "./growth";
import type * as T from "./types";

const id = encodeURIComponent;

export interface MemoryEdit {
  content?: string;
  name?: string;
  description?: string;
  kind?: T.Kind;
  tags?: string[];
  importance?: number;
}

export interface ListRequest extends T.MemoryFilter {
  after?: string | null;
  limit?: number;
  order?: "newest" | "oldest";
}

export class Api {
  constructor(readonly http: Client) {}

  identity = () => this.http.get<T.Identity>("/v1/me", { unscoped: true });
  signIn = (proof: { code: string } | { secret: string }) => this.http.post<{ browser: string }>("/v1/sign-in", proof, { unscoped: true });
  signOut = () => this.http.post<unknown>("/v1/sign-out", {}, { unscoped: true });
  browsers = () => this.http.get<{ browsers: G.SignedInBrowser[] }>("/v1/browsers", { unscoped: true });
  removeBrowser = (browser: string) => this.http.send<unknown>(`/v1/browsers/${id(browser)}`, { method: "DELETE", unscoped: true });
  stats = (signal?: AbortSignal) => this.http.get<T.Stats>("/v1/stats", { signal });
  activity = (days: number) => this.http.get<T.Activity>("/v1/stats/activity", { query: { days } });

  list = ({ kinds, statuses, tags, ...rest }: ListRequest, signal?: AbortSignal) =>
    this.http.get<T.MemoryPage>("/v1/memories", { query: { ...rest, kind: kinds, status: statuses, tag: tags }, signal });
  memory = (memory: string): Promise<Answer<T.Memory>> => this.http.send<T.Memory>(`/v1/memories/${id(memory)}`);
  remember = (body: { content: string; kind?: T.Kind; tags?: string[]; name?: string }) =>
    this.http.post<{ id: string; receipt: { seq: number; known: boolean }; undo?: { run: string } | null }>("/v1/memories", body);
  edit = (memory: string, edit: MemoryEdit, ifMatch?: string) =>
    this.http.send<T.Memory>(`/v1/memories/${id(memory)}`, { method: "PATCH", body: edit, ifMatch });
  archive = (memory: string) => this.http.post<T.Memory>(`/v1/memories/${id(memory)}/archive`);
  restore = (memory: string) => this.http.post<T.Memory>(`/v1/memories/${id(memory)}/restore`);
  remove = async (memory: string) =>
    (await this.http.send<{ id: string; seq: number }>(`/v1/memories/${id(memory)}`, { method: "DELETE" })).data;
  forget = (memory: string) => this.http.post<T.ForgetReceipt>(`/v1/memories/${id(memory)}/forget`);
  historyOf = (memory: string) => this.http.get<T.JournalPage>(`/v1/memories/${id(memory)}/history`, { query: { limit: 100 } });
  history = (limit: number, before?: number | null) => this.http.get<T.JournalPage>("/v1/history", { query: { limit, before } });
  undo = (step: { seq: number } | { run: string } | Record<string, never>) => this.http.post<{ undone: number[] }>("/v1/undo", step);

  recall = (query: string, options: { filter?: T.MemoryFilter; limit?: number; explain?: boolean }, signal?: AbortSignal) =>
    this.http.post<T.RecallResponse>("/v1/recall", { query, ...options }, { signal });
  context = (body: { query: string; budget?: number; limit?: number; why_not?: string }, signal?: AbortSignal) =>
    this.http.post<T.ContextResponse>("/v1/context", body, { signal });
  prompt = (body: { query: string; budget?: number; limit?: number }, signal?: AbortSignal) =>
    this.http.post<T.PromptPreview>("/v1/prompt", body, { signal });

  sessions = (after?: string | null) =>
    this.http.get<{ items: T.SessionFolder[]; next: string | null }>("/v1/fs/ls", { query: { uri: "sessions", limit: 500, after } });
  map = (signal?: AbortSignal) => this.http.get<G.VectorMap>("/v1/map", { signal });
  /** The newest prompts of all sessions that contained memories. */
  newestPrompts = (limit: number, signal?: AbortSignal) => this.http.get<{ prompts: G.LoggedPrompt[] }>("/v1/injections", { query: { limit }, signal });
  injections = (session: string) =>
    this.http.get<T.InjectedMemories>(`/v1/sessions/${id(session)}/injections`);

  captureStatus = () => this.http.get<T.CaptureStatus>("/v1/extract");
  extract = () => this.http.post<T.ExtractReport>("/v1/extract");
  quarantine = () => this.http.get<{ drafts: T.QuarantinedDraft[] }>("/v1/quarantine");
  /** Stores a draft, with another text if one is given: the text before is never stored. */
  approve = (draft: string, content?: string) => this.http.post<T.Memory>(`/v1/quarantine/${id(draft)}/restore`, content === undefined ? {} : { content });
  /** Takes back the decision on a draft. */
  reopenDraft = (draft: string) => this.http.post<T.QuarantinedDraft>(`/v1/quarantine/${id(draft)}/reopen`);
  reject = (draft: string) => this.http.send<unknown>(`/v1/quarantine/${id(draft)}`, { method: "DELETE" });
  ledger = (days: number) => this.http.get<T.Ledger>("/v1/ledger", { query: { days } });

  layers = () => this.http.get<{ layers: T.LayerView[] }>("/v1/layers");
  layer = (layer: T.LayerName) => this.http.send<T.LayerView>(`/v1/layers/${layer}`);
  writeLayer = (layer: T.LayerName, before: string, text: string, ifMatch?: string) =>
    this.http.send<T.LayerView>(`/v1/layers/${layer}`, { method: "PATCH", body: { action: "write", before, text }, ifMatch });

  feedback = (memory: string, verdict: "good" | "bad") => this.http.post<{ run: string }>(`/v1/memories/${id(memory)}/feedback`, { verdict });
  /** Takes back the newest change of a memory. */
  undoNewest = async (memory: string) => {
    const { changes } = await this.historyOf(memory);
    return this.undo({ seq: changes[0]?.seq ?? 0 });
  };

  profile = () => this.http.get<{ fields: G.ProfileField[] }>("/v1/profile");
  setProfile = async (field: string, value: string) =>
    (await this.http.send<{ receipt: { seq: number }; undo?: { run: string } | null }>(`/v1/profile/${id(field)}`, { method: "PUT", body: { value } })).data;
  unsetProfile = async (field: string) => (await this.http.send<{ removed: number }>(`/v1/profile/${id(field)}`, { method: "DELETE" })).data;

  experiences = (retired: boolean, signal?: AbortSignal) => this.http.get<{ experiences: G.Experience[] }>("/v1/experiences", { query: { limit: 500, retired }, signal });
  findExperiences = (query: { text: string } | { error: string }, signal?: AbortSignal) =>
    this.http.post<{ hits: G.Experience[] }>("/v1/experiences/find", { ...query, limit: 30 }, { signal });
  addExperience = (draft: Partial<G.ExperienceDraft>) => this.http.post<G.Experience>("/v1/experiences", draft);
  editExperience = async (experience: string, edit: Partial<G.ExperienceDraft>, ifMatch?: string) =>
    (await this.http.send<G.Experience>(`/v1/experiences/${id(experience)}`, { method: "PATCH", body: edit, ifMatch })).data;
  removeExperience = async (experience: string) => (await this.http.send<{ seq: number }>(`/v1/experiences/${id(experience)}`, { method: "DELETE" })).data;
  reportExperience = (experience: string, worked: boolean) => this.http.post<G.Experience>(`/v1/experiences/${id(experience)}/outcome`, { worked });

  schedules = () => this.http.get<{ schedules: G.Schedule[] }>("/v1/schedules");
  explainSchedule = (text: string, zone: string, signal?: AbortSignal) => this.http.post<G.ScheduleAnswer>("/v1/schedules/explain", { text, zone }, { signal });
  addSchedule = (body: { text: string; task?: string; zone: string }) => this.http.post<G.Schedule>("/v1/schedules", body);
  removeSchedule = (schedule: string) => this.http.send<G.Schedule>(`/v1/schedules/${id(schedule)}`, { method: "DELETE" });

  reflect = () => this.http.post<{ proposals: G.Proposal[] }>("/v1/reflect");
  proposals = () => this.http.get<{ proposals: G.Proposal[] }>("/v1/proposals");
  /** `text` takes the place of what was proposed; `reopen` takes back a decision. */
  decide = (proposal: string, decision: "approve" | "reject" | "rollback" | "reopen", text?: string) =>
    this.http.post<G.Proposal>(`/v1/proposals/${id(proposal)}/${decision}`, text === undefined ? {} : { text });

  skills = async (sort: G.SkillSort, retired: boolean): Promise<G.Skill[]> => {
    const found = await this.http.get<Partial<Record<G.SkillSort, G.Skill[]>>>(`/v1/${sort}`, { query: { retired } });
    return found[sort] ?? [];
  };
  skill = (sort: G.SkillSort, name: string) => this.http.get<G.Skill>(`/v1/${sort}/${id(name)}`);
  skillHistory = (sort: G.SkillSort, name: string) => this.http.get<{ versions: G.SkillVersion[] }>(`/v1/${sort}/${id(name)}/history`);
  writeSkill = async (name: string, text: string) => (await this.http.send<G.Skill>(`/v1/skills/${id(name)}`, { method: "PUT", body: { text } })).data;
  changeSkill = (sort: G.SkillSort, name: string, step: "retire" | "restore") => this.http.post<G.Skill>(`/v1/${sort}/${id(name)}/${step}`);
  rollBackSkill = (sort: G.SkillSort, name: string, version: number) => this.http.post<G.Skill>(`/v1/${sort}/${id(name)}/rollback`, { version });
  reportSkill = (sort: G.SkillSort, name: string, worked: boolean) => this.http.post<G.Skill>(`/v1/${sort}/${id(name)}/outcome`, { worked });
  removeSkill = (sort: G.SkillSort, name: string) => this.http.send<G.Skill>(`/v1/${sort}/${id(name)}`, { method: "DELETE" });

  trajectories = (after: string | null, signal?: AbortSignal, limit = 50) =>
    this.http.get<{ trajectories: G.TrajectorySummary[]; next?: string }>("/v1/trajectories", { query: { after, limit }, signal });
  trajectory = (session: string, budget: number | null, signal?: AbortSignal) => this.http.get<G.Trajectory>(`/v1/trajectories/${id(session)}`, { query: { budget }, signal });
  exportTrajectory = (session: string, format: "atif" | "sharegpt" | "openai", budget: number | null) =>
    this.http.open(`/v1/trajectories/${id(session)}/export`, { query: { format, budget } });

  agents = () => this.http.get<{ agents: T.AgentEntry[] }>("/v1/agents", { unscoped: true });
  agentDatabase = (agent: string) => this.http.get<T.AgentDatabase>(`/v1/agents/${id(agent)}`, { unscoped: true });
  moveAgent = (agent: string, body: { action: string; to?: string }) =>
    this.http.post<T.AgentDatabase>(`/v1/agents/${id(agent)}/move`, body, { unscoped: true });
  agentSettings = (agent: string) => this.http.send<T.SettingsView>(`/v1/agents/${id(agent)}/settings`, { unscoped: true });
  patchSettings = (agent: string, patch: unknown, ifMatch?: string) =>
    this.http.send<T.SettingsView>(`/v1/agents/${id(agent)}/settings`, { method: "PATCH", body: patch, ifMatch, unscoped: true });

  replaceSettings = (agent: string, own: unknown) => this.http.send<T.SettingsView>(`/v1/agents/${id(agent)}/settings`, { method: "PUT", body: own, unscoped: true });
  resetSettings = (agent: string) => this.http.send<unknown>(`/v1/agents/${id(agent)}/settings`, { method: "DELETE", unscoped: true });

  keys = () => this.http.get<{ keys: T.ApiKey[] }>("/v1/keys", { unscoped: true });
  addKey = (body: { name: string; agent: string; user: string; role: T.KeyRole }) =>
    this.http.post<{ key: T.ApiKey; secret: string }>("/v1/keys", body, { unscoped: true });
  removeKey = (name: string) => this.http.send<unknown>(`/v1/keys/${id(name)}`, { method: "DELETE", unscoped: true });

  exportAll = () => this.http.open("/v1/export");
  importAll = async (lines: Blob) => (await this.http.send<T.ImportReport>("/v1/import", { method: "POST", lines, query: { keep_going: true } })).data;

  ready = () => this.http.get<Record<string, unknown>>("/ready", { unscoped: true });
  upkeep = (body: { dry_run: boolean; yes?: boolean }) => this.http.post<T.UpkeepReport>("/v1/upkeep", body);
  verify = () => this.http.post<T.VerifyReport>("/v1/memories/verify");
  health = () => this.http.get<G.HealthReport>("/v1/health");
  audit = (signal?: AbortSignal) => this.http.get<G.AuditReport>("/v1/audit", { signal });
  fixAudit = (yes: boolean) => this.http.post<G.AuditReport>("/v1/audit/fix", { yes });
  heartbeat = () => this.http.get<G.HeartbeatStatus>("/v1/heartbeat");
  heartbeatHistory = () => this.http.get<{ history: G.HeartbeatRun[] }>("/v1/heartbeat/history");
  switchJob = async (job: string, on: boolean) => (await this.http.send<G.HeartbeatStatus>(`/v1/heartbeat/${id(job)}`, { method: "PUT", body: { on } })).data;
  requests = (limit: number) => this.http.get<{ requests: T.RequestLogEntry[] }>("/v1/requests", { query: { limit }, unscoped: true });
}

/** Returns `null` where the server has no such route yet. */
export async function ifRouted<A>(answer: Promise<A>): Promise<A | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Problem && (error.code === "no_route" || error.code === "no_method")) return null;
    throw error;
  }
}
