//! Short forms of a memory: one line (L0) and an overview (L1).
//!
//! The forms of a long text are computed on save, without a model, and stored under a digest of the text, so that forms
//! of an older text are never shown. All other memories are short, or are shortened on reading: turns, which are stored
//! word for word and nothing more, and memories older than this feature.

use serde_json::{Map, Value, json};

use super::{
    filler::first_telling_sentence,
    sentences::sentences,
    summary::{Utterance, summarize},
    tokens::estimate_tokens,
};
use crate::types::{Fingerprint, Kind, Memory, OVERVIEW_KEY};

/// Tokens of a line and of an overview, about; a text with no more is its own overview.
pub(crate) const LINE_TOKENS: usize = 30;
pub(crate) const OVERVIEW_TOKENS: usize = 120;

/// Tokens above which a model writes the overview: of shorter texts, such as chunks of documents, the chosen sentences
/// say enough for what an answer costs.
const MIN_MODEL_TOKENS: usize = 400;

/// Bytes of a text that the short forms and excerpts are computed from: a chapter. More would make a save or a recall
/// slow.
const MAX_READ_BYTES: usize = 64 * 1024;

/// Returns the memory in one line: its description, its stored line, or its first sentence that is no greeting.
pub fn one_line(memory: &Memory) -> String {
    let described = Some(memory.description.as_str()).filter(|text| !text.trim().is_empty());
    let generated = || current_overview(memory).and_then(|overview| overview["line"].as_str());
    first_line(described.or_else(generated).unwrap_or(&memory.content))
}

/// Returns the memory in a few sentences: those chosen on save, or its beginning.
pub fn overview(memory: &Memory) -> String {
    let generated = current_overview(memory).and_then(|overview| overview["text"].as_str());
    generated.map_or_else(|| leading_sentences(&memory.content), str::to_owned)
}

/// Computes the short forms of a long text, and removes those of an older text. Metadata of a caller under the same key
/// stays.
pub(crate) fn refresh_overview(memory: &mut Memory) {
    let is_theirs = memory.metadata.get(OVERVIEW_KEY).is_some_and(|value| !is_generated(value));
    if is_theirs || current_overview(memory).is_some() {
        return;
    }
    memory.metadata.remove(OVERVIEW_KEY);
    if memory.kind != Kind::Turn
        && let Some(generated) = generate_overview(&memory.content)
    {
        memory.metadata.insert(OVERVIEW_KEY.to_owned(), generated);
    }
}

/// Replaces the extractive overview by that of a model; the line stays.
pub(crate) fn set_model_overview(memory: &mut Memory, text: &str, by: &str) {
    let line =
        current_overview(memory).map(|overview| overview["line"].clone()).unwrap_or_default();
    let better = json!({ "of": digest(&memory.content), "line": line, "text": text, "by": by });
    memory.metadata.insert(OVERVIEW_KEY.to_owned(), better);
}

/// Returns `true` if a model could write a better overview: the text is very long, and no model has written one.
pub(crate) fn wants_model_overview(memory: &Memory) -> bool {
    let theirs = memory.metadata.get(OVERVIEW_KEY).is_some_and(|value| !is_generated(value));
    let by_model = current_overview(memory).is_some_and(|overview| overview["by"].is_string());
    memory.kind != Kind::Turn
        && !theirs
        && !by_model
        && exceeds_tokens(MIN_MODEL_TOKENS, &memory.content)
}

