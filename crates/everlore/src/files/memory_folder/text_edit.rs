//! Text of a memory file: its lines with numbers, and the two edits. Nothing here touches a file.

use std::ops::RangeInclusive;

/// Lines shown before and after an edit.
const CONTEXT_LINES: usize = 2;

/// Reason why nothing was replaced.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReplaceError {
    /// The old text is not there.
    NotFound,
    /// The old text occurs more than once, in these lines.
    Ambiguous(Vec<usize>),
}

/// Counts the lines of a text; a line break at the end begins no new one.
pub(super) fn line_count(text: &str) -> usize {
    text.lines().count()
}

/// Returns lines with their numbers, six wide, and a tab.
pub(super) fn number_lines(text: &str, range: RangeInclusive<usize>) -> String {
    let first = (*range.start()).max(1);
    let shown =
        text.lines().enumerate().skip(first - 1).take_while(|(index, _)| index < range.end());
    let lines: Vec<String> =
        shown.map(|(index, line)| format!("{:>6}\t{line}", index + 1)).collect();
    lines.join("\n")
}

/// Returns the lines around an edit, with their numbers.
pub(super) fn snippet(text: &str, first: usize, count: usize) -> String {
    let last = first + count.max(1) - 1 + CONTEXT_LINES;
    number_lines(text, first.saturating_sub(CONTEXT_LINES).max(1)..=last.min(line_count(text)))
}

/// Replaces `old`, which must occur once, by `new`; returns the text and the first line of the replacement.
///
/// A text that was seen with plain line breaks also matches a file with Windows ones, which stay what they are.
pub(super) fn replace_unique(
    text: &str,
    old: &str,
    new: &str,
) -> Result<(String, usize), ReplaceError> {
    let plain = occurrences(text, old);
    let windows = |part: &str| part.replace("\r\n", "\n").replace('\n', "\r\n");
    let (positions, old, new) = if plain.is_empty() && old.contains('\n') && text.contains("\r\n") {
        let old = windows(old);
        (occurrences(text, &old), old, windows(new))
    } else {
        (plain, old.to_owned(), new.to_owned())
    };
    match positions[..] {
        [] => Err(ReplaceError::NotFound),
        [at] => {
            let edited = format!("{}{new}{}", &text[..at], &text[at + old.len()..]);
            Ok((edited, line_number(text, at)))
        }
        _ => Err(ReplaceError::Ambiguous(
            positions.iter().map(|at| line_number(text, *at)).collect(),
        )),
    }
}

fn occurrences(text: &str, old: &str) -> Vec<usize> {
    text.match_indices(old).map(|(at, _)| at).collect()
}

fn line_number(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Inserts `added` as lines of its own after the line `after`, 0 for the beginning; `None` if there is no such line.
/// Every other byte stays as it is.
pub(super) fn insert_after_line(text: &str, after: usize, added: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if after > lines.len() {
        return None;
    }
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (before, rest) = lines.split_at(after);
    let mut edited = before.concat();
    if !edited.is_empty() && !edited.ends_with('\n') {
        edited.push_str(line_end);
    }
    edited.push_str(added);
    let ends = added.ends_with('\n');
    if !ends && (!rest.is_empty() || text.ends_with('\n')) {
        edited.push_str(line_end);
    }
    edited.extend(rest.iter().copied());
    Some(edited)
}

/// Formats a size as `du -h` does.
pub(super) fn human_size(bytes: u64) -> String {
    let scaled = |unit: u64| bytes as f64 / unit as f64;
    match bytes {
        0..1_024 => format!("{bytes}B"),
        1_024..1_048_576 => format!("{:.1}K", scaled(1 << 10)),
        1_048_576..1_073_741_824 => format!("{:.1}M", scaled(1 << 20)),
        _ => format!("{:.1}G", scaled(1 << 30)),
    }
}
