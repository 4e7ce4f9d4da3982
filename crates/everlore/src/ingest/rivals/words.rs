//! Statements as comparable words: one subject for the user, no tense of the third person, one spelling, and what a
//! denial leaves.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::language::is_cjk;

/// Words that say that something holds beside what is known.
const ALSO: &[&str] = &["also", "too", "another", "besides", "additionally", "也", "还", "另"];

/// English words that deny a statement.
pub(super) const DENIALS: &[&str] =
    &["not", "no", "never", "longer", "anymore", "stopped", "quit", "used", "without"];

/// Phrases that end a habit or say that something holds after all, and what stands for them in comparisons.
const PHRASES: &[(&str, &str)] = &[
    (" after all", ""),
    (" as it turns out", ""),
    ("it turns out ", ""),
    ("turns out ", ""),
    ("in fact ", ""),
    (" gave up ", " quit "),
    (" given up ", " quit "),
    (" giving up ", " quit "),
    (" cut out ", " quit "),
];

/// Verbs of habits, which "quit" leaves out: "I quit coffee" denies "I drink coffee".
const HABIT_VERBS: &[&str] = &["drink", "eat", "smoke", "play", "use"];

/// Words that say how often; whoever quits does it never.
const OFTEN: &[&str] = &[
    "every",
    "day",
    "daily",
    "often",
    "usually",
    "sometimes",
    "regularly",
    "lot",
    "lots",
    "of",
    "cup",
    "cups",
    "glass",
    "glasses",
    "pack",
    "packs",
    "one",
    "two",
    "three",
    "four",
    "five",
    "week",
    "morning",
    "times",
    "once",
    "twice",
    "per",
    "much",
    "on",
    "mondays",
    "tuesdays",
    "wednesdays",
    "thursdays",
    "fridays",
    "saturdays",
    "sundays",
    "weekends",
];

/// Amounts of a habit: 两杯, 一包.
pub(super) static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9一二两三四五六七八九十半几]+(?:个人|[杯根包支瓶罐盒次碗名位人])")
        .expect("valid")
});

/// Chinese verbs of habits, which 戒 leaves out: 我戒烟了 denies 我抽烟.
const CHINESE_HABIT_VERBS: &[char] = &['抽', '吸', '喝', '吃', '玩', '嚼'];

/// Chinese words that say how often.
pub(super) const CHINESE_OFTEN: &[&str] = &[
    "周末", "晚上", "早上", "每天", "每周", "经常", "常常", "平时", "一直", "都", "会", "把",
    "早就",
];

/// English words that say nothing about what is denied.
#[rustfmt::skip]
pub(super) const FILLERS: &[&str] = &[
    "do", "did", "am", "are", "is", "be", "been", "being", "have", "a", "an", "the", "any", "more", "again", "now", "currently", "still",
    "already", "just", "really", "actually", "to", "so", "and", "or", "but",
];

/// Chinese words that deny a statement, longest first.
const CHINESE_DENIALS: &[&str] = &["再也不", "不再", "没有", "不", "没"];

/// Chinese words that say nothing about what is denied.
#[rustfmt::skip]
const CHINESE_FILLERS: &[&str] = &[
    "已经", "现在", "目前", "如今", "其实", "事实上", "实际上", "原来", "后来", "最近", "终于", "并", "又", "重新", "开始", "是", "了", "一个", "个", "的",
];

/// Spellings that are split into two words.
const CONTRACTIONS: &[(&str, &str)] = &[
    ("i'm", "i am"),
    ("i've", "i have"),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("won't", "will not"),
    ("let's", "let us"),
];

/// Forms of verbs and spellings of words, and what stands for them in comparisons.
#[rustfmt::skip]
const PLAIN_FORMS: &[(&str, &str)] = &[
    ("is", "am"), ("does", "do"), ("has", "have"), ("lives", "live"), ("living", "live"), ("lived", "live"), ("works", "work"), ("working", "work"),
    ("worked", "work"), ("moves", "move"), ("moving", "move"), ("runs", "run"), ("running", "run"), ("listens", "listen"), ("listening", "listen"),
    ("resides", "reside"), ("residing", "reside"), ("joins", "joined"), ("likes", "like"), ("loves", "love"), ("hates", "hate"), ("drinks", "drink"),
    ("drinking", "drink"), ("eats", "eat"), ("eating", "eat"), ("smokes", "smoke"), ("smoking", "smoke"), ("uses", "use"), ("using", "use"),
    ("wants", "want"), ("prefers", "prefer"), ("plays", "play"), ("playing", "play"), ("speaks", "speak"), ("owns", "own"), ("takes", "take"),
    ("taking", "take"), ("drives", "drive"), ("driving", "drive"), ("studies", "study"), ("studying", "study"), ("teaches", "teach"),
    ("teaching", "teach"), ("learns", "learn"), ("learning", "learn"), ("wears", "wear"), ("wearing", "wear"), ("requires", "require"),
    ("needs", "need"), ("meets", "meet"), ("supports", "support"), ("goes", "go"), ("favorite", "favourite"), ("favorites", "favourite"),
    ("color", "colour"), ("film", "movie"),
];

