//! Filter for reasoning text that a server leaves in the content of an answer.

/// Tags around reasoning, shared by several model families.
const OPEN_TAG: &str = "<think>";
const CLOSE_TAG: &str = "</think>";

/// Streaming filter that removes reasoning at the start of an answer, wherever the chunks are cut.
#[derive(Debug, Default)]
pub(super) struct ThinkingFilter {
    state: ThinkingState,
    /// Text that may still become a tag.
    pending: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ThinkingState {
    /// Only whitespace so far.
    #[default]
    Start,
    Inside,
    /// After the reasoning; whitespace before the answer is dropped.
    After,
    Answer,
}

impl ThinkingFilter {
    /// Filters the next text and returns its part of the answer.
    pub(super) fn filter(&mut self, more: &str) -> String {
        self.pending += more;
        if self.state == ThinkingState::Start {
            self.detect_open_tag();
        }
        if self.state == ThinkingState::Inside {
            self.skip_thinking();
        }
        if self.state == ThinkingState::After {
            self.pending = self.pending.trim_start().to_owned();
            if !self.pending.is_empty() {
                self.state = ThinkingState::Answer;
            }
        }
        if self.state == ThinkingState::Answer {
            std::mem::take(&mut self.pending)
        } else {
            String::new()
        }
    }

    /// Returns text that was held back when the answer ended.
    pub(super) fn flush(&mut self) -> Option<String> {
        let pending = std::mem::take(&mut self.pending);
        (self.state == ThinkingState::Start && !pending.is_empty()).then_some(pending)
    }

    fn detect_open_tag(&mut self) {
        let text = self.pending.trim_start();
        if let Some(reasoning) = text.strip_prefix(OPEN_TAG) {
            (self.state, self.pending) = (ThinkingState::Inside, reasoning.to_owned());
        } else if !OPEN_TAG.starts_with(text) {
            self.state = ThinkingState::Answer;
        }
    }

    fn skip_thinking(&mut self) {
        if let Some((_, after)) = self.pending.split_once(CLOSE_TAG) {
            (self.state, self.pending) = (ThinkingState::After, after.to_owned());
            return;
        }
        // Only the last few bytes may begin the closing tag.
        let from = self.pending.len().saturating_sub(CLOSE_TAG.len() - 1);
        let from = (from..=self.pending.len()).find(|at| self.pending.is_char_boundary(*at));
        self.pending = self.pending.split_off(from.unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(chunks: &[&str]) -> String {
        let mut filter = ThinkingFilter::default();
        let mut answer: String = chunks.iter().map(|chunk| filter.filter(chunk)).collect();
        answer.extend(filter.flush());
        answer
    }

    #[test]
    fn thoughts_before_an_answer_are_left_out_however_they_are_cut() {
        let whole = "\n<think>他问茶。Let me see… </think>\n\nGreen tea, 龙井。";
        let letters: Vec<String> = whole.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(filtered(&[whole]), "Green tea, 龙井。");
        assert_eq!(filtered(&letters), "Green tea, 龙井。");
    }

    #[test]
    fn an_answer_without_thoughts_is_left_as_it_is() {
        for whole in ["  indented", "<thin", "<table>", "a <think>b</think>", " ", "<"] {
            assert_eq!(filtered(&[whole]), whole);
        }
        assert_eq!(filtered(&["<", "b>bold</b>"]), "<b>bold</b>");
    }

    #[test]
    fn thoughts_without_an_answer_leave_nothing() {
        assert_eq!(filtered(&["<think>", "still thinking"]), "");
    }
}
