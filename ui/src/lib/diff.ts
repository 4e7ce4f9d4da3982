/** Differences of two texts, word by word; Chinese has no blanks, so its words come from the browser's segmenter. */

import { diffArrays } from "diff";

export interface DiffPiece {
  kind: "same" | "added" | "removed";
  text: string;
}

/** Texts above this are compared by lines: word by word would take too long while somebody types. */
const MAX_WORDS_CHARS = 20_000;

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

export function textDiff(before: string, after: string): DiffPiece[] {
  const split = before.length + after.length > MAX_WORDS_CHARS ? lines : words;
  return diffArrays(split(before), split(after)).map((part) => ({
    kind: part.added ? "added" : part.removed ? "removed" : "same",
    text: part.value.join(""),
  }));
}

function words(text: string): string[] {
  return Array.from(segmenter.segment(text), (piece) => piece.segment);
}

function lines(text: string): string[] {
  return text.split(/(?<=\n)/);
}
