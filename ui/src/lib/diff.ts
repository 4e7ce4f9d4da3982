/** Differences of two texts, word by word; Chinese has no blanks, so its words come from the browser's segmenter. */

import { diffArrays } from "diff";

export interface DiffPiece {
  kind: "same" | "added" | "removed";
  text: string;
}

/** Texts above this are compared by lines: word by word would take too long while somebody types. */
const MAX_WORDS_CHARS = 20_000;
/** Share of the shorter text that both must have for a diff by words. */
const MIN_SAME_SHARE = 0.25;

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

export function textDiff(before: string, after: string): DiffPiece[] {
  const split = before.length + after.length > MAX_WORDS_CHARS ? lines : words;
  const pieces: DiffPiece[] = diffArrays(split(before), split(after)).map((part) => ({
    kind: part.added ? "added" : part.removed ? "removed" : "same",
    text: part.value.join(""),
  }));
  return isAnotherText(pieces, before, after) ? [{ kind: "removed", text: before.trimEnd() }, { kind: "same", text: "\n" }, { kind: "added", text: after }] : pieces;
}

/** Two texts that share hardly a word are read one after the other, not woven into each other. */
function isAnotherText(pieces: DiffPiece[], before: string, after: string): boolean {
  if (!before || !after) return false;
  const same = pieces.filter((piece) => piece.kind === "same").reduce((sum, piece) => sum + piece.text.replace(/\s/g, "").length, 0);
  return same < MIN_SAME_SHARE * Math.min(before.length, after.length);
}

function words(text: string): string[] {
  return Array.from(segmenter.segment(text), (piece) => piece.segment);
}

function lines(text: string): string[] {
  return text.split(/(?<=\n)/);
}
