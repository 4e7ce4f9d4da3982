//! A place in the tokens of a text, from which the grammar reads.

use super::lex::Token;
use super::words::Word;

/// A reader that can be copied and thus put back.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    tokens: &'a [Token],
    at: usize,
    /// A word before says that a time must follow: "since", "between".
    linked: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(tokens: &'a [Token], at: usize) -> Self {
        Self { tokens, at, linked: false }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn word(&self) -> Word {
        self.ahead(0)
    }

    /// The word `n` tokens further on.
    pub(super) fn ahead(&self, n: usize) -> Word {
        self.tokens.get(self.at + n).map_or(Word::End, |token| token.word)
    }

    /// The word `n` tokens back.
    pub(super) fn behind(&self, n: usize) -> Word {
        self.at.checked_sub(n).map_or(Word::End, |at| self.tokens[at].word)
    }

    /// Whether no blank stands before the token `n` further on.
    pub(super) fn glued(&self, n: usize) -> bool {
        self.tokens.get(self.at + n).is_some_and(|token| token.glued)
    }

    pub(super) fn capital(&self) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.capital)
    }

    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    pub(super) fn advance(&mut self, count: usize) {
        self.at += count;
    }

    /// Skips a word and gives `value`.
    pub(super) fn skip_to<T>(&mut self, value: T) -> Option<T> {
        self.skip();
        Some(value)
    }

    pub(super) fn eat(&mut self, word: Word) -> bool {
        let found = self.word() == word;
        self.at += usize::from(found);
        found
    }

    /// Takes the next word if `pick` wants it.
    pub(super) fn take<T>(&mut self, pick: impl FnOnce(Word) -> Option<T>) -> Option<T> {
        let picked = pick(self.word())?;
        self.skip();
        Some(picked)
    }

    /// Reads with `parse`; where it fails, stays in place.
    pub(super) fn attempt<T>(&mut self, parse: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut copy = *self;
        let parsed = parse(&mut copy)?;
        *self = Self { linked: self.linked, ..copy };
        Some(parsed)
    }

    /// Marks that a time must follow.
    pub(super) fn link(&mut self) {
        self.linked = true;
    }

    /// Whether the word before, or a relation before that, says that this is a time.
    pub(super) fn is_linked(&self) -> bool {
        let link = if self.behind(1) == Word::The { self.behind(2) } else { self.behind(1) };
        let is_preposition = matches!(
            link,
            Word::In
                | Word::Of
                | Word::Since
                | Word::Before
                | Word::After
                | Word::Until
                | Word::From
        );
        self.linked || is_preposition || matches!(self.behind(1), Word::Shift(_))
    }

    /// Whether the word before says that this is a habit: every Monday, 每周三.
    pub(super) fn is_habit(&self) -> bool {
        self.behind(1) == Word::Each
    }
}
