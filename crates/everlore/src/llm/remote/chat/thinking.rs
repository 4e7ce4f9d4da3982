//! Thoughts that a server leaves in the text of an answer: they are no part of it.

/// How models of several families mark them.
const OPEN_TAG: &str = "<think>";
const CLOSE_TAG: &str = "</think>";

/// Leaves out thoughts at the beginning of an answer, however the text is cut.
#[derive(Debug, Default)]
pub(super) struct ThinkingFilter {
    state: ThinkingState,
    /// What may still become a mark.
    pending: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ThinkingState {
    /// Nothing but space came so far.
    #[default]
    Start,
    Inside,
    /// Thoughts are over; space before the answer is left out.
    After,
    Answer,
}

impl ThinkingFilter {
    /// What of `more` is part of the answer.
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

    /// What was held back when the answer ended.
    pub(super) fn flush(&mut self) -> Option<String> {
        let held = std::mem::take(&mut self.pending);
        (self.state == ThinkingState::Start && !held.is_empty()).then_some(held)
    }

    fn detect_open_tag(&mut self) {
        let said = self.pending.trim_start();
        if let Some(thoughts) = said.strip_prefix(OPEN_TAG) {
            (self.state, self.pending) = (ThinkingState::Inside, thoughts.to_owned());
        } else if !OPEN_TAG.starts_with(said) {
            self.state = ThinkingState::Answer;
        }
    }

    fn skip_thinking(&mut self) {
        if let Some((_, after)) = self.pending.split_once(CLOSE_TAG) {
            (self.state, self.pending) = (ThinkingState::After, after.to_owned());
            return;
        }
        // Only the last few bytes may be the beginning of the mark.
        let from = self.pending.len().saturating_sub(CLOSE_TAG.len() - 1);
        let from = (from..=self.pending.len()).find(|at| self.pending.is_char_boundary(*at));
        self.pending = self.pending.split_off(from.unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(pieces: &[&str]) -> String {
        let mut thinking = ThinkingFilter::default();
        let mut said: String = pieces.iter().map(|piece| thinking.filter(piece)).collect();
        said.extend(thinking.flush());
        said
    }

    #[test]
    fn thoughts_before_an_answer_are_left_out_however_they_are_cut() {
        let whole = "\n<think>他问茶。Let me see… </think>\n\nGreen tea, 龙井。";
        let letters: Vec<String> = whole.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(said(&[whole]), "Green tea, 龙井。");
        assert_eq!(said(&letters), "Green tea, 龙井。");
    }

    #[test]
    fn an_answer_without_thoughts_is_left_as_it_is() {
        for whole in ["  indented", "<thin", "<table>", "a <think>b</think>", " ", "<"] {
            assert_eq!(said(&[whole]), whole);
        }
        assert_eq!(said(&["<", "b>bold</b>"]), "<b>bold</b>");
    }

    #[test]
    fn thoughts_without_an_answer_leave_nothing() {
        assert_eq!(said(&["<think>", "still thinking"]), "");
    }
}
