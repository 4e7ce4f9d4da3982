//! Signals of the user's own messages: role, employer, expertise, tools and pains, read by patterns of both languages.
//!
//! Only what somebody says of themselves counts (`clauses.rs`): not questions, not what they quote, imagine or tell of
//! others. What ended is told as well, and ends what was known.

use regex::Regex;

use super::{
    ProfileSignal, SignalBasis, SignalEffect,
    clauses::{OwnClause, Stance, own_sentences},
    industry::industry_signal_value,
    pains::is_pain,
    patterns::{
        ARTICLE, CUT, DOES_CHINESE, EMPLOYERS, ENDS_USE, ENDS_WORK, EXPERT, JOB_ENDED, LIST, MOVED,
        MOVED_TO, NEW_TO, PAST_WORDS, REPLACED, ROLES, STOP, USES, USES_CHINESE, YEARS_OF,
        YEARS_OF_NAME,
    },
};
use crate::{
    text::{
        dialogue::Dialogue, language::is_cjk, programs::is_program, quoted_text::SpokenText,
        suspect::is_suspect,
    },
    types::{Memory, Trust},
};

/// Confidence in what one message says.
const CONFIDENCE: f64 = 0.8;

/// Confidence in an industry that only words of the work tell.
const INDUSTRY_CONFIDENCE: f64 = 0.5;

/// Most characters of a message that is read: a longer one is pasted.
const MAX_CHARS: usize = 2_000;

/// Most characters of a value.
const MAX_VALUE_CHARS: usize = 60;

/// Most characters of a complaint; a longer one is a story.
const MAX_PAIN_CHARS: usize = 160;

/// Values of `work for` and `work at` that are no employer.
#[rustfmt::skip]
const NO_EMPLOYER: [&str; 34] = [
    "夜里", "晚上", "夜间", "白天", "半夜", "周末", "早上", "外面", "家里", "国外",
    "home", "night", "nights", "free", "myself", "him", "her", "them", "me", "it", "hours", "days", "all", "least", "once",
    "first", "living", "weekends", "company", "that company", "this company", "place", "公司", "单位",
];

/// Words that no role has: "fan of the new designer" is none.
const NO_ROLE_WORDS: [&str; 18] = [
    "as", "soon", "the", "a", "an", "to", "for", "with", "who", "fan", "from", "my", "your",
    "friend", "not", "than", "bit", "and",
];

/// Something that a clause tells.
struct Told {
    name: &'static str,
    value: String,
    confidence: f64,
    effect: SignalEffect,
}

/// Returns what a message of the user says of them.
pub(super) fn signals_of(turn: &Memory) -> Vec<ProfileSignal> {
    let is_own = turn.trust() >= Trust::Imported;
    let own = SpokenText::parse(&turn.content).own;
    let is_short = own.chars().count() <= MAX_CHARS;
    if !is_own || !is_short || is_suspect(&turn.content) || Dialogue::parse(&own).is_some() {
        return Vec::new();
    }
    let told = own_sentences(&own).into_iter().flat_map(|clauses| of_sentence(&clauses));
    let mut signals: Vec<ProfileSignal> = Vec::new();
    for signal in told.map(|told| signal(turn, told)) {
        // A message is one witness, however often it says something.
        if !signals.contains(&signal) {
            signals.push(signal);
        }
    }
    signals
}

/// Returns what the words of a statement end, beside its own value.
pub(super) fn endings_of(text: &str) -> Vec<(&'static str, String, SignalEffect)> {
    let told = own_sentences(text).into_iter().flat_map(|clauses| of_sentence(&clauses));
    let ends = told.filter(|told| told.effect != SignalEffect::Holds);
    ends.map(|told| (told.name, told.value, told.effect)).collect()
}

