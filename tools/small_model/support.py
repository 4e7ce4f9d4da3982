"""Judges by words whether the user of a conversation said what a memory states.

A memory is supported if the words that the user says as their own contain
- every number of it and every name: a word with a capital letter that does not begin a sentence, or, in a Chinese
  memory, a word in Latin letters;
- two thirds of its content words, endings aside; in Chinese two thirds of its characters and half of its pairs of
  neighbouring characters, function words aside.
Words of a turn that the conversation lists as `not_said` (questions, hypotheses, quotations, pasted text, role play) do not
count, and neither does anything that the assistant says. Dates that Everlore adds in brackets are not compared, but what a turn
marked `is_past` tells must not be dated in a later year. Words cannot tell who did what to whom: a memory that turns the
user's own words around passes.
"""

import datetime
import re

ADDED_DATE = re.compile(r"\s?\(([^()]*\d{4}[^()]*)(?:\)|$)")
MIN_SHARE = 2 / 3
MIN_PAIR_SHARE = 1 / 2

STOP_WORDS = set(
    "a about after all also always am an and any are as at be because been before but by can could did do does every for "
    "from had has have he her him his i if in into is it its just me my no not now of on only one or our please she so "
    "some that the their them then there they this to too up us user users was we were what when which who will with "
    "would you your".split()
)
STOP_CHARACTERS = set("的了是在我你他她它们和与有也都就还很要会这那个不用户吧呢吗啊着过把被对为到，。！？：；、“”（）")
CHINESE_DIGITS = str.maketrans("一二两三四五六七八九", "1223456789")
MONTHS = set(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday".split()
)


def own_words(conversation, only_past=False):
    """Returns what the user says as their own, without the passages that are `not_said`."""
    turns = [turn for turn in conversation["turns"] if turn["role"] == "user"]
    return "\n".join(own_text(turn) for turn in turns if turn.get("is_past") or not only_past)


def all_user_words(conversation):
    return "\n".join(turn["text"] for turn in conversation["turns"] if turn["role"] == "user")


def own_text(turn):
    text = turn["text"]
    for passage in turn.get("not_said", []):
        text = text.replace(passage, " ")
    return text


def date_problems(statement, past, year=None):
    """Returns the reason why the dates that were added to a statement are wrong, if it tells what is `past`."""
    if content_share(ADDED_DATE.sub("", statement), past) < MIN_SHARE:
        return []
    this_year = year or datetime.date.today().year
    added = " ".join(ADDED_DATE.findall(statement))
    return [f"dated {found}, but over" for found in re.findall(r"\d{4}", added) if int(found) > this_year]


def problems(statement, said):
    """Returns the reasons why `said` does not support the statement; none if it does."""
    statement = ADDED_DATE.sub("", statement)
    reasons = []
    missing = sorted(names_and_numbers(statement) - all_words(said))
    if missing:
        reasons.append("not said: " + ", ".join(missing))
    share = content_share(statement, said)
    if share < MIN_SHARE:
        reasons.append(f"{share:.0%} of its content words were said")
    return reasons


def content_share(statement, said):
    """Returns the share of content that was said; pairs of Chinese characters count against their own threshold."""
    shares = []
    if words := content_words(statement):
        shares.append(len(words & content_words(said)) / len(words))
    characters, pairs = characters_and_pairs(statement)
    said_characters, said_pairs = characters_and_pairs(said)
    if characters:
        shares.append(len(characters & said_characters) / len(characters))
    if pairs:
        pair_share = len(pairs & said_pairs) / len(pairs)
        shares.append(min(1.0, pair_share / MIN_PAIR_SHARE * MIN_SHARE))
    return min(shares, default=1.0)


def content_words(text):
    return {stem(word) for word in latin_words(text) if word not in STOP_WORDS}


def latin_words(text):
    return [re.sub(r"'\w+$", "", word) for word in re.findall(r"[a-z][a-z']*", text.lower().replace("’", "'"))]


def stem(word):
    """Removes the ending that tells "visits" from "visited"."""
    for ending in ("ing", "ies", "ed", "es", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def characters_and_pairs(text):
    """Returns the Chinese content characters of a text, and the pairs of them that stand side by side."""
    kept = [[c for c in run if c not in STOP_CHARACTERS] for run in re.findall(r"[一-鿿]+", text)]
    pairs = {one + other for run in kept for one, other in zip(run, run[1:])}
    return {c for run in kept for c in run}, pairs


def names_and_numbers(text):
    return numbers(text) | names(text)


def numbers(text):
    return set(re.findall(r"\d+", text))


def names(text):
    """Returns capitalized words inside sentences; beside Chinese characters every Latin word is a name."""
    if re.search(r"[一-鿿]", text):
        return {word for word in latin_words(text) if word not in STOP_WORDS}
    inside = re.findall(r"(?<=[a-z0-9,;] )[A-Z][a-z]+", text)
    return {word.lower() for word in inside} - MONTHS - STOP_WORDS


def all_words(text):
    """Returns all words and numbers of a text, Chinese numerals also as digits."""
    return set(latin_words(text)) | numbers(text) | numbers(text.translate(CHINESE_DIGITS))
