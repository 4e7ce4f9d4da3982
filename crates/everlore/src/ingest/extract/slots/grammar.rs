//! Compiled pattern table of one language, and its matches.

use std::sync::LazyLock;

use jiff::Zoned;
use regex::{Captures, Regex};

use super::{chinese, english, language_with_patterns, without_dates};
use crate::{
    text::{
        dates::{find_times, mentions_time},
        language::Language,
        programs::is_program,
    },
    types::{Attribute, Slot, USER_SUBJECT},
};

/// Longest value: a longer one is not what the pattern was made for.
const MAX_VALUE_CHARS: usize = 160;

/// Patterns of one language, as data.
pub(super) struct GrammarTable {
    pub(super) language: Language,
    /// Fragments of patterns, by the name in braces that stands for them.
    pub(super) fragments: &'static [(&'static str, &'static str)],
    /// Messages about a text, a role or a joke, which say nothing about the user.
    pub(super) not_about_the_user: &'static str,
    /// Beginning or content of a clause that asks.
    pub(super) questions: &'static str,
    /// Sentences that assert nothing: wishes, conditions, reported speech.
    pub(super) unasserted: &'static str,
    /// Words at the beginning that add nothing.
    pub(super) openers: &'static str,
    /// Separators between clauses.
    pub(super) clause_breaks: &'static str,
    /// Clause that belongs to the one before it.
    pub(super) continuations: &'static str,
    /// Clause without a subject, which inherits that of the clause before it.
    pub(super) subjectless: &'static str,
    /// Clause with a being of its own, a comma, and a clause without a subject that is about this being.
    pub(super) introductions: &'static str,
    /// Subject of a clause that names a person related to the user.
    pub(super) related_subject: &'static str,
    pub(super) first_person: &'static str,
    /// Subjects with which a clause can stand on its own.
    pub(super) own_subject: &'static str,
    /// Words after a value that are no part of it.
    pub(super) tails: &'static str,
    /// Values that mean nothing without their context.
    pub(super) vague: &'static str,
    /// Answers that confirm.
    pub(super) confirmations: &'static str,
    /// Rewrite steps that turn a question to the user into the user's statement; the first must match.
    pub(super) question_rewrites: &'static [(&'static str, &'static str)],
    pub(super) rules: &'static [GrammarRule],
}

/// Capitalized words at the beginning of a sentence that name nobody.
#[rustfmt::skip]
const NOT_NAMES: [&str; 28] = [
    "He", "She", "It", "They", "We", "You", "This", "That", "These", "Those", "There", "Everyone", "Everybody", "Someone",
    "Somebody", "Anyone", "Anybody", "Nobody", "Who", "What", "One", "Nothing", "Everything", "Something", "Here", "Half",
    "Which", "Nature",
];

/// Pattern of a slot. Captures: `v` is the value, `old` the replaced value, `rel` a person related to the user, `who` a
/// person by name, `what` another subject.
pub(super) struct GrammarRule {
    attribute: Attribute,
    pattern: &'static str,
    is_sentence_rule: bool,
    has_ended: bool,
}

/// Creates a rule for one clause.
pub(super) const fn clause(attribute: Attribute, pattern: &'static str) -> GrammarRule {
    GrammarRule { attribute, pattern, is_sentence_rule: false, has_ended: false }
}

/// Creates a rule for one clause that says that something has ended.
pub(super) const fn ended(attribute: Attribute, pattern: &'static str) -> GrammarRule {
    GrammarRule { attribute, pattern, is_sentence_rule: false, has_ended: true }
}

/// Creates a rule for a whole sentence, tried before clauses.
pub(super) const fn sentence(attribute: Attribute, pattern: &'static str) -> GrammarRule {
    GrammarRule { attribute, pattern, is_sentence_rule: true, has_ended: false }
}