fn of_sentence(clauses: &[OwnClause]) -> Vec<Told> {
    let mut told: Vec<Told> = pain(clauses).into_iter().collect();
    let whole = clauses.iter().map(|clause| clause.text.as_str()).collect::<Vec<_>>().join("，");
    let all_hold = clauses.iter().all(|clause| clause.stance == Stance::Holds);
    // "As a nurse, I …" is told by two clauses.
    if all_hold && clauses.len() > 1 && (whole.starts_with("作为") || whole.starts_with("As a")) {
        let role = first_of(&ROLES, &whole).filter(|role| is_role(role));
        told.extend(role.map(|role| holds("role", role, CONFIDENCE)));
    }
    for clause in clauses {
        match clause.stance {
            Stance::Holds => told.extend(held(&clause.text)),
            Stance::Past => {
                let now = PAST_WORDS.iter().fold(clause.text.clone(), |text, (word, now)| {
                    word.replace_all(&text, *now).into_owned()
                });
                let past = held(&now).into_iter().filter(|it| it.name != "industry");
                told.extend(past.map(|it| Told { effect: SignalEffect::Past, ..it }));
                told.extend(ends(&clause.text));
            }
            Stance::Ended => told.extend(ends(&clause.text)),
            Stance::Open => {}
        }
    }
    told
}

fn pain(clauses: &[OwnClause]) -> Option<Told> {
    let text = clauses.iter().map(|clause| clause.text.as_str()).collect::<Vec<_>>();
    let is_chinese = text.iter().any(|text| text.chars().any(is_cjk));
    let sentence = text.join(if is_chinese { "，" } else { ", " });
    let is_short = sentence.chars().count() <= MAX_PAIN_CHARS;
    (is_short && is_pain(&sentence)).then(|| holds("pains", sentence, CONFIDENCE))
}

fn holds(name: &'static str, value: String, confidence: f64) -> Told {
    Told { name, value, confidence, effect: SignalEffect::Holds }
}

/// Returns what a clause says to be so.
fn held(clause: &str) -> Vec<Told> {
    let role = first_of(&ROLES, clause).filter(|role| is_role(role));
    let employer =
        first_of(&EMPLOYERS, clause).map(|place| place_alone(&place)).filter(|it| is_employer(it));
    let work = [&employer, &role].into_iter().flatten();
    let industry = { work }.find_map(|text| industry_signal_value(text));
    let mut told = Vec::new();
    told.extend(role.map(|value| holds("role", value, CONFIDENCE)));
    told.extend(employer.map(|value| holds("employer", value, CONFIDENCE)));
    told.extend(industry.map(|value| holds("industry", value, INDUSTRY_CONFIDENCE)));
    told.extend(expertise(clause).into_iter().map(|it| holds("expertise", it, CONFIDENCE)));
    told.extend(tools(clause).into_iter().map(|value| holds("tools", value, CONFIDENCE)));
    told
}

/// Returns what a clause ends, and what takes its place.
fn ends(clause: &str) -> Vec<Told> {
    let ending = |name| Told {
        name,
        value: clause.to_owned(),
        confidence: CONFIDENCE,
        effect: SignalEffect::Ends { any: name == "employer" && JOB_ENDED.is_match(clause) },
    };
    let mut told = Vec::new();
    if ENDS_USE.is_match(clause) {
        told.push(ending("tools"));
    }
    if ENDS_WORK.is_match(clause) {
        told.extend([ending("employer"), ending("role")]);
    }
    for (old, new) in pairs(&REPLACED, clause) {
        told.push(Told { effect: SignalEffect::Past, ..holds("tools", old, CONFIDENCE) });
        told.push(holds("tools", new, CONFIDENCE));
    }
    for (old, new) in pairs(&MOVED, clause) {
        if is_program(&old) || is_program(&new) {
            told.push(Told { effect: SignalEffect::Past, ..holds("tools", old, CONFIDENCE) });
            told.push(holds("tools", new, CONFIDENCE));
            continue;
        }
        let replaces = |name| {
            let effect = SignalEffect::Replaces(old.clone());
            Told { effect, ..holds(name, new.clone(), CONFIDENCE) }
        };
        told.extend([replaces("tools"), replaces("employer")]);
    }
    told
}

fn pairs(pattern: &Regex, clause: &str) -> Vec<(String, String)> {
    let pair = |found: regex::Captures<'_>| {
        let mut groups = found.iter().skip(1).flatten();
        Some((groups.next()?.as_str().to_owned(), groups.next()?.as_str().to_owned()))
    };
    pattern.captures_iter(clause).filter_map(pair).collect()
}

fn signal(turn: &Memory, told: Told) -> ProfileSignal {
    ProfileSignal {
        name: told.name,
        set_name: None,
        value: told.value,
        confidence: told.confidence,
        since: turn.at,
        until: None,
        evidence: vec![turn.id],
        basis: SignalBasis::Stated,
        effect: told.effect,
    }
}

