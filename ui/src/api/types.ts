/** Shapes of the `/v1` API, as far as the pages read them. `GET /v1/openapi.json` describes all fields. */

export const KINDS = ["user", "feedback", "project", "reference", "knowledge", "experience", "session", "turn"] as const;
export type Kind = (typeof KINDS)[number];
export const STATUSES = ["active", "superseded", "archived"] as const;
export type Status = (typeof STATUSES)[number];
export type Role = "user" | "assistant" | "system" | "tool";

export interface Scope {
  agent: string;
  user: string;
}

export interface MemorySource {
  via: "remember" | "observe" | "extract" | "import";
  role?: Role | null;
  session?: string | null;
  speaker?: string | null;
  turns?: string[];
}

export interface CheckResult {
  verdict?: "fresh" | "stale" | "unverifiable";
  why?: string;
}

export interface Memory {
  id: string;
  uri: string;
  scope: Scope;
  kind: Kind;
  status: Status;
  name: string;
  description: string;
  content: string;
  tags: string[];
  importance: number;
  confidence: number;
  weight: number;
  source: MemorySource;
  metadata?: Record<string, unknown>;
  at: string;
  created_at: string;
  updated_at: string;
  last_used_at?: string | null;
  superseded_by?: string | null;
  version: number;
  check?: CheckResult | null;
}

export interface MemoryPage {
  memories: Memory[];
  next: string | null;
}

export interface MemoryFilter {
  kinds?: Kind[];
  statuses?: Status[];
  tags?: string[];
  session?: string;
  since?: string;
  until?: string;
}

export interface TermSignal {
  term: string;
  idf: number;
  frequency: number;
  score: number;
}

export interface HitSignals {
  bm25: number;
  lexical: number;
  semantic: number;
  speaker: number;
  when: number;
  date: number;
  identity: number;
  session: number;
  bridge: number;
  rerank: number;
  fused: number;
  terms: TermSignal[];
}

export interface ScoreFactors {
  relevance: number;
  recency: number;
  weight: number;
  importance: number;
  kind: number;
  update: number;
}

export interface RecallHit extends Memory {
  score: number;
  unverified?: boolean;
  newer?: string | null;
  signals?: HitSignals | null;
  factors?: ScoreFactors | null;
}

export interface JudgementPart {
  name: string;
  value: number;
  adds: number;
}

export interface Judgement {
  confidence: number;
  basis: string;
  parts: JudgementPart[];
}

export interface QueryIntent {
  language: string;
  terms: { text: string; weight: number }[];
  need: string;
  small_talk: boolean;
  times: [string, string][];
}

export interface WhyNot {
  id: string;
  reason: string;
  message: string;
}

export interface RecallResponse {
  hits: RecallHit[];
  abstained: boolean;
  confidence: number;
  candidates: number;
  without_meaning?: string | null;
  intent?: QueryIntent | null;
  judgement?: Judgement | null;
  why_not?: WhyNot | null;
}

export interface BlockEntry {
  id: string;
  uri: string;
  tier: string;
  score: number;
  terms: string[];
}

export interface ContextResponse {
  text: string;
  tokens: number;
  entries: BlockEntry[];
  left_out: string[];
  why_not?: WhyNot | null;
}

export interface PromptPart {
  name: "identity" | "user" | "notes" | "activity" | "guide" | "index" | "skills" | "base";
  text: string;
  tokens: number;
  cut_chars: number;
}

/** Everything that a model would get for a message, with nothing recorded. */
export interface PromptPreview {
  parts: PromptPart[];
  block: ContextResponse;
  budget: number;
  limit: number;
}

export interface JournalEntry {
  seq: number;
  at: string;
  actor: "person" | "agent" | "engine";
  cause: string;
  run?: string | null;
  op: "add" | "update" | "delete" | "erase";
  id: string;
  before?: Memory | null;
  after?: Memory | null;
}

