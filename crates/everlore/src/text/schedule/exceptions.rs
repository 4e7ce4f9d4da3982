//! Exceptions of a phrase: days and months that it leaves out.

use super::{part::Cursor, word::Word};

/// Returns `true` if a weekday or a month follows "except", with small words between.
pub(super) fn excepts_day(c: &Cursor<'_>) -> bool {
    let is_small = |word| {
        matches!(
            word,
            Word::On
                | Word::In
                | Word::The
                | Word::Article
                | Word::Every
                | Word::For
                | Word::Measure
                | Word::Of
        )
    };
    let small = (1..4).take_while(|n| is_small(c.peek(*n))).count();
    let is_month = matches!(
        (c.peek(1 + small), c.peek(2 + small), c.peek(3 + small)),
        (Word::Number { .. }, Word::MonthMark, next) if !matches!(next, Word::Number { .. })
    );
    // "except June 5" is a single date.
    let is_named_month = matches!(c.peek(1 + small), Word::Month { .. })
        && !matches!(c.peek(2 + small), Word::Number { .. } | Word::Ordinal(_) | Word::The);
    is_month || is_named_month || matches!(c.peek(1 + small), Word::Weekdays { .. })
}
