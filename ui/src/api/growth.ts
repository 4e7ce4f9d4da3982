/** Shapes of what an agent learns: profile, experiences, skills, schedules, trajectories, proposals, audit, jobs. */

import type { Status } from "./types";

export interface ProfileField {
  name: string;
  value: string;
  confidence: number;
  since: string;
  until: string | null;
  evidence: string[];
  basis: "observed" | "stated" | "set";
}

export interface Experience {
  id: string;
  pain: string;
  solution: string;
  outcome: string;
  error?: string;
  tools: string[];
  context?: string;
  success: number;
  worked: number;
  failed: number;
  uses: number;
  trust: string;
  status: Status;
  at: string;
  reported_at?: string;
  score?: number;
  same?: boolean;
}

export interface ExperienceDraft {
  pain: string;
  solution: string;
  outcome: string;
  error: string;
  tools: string[];
  context: string;
}

export interface Schedule {
  id: string;
  kind: "recurring" | "once";
  text: string;
  task: string;
  cron?: string;
  zone: string;
  next: string | null;
  unverified: boolean;
}

export interface ScheduleAnswer {
  kind: "recurring" | "once" | "unclear";
  cron?: string;
  next: string[];
  unclear?: string;
  task?: string;
}

export interface Reminder {
  id: string;
  task: string;
  due: string;
  last_due?: string;
  times: number;
}

export interface ExpectedUse {
  times: number;
  sessions: number;
  days: number;
}

export type ProposalState = "open" | "approved" | "rejected" | "rolled_back" | "withdrawn";

export interface Proposal {
  id: string;
  state: ProposalState;
  reason: string;
  target: string;
  why: string;
  diff: string;
  evidence: string[];
  at: string;
  decided_at?: string;
  expected_use?: ExpectedUse;
}

export type SkillSort = "skills" | "workflows";

export interface Skill {
  id: string;
  name: string;
  description: string;
  version: number;
  state: "active" | "retired";
  reason: string;
  why: string;
  evidence: string[];
  expected_use?: ExpectedUse;
  effect: { uses: number; worked: number; failed: number; success: number; reported_at?: string };
  created_at: string;
  updated_at: string;
  path?: string;
  edited: boolean;
  text?: string;
  steps?: { tool: string; call: string }[];
}

export interface SkillVersion {
  version: number;
  at: string;
  actor: string;
  cause: string;
  state: string;
  current: boolean;
  text: string;
}

export type OutcomeKind = "succeeded" | "completed" | "failed" | "interrupted" | "open";

export interface Tokens {
  read: number;
  cached: number;
  written: number;
}

export interface TrajectorySummary {
  session: string;
  started_at: string;
  ended_at: string;
  messages: number;
  calls: number;
  failed_calls: number;
  outcome: { kind: OutcomeKind; why: string };
  models: string[];
  tokens?: Tokens;
}

export interface TrajectoryStep {
  step: number;
  at: string;
  role: "user" | "assistant" | "system" | "tool";
  text: string;
  id: string;
  model?: string;
  tokens?: Tokens;
  ended?: string;
  shortened?: boolean;
  call?: { id?: string; name: string; arguments?: unknown; failed?: boolean };
}

export interface Trajectory {
  session: string;
  agent: string;
  started_at: string;
  ended_at: string;
  outcome: { kind: OutcomeKind; why: string };
  models: string[];
  tokens?: Tokens;
  steps: TrajectoryStep[];
  experiences: { id: string; pain: string; solution: string; outcome: string; success: number }[];
  compressed?: { tokens: number; of: number; left_out: number };
}

export interface AuditReport {
  score: number;
  memories: number;
  points: { kind: string; memories: number; points: number }[];
  findings: { kind: string; ids: string[]; why: string; fix: "merge" | "archive" | "mask" | "mark" | "ask" }[];
  fixed?: { run: string; memories: number };
}

export interface HeartbeatRun {
  job: string;
  at: string;
  millis: number;
  scopes: number;
  skipped?: number;
  done: number;
  failed?: string;
}

export interface HeartbeatStatus {
  enabled: boolean;
  quiet: boolean;
  running: boolean;
  jobs: { job: string; on: boolean; last: HeartbeatRun | null }[];
}

export interface HealthReport {
  status: "ok" | "attention" | "problem";
  version: string;
  at: string;
  memories: { active: number; put_away: number; turns: number; records: number };
  index?: { checked: number; missing: number };
  store?: { url: string; backend: string; schema: number; bytes?: number; read_only: boolean };
  embeddings?: { model: string; embedded: number; waiting: number; paused: boolean };
  files?: { spooled: number; refused: number; unsaved: number; backups: unknown[] };
  layers: { layer: string; chars: number; budget: number }[];
  warnings: { about: string; severity: "note" | "problem"; message: string; advice: string }[];
}

export interface MapPoint {
  id: string;
  x: number;
  y: number;
  kind: import("./types").Kind;
  status: Status;
  weight: number;
  at: string;
  title: string;
  superseded_by?: string;
}

export interface VectorMap {
  model: string | null;
  points: MapPoint[];
  total: number;
  waiting: number;
}

export interface PastPrompt {
  number: number;
  at: string;
  turn: string | null;
  memories: { id: string; shown: "line" | "overview" | "full" | "held_out"; used: boolean | null }[];
}

export interface LoggedPrompt {
  session: string;
  number: number;
  at: string;
  told: number;
  judged: number;
  used: number;
}

export interface SignedInBrowser {
  id: string;
  program: string;
  created_at: string;
  expires_at: string;
  current: boolean;
}