fn first_of(patterns: &[Regex], sentence: &str) -> Option<String> {
    patterns.iter().find_map(|pattern| value_of(&pattern.captures(sentence)?[1]))
}

/// Returns a value without its article and what follows it in the sentence.
fn value_of(raw: &str) -> Option<String> {
    let raw = raw.trim();
    let cut = CUT.find(raw).map_or(raw, |found| &raw[..found.start()]);
    let value = ARTICLE.replace(cut.trim(), "");
    let value = value.trim_matches([' ', ',', '，', '-', '"', '“', '”', '.']);
    let length = value.chars().count();
    (2..=MAX_VALUE_CHARS).contains(&length).then(|| value.to_owned())
}

fn is_role(role: &str) -> bool {
    let lower = role.to_lowercase();
    !lower.split_whitespace().any(|word| NO_ROLE_WORDS.contains(&word))
}

/// Returns an employer without what the sentence says of the work there: "Northwind as platform lead".
fn place_alone(place: &str) -> String {
    let ends = [" as ", " where ", " doing "].iter().filter_map(|end| place.find(end));
    place[..ends.min().unwrap_or(place.len())].to_owned()
}

fn is_employer(place: &str) -> bool {
    let lower = place.to_lowercase();
    !NO_EMPLOYER.contains(&lower.as_str())
        && !["that ", "this ", "那", "这"].iter().any(|word| lower.starts_with(word))
}

fn expertise(sentence: &str) -> Vec<String> {
    let mut known = Vec::new();
    for found in YEARS_OF.captures_iter(sentence) {
        let part =
            |name: &str, at: usize| Some(found.name(&format!("{name}{at}"))?.as_str().trim());
        let told = (1..=5).find_map(|at| Some((part("what", at)?, part("years", at)?)));
        known.extend(told.and_then(|(what, years)| with_years(what, years)));
    }
    if known.is_empty() {
        let found = YEARS_OF_NAME.captures_iter(sentence).filter(|found| is_tool(&found[2]));
        known.extend(found.filter_map(|found| with_years(&found[2], &found[1])));
    }
    if let Some(found) = NEW_TO.captures(sentence)
        && let Some(value) =
            found.iter().skip(1).flatten().next().and_then(|it| value_of(it.as_str()))
    {
        let is_chinese = sentence.chars().any(is_cjk);
        known.push(if is_chinese {
            format!("{value}（新手）")
        } else {
            format!("new to {value}")
        });
        return known;
    }
    for found in EXPERT.captures_iter(sentence) {
        let value = found.iter().skip(1).flatten().next();
        known.extend(value.map_or_else(Vec::new, |it| listed(it.as_str())));
    }
    known
}

fn with_years(what: &str, years: &str) -> Option<String> {
    let what = value_of(what)?;
    Some(if what.is_ascii() { format!("{what} ({years})") } else { format!("{what}（{years}）") })
}

/// Returns the tools of a clause: names after "I use", 用.
fn tools(clause: &str) -> Vec<String> {
    let english =
        USES.captures_iter(clause).filter_map(|found| found.iter().skip(1).flatten().next());
    let chinese = USES_CHINESE.captures_iter(clause).filter(|_| DOES_CHINESE.is_match(clause));
    let chinese = chinese.filter_map(|found| found.get(1).or(found.get(2)));
    let lists = english.chain(chinese).map(|found| found.as_str());
    let moved = MOVED_TO.captures_iter(clause).filter_map(|found| value_of(&found[1]));
    let named = lists.flat_map(listed).filter(|name| is_tool(name));
    named.chain(moved.filter(|name| is_program(name))).collect()
}

/// Returns `true` for a name: words with a capital letter or a digit, or one of the small ones that are known.
fn is_tool(name: &str) -> bool {
    let is_named = |word: &str| {
        SMALL_TOOLS.contains(&word.to_lowercase().as_str())
            || word.chars().any(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || is_cjk(c))
    };
    let is_pronoun = ["I", "It", "My", "The", "A", "This", "That", "You", "AI"].contains(&name);
    name.split_whitespace().count() <= 3 && !is_pronoun && name.split_whitespace().all(is_named)
}

/// Splits a list of names.
pub(super) fn listed(text: &str) -> Vec<String> {
    let cut = STOP.find(text).map_or(text, |found| &text[..found.start()]);
    LIST.split(cut).filter_map(value_of).collect()
}

