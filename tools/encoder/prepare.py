"""Turns the texts into arrays of pieces: `prepared.npz.xz` and `vocab.txt`, all that training reads beside the teacher.

    python prepare.py --teacher DIR --texts FILE --parallel DIR --han folds.bin --frequencies JIEBA --out DIR

Every example is a text for the student and the English text whose vector by the teacher it shall have.
"""

import argparse
import lzma
import random
import time
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

import corpus as sources
import vocabulary
from chinese import Folds, Segmenter
from glosses import frequencies

MOST_PIECES = 126
# A piece must occur as often to be kept.
ENGLISH_PIECES, CHINESE_CHARACTERS, PUNCTUATION = 5, 3, 20
CHINESE_WORDS = 20_000
# Groups of examples; training draws from them by weight.
GROUPS = ["english", "pair_english", "pair_chinese", "sense", "switched", "joined", "own"]
SWITCHED, JOINED = 260_000, 90_000


def main():
    arguments = parse()
    began = time.time()
    say = lambda *what: print(f"{time.time() - began:5.0f} s", *what, flush=True)
    draw = random.Random(1)
    folds = Folds(arguments.han)
    corpus = sources.read(arguments.texts, arguments.parallel, folds)
    if arguments.limit:
        shrink(corpus, arguments.limit, draw)
    say(f"{len(corpus.english)} English texts, {len(corpus.pairs)} pairs, {len(corpus.senses)} words")
    base = Tokenizer.from_file(str(arguments.teacher / "tokenizer.json"))
    base.no_padding()
    base.no_truncation()
    cut = lambda texts: [e.ids[:MOST_PIECES] for e in base.encode_batch(texts, add_special_tokens=False)]
    counts = frequencies(arguments.frequencies)
    pieces = choose_pieces(arguments, corpus, cut, counts)
    encoding = vocabulary.Encoding(pieces, arguments.teacher / "tokenizer.json", folds)
    say(f"{len(pieces)} pieces, {len(encoding.words)} of them Chinese")
    goals, examples = Goals(), []
    examples += [("english", text, goals.of(text)) for text in corpus.english]
    for chinese, english, _ in corpus.pairs:
        goal = goals.of(english)
        examples += [("pair_english", english, goal), ("pair_chinese", chinese, goal)]
    for word, senses in corpus.senses.items():
        examples.append(("sense", word, goals.of("; ".join(senses[:3]))))
    examples += switched(corpus, encoding, goals, counts, draw)
    examples += joined(corpus, goals, draw)
    own_sentences, paraphrases = sources.own_pairs(arguments.topics, arguments.pairs) if arguments.topics and arguments.pairs else ([], [])
    for chinese, english in own_sentences:
        goal = goals.of(english)
        examples += [("pair_english", english, goal), ("own", folds(chinese), goal)]
    say(f"{len(examples)} examples {dict(Counter(example[0] for example in examples))}")
    answers = sources.answers(corpus) + sources.like_requests(corpus, draw)
    own = (sources.topics(arguments.topics) if arguments.topics else []) + paraphrases
    say(f"{len(answers)} questions with answers, {len(own)} of our own")
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    arrays = {"group": np.array([GROUPS.index(group) for group, _, _ in examples], np.uint8)}
    both = answers + own
    question_goals = [goals.of(answer.question_english) for answer in both]
    answer_goals = [goals.of(answer.text_english) for answer in both]
    taught = cut(goals.texts)
    ragged(arrays, "teacher", taught)
    write = Texts(encoding, taught, goals.texts, pieces, base)
    write(arrays, "text", [text for _, text, _ in examples], [goal for _, _, goal in examples])
    write(arrays, "question", [answer.question for answer in both], question_goals)
    write(arrays, "answer", [answer.text for answer in both], answer_goals)
    arrays["topic"] = np.array([answer.topic for answer in both], np.int16)
    arrays["source"] = np.array([sources.ANSWER_SOURCES.index(answer.source) for answer in both], np.uint8)
    arrays["start"], arrays["start_weight"] = starts(pieces, corpus, cut, base)
    arrays["from_teacher"] = write.numbers
    with lzma.open(arguments.out / "prepared.npz.xz", "wb", preset=2) as file:
        np.savez(file, **arrays)
    say(f"{len(goals.texts)} goals, {len(arrays['text_ids'])} pieces of texts and {len(arrays['teacher_ids'])} of goals")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--teacher", type=Path, required=True, help="folder with vocab.txt and tokenizer.json")
    parser.add_argument("--texts", type=Path, required=True, help="English texts, one a line")
    parser.add_argument("--parallel", type=Path, required=True, help="folder of the other sources")
    parser.add_argument("--han", type=Path, required=True, help="folds of traditional characters")
    parser.add_argument("--frequencies", type=Path, required=True, help="jieba's dict.txt")
    parser.add_argument("--topics", type=Path, help="our own questions and memories")
    parser.add_argument("--pairs", type=Path, help="our own sentences in both languages")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=int, help="keep this many texts of each kind, to try the script")
    return parser.parse_args()