/// Names of the user in statements of an agent; `’s` is left to [`first_person`].
const USER_NAMES: &[&str] = &["the user", "this user", "user"];

/// Returns the words of a statement in lower case, each Chinese character as a word. The user is "i" or 我, however the
/// statement calls them, and verbs have no ending of the third person.
pub(super) fn normalized_words(text: &str) -> Vec<String> {
    let lower =
        text.to_lowercase().replace('’', "'").replace("用户的", "我的").replace("用户", "我");
    let mut words: Vec<String> = Vec::new();
    for word in lower.split(|c: char| !(c.is_alphanumeric() || "'.:/@-%".contains(c))) {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        if word.contains(is_cjk) {
            words.extend(split_cjk(word));
        } else if !word.is_empty() {
            words.extend(expanded(word).split(' ').map(str::to_owned));
        }
    }
    first_person(&words)
}

/// Returns `true` if a statement adds to what is known instead of replacing it.
pub(super) fn says_also(words: &[String]) -> bool {
    words.iter().any(|word| ALSO.contains(&word.as_str()))
}

/// Returns `true` if one statement denies the other: all other words are the same.
pub(super) fn denies(new: &[String], old: &[String]) -> bool {
    let ((rest, is_denied), (old_rest, was_denied)) = (denied(new), denied(old));
    let is_same = rest == old_rest || is_denied && rest == without_times(&old_rest);
    is_denied != was_denied && !rest.is_empty() && is_same || ends_habit(new, old)
}

/// Returns the words of a statement without those that say how often: whoever no longer does it does it never.
fn without_times(words: &[String]) -> Vec<String> {
    if let [chinese] = words
        && chinese.contains(is_cjk)
    {
        let rest = AMOUNT.replace_all(chinese, "");
        return vec![CHINESE_OFTEN.iter().fold(rest.into_owned(), |rest, it| rest.replace(it, ""))];
    }
    words.iter().filter(|word| !OFTEN.contains(&word.as_str())).cloned().collect()
}

/// Returns `true` if a clause of a new statement ends a habit that an old one has: 医生不让喝，我戒咖啡了.
pub(super) fn clause_ends_habit(new: &str, old: &[String]) -> bool {
    let clauses = new.split([',', '，', ';', '；']).map(normalized_words);
    clauses.into_iter().any(|clause| quit_habit(&clause).is_some() && ends_habit(&clause, old))
}

/// Returns `true` if a statement denies something, or says that a habit is over or begins again.
pub(super) fn is_denial(words: &[String]) -> bool {
    denied(words).1 || quit_habit(words).is_some()
}

/// Returns what a statement and its denial have in common; `None` if it says nothing that could be denied.
pub(super) fn denial_key(words: &[String]) -> Option<String> {
    let (rest, _) = denied(words);
    (!rest.is_empty()).then(|| format!("denied {}", rest.join(" ")))
}

/// Returns what a habit and its end have in common.
pub(super) fn habit_key(words: &[String]) -> Option<String> {
    let habit = quit_habit(words).or_else(|| habit_of(words))?;
    Some(format!("habit {habit}"))
}

/// Returns words by which the habit is found that a statement ends: 抽烟 for 戒烟.
pub(super) fn habit_words(text: &str) -> String {
    let words = normalized_words(text);
    let Some(habit) = quit_habit(&words) else { return String::new() };
    let verbs =
        CHINESE_HABIT_VERBS.iter().map(|verb| format!("{verb}{}", habit.trim_start_matches('我')));
    if habit.contains(is_cjk) { verbs.collect::<Vec<_>>().join(" ") } else { habit }
}

/// Returns `true` if one of both says that a habit is over which the other has.
fn ends_habit(new: &[String], old: &[String]) -> bool {
    let (ended, had) = match (quit_habit(new), quit_habit(old)) {
        (Some(ended), None) => (ended, old),
        (None, Some(ended)) => (ended, new),
        _ => return false,
    };
    let (_, is_denied) = denied(had);
    let has_object = !matches!(&*ended, "" | "i" | "我");
    has_object && !is_denied && habit_of(had).is_some_and(|habit| habit == ended)
}

/// Returns the subject and object of a habit that a statement says is over.
fn quit_habit(words: &[String]) -> Option<String> {
    let text = words.concat();
    if text.contains(is_cjk) {
        let is_plain = !text.contains(['没', '不', '想', '要', '吗']) && !text.contains("戒指");
        return (text.contains('戒') && is_plain)
            .then(|| bare_chinese_habit(&text.replace('戒', "")));
    }
    let quits = words.iter().any(|word| matches!(&**word, "quit" | "stopped"));
    quits.then(|| bare_habit(words))
}