/// Clause of a sentence.
pub(super) struct Clause {
    /// Offset of its first byte in the sentence.
    pub(super) start: usize,
    /// Words that patterns are matched with; a subject is added where the clause before it has one.
    pub(super) text: String,
    /// Set if it begins with a subject of its own.
    pub(super) stands_alone: bool,
}

pub(super) struct Grammar {
    pub(super) language: Language,
    not_about_the_user: Regex,
    questions: Regex,
    unasserted: Regex,
    openers: Regex,
    clause_breaks: Regex,
    continuations: Regex,
    subjectless: Regex,
    introductions: Regex,
    related_subject: Regex,
    first_person: Regex,
    own_subject: Regex,
    tails: Regex,
    vague: Regex,
    confirmations: Regex,
    question_rewrites: Vec<(Regex, &'static str)>,
    rules: Vec<(&'static GrammarRule, Regex)>,
}

static ENGLISH: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(&english::TABLE));
static CHINESE: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(&chinese::TABLE));

impl Grammar {
    /// Returns the grammar for a message; `None` if its language has no rules.
    pub(super) fn for_text(text: &str) -> Option<&'static Self> {
        match language_with_patterns(text)? {
            Language::Chinese => Some(&CHINESE),
            _ => Some(&ENGLISH),
        }
    }

    fn new(table: &'static GrammarTable) -> Self {
        let compile = |pattern: &str| {
            let fill = |text: String, (name, part): &(&str, &str)| text.replace(name, part);
            let filled = table.fragments.iter().fold(pattern.to_owned(), fill);
            Regex::new(&format!("(?i){filled}")).expect("the tables hold valid patterns")
        };
        Self {
            language: table.language,
            not_about_the_user: compile(table.not_about_the_user),
            questions: compile(table.questions),
            unasserted: compile(table.unasserted),
            openers: compile(table.openers),
            clause_breaks: compile(table.clause_breaks),
            continuations: compile(table.continuations),
            subjectless: compile(table.subjectless),
            introductions: compile(table.introductions),
            related_subject: compile(table.related_subject),
            first_person: compile(table.first_person),
            own_subject: compile(table.own_subject),
            tails: compile(table.tails),
            vague: compile(table.vague),
            confirmations: compile(table.confirmations),
            question_rewrites: table
                .question_rewrites
                .iter()
                .map(|(from, to)| (compile(from), *to))
                .collect(),
            rules: table.rules.iter().map(|rule| (rule, compile(rule.pattern))).collect(),
        }
    }

    pub(super) fn is_not_about_the_user(&self, text: &str) -> bool {
        self.not_about_the_user.is_match(text)
    }

    pub(super) fn is_confirmation(&self, answer: &str) -> bool {
        self.confirmations.is_match(answer.trim())
    }

    /// Rewrites a question into the statement that confirming it makes; `None` if it is no such question.
    pub(super) fn question_to_statement(&self, question: &str) -> Option<String> {
        let (first, rest) = self.question_rewrites.split_first()?;
        first.0.is_match(question).then(|| {
            let start = first.0.replace(question, first.1).into_owned();
            rest.iter().fold(start, |text, (from, to)| from.replace_all(&text, *to).into_owned())
        })
    }

    pub(super) fn strip_openers(&self, sentence: &str) -> String {
        let mut rest = sentence.trim();
        while let Some(opener) = self.openers.find(rest).filter(|opener| !opener.is_empty()) {
            rest = rest[opener.end()..].trim_start();
        }
        rest.to_owned()
    }

    /// Returns the clauses of a sentence that state something, up to the first that asks.
    pub(super) fn clauses(&self, sentence: &str) -> Vec<Clause> {
        if self.unasserted.is_match(sentence) {
            return Vec::new();
        }
        let body = sentence.trim_end_matches(['.', '!', '?', '。', '！', '？', '~', ' ']);
        let is_question = sentence[body.len()..].contains(['?', '？']);
        let mut clauses: Vec<Clause> = Vec::new();
        let mut has_question_clause = false;
        for (start, part) in self.split_clauses(body) {
            if self.questions.is_match(part) {
                has_question_clause = true;
                break;
            }
            if let Some(subject) = self.inherited_subject(part, &clauses) {
                let text = format!("{subject}{part}");
                clauses.push(Clause { start, text, stands_alone: false });
                continue;
            }
            match clauses.last_mut() {
                Some(last) if self.continuations.is_match(part) => {
                    last.text = format!("{}, {part}", last.text);
                }
                _ => {
                    let text = self.strip_openers(part);
                    let stands_alone = self.own_subject.is_match(&text);
                    clauses.push(Clause { start, text, stands_alone });
                }
            }
        }
        // A question without a question clause asks from its first word on.
        if is_question && !has_question_clause { Vec::new() } else { clauses }
    }

    /// Splits a sentence at its breaks, with the offset of each part; the part of a break named `keep` belongs to the
    /// clause after it.
    fn split_clauses<'a>(&self, sentence: &'a str) -> Vec<(usize, &'a str)> {
        let mut parts = Vec::new();
        let mut start = 0;
        for found in self.clause_breaks.captures_iter(sentence) {
            let Some(whole) = found.get(0) else { continue };
            parts.push((start, sentence[start..whole.start()].trim()));
            start = found.name("keep").map_or(whole.end(), |keep| keep.start());
        }
        parts.push((start, sentence[start..].trim()));
        parts.retain(|(_, part)| !part.is_empty());
        parts
    }

    /// Returns the subject that a clause without one takes from those before it: the user, or a relative that the last
    /// of them is about; `None` if it has a subject, or is about a being that the last one introduces.
    fn inherited_subject<'a>(&self, part: &str, before: &'a [Clause]) -> Option<&'a str> {
        let last = before.iter().rev().find(|it| self.first_person.is_match(&it.text))?;
        let is_of_other = self.introductions.is_match(&format!("{},{part}", last.text));
        if is_of_other || !self.subjectless.is_match(part) {
            return None;
        }
        let related = self.related_subject.find(&last.text);
        Some(related.map_or("我", |subject| subject.as_str()))
    }

    pub(super) fn match_sentence<'a>(&'a self, sentence: &'a str) -> Option<RuleMatch<'a>> {
        if sentence.contains(['?', '？']) && !sentence.contains("://") {
            return None;
        }
        let found = self.match_rules(sentence, true)?;
        let is_order = matches!(found.rule.attribute, Attribute::Rule | Attribute::Note);
        let asserted = is_order || !self.unasserted.is_match(sentence);
        (asserted && !self.questions.is_match(sentence)).then_some(found)
    }

    pub(super) fn match_clause<'a>(&'a self, clause: &'a str) -> Option<RuleMatch<'a>> {
        self.match_rules(clause, false)
    }

    fn match_rules<'a>(&'a self, text: &'a str, of_sentence: bool) -> Option<RuleMatch<'a>> {
        let text = text.trim_end_matches(['.', '!', '。', '！', '~', ' ']);
        let mut rules = self.rules.iter().filter(|(rule, _)| rule.is_sentence_rule == of_sentence);
        rules.find_map(|(rule, pattern)| {
            let found = RuleMatch { grammar: self, rule, captures: pattern.captures(text)? };
            (!self.vague.is_match(found.value())).then_some(found)
        })
    }
}

