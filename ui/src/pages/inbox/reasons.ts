/** Reasons of proposals and skills as people read them; one that this page does not know stays as it is. */

import type { ExpectedUse } from "../../api/growth";
import { t, type MessageKey } from "../../i18n/index.svelte";

const REASONS = ["correction", "preference", "contradiction", "stale", "duplicate", "sequence", "pain"];

export function reasonLabel(reason: string): string {
  return REASONS.includes(reason) ? t(`reason.${reason}` as MessageKey) : reason;
}

export function expectedUse({ times, sessions, days }: ExpectedUse): string {
  return days > 0 ? t("expected.use", { times, sessions, days }) : t("expected.use_today", { times, sessions });
}
