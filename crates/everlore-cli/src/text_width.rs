//! Texts that fit a terminal: width in cells, word wrap for English and Chinese, and tables that are not wider than it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::output::terminal_width;

/// Narrowest column of a list that is made to fit.
pub(crate) const MIN_COLUMN_CELLS: usize = 10;

/// Blanks between two columns.
const COLUMN_GAP: usize = 2;

/// Characters that do not begin a line.
const CLOSING: &str = "，。、！？；：）】》」』”’…,.!?;:)]}";

/// Breaks a text into lines of at most this many cells: between words, and between Chinese characters. Line breaks stay.
pub(crate) fn wrap(text: &str, cells: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        lines.extend(wrap_line(line, cells.max(2)));
    }
    lines
}

/// Returns a text that fits the terminal; as it is, where there is none.
pub(crate) fn fit_terminal(text: &str) -> String {
    terminal_width().map_or_else(|| text.to_owned(), |cells| wrap(text, cells).join("\n"))
}

/// Breaks one line; the following lines are indented as it is.
fn wrap_line(line: &str, cells: usize) -> Vec<String> {
    if line.width() <= cells {
        return vec![line.to_owned()];
    }
    let body = line.trim_start();
    let indent = &line[..line.len() - body.len()];
    let indent = if indent.width() * 2 > cells { "" } else { indent };
    let mut lines = Vec::new();
    let mut current = indent.to_owned();
    for unit in units(body) {
        let is_new = current.len() == indent.len();
        if !is_new && current.width() + unit.trim_end().width() > cells {
            lines.push(std::mem::replace(&mut current, indent.to_owned()).trim_end().to_owned());
        }
        push_unit(unit, cells, indent, &mut current, &mut lines);
    }
    lines.push(current.trim_end().to_owned());
    lines
}

/// Adds a unit to the current line; one that is wider than a whole line is cut.
fn push_unit(
    unit: &str,
    cells: usize,
    indent: &str,
    current: &mut String,
    lines: &mut Vec<String>,
) {
    for c in unit.chars() {
        if current.len() > indent.len()
            && !c.is_whitespace()
            && current.width() + c.width().unwrap_or(0) > cells
        {
            lines.push(std::mem::replace(current, indent.to_owned()));
        }
        current.push(c);
    }
}

/// Splits a text where a line may break: after blanks, and around wide characters. Closing marks stay with what they close.
pub(crate) fn units(text: &str) -> Vec<&str> {
    let mut units = Vec::new();
    let (mut start, mut last) = (0, None);
    for (index, c) in text.char_indices() {
        if last.is_some_and(|last| may_break(last, c)) {
            units.push(&text[start..index]);
            start = index;
        }
        last = Some(c);
    }
    if start < text.len() {
        units.push(&text[start..]);
    }
    units
}

/// Returns `true` if a line may end between two characters.
pub(crate) fn may_break(before: char, after: char) -> bool {
    let is_wide = |c: char| c.width() == Some(2);
    if after.is_whitespace() || CLOSING.contains(after) {
        return false;
    }
    before.is_whitespace() || is_wide(before) || is_wide(after)
}

/// Returns the widths of columns that fit into `total` cells: the widest ones give way first, none below its least width.
pub(crate) fn fit_columns(widths: &[usize], least: &[usize], total: usize) -> Vec<usize> {
    let mut widths = widths.to_vec();
    let gaps = COLUMN_GAP * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > total {
        let can_shrink = (0..widths.len()).filter(|column| widths[*column] > least[*column]);
        let Some(widest) = can_shrink.max_by_key(|column| widths[*column]) else { break };
        widths[widest] -= 1;
    }
    widths
}

/// Returns the width of the longest part of a text that does not break.
pub(crate) fn longest_unit(text: &str) -> usize {
    let lines = text.lines().flat_map(|line| units(line));
    lines.map(|unit| unit.trim_end().width()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_never_inside_one() {
        assert_eq!(wrap("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(wrap("  - one two three", 11), ["  - one two", "  three"]);
        assert_eq!(wrap("one\n\ntwo", 10), ["one", "", "two"]);
        assert_eq!(wrap("abcdefghijkl", 5), ["abcde", "fghij", "kl"], "wider than a line");
    }

    #[test]
    fn chinese_breaks_between_characters_and_not_before_a_mark() {
        assert_eq!(wrap("我喜欢喝龙井茶", 8), ["我喜欢喝", "龙井茶"]);
        assert_eq!(wrap("我喜欢喝茶，每天", 10), ["我喜欢喝", "茶，每天"]);
        assert_eq!(wrap("用 everlore list 查看", 12), ["用 everlore", "list 查看"]);
        assert!(wrap("每天早上一杯龙井茶。", 7).iter().all(|line| line.width() <= 7));
    }

    #[test]
    fn the_widest_columns_give_way() {
        let fit = |widths: &[usize], total| fit_columns(widths, &vec![10; widths.len()], total);
        assert_eq!(fit(&[8, 48, 12], 80), [8, 48, 12]);
        assert_eq!(fit(&[8, 48, 12], 60), [8, 36, 12]);
        assert_eq!(fit(&[40, 40], 42), [20, 20]);
        assert_eq!(fit(&[40, 40], 5), [10, 10], "no column disappears");
        assert_eq!(longest_unit("one three 龙井茶。"), 5);
    }
}