/// Match of a rule in a text.
pub(super) struct RuleMatch<'a> {
    grammar: &'a Grammar,
    rule: &'static GrammarRule,
    captures: Captures<'a>,
}

impl RuleMatch<'_> {
    pub(super) fn attribute(&self) -> Attribute {
        self.rule.attribute
    }

    pub(super) fn value(&self) -> &str {
        self.capture("v").unwrap_or_default()
    }

    /// Returns the value that the statement replaces, if it names one.
    pub(super) fn replaced(&self) -> Option<&str> {
        self.capture("old")
    }

    fn capture(&self, name: &str) -> Option<&str> {
        self.captures.name(name).map(|part| part.as_str().trim())
    }

    /// Returns the slot as of `now`; `None` if the match is no valid value.
    pub(super) fn slot(&self, now: &Zoned) -> Option<Slot> {
        let attribute = self.rule.attribute;
        let mut value = self.trim_value(self.value());
        if attribute == Attribute::Deadline && has_no_date(&value, now) {
            return None;
        }
        if has_start_date(attribute) {
            value = self.trim_value(&without_dates(&value, now));
        }
        if attribute == Attribute::Employer {
            value = employer_alone(&value)?;
        }
        if value.is_empty() || value.chars().count() > MAX_VALUE_CHARS {
            return None;
        }
        // "We moved from Jira to Linear": nobody lives there.
        let is_tool = attribute == Attribute::Home
            && [Some(&*value), self.replaced()].into_iter().flatten().any(is_program);
        let attribute = if is_tool { Attribute::Uses } else { attribute };
        let of = |rel: &str| format!("{USER_SUBJECT}'s {rel}");
        let named = self.capture("who");
        if named.is_some_and(|name| NOT_NAMES.contains(&name)) {
            return None;
        }
        let related = self.capture("rel").map(of).or_else(|| named.map(str::to_owned));
        let subject = related.or_else(|| self.capture("what").map(str::to_lowercase));
        let subject = subject.unwrap_or_else(|| USER_SUBJECT.to_owned());
        Some(Slot { subject, attribute, value, ended: self.rule.has_ended })
    }

    fn trim_value(&self, value: &str) -> String {
        let is_sentence = matches!(
            self.rule.attribute,
            Attribute::Note
                | Attribute::Rule
                | Attribute::Decision
                | Attribute::Fact
                | Attribute::Habit
                | Attribute::Deadline
        );
        let end = match self.grammar.tails.find(value) {
            Some(tail) if !is_sentence => tail.start(),
            _ => value.len(),
        };
        let marks = [' ', ',', '.', ';', ':', '!', '，', '。', '；', '：', '！', '、', '"'];
        value[..end].trim_matches(marks).to_owned()
    }
}

