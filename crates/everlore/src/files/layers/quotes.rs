//! Erasure of sentences of forgotten memories that the daily log quotes, from every day, archived ones too.

use std::collections::HashSet;

use jiff::civil::Date;
use serde::Serialize;

use super::{EditContext, ForgetTarget, Layer, LayerForgetReceipt, Layers, SessionDay, layer_file};
use crate::{error::Result, files::sections::MarkdownSections, text::sentences::sentences};

/// Receipt of one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ForgottenDay {
    /// Day.
    pub day: Date,
    /// Files that the sentences were removed from.
    #[serde(flatten)]
    pub removed: LayerForgetReceipt,
}

impl Layers {
    /// Removes sentences from every day of the log and from its history, for good.
    pub fn forget_quotes(
        &self,
        quotes: &HashSet<String>,
        by: &EditContext,
    ) -> Result<Vec<ForgottenDay>> {
        let target = ForgetTarget::Quotes(quotes.clone());
        let mut forgotten = Vec::new();
        for day in self.all_days()? {
            if self.contains(Layer::Daily, day, &target)? {
                let removed = self.forget(Layer::Daily, day, &target, by)?;
                forgotten.push(ForgottenDay { day, removed });
            }
        }
        Ok(forgotten)
    }

    /// Returns the days with a section on a conversation, each with the section's title.
    pub fn session_days(&self, session: &str) -> Result<Vec<(Date, String)>> {
        let mut days = Vec::new();
        for date in self.all_days()? {
            let day = SessionDay { date, session, turns: 0, chinese: false };
            for text in [self.path(Layer::Daily, date), self.archive_path(date)] {
                let text = layer_file::read(&text)?.unwrap_or_default();
                let sections = MarkdownSections::parse(&text);
                let titles = sections.iter().map(|section| section.title);
                let own = titles.filter(|title| day.matches_title(title));
                days.extend(own.map(|title| (date, title.to_owned())));
            }
        }
        Ok(days)
    }

    /// Removes sentences from the profile and the notes and from their histories, for good. Returns the layers that had
    /// them.
    pub(crate) fn forget_in_notes(
        &self,
        quotes: &HashSet<String>,
        by: &EditContext,
    ) -> Result<Vec<(Layer, LayerForgetReceipt)>> {
        let (target, today) = (ForgetTarget::Quotes(quotes.clone()), by.now.date());
        let mut forgotten = Vec::new();
        for layer in [Layer::User, Layer::Memory] {
            if self.contains(layer, today, &target)? {
                forgotten.push((layer, self.forget(layer, today, &target, by)?));
            }
        }
        Ok(forgotten)
    }

    /// Returns `true` if a file or the history of a layer has the text: most have not, and are not touched.
    fn contains(&self, layer: Layer, day: Date, target: &ForgetTarget) -> Result<bool> {
        let archived =
            if layer == Layer::Daily { layer_file::read(&self.archive_path(day))? } else { None };
        let files = [layer_file::read(&self.path(layer, day))?, archived];
        let revisions = self.history(layer, day).all()?.into_iter().map(|revision| revision.text);
        let mut texts = files.into_iter().chain(revisions).flatten();
        Ok(texts.any(|text| target.redact(&text) != text))
    }
}

/// Returns the text without these sentences. A line with nothing left but its marker and its speaker is removed, and so
/// is a section without lines.
pub(crate) fn remove_quotes(text: &str, quotes: &HashSet<String>) -> String {
    let sections = MarkdownSections::parse(text);
    sections.headed_texts().filter_map(|(_, part, _)| section_without(part, quotes)).collect()
}

fn section_without(part: &str, quotes: &HashSet<String>) -> Option<String> {
    let lines = part.split_inclusive('\n').filter_map(|line| line_without(line, quotes));
    let remaining: String = lines.collect();
    let (heading, below) = remaining.split_once('\n').unwrap_or((&remaining, ""));
    let is_emptied = remaining != part && heading.starts_with("##") && below.trim().is_empty();
    (!is_emptied).then_some(remaining)
}

fn line_without(line: &str, quotes: &HashSet<String>) -> Option<String> {
    let mut remaining = String::new();
    for sentence in sentences(line) {
        remaining += find_quote(sentence, quotes).map_or(sentence, |at| &sentence[..at]);
    }
    let trimmed = line.trim();
    if remaining.trim_end() == trimmed {
        return Some(line.to_owned());
    }
    let rest = remaining.trim_start_matches(['-', '*', '>', ' ']).trim_end();
    let blanks = &line[..line.len() - line.trim_start().len()];
    let end = &line[line.trim_end().len()..];
    (!rest.is_empty() && !rest.ends_with(':'))
        .then(|| format!("{blanks}{}{end}", remaining.trim_end()))
}

/// Returns the start of a quote in a sentence that ends with it: at its beginning, after a list marker, or after a
/// speaker.
fn find_quote(sentence: &str, quotes: &HashSet<String>) -> Option<usize> {
    let bare = sentence.trim_start_matches(['-', '*', '>', ' ']);
    let start = sentence.len() - bare.len();
    let speakers = bare.match_indices(": ").map(|(at, colon)| start + at + colon.len());
    [0, start].into_iter().chain(speakers).find(|at| quotes.contains(sentence[*at..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::summary::{Utterance, quotable_sentences, summarize};

    fn quotes(text: &str) -> HashSet<String> {
        quotable_sentences(text).collect()
    }

    #[test]
    fn a_quoted_sentence_goes_with_its_line_and_others_stay() {
        let log =
            "## Session s (3 turns)\n\n- anna: The move is on March 14.\n- bot: Noted for March.\n";
        let remaining = remove_quotes(log, &quotes("Hi! The move is on March 14."));
        assert_eq!(remaining, "## Session s (3 turns)\n\n- bot: Noted for March.\n");
        let log = "## 会话 s（2 条）\n\n- 小王: 我们下个月搬家到杭州。\n\n## 其他\n\n天气好\n";
        assert_eq!(remove_quotes(log, &quotes("我们下个月搬家到杭州。")), "## 其他\n\n天气好\n");
    }

    #[test]
    fn what_a_person_added_to_the_line_stays_and_a_part_of_a_sentence_is_none() {
        let log = "- anna: The move is on March 14. Call Bob!\n- ben: She said the move is on March 14.\n";
        let remaining = remove_quotes(log, &quotes("the move is on March 14. Call Bob!"));
        assert_eq!(
            remaining,
            "- anna: The move is on March 14.\n- ben: She said the move is on March 14.\n"
        );
        assert_eq!(remove_quotes(log, &quotes("ok. March 14.")), log);
    }

    #[test]
    fn nothing_is_left_of_a_summary_when_all_its_turns_are_forgotten() {
        let texts = [
            "Dr. Who: the key: under the *mat*.  It is 3.5 cm long!",
            "极光项目的发布推迟到 5 月 4 日，因为审计晚了。请订会议室",
        ];
        for text in texts {
            for by in ["", "anna", "Dr. No", "用户"] {
                let log = summarize(&[Utterance { speaker: by, text, is_user: true }], 300);
                assert_eq!(remove_quotes(&log, &quotes(text)), "", "{log}");
            }
        }
    }
}