export interface JournalPage {
  changes: JournalEntry[];
  next: number | null;
}

export interface ChangeEvent {
  seq: number;
  at: string;
  actor: string;
  cause: string;
  run?: string | null;
  op: string;
  id: string;
}

export interface Stats {
  agent: string;
  user: string;
  memories: { kind: Kind; status: Status; count: number }[];
  total: number;
  changes: number;
  tombstones: number;
  usage: { told: number; used: number; answered: number; memories: number; memories_used: number };
  last_upkeep: string | null;
}

export interface QuarantinedDraft {
  at: string;
  memory: Memory;
  reason: string;
  session: string;
  verdict: "quarantined" | "rejected";
  run: string;
}

export interface WaitingSession {
  session: string;
  turns: number;
  last_at: string;
  failures: number;
  error: string | null;
}

export interface CaptureStatus {
  waiting: WaitingSession[];
  turns: number;
  held: number;
}

export interface ExtractReport {
  extractions: { session: string; turns: number; drafts: { became: string }[]; error: string | null }[];
}

export type LayerName = "soul" | "user" | "memory" | "daily";

export interface LayerView {
  layer: LayerName;
  text: string;
  usage: { chars: number; budget: number };
  sections: { title: string; chars: number }[];
  note?: string | null;
}

export interface SessionFolder {
  uri: string;
  name: string;
  created_at?: string;
  modified_at?: string;
}

export interface Spending {
  calls: number;
  read: number;
  cached: number;
  written: number;
  millis: number;
  cost: number;
}

export interface Ledger {
  spending: ({ day: string; job: string } & Partial<Spending>)[];
  total: Spending;
  today: Spending;
  allowance: { allowed: boolean; reason: string | null };
}

export interface ImportReport {
  run: string;
  added: number;
  updated: number;
  unchanged: number;
  erased: number;
  rejected: number;
}

export interface AgentEntry {
  agent: string;
  enabled: boolean;
  own_settings: boolean;
  users: { user: string; memories: number; turns?: number }[];
}

export interface AgentDatabase {
  agent: string;
  store: string;
  kept: string | null;
  moving: { to: string; phase: string } | null;
  /** Progress of the move that this server runs or ran last. */
  progress: { running: boolean; copied: number; total: number; problem: string | null } | null;
}

export interface AgentSettings {
  general: { language: string };
  memory: { enabled: boolean; mask_secrets: boolean; inject: { limit: number; token_budget: number } };
  memory_agent: { enabled: boolean };
  [section: string]: unknown;
}

export interface SettingsView {
  agent: string;
  settings: AgentSettings;
  own: Record<string, unknown>;
  warnings: string[];
}

export interface ApiKey {
  name: string;
  agent: string;
  user: string;
  role: KeyRole;
  created_at: string;
}

export type KeyRole = "read" | "write" | "admin";

/** Bearer of the token or key that the page uses. */
export interface Identity {
  name: string;
  role: KeyRole;
  owner: boolean;
  agent: string;
  user: string;
  version: string;
}

export interface UpkeepReport {
  dry_run: boolean;
  jobs: { job: string; done: number; memories?: unknown[]; run?: string }[];
}

export interface VerifyReport {
  checked: number;
  fresh: number;
  stale: number;
  unverifiable: number;
  memories: Memory[];
}

export interface ForgetReceipt {
  id: string;
  seq: number;
  removed: Record<string, number>;
  warnings: string[];
}

/** Number of memories stored on each day, and of changes made. */
export interface Activity {
  days: { day: string; memories: number; turns: number }[];
}

export interface RequestLogEntry {
  at: string;
  request: string;
  caller: string | null;
  agent?: string;
  user?: string;
  method: string;
  route: string;
  status: number;
}

/** Memories that prompts of a session contained. */
export interface InjectedMemories {
  memories: string[];
  prompts?: import("./growth").PastPrompt[];
}