/// Returns an employer without what the sentence says beside it: "Contoso and now work at Northwind"; `None` for a time or
/// an industry.
fn employer_alone(value: &str) -> Option<String> {
    let end = BESIDE_EMPLOYER.find(value).map_or(value.len(), |beside| beside.start());
    let name = value[..end].trim();
    (!name.is_empty() && !NO_EMPLOYER.is_match(name)).then(|| name.to_owned())
}

static BESIDE_EMPLOYER: LazyLock<Regex> = LazyLock::new(|| {
    let words = r" (?i:and|but|so|then) (?:(?i:i|we|it|now|then|am|just|currently|recently|really|have|had|will)\b|[a-z]+ (?:it|in|at|on|as|for|to|my|the|there|from|with|every|now)\b)| (?i:as) (?i:an?|the|their|our|my)\b";
    Regex::new(words).expect("the pattern is valid")
});

static NO_EMPLOYER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:夜里|晚上|夜间|白天|半夜|深夜|凌晨|早上|上午|中午|下午|傍晚|周末|平时|假期|节假日)$|(?:行业|领域|圈子?)$")
        .expect("the pattern is valid")
});

fn has_no_date(text: &str, now: &Zoned) -> bool {
    !mentions_time(text) && find_times(text, now).is_empty()
}

/// Returns `true` if statements of this attribute give a start date, rather than a time as part of the value.
fn has_start_date(attribute: Attribute) -> bool {
    use Attribute::{Education, Employer, Family, Home, Learning, Occupation, Pet, Uses};
    matches!(attribute, Employer | Home | Uses | Occupation | Family | Learning | Education | Pet)
}