/// Returns the metadata as callers gave it, without generated forms.
pub fn without_generated_overview(metadata: &Map<String, Value>) -> Map<String, Value> {
    let given =
        metadata.iter().filter(|(name, value)| *name != OVERVIEW_KEY || !is_generated(value));
    given.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns `true` if the overview was generated here and is not a caller's.
pub(crate) fn is_generated(overview: &Value) -> bool {
    overview["of"].is_string()
}

/// Returns the generated forms if the text is still the same.
fn current_overview(memory: &Memory) -> Option<&Value> {
    let overview = memory.metadata.get(OVERVIEW_KEY)?;
    (overview["of"].as_str()? == digest(&memory.content)).then_some(overview)
}

fn digest(content: &str) -> String {
    let print = Fingerprint::of(content);
    print.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn exceeds_tokens(tokens: usize, content: &str) -> bool {
    // No token has less than a byte, so most texts need not be counted.
    content.len() > tokens && estimate_tokens(bounded_prefix(content)) > tokens
}

/// Computes the short forms of a text; `None` if the text is short itself.
fn generate_overview(content: &str) -> Option<Value> {
    if !exceeds_tokens(OVERVIEW_TOKENS, content) {
        return None;
    }
    let head = bounded_prefix(content.trim());
    let (chars, tokens) = (head.chars().count(), estimate_tokens(head).max(1));
    let utterances = [Utterance { speaker: "", text: head, is_user: false }];
    // The characters that so many tokens have in this text: Chinese has a third of what English has.
    let summary = |max_tokens: usize| summarize(&utterances, chars * max_tokens / tokens);
    let line = summary(LINE_TOKENS).lines().next().map(|line| first_line(strip_bullet(line)));
    let text = Some(summary(OVERVIEW_TOKENS)).filter(|text| !text.is_empty());
    let line = line.unwrap_or_else(|| first_line(head));
    let text = text.unwrap_or_else(|| leading_sentences(head));
    Some(json!({ "of": digest(content), "line": line, "text": text }))
}

/// Returns the beginning of a text, which is all of most.
pub(super) fn bounded_prefix(content: &str) -> &str {
    let mut end = content.len().min(MAX_READ_BYTES);
    while !content.is_char_boundary(end) {
        end -= 1;
    }
    &content[..end]
}

/// Returns a line of a summary without its list marker.
fn strip_bullet(line: &str) -> &str {
    line.trim_start_matches("- ")
}

fn first_line(text: &str) -> String {
    let first = first_telling_sentence(text);
    truncate_at_word(&first.split_whitespace().collect::<Vec<_>>().join(" "), LINE_TOKENS)
}

/// Returns the beginning of a text: the whole sentences that fit.
fn leading_sentences(content: &str) -> String {
    let mut text = String::new();
    let mut tokens = 0;
    for sentence in sentences(content) {
        tokens += estimate_tokens(sentence);
        if tokens > OVERVIEW_TOKENS {
            break;
        }
        text.push_str(sentence);
    }
    if text.is_empty() {
        truncate_at_word(content, OVERVIEW_TOKENS)
    } else {
        text.trim().to_owned()
    }
}

/// Truncates a text that is too long at a word, with an ellipsis.
fn truncate_at_word(text: &str, max_tokens: usize) -> String {
    if estimate_tokens(text) <= max_tokens {
        return text.to_owned();
    }
    let mut ends: Vec<usize> =
        text.char_indices().map(|(index, _)| index).take(max_tokens * 8).collect();
    // The longest beginning that fits, ellipsis included; estimates grow with the text.
    let fits = |end: usize| estimate_tokens(&text[..end]) < max_tokens;
    let count = ends.partition_point(|end| fits(*end));
    ends.truncate(count);
    let end = ends.last().copied().unwrap_or(0);
    let at_word =
        text[..end].rfind(char::is_whitespace).filter(|word| *word > end / 2).unwrap_or(end);
    format!("{}…", text[..at_word].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{MemorySource, Origin, Scope, Timestamp};

    const ENGLISH: &str = "The release train leaves every second Tuesday. Whoever has a change merges before Monday noon. \
        Hot fixes go out on any day, but the person on call must agree. The checklist has nine steps. After the release the \
        team watches the error rate for two hours. If the error rate doubles, the release is rolled back at once. Rolled back \
        releases are looked at on Wednesday. The notes of that meeting are kept for a year. Customers hear of a release by \
        mail on the day after, in English and in Chinese. Nobody releases in the last week of December. \
    The mail is written by the product team and read by support before it goes out. Whoever is on call keeps the script for \
    rolling back at hand, and writes down afterwards what went wrong and what should be done about it.";

    const CHINESE: &str = "发布列车每隔一周的星期二出发。有改动的人要在星期一中午之前合并代码。紧急修复任何一天都可以发布，但是必须得到值班人员的同意。\
        检查清单一共有九个步骤。发布之后团队要观察错误率两个小时。如果错误率翻倍，就立即回滚这次发布。回滚的发布在星期三复盘，会议记录保存一年。\
        客户在发布的第二天会收到邮件，邮件有中文和英文两个版本。十二月的最后一周任何人都不发布新版本。\
    邮件由产品团队撰写，由客服团队校对之后才能寄出。值班人员要随时准备好回滚脚本，并且在发布之后写下哪里出了问题、应该怎么改进。";

    fn memory(kind: Kind, text: &str) -> Memory {
        let at = Timestamp::from_second(1_790_000_000).unwrap();
        let source = MemorySource::new(Origin::Remember);
        let mut memory =
            Memory::with_content(&Scope::default(), kind, text.to_owned(), source, at, at);
        refresh_overview(&mut memory);
        memory
    }

    #[test]
    fn a_long_text_keeps_a_line_and_an_overview_of_whole_sentences() {
        for text in [ENGLISH, CHINESE] {
            let memory = memory(Kind::Project, text);
            let stored = &memory.metadata[OVERVIEW_KEY];
            assert_eq!(stored["text"], overview(&memory));
            assert_eq!(stored["line"], one_line(&memory));
            let (line, shown) = (one_line(&memory), overview(&memory));
            assert!(estimate_tokens(&line) <= LINE_TOKENS && text.contains(&line), "{line}");
            assert!(
                estimate_tokens(&shown) <= OVERVIEW_TOKENS * 5 / 4 && shown.len() < text.len(),
                "{shown}"
            );
            assert!(shown.lines().all(|line| text.contains(strip_bullet(line))), "{shown}");
        }
    }

    #[test]
    fn short_texts_and_turns_keep_nothing_and_are_told_all_the_same() {
        for (kind, text) in [
            (Kind::User, "I like tea. I also like coffee."),
            (Kind::User, "我喜欢喝茶。我也喜欢咖啡。"),
            (Kind::Turn, ENGLISH),
            (Kind::Turn, CHINESE),
        ] {
            let memory = memory(kind, text);
            assert!(memory.metadata.is_empty(), "{memory:?}");
            assert!(text.starts_with(&one_line(&memory)) && text.starts_with(&overview(&memory)));
        }
    }

    #[test]
    fn a_text_without_sentences_keeps_its_beginning() {
        for text in ["x1 = f(y2) + ".repeat(200), "茶".repeat(900)] {
            let memory = memory(Kind::Knowledge, &text);
            let stored = memory.metadata[OVERVIEW_KEY]["text"].as_str().unwrap();
            let shown = stored.strip_suffix('…').unwrap();
            assert!(
                text.starts_with(shown) && estimate_tokens(stored) <= OVERVIEW_TOKENS,
                "{stored}"
            );
        }
    }

    #[test]
    fn forms_of_another_text_are_not_told_and_are_replaced() {
        let mut memory = memory(Kind::Project, ENGLISH);
        memory.content = CHINESE.to_owned();
        assert!(CHINESE.starts_with(&overview(&memory)), "what was kept is of the other text");
        refresh_overview(&mut memory);
        assert_eq!(memory.metadata[OVERVIEW_KEY]["text"], overview(&memory));
        assert!(!memory.metadata[OVERVIEW_KEY].to_string().contains("release"));
        memory.content = "No.".to_owned();
        refresh_overview(&mut memory);
        assert!(memory.metadata.is_empty(), "{memory:?}");
    }

    #[test]
    fn a_description_comes_first_and_what_a_caller_calls_an_overview_stays() {
        let mut mine = memory(Kind::Project, ENGLISH);
        mine.description = "How we release 发布流程".to_owned();
        assert_eq!(one_line(&mine), "How we release 发布流程");
        let theirs = Value::from("an overview of theirs");
        mine.metadata.insert(OVERVIEW_KEY.to_owned(), theirs.clone());
        refresh_overview(&mut mine);
        assert_eq!(mine.metadata[OVERVIEW_KEY], theirs);
        assert!(
            !wants_model_overview(&mine)
                && without_generated_overview(&mine.metadata).contains_key(OVERVIEW_KEY)
        );
    }

    #[test]
    fn an_overview_by_a_model_stays_until_the_text_changes() {
        let mut memory = memory(Kind::Project, &CHINESE.repeat(5));
        assert!(
            wants_model_overview(&memory)
                && without_generated_overview(&memory.metadata).is_empty()
        );
        let line = one_line(&memory);
        set_model_overview(&mut memory, "隔周星期二发布。", "a model");
        refresh_overview(&mut memory);
        assert_eq!((overview(&memory).as_str(), one_line(&memory)), ("隔周星期二发布。", line));
        assert!(!wants_model_overview(&memory));
        memory.content += "新的规定。";
        refresh_overview(&mut memory);
        assert!(wants_model_overview(&memory) && overview(&memory) != "隔周星期二发布。");
    }
}
