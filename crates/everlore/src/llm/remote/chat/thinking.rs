//! Thoughts that a server leaves in the text of an answer: they are no part of it.

/// How models of several families mark them.
const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Leaves out thoughts at the beginning of an answer, however the text is cut.
#[derive(Debug, Default)]
pub(super) struct Thinking {
    state: State,
    /// What may still become a mark.
    held: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing but space came so far.
    #[default]
    Start,
    Inside,
    /// Thoughts are over; space before the answer is left out.
    After,
    Answer,
}

impl Thinking {
    /// What of `more` is part of the answer.
    pub(super) fn without(&mut self, more: &str) -> String {
        self.held += more;
        if self.state == State::Start {
            self.begin();
        }
        if self.state == State::Inside {
            self.skip();
        }
        if self.state == State::After {
            self.held = self.held.trim_start().to_owned();
            if !self.held.is_empty() {
                self.state = State::Answer;
            }
        }
        if self.state == State::Answer { std::mem::take(&mut self.held) } else { String::new() }
    }

    /// What was held back when the answer ended.
    pub(super) fn rest(&mut self) -> Option<String> {
        let held = std::mem::take(&mut self.held);
        (self.state == State::Start && !held.is_empty()).then_some(held)
    }

    fn begin(&mut self) {
        let said = self.held.trim_start();
        if let Some(thoughts) = said.strip_prefix(OPEN) {
            (self.state, self.held) = (State::Inside, thoughts.to_owned());
        } else if !OPEN.starts_with(said) {
            self.state = State::Answer;
        }
    }

    fn skip(&mut self) {
        if let Some((_, after)) = self.held.split_once(CLOSE) {
            (self.state, self.held) = (State::After, after.to_owned());
            return;
        }
        // Only the last few bytes may be the beginning of the mark.
        let from = self.held.len().saturating_sub(CLOSE.len() - 1);
        let from = (from..=self.held.len()).find(|at| self.held.is_char_boundary(*at));
        self.held = self.held.split_off(from.unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(pieces: &[&str]) -> String {
        let mut thinking = Thinking::default();
        let mut said: String = pieces.iter().map(|piece| thinking.without(piece)).collect();
        said.extend(thinking.rest());
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
