"""Reads the training texts: English ones, sentence pairs, dictionary senses, and questions with what answers them."""

import random
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "embedder"), str(HERE.parent / "bilingual")]

import texts as english_texts
from chinese import is_han
from glosses import lines

# Longest text, in characters: what follows is cut off by the encoder anyway.
LONGEST = 600
# Sentences of service dialogues that are almost the same add nothing beyond this number.
MOST_OF_SGD = 150_000
QUESTION = re.compile(r"[?？]|吗|什么|怎么|哪|几|谁|多少")


@dataclass
class Corpus:
    """Everything the encoder learns from, as text."""

    english: list[str] = field(default_factory=list)
    # (Chinese, English), with the file they come from; in the order of their dialogue where they have one.
    pairs: list[tuple[str, str, str]] = field(default_factory=list)
    senses: dict[str, list[str]] = field(default_factory=dict)
    chinese: list[str] = field(default_factory=list)
    # English dialogues and groups of like requests, line by line.
    dialogues: list[list[str]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def read(texts: Path, parallel: Path, folds) -> Corpus:
    corpus = Corpus()
    plain = lambda name: [line.strip() for line in lines(parallel / f"{name}.txt.xz")]
    english = english_texts.read(texts, clean=True)
    sgd = plain("sgd_en")
    corpus.requests = plain("clinc150_en")
    corpus.dialogues = [plain("xpersona_en"), sgd]
    english += plain("commonvoice_en") + plain("taskmaster_en") + corpus.requests + corpus.dialogues[0]
    english += random.Random(3).sample(sgd, min(MOST_OF_SGD, len(sgd)))
    for path in sorted(parallel.glob("*.tsv.xz")):
        read_pairs(path, corpus, english, folds)
    for name in ("commonvoice_zh-CN", "commonvoice_zh-TW", "kdconv_zh", "xpersona_zh"):
        corpus.chinese += [folds(line) for line in plain(name)]
    corpus.english = list(dict.fromkeys(tidy(text) for text in english if len(text) > 2))
    return corpus


def read_pairs(path: Path, corpus: Corpus, english: list[str], folds):
    name = path.name.split(".")[0]
    for line in lines(path):
        fields = line.split("\t")
        if len(fields) < 4:
            continue
        sides = {fields[0][:2]: tidy(fields[1]), fields[2][:2]: tidy(fields[3])}
        if len(sides) == 1:
            # Paraphrases in one language.
            english += [tidy(text) for text in (fields[1], fields[3]) if fields[0] == "en"]
        elif name == "cedict_words":
            corpus.senses.setdefault(folds(sides["zh"]), []).append(sides["en"])
        else:
            corpus.pairs.append((folds(sides["zh"]), sides["en"], name))


def tidy(text: str) -> str:
    """Puts punctuation back to its word: some sets are stored as tokens."""
    text = re.sub(r"\s+([,.!?;:，。？！])", r"\1", text.strip()[:LONGEST])
    return re.sub(r"\s+('s|'m|'re|'ve|'ll|n't|'d)\b", r"\1", text)


# ---- questions and answers


@dataclass
class Answer:
    """A question and a text that answers it, each with its English; `topic` marks pairs that must not be told apart."""

    question: str
    text: str
    question_english: str
    text_english: str
    topic: int = -1
    source: str = "ours"


# The sources of questions with answers; training draws from each by weight.
ANSWER_SOURCES = ["sgd", "persona", "service", "request", "ours", "paraphrase"]
# Replies that say nothing by themselves.
EMPTY = re.compile(r"^(yes|no|yeah|yep|nope|ok|okay|sure|thank|that|great|alright|sounds|hi|hello|not)\b", re.I)


def answers(corpus: Corpus) -> list[Answer]:
    """Returns neighbouring lines of dialogues in which the first asks something and the second says something."""
    found = []
    for source, dialogue in zip(("persona", "sgd"), corpus.dialogues):
        for one, two in zip(dialogue, dialogue[1:]):
            one, two = tidy(one), tidy(two)
            if QUESTION.search(one) and says_something(two):
                found.append(Answer(one, two, one, two, source=source))
    by_file = defaultdict(list)
    for chinese, english, name in corpus.pairs:
        by_file[name].append((chinese, english))
    for name in ("xpersona_zh_en", "crosswoz_zh_en", "multiwoz_zh_en", "x_risawoz_fewshot"):
        for (zh, en), (next_zh, next_en) in zip(by_file[name], by_file[name][1:]):
            if QUESTION.search(en) and says_something(next_en):
                for one, two in ((zh, next_zh), (zh, next_en), (en, next_zh)):
                    source = "persona" if name.startswith("xpersona") else "service"
                    found.append(Answer(one, two, en, next_en, source=source))
    return found


def says_something(text: str) -> bool:
    return len(text.split()) >= 5 and not text.endswith("?") and not EMPTY.match(text)


def like_requests(corpus: Corpus, draw: random.Random) -> list[Answer]:
    """Returns pairs of requests of the same intent: CLINC150 lists an intent's requests together."""
    found = []
    for at in range(1300, len(corpus.requests) - 4):
        one, two = corpus.requests[at], corpus.requests[at + draw.randint(1, 3)]
        found.append(Answer(one, two, one, two, source="request"))
    return found


# A topic with slots is filled as often at most, lest it outweigh the others.
MOST_DRAWS = 4
# Topics whose messages are taught as questions to their memories. Those after them ask for a step of common sense, which pulls
# apart what belongs together (model card); their two languages still say the same.
TAUGHT_TOPICS = 147


def topics(path: Path) -> list[Answer]:
    """Reads our own questions and memories (see the head of the file)."""
    found = []
    for topic, (memories, questions) in enumerate(filled_topics(path), 1):
        if topic <= TAUGHT_TOPICS:
            for some_memories, some_questions in zip(memories, questions):
                found += [Answer(one, two, "", "", topic) for two in some_memories for one in some_questions]
    return found


def filled_topics(path: Path):
    """Yields the memories and the messages of each topic, as lists of fillings of its slots."""
    fillers = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        head, *rest = line.split("\t")
        if head.startswith("{"):
            fillers[head] = [tuple(part.split("=")) for part in rest[0].split("|")]
            continue
        slots = [slot for slot in fillers if slot in line]
        draws = min(MOST_DRAWS, max([len(fillers[slot]) for slot in slots], default=1))
        yield [[fill_all(part, slots, fillers, draw) for draw in range(draws)] for part in rest[:2]]


def fill_all(part: str, slots, fillers, draw: int) -> list[str]:
    texts = part.split("|")
    for slot in slots:
        english, chinese = fillers[slot][draw % len(fillers[slot])]
        texts = [text.replace(slot, chinese if has_han(text) else english) for text in texts]
    return texts


def own_pairs(topics_path: Path, pairs_path: Path) -> tuple[list[tuple[str, str]], list[Answer]]:
    """Returns our own sentences with their English, and paraphrases: lines of two columns (Chinese, English) or of four
    (Chinese, the same in other words, and both in English); of topics, the texts of both languages in their order."""
    pairs, paraphrases = [], []
    for parts in filled_topics(topics_path):
        for texts in (part[0] for part in parts):
            chinese, english = [text for text in texts if has_han(text)], [text for text in texts if not has_han(text)]
            if len(chinese) == len(english):
                pairs += zip(chinese, english)
    for line in pairs_path.read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if line.startswith("#") or len(fields) not in (2, 4):
            continue
        half = len(fields) // 2
        pairs += zip(fields[:half], fields[half:])
        if half == 2:
            one, two, one_english, two_english = fields
            for first, second in ((one, two), (one, two_english), (one_english, two)):
                paraphrases.append(Answer(first, second, one_english, two_english, source="paraphrase"))
    return pairs, paraphrases


def has_han(text: str) -> bool:
    return any(map(is_han, text))


# ---- texts in both languages at once


class Lexicon:
    """Chinese words for English ones, from the dictionary and from what occurs together in the pairs."""

    def __init__(self, corpus: Corpus, segment, counts):
        together, english_counts, chinese_counts = Counter(), Counter(), Counter()
        for chinese, english, _ in corpus.pairs:
            ours, theirs = set(re.findall(r"[a-z']+", english.lower())), {word for word in segment(chinese) if is_han(word[0])}
            english_counts.update(ours)
            chinese_counts.update(theirs)
            together.update((one, two) for one in ours for two in theirs)
        self.choices = defaultdict(list)
        for (one, two), count in together.items():
            dice = 2 * count / (english_counts[one] + chinese_counts[two])
            if count >= 4 and dice >= 0.15:
                self.choices[one].append((two, dice))
        known = set(self.choices)
        for word, senses in corpus.senses.items():
            for rank, sense in enumerate(senses[:4]):
                sense = re.sub(r"^(to|a|an|the) ", "", sense.lower())
                if re.fullmatch(r"[a-z']+", sense) and sense not in known:
                    # A word that the dictionary alone knows: the common word before the rare one.
                    self.choices[sense].append((word, (1 + counts.get(word, 0)) / (1 + rank)))
        for word, some in self.choices.items():
            self.choices[word] = sorted(some, key=lambda choice: -choice[1])[:3]

    def find(self, word: str):
        for form in (word, word.rstrip("s"), word.removesuffix("ed"), word.removesuffix("ing"), word.removesuffix("d")):
            if form in self.choices:
                return self.choices[form]
        return None

    def switch(self, text: str, share: float, draw: random.Random) -> str | None:
        """Replaces a share of the words by Chinese ones; `None` if too few have any."""
        out, replaced = [], 0
        for token in re.findall(r"[A-Za-z']+|[^A-Za-z']+", text):
            choices = self.find(token.lower()) if token[0].isalpha() else None
            if choices and draw.random() < share:
                weights = [weight for _, weight in choices]
                out.append(draw.choices(choices, weights)[0][0])
                replaced += 1
            elif token.lower() in ("the", "a", "an") and draw.random() < share:
                continue
            else:
                out.append(token)
        if replaced < 2:
            return None
        return re.sub(r"(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])", "", "".join(out))
