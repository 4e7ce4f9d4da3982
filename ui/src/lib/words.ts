/** Words among the pieces that a search looks up: Chinese is looked up by pairs of letters, and most pairs are no words. */

const segmenter = new Intl.Segmenter("zh", { granularity: "word" });
const HAN = /\p{Script=Han}/u;

/** Returns the pieces that are words of `text`; all of them if none is. */
export function wordsIn<P>(pieces: P[], textOf: (piece: P) => string, text: string): P[] {
  const words = new Set(Array.from(segmenter.segment(text), ({ segment }) => segment.toLowerCase()));
  const kept = pieces.filter((piece) => !HAN.test(textOf(piece)) || words.has(textOf(piece).toLowerCase()));
  return kept.length ? kept : pieces;
}
