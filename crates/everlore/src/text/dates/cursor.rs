//! Cursor over the tokens of a text, from which the grammar reads.

use super::lexer::TimeToken;
use super::lexicon::TimeWord;

/// Position in the tokens; it can be copied to go back.
#[derive(Clone, Copy)]
pub(super) struct TokenCursor<'a> {
    tokens: &'a [TimeToken],
    at: usize,
    /// Set if the word before requires a time: "since", "between".
    expects_time: bool,
}

impl<'a> TokenCursor<'a> {
    pub(super) fn new(tokens: &'a [TimeToken], at: usize) -> Self {
        Self { tokens, at, expects_time: false }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn word(&self) -> TimeWord {
        self.peek(0)
    }

    /// Returns the word `n` tokens ahead.
    pub(super) fn peek(&self, n: usize) -> TimeWord {
        self.tokens.get(self.at + n).map_or(TimeWord::End, |token| token.word)
    }

    /// Returns the word `n` tokens back.
    pub(super) fn look_back(&self, n: usize) -> TimeWord {
        self.at.checked_sub(n).map_or(TimeWord::End, |at| self.tokens[at].word)
    }

    /// Returns `true` if no blank precedes the token `n` ahead.
    pub(super) fn follows_directly(&self, n: usize) -> bool {
        self.tokens.get(self.at + n).is_some_and(|token| token.follows_directly)
    }

    pub(super) fn is_capitalized(&self) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.is_capitalized)
    }

    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    pub(super) fn advance(&mut self, count: usize) {
        self.at += count;
    }

    /// Skips a word and returns `value`.
    pub(super) fn skip_with<T>(&mut self, value: T) -> Option<T> {
        self.skip();
        Some(value)
    }

    pub(super) fn eat(&mut self, word: TimeWord) -> bool {
        let found = self.word() == word;
        self.at += usize::from(found);
        found
    }

    /// Takes the next word if `pick` returns a value for it.
    pub(super) fn take_if_some<T>(
        &mut self,
        pick: impl FnOnce(TimeWord) -> Option<T>,
    ) -> Option<T> {
        let picked = pick(self.word())?;
        self.skip();
        Some(picked)
    }

    /// Runs `parse`; if it fails, the cursor stays.
    pub(super) fn attempt<T>(&mut self, parse: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut copy = *self;
        let parsed = parse(&mut copy)?;
        *self = Self { expects_time: self.expects_time, ..copy };
        Some(parsed)
    }

    /// Records that a time must follow.
    pub(super) fn expect_time(&mut self) {
        self.expects_time = true;
    }

    /// Returns `true` if the word before, or a preposition before that, requires a time.
    pub(super) fn is_time_expected(&self) -> bool {
        let link =
            if self.look_back(1) == TimeWord::The { self.look_back(2) } else { self.look_back(1) };
        let is_preposition = matches!(
            link,
            TimeWord::In
                | TimeWord::Of
                | TimeWord::Since
                | TimeWord::Before
                | TimeWord::After
                | TimeWord::Until
                | TimeWord::From
        );
        self.expects_time || is_preposition || matches!(self.look_back(1), TimeWord::Shift(_))
    }

    /// Returns `true` if the word before makes this a habit: every Monday, 每周三.
    pub(super) fn is_habit(&self) -> bool {
        self.look_back(1) == TimeWord::Each
    }
}
