/** Names of the profile's fields as people read them; others are possible and stay as they are. */

import { t, type MessageKey } from "../../i18n/index.svelte";

export const FIELD_NAMES = ["role", "employer", "industry", "expertise", "communication_style", "language", "topics", "pains", "tools", "active_hours", "home", "about", "family", "work", "health", "preferences", "likes", "dislikes", "learning"] as const;

export function fieldLabel(name: string): string {
  return (FIELD_NAMES as readonly string[]).includes(name) ? t(`profile.name.${name}` as MessageKey) : name;
}
