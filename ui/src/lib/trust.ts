/** Trust in a memory by its source, as people read it; a word that this page does not know stays as it is. */

import { t, type MessageKey } from "../i18n/index.svelte";

const TRUSTS = ["suspect", "outside", "tool", "imported", "inferred", "said", "approved"];

export function trustLabel(trust: string): string {
  return TRUSTS.includes(trust) ? t(`trust.${trust}` as MessageKey) : trust;
}
