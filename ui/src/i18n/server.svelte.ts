/** What the server says about itself, in the language of the page. What people or programs wrote never passes through here. */

import { preferences } from "../state/preferences.svelte";
import { SERVER_TEXTS } from "./zh/server";

interface Pattern {
  english: RegExp;
  names: string[];
  translation: string;
}

const PLACEHOLDER = /\{(\w+)(\*?)\}/g;

const EXACT = new Map(SERVER_TEXTS.filter(([english]) => !english.includes("{")));
/** Patterns by their number of literal characters, so that the most exact one is taken. */
const PATTERNS = SERVER_TEXTS.filter(([english]) => english.includes("{"))
  .toSorted(([one], [other]) => literalLength(other) - literalLength(one))
  .map(([english, translation]) => toPattern(english, translation));

/** Returns the text in the chosen language; one that nobody translated stays as it is. */
export function serverText(text: string): string {
  return preferences.language === "zh" ? inChinese(text) : text;
}

export function inChinese(text: string): string {
  return EXACT.get(text) ?? byPattern(text) ?? text;
}

function byPattern(text: string): string | null {
  for (const pattern of PATTERNS) {
    const found = pattern.english.exec(text);
    if (!found) continue;
    const values = Object.fromEntries(pattern.names.map((name, index) => [name, found[index + 1] ?? ""]));
    return pattern.translation.replace(PLACEHOLDER, (_, name: string, star: string) => (star ? eachInChinese(values[name] ?? "") : (values[name] ?? "")));
  }
  return null;
}

/** Translates a part of a sentence, which may be a list. */
function eachInChinese(text: string): string {
  const whole = inChinese(text);
  return whole === text && text.includes(", ") ? text.split(", ").map(inChinese).join("、") : whole;
}

function literalLength(english: string): number {
  return english.replace(PLACEHOLDER, "").length;
}

function toPattern(english: string, translation: string): Pattern {
  const found = [...english.matchAll(PLACEHOLDER)];
  const literals = english.split(PLACEHOLDER).filter((_, index) => index % 3 === 0).map((literal) => literal.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const source = literals.map((literal, index) => literal + valueSource(found[index]?.[0]));
  return { english: new RegExp(`^${source.join("")}$`), names: found.map((one) => one[1] ?? ""), translation };
}

/** Only a number stands for `{count}`, so that no longer sentence is taken for one. */
function valueSource(placeholder: string | undefined): string {
  if (!placeholder) return "";
  return placeholder === "{count}" ? "(\\d+)" : "(.+?)";
}