def shrink(corpus, limit, draw):
    for name in ("english", "pairs", "chinese"):
        texts = getattr(corpus, name)
        setattr(corpus, name, draw.sample(texts, min(limit, len(texts))))
    corpus.senses = dict(draw.sample(sorted(corpus.senses.items()), limit))
    corpus.dialogues = [dialogue[:limit] for dialogue in corpus.dialogues]
    corpus.requests = corpus.requests[:limit]


class Goals:
    """English texts whose vectors are learnt, each once."""

    def __init__(self):
        self.numbers, self.texts = {}, []

    def of(self, text: str) -> int:
        number = self.numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number


def choose_pieces(arguments, corpus, cut, counts) -> list[str]:
    """Returns the vocabulary, the commonest pieces first."""
    names = (arguments.teacher / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
    seen = Counter()
    english = corpus.english + [text for _, text, _ in corpus.pairs]
    for some in range(0, len(english), 50_000):
        for ids in cut(english[some : some + 50_000]):
            seen.update(ids)
    single = lambda piece: len(piece.removeprefix("##")) == 1
    kept = [
        (seen[number], piece) for number, piece in enumerate(names)
        if not piece.startswith("[unused") and not vocabulary.is_chinese(piece.removeprefix("##")[0])
        # Single letters are kept, so that any word can be spelt.
        and (seen[number] >= ENGLISH_PIECES or single(piece) and piece.isascii())
    ]
    kept.sort(key=lambda item: -item[0])
    characters, words = Counter(), Counter()
    chinese = [text for text, _, _ in corpus.pairs] + corpus.chinese
    listed = {word for word in corpus.senses if 2 <= len(word) <= vocabulary.LONGEST_WORD}
    segmenter = Segmenter(sorted(listed))
    names = sorted(listed)
    marks = Counter()
    for text in chinese:
        marks.update(c for c in text if unicodedata.category(c)[0] == "P")
        characters.update(c for c in text if vocabulary.is_chinese(c))
        words.update(names[number] for number in segmenter.split(text)[0])
    characters.update("".join(corpus.senses))
    total, own = sum(counts.values()), sum(words.values())
    # Half by our texts, half by a general corpus: the texts are few.
    share = {word: words[word] / own + counts.get(word, 0) / total for word in listed}
    common = sorted(listed, key=lambda word: (-share[word], word))[:CHINESE_WORDS]
    single_ones = [c for c, count in characters.most_common() if count >= CHINESE_CHARACTERS and vocabulary.is_chinese(c)]
    known = {piece for _, piece in kept}
    marks = [c for c, count in marks.most_common() if count >= PUNCTUATION and c not in known]
    return vocabulary.arrange([piece for _, piece in kept] + marks + single_ones + common)


def switched(corpus, encoding, goals, counts, draw):
    """Returns English texts with Chinese words in the place of some or all of theirs."""
    lexicon = sources.Lexicon(corpus, lambda text: encoding.spaced(text).split(), counts)
    short = [text for text in corpus.english if 3 <= len(text.split()) <= 25] + [text for _, text, _ in corpus.pairs]
    found = []
    for text in draw.sample(short, min(SWITCHED, len(short))):
        mixed = lexicon.switch(text, draw.choice((0.3, 0.6, 0.9, 1.0)), draw)
        if mixed:
            found.append(("switched", mixed, goals.of(text)))
    return found


def joined(corpus, goals, draw):
    """Returns two or three sentences in a row: memories are often as long, and the pairs are not."""
    found = []
    for _ in range(min(JOINED, len(corpus.pairs))):
        at = draw.randrange(len(corpus.pairs) - 3)
        some = corpus.pairs[at : at + draw.choice((2, 2, 3))]
        if sum(len(english) for _, english, _ in some) > 400:
            continue
        english = " ".join(text for _, text, _ in some)
        kind = draw.random()
        sides = [english_side if kind > 0.8 or kind > 0.6 and draw.random() < 0.5 else chinese_side
                 for chinese_side, english_side, _ in some]
        found.append(("joined", "".join(side + (" " if side.isascii() else "") for side in sides), goals.of(english)))
    return found


def starts(pieces, corpus, cut, base):
    """Returns pieces of the teacher (and their weights) from whose rows each piece of the student starts.

    An English piece starts from itself, a Chinese one from the words of its first glosses.
    """
    most = 8
    numbers, weights = np.zeros((len(pieces), most), np.uint16), np.zeros((len(pieces), most), np.float32)
    full_width = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {"。": ".", "、": ",", "「": '"', "」": '"', "《": '"', "》": '"'}
    skipped = {base.token_to_id(word) for word in ("to", "a", "an", "the", "of", "(", ")", ",", ";", "-", "'", "s", "be", "or", "and", "in", "sth", "sb")}
    glossed = [piece for piece in pieces if vocabulary.is_chinese(piece[0]) and piece in corpus.senses]
    listed = {piece: cut(corpus.senses[piece][:3]) for piece in glossed}
    for row, piece in enumerate(pieces):
        if piece in listed:
            found = Counter()
            for rank, ids in enumerate(listed[piece]):
                ids = [id for id in ids if id not in skipped] or ids
                for id in ids:
                    found[id] += 1 / (1 + rank) / len(ids)
            for column, (id, weight) in enumerate(found.most_common(most)):
                numbers[row, column], weights[row, column] = id, weight
            weights[row] /= weights[row].sum() or 1
        else:
            own = base.token_to_id(full_width.get(piece, piece))
            numbers[row, 0], weights[row, 0] = (100 if own is None else own), 1
    return numbers, weights


class Texts:
    """Writes texts as pieces of the student.

    Most English texts are cut by both vocabularies alike. These are written as nothing but their goal: their pieces are the
    goal's, renumbered by `from_teacher`.
    """

    def __init__(self, encoding, taught, goals, pieces, base):
        self.encoding, self.taught, self.goals = encoding, taught, goals
        self.numbers = np.zeros(base.get_vocab_size(), np.uint16)
        for number, piece in enumerate(pieces):
            known = base.token_to_id(piece)
            if known is not None:
                self.numbers[known] = number

    def __call__(self, arrays, name, texts, goals):
        rows = []
        for first in range(0, len(texts), 50_000):
            some = slice(first, first + 50_000)
            cut = self.encoding.batch(texts[some], MOST_PIECES)
            rows += [self.short(*item) for item in zip(cut, texts[some], goals[some])]
        ragged(arrays, name, rows)
        arrays[f"{name}_goal"] = np.array(goals, np.uint32)

    def short(self, pieces, text, goal):
        same = text == self.goals[goal] and self.numbers[self.taught[goal]].tolist() == pieces
        return [] if same else pieces


def ragged(arrays, name, rows):
    arrays[f"{name}_lengths"] = np.array([len(row) for row in rows], np.uint8)
    arrays[f"{name}_ids"] = np.concatenate([np.asarray(row, np.uint16) for row in rows])


if __name__ == "__main__":
    main()