/// Tools that are written in small letters, and second words of names.
#[rustfmt::skip]
const SMALL_TOOLS: [&str; 40] = [
    "vim", "neovim", "nvim", "emacs", "tmux", "git", "zsh", "fish", "bash", "docker", "podman", "kubectl", "npm", "pnpm",
    "yarn", "pip", "uv", "pandas", "numpy", "pytest", "cargo", "make", "jq", "ffmpeg", "latex", "obsidian", "notion",
    "slack", "excel", "figma", "docs", "sheets", "code", "cli", "postgres", "python", "rust", "vscode", "jira", "linear",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Kind, MemorySource, Origin, Scope, Timestamp};

    fn told(text: &str) -> Vec<(&'static str, String)> {
        let scope = Scope::new("a", "u").unwrap();
        let (source, now) = (MemorySource::new(Origin::Observe), Timestamp::UNIX_EPOCH);
        let turn = Memory::with_content(&scope, Kind::Turn, text.into(), source, now, now);
        signals_of(&turn).into_iter().map(|it| (it.name, it.value)).collect()
    }

    #[track_caller]
    fn assert_told(text: &str, wanted: &[(&'static str, &str)]) {
        let found = told(text);
        for (name, value) in wanted {
            assert!(found.iter().any(|it| it.0 == *name && it.1 == *value), "{text}: {found:?}");
        }
    }

    #[test]
    fn role_employer_and_industry_are_read_in_both_languages() {
        assert_told(
            "Hi! I'm a backend engineer at a logistics company in Hamburg, mostly Go and PostgreSQL these days.",
            &[
                ("role", "backend engineer"),
                ("employer", "logistics company in Hamburg"),
                ("industry", "logistics"),
                ("expertise", "Go"),
                ("expertise", "PostgreSQL"),
            ],
        );
        assert_told(
            "Big news: I got promoted, I'm an engineering manager now.",
            &[("role", "engineering manager")],
        );
        assert_told(
            "I work as a nurse at St Mary's hospital.",
            &[("role", "nurse"), ("employer", "St Mary's hospital")],
        );
        assert_told("I work as a night nurse.", &[("role", "night nurse"), ("industry", "health")]);
        assert_told("I just got promoted to head of platform", &[("role", "head of platform")]);
        assert_told(
            "你好，我是一名儿科医生，在成都的一家三甲医院工作。",
            &[("role", "儿科医生"), ("industry", "医疗")],
        );
        assert_told(
            "我换工作了，现在在一家医疗 AI 创业公司做产品经理。",
            &[("role", "产品经理"), ("employer", "医疗 AI 创业公司")],
        );
    }

    #[test]
    fn expertise_tools_and_pains_are_read_in_both_languages() {
        assert_told(
            "I've been doing Kubernetes for about six years, so skip the basics.",
            &[("expertise", "Kubernetes (about six years)")],
        );
        assert_told(
            "I have over ten years of experience with Java",
            &[("expertise", "Java (over ten years)")],
        );
        assert_told("I'm quite new to Rust.", &[("expertise", "new to Rust")]);
        assert_told(
            "I use Neovim and tmux for everything.",
            &[("tools", "Neovim"), ("tools", "tmux")],
        );
        assert_told(
            "我平时用 Python 做点数据分析，主要用 pandas。",
            &[("tools", "Python"), ("tools", "pandas")],
        );
        assert_told("我做了八年的前端开发", &[("expertise", "前端开发（八年）")]);
        assert_told(
            "Our deploys to staging keep failing, it drives me crazy.",
            &[("pains", "Our deploys to staging keep failing, it drives me crazy")],
        );
        assert_told(
            "最近病历系统老是卡死，真是烦死了，写到一半就没了。",
            &[("pains", "最近病历系统老是卡死，真是烦死了，写到一半就没了")],
        );
    }

    #[test]
    fn questions_others_and_quotes_tell_nothing() {
        for text in [
            "Am I a good engineer?",
            "My wife says I'm a terrible cook",
            "Imagine I'm a doctor. Pretend I'm a nurse",
            "> I'm a backend engineer",
            "```\nI'm a backend engineer\n```",
            "I'm a bit tired and I use the stairs.",
            "如果我是医生会怎么办",
            "我朋友是医生。",
            "我是医生吗？",
        ] {
            assert_eq!(told(text), [], "{text}");
        }
    }
}