/// Returns the subject and object of a statement with a verb of habits.
fn habit_of(words: &[String]) -> Option<String> {
    let text = words.concat();
    if text.contains(is_cjk) {
        return text.contains(CHINESE_HABIT_VERBS).then(|| bare_chinese_habit(&text));
    }
    let has_verb = words.iter().any(|word| HABIT_VERBS.contains(&word.as_str()));
    has_verb.then(|| bare_habit(words))
}

fn bare_habit(words: &[String]) -> String {
    let is_bare = |word: &&String| {
        let dropped = [HABIT_VERBS, OFTEN, DENIALS, FILLERS];
        !dropped.iter().any(|list| list.contains(&word.as_str()))
    };
    let is_number = |word: &&String| word.starts_with(|c: char| c.is_ascii_digit());
    words.iter().filter(is_bare).filter(|it| !is_number(it)).cloned().collect::<Vec<_>>().join(" ")
}

fn bare_chinese_habit(text: &str) -> String {
    let text = AMOUNT.replace_all(text, "");
    let dropped = CHINESE_OFTEN.iter().chain(CHINESE_FILLERS);
    dropped.fold(text.replace(CHINESE_HABIT_VERBS, ""), |rest, word| rest.replace(word, ""))
}

/// Returns a statement without its denial, and `true` if it has one.
pub(super) fn denied(words: &[String]) -> (Vec<String>, bool) {
    if words.iter().any(|word| word.contains(is_cjk)) {
        return denied_chinese(&words.concat());
    }
    let is_denied = words.iter().any(|word| DENIALS.contains(&word.as_str()));
    let says =
        |word: &&String| !DENIALS.contains(&word.as_str()) && !FILLERS.contains(&word.as_str());
    let mut rest: Vec<String> = words.iter().filter(says).map(|it| one_of(it)).collect();
    // "I" alone says nothing that could be denied.
    if rest == ["i"] {
        rest.clear();
    }
    (rest, is_denied)
}

/// Returns "approval" for "approvals": what needs two of them needs one.
fn one_of(word: &str) -> String {
    let is_plural =
        word.len() > 4 && !word.ends_with("ss") && !word.ends_with("us") && !word.ends_with("is");
    word.strip_suffix('s').filter(|_| is_plural).unwrap_or(word).to_owned()
}

fn denied_chinese(text: &str) -> (Vec<String>, bool) {
    let is_denied = CHINESE_DENIALS.iter().any(|word| text.contains(word));
    let removed = CHINESE_DENIALS.iter().chain(CHINESE_FILLERS);
    let rest = removed.fold(text.to_owned(), |rest, word| rest.replace(word, ""));
    let rest = rest.replace("可以", "能").replace("能够", "能");
    let says = rest.chars().any(|c| c != '我');
    (if says { vec![rest] } else { Vec::new() }, is_denied)
}

fn split_cjk(word: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut in_latin = false;
    for c in word.chars() {
        match parts.last_mut() {
            Some(last) if in_latin && !is_cjk(c) => last.push(c),
            _ => parts.push(c.to_string()),
        }
        in_latin = !is_cjk(c);
    }
    parts
}

/// Splits contractions: "don't" is "do not".
fn expanded(word: &str) -> String {
    if let Some((_, full)) = CONTRACTIONS.iter().find(|(short, _)| *short == word) {
        return (*full).to_owned();
    }
    match word.strip_suffix("n't") {
        Some(verb) => format!("{verb} not"),
        None => word.to_owned(),
    }
}

/// Calls the user "i" and gives verbs the form that follows it.
fn first_person(words: &[String]) -> Vec<String> {
    let mut text = words.join(" ");
    for name in USER_NAMES {
        if let Some(rest) = text.strip_prefix(&format!("{name}'s ")) {
            text = format!("my {rest}");
        } else if let Some(rest) = text.strip_prefix(&format!("{name} ")) {
            text = format!("i {rest}");
        }
    }
    for (phrase, plain) in PHRASES {
        text = text.replace(phrase, plain);
    }
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let has_lasted =
        |at: usize| words[..at].iter().rev().take(2).any(|it| matches!(*it, "have" | "has"));
    let plain = |(at, word): (usize, &&str)| match *word {
        // "I lived in Paris" is over, "I have lived in Paris for years" is not.
        "lived" | "worked" if !has_lasted(at) => (*word).to_owned(),
        word => plain_verb(word),
    };
    words.iter().enumerate().map(plain).collect()
}

/// Returns verbs of statements as they follow "i"; other words stay.
fn plain_verb(word: &str) -> String {
    let form = PLAIN_FORMS.iter().find(|(form, _)| *form == word);
    form.map_or(word, |(_, plain)| plain).to_owned()
}
