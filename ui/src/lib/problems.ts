/** Says what went wrong and what to do, in the language of the page. */

import { Problem } from "../api/client";
import { t, type MessageKey } from "../i18n/index.svelte";
import { serverText } from "../i18n/server.svelte";

export interface Explanation {
  title: string;
  advice: string;
}

const BY_CODE: Record<string, [MessageKey, MessageKey]> = {
  offline: ["problem.offline", "problem.offline.advice"],
  unauthorized: ["problem.unauthorized", "problem.unauthorized.advice"],
  role: ["problem.role", "problem.role.advice"],
  scope: ["problem.scope", "problem.scope.advice"],
  not_found: ["problem.gone", "problem.gone.advice"],
  changed: ["problem.changed", "problem.changed.advice"],
  conflict: ["problem.changed", "problem.changed.advice"],
  too_large: ["problem.too_large", "problem.too_large.advice"],
  too_often: ["problem.too_often", "problem.too_often.advice"],
  busy: ["problem.busy", "problem.busy.advice"],
  not_ready: ["problem.busy", "problem.busy.advice"],
  store: ["problem.store", "problem.store.advice"],
  read_only: ["problem.read_only", "problem.read_only.advice"],
  no_route: ["problem.no_route", "problem.no_route.advice"],
};

export function explain(error: unknown): Explanation {
  if (!(error instanceof Problem)) return { title: t("problem.unknown"), advice: String(error) };
  const known = BY_CODE[error.code];
  if (!known) return { title: serverText(error.title), advice: serverText(error.detail) };
  const seconds = error.retryAfter ?? 1;
  return { title: t(known[0]), advice: t(known[1], { seconds, status: error.status }) };
}
