//! Text and tables for people: stored text cannot control the terminal, and Chinese columns line up.

use std::borrow::Cow;

use comfy_table::{Cell, ContentArrangement, Row, Table, presets};
use everlore::{
    Kind, Memory,
    engine::SecretKind,
    internal::text::{sanitize::sanitize_verbatim, secrets::describe_kinds, tiers::one_line},
};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::{
    messages::translate,
    output::terminal_width,
    text_width::{MIN_COLUMN_CELLS, fit_columns, longest_unit, wrap},
};

/// Longest title in a list, in terminal cells.
pub(crate) const TITLE_CELLS: usize = 48;

/// Replaces control characters with �, so that stored text cannot move the cursor or change colours.
pub(crate) fn sanitize(text: &str) -> Cow<'_, str> {
    let unsafe_char = |c: char| c.is_control() && c != '\n' && c != '\t' || is_bidi_control(c);
    if text.contains(unsafe_char) {
        text.replace(unsafe_char, "\u{fffd}").into()
    } else {
        text.into()
    }
}

/// Sanitizes a text that agents read through a shell: as [`sanitize`] does, and tags of prompt blocks become inert.
pub(crate) fn sanitize_for_agent(text: &str) -> String {
    sanitize_verbatim(&sanitize(text))
}

/// Returns `true` for marks that reverse the text direction, by which a text could show as another one.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the title of a memory in a list: its name, or the beginning of a turn with its speaker.
pub(crate) fn memory_title(memory: &Memory) -> String {
    let name = if memory.name.is_empty() { one_line(memory) } else { memory.name.clone() };
    match (&memory.source.speaker, memory.kind) {
        (Some(speaker), Kind::Turn) => sanitize(&format!("{speaker}: {name}")).into_owned(),
        _ => sanitize(&name).into_owned(),
    }
}

/// Cuts a text to this many terminal cells.
pub(crate) fn truncate_width(text: &str, cells: usize) -> String {
    if text.width() <= cells {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= cells
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    cut.push('…');
    cut
}

/// Fills a text with blanks to this many terminal cells.
pub(crate) fn pad_width(text: &str, cells: usize) -> String {
    format!("{text}{}", " ".repeat(cells.saturating_sub(text.width())))
}

/// Sanitizes a text and indents every line; on a terminal, long lines break between words.
pub(crate) fn indent(text: &str, blanks: usize) -> String {
    let text = sanitize(text.trim_end());
    let line = |line: &str| match line {
        "" => String::new(),
        line => format!("{:blanks$}{line}", ""),
    };
    let lines: Vec<String> = match terminal_width() {
        Some(width) => {
            let cells = width.saturating_sub(blanks);
            wrap(&text, cells).iter().map(|text| line(text)).collect()
        }
        None => text.lines().map(line).collect(),
    };
    lines.join("\n")
}

/// Returns a table without rules, its columns two blanks apart, its header in the chosen language.
pub(crate) fn new_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    if !header.is_empty() {
        table.set_header(header.iter().map(|name| translate(name)));
    }
    table
}

/// Renders a table, with a line break at its end. On a terminal that is too narrow, long cells break between words.
pub(crate) fn render_table(table: Table) -> String {
    render_fitted(table, &CellFit::Wrap)
}

/// Renders a list, one line per row. On a terminal that is too narrow, long cells are cut.
pub(crate) fn render_list(table: Table) -> String {
    render_fitted(table, &CellFit::Cut)
}

/// Way to make a cell narrower.
enum CellFit {
    /// Breaks it between words.
    Wrap,
    /// Cuts it.
    Cut,
}

impl CellFit {
    fn shorten(&self, cell: &str, cells: usize) -> String {
        match self {
            Self::Wrap => wrap(cell, cells).join("\n"),
            Self::Cut => truncate_width(cell, cells),
        }
    }

    /// Returns the least width of a cell.
    fn least(&self, cell: &str) -> usize {
        match self {
            Self::Wrap => longest_unit(cell),
            Self::Cut => cell.width().min(MIN_COLUMN_CELLS),
        }
    }
}

fn render_fitted(table: Table, fit: &CellFit) -> String {
    match terminal_width() {
        Some(width) => render_columns(fitted(&table, width, fit)),
        None => render_columns(table),
    }
}

/// Returns the table with cells that fit their columns.
fn fitted(table: &Table, width: usize, fit: &CellFit) -> Table {
    let row = |row: &Row| row.cell_iter().map(Cell::content).collect::<Vec<String>>();
    let header = table.header().map(row);
    let rows: Vec<Vec<String>> = table.row_iter().map(row).collect();
    let columns = header.iter().chain(&rows).map(Vec::len).max().unwrap_or(0);
    let measure = |of: &dyn Fn(&str) -> usize| -> Vec<usize> {
        let cells =
            |column: usize| header.iter().chain(&rows).filter_map(move |row| row.get(column));
        (0..columns).map(|column| cells(column).map(|cell| of(cell)).max().unwrap_or(0)).collect()
    };
    let widest = |cell: &str| cell.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
    let widths = fit_columns(&measure(&widest), &measure(&|cell| fit.least(cell)), width);
    let fit_row = |row: &Vec<String>| {
        row.iter().zip(&widths).map(|(cell, cells)| fit.shorten(cell, *cells)).collect::<Vec<_>>()
    };
    let mut narrow = new_table(&[]);
    if let Some(header) = &header {
        narrow.set_header(fit_row(header));
    }
    for row in &rows {
        narrow.add_row(fit_row(row));
    }
    narrow
}

/// Returns rows of cells as lines of columns, which fit the width; a row may have several lines.
pub(crate) fn layout_rows(rows: &[Vec<String>], width: Option<usize>) -> Vec<String> {
    let mut table = new_table(&[]);
    for row in rows {
        table.add_row(row);
    }
    let table = match width {
        Some(width) => fitted(&table, width, &CellFit::Wrap),
        None => table,
    };
    let heights = table.row_iter().map(|row| {
        row.cell_iter().map(|cell| cell.content().lines().count()).max().unwrap_or(1).max(1)
    });
    let heights: Vec<usize> = heights.collect();
    let text = render_columns(table);
    let mut lines = text.lines();
    heights
        .iter()
        .map(|height| lines.by_ref().take(*height).collect::<Vec<_>>().join("\n"))
        .collect()
}

fn render_columns(mut table: Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt() + "\n"
}

/// Returns "1 memory", "2 memories".
pub(crate) fn pluralize(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Formats a size: "512 bytes", "1.5 MiB".
pub(crate) fn format_bytes(bytes: u64) -> String {
    match bytes {
        0..1_024 => pluralize(bytes as usize, "byte", "bytes"),
        1_024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1_024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

/// Quotes a word of a command line if a shell would split or change it.
pub(crate) fn shell_quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns the note that secrets were masked, so that the user does not search for them later.
pub(crate) fn masked_note(kinds: &[SecretKind]) -> String {
    format!("masked {}: the value was not stored", describe_kinds(kinds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_text_cannot_steer_the_terminal() {
        assert_eq!(sanitize("a\u{1b}[2Jb\u{0}\n茶"), "a�[2Jb�\n茶");
        assert_eq!(sanitize("plain\ttext"), "plain\ttext");
    }

    #[test]
    fn long_texts_are_cut_by_cells_and_not_by_characters() {
        assert_eq!(truncate_width("tea", 3), "tea");
        assert_eq!(truncate_width("tea time", 4), "tea…");
        assert_eq!(truncate_width("喜欢喝龙井茶", 8), "喜欢喝…");
    }

    #[test]
    fn tables_line_up_in_chinese() {
        let mut table = new_table(&["name", "kind"]);
        table.add_row(["龙井茶", "user"]).add_row(["tea", "user"]);
        assert_eq!(render_table(table), "name    kind\n龙井茶  user\ntea     user\n");
    }

    #[test]
    fn tables_fit_a_narrow_terminal_in_both_languages() {
        let mut table = new_table(&["id", "name", "age"]);
        table.add_row(["5f2d1e8a", "I drink green tea every single morning", "just now"]);
        table.add_row(["9b04aa12", "我喜欢喝龙井茶，每天早上一杯，下午喝咖啡", "just now"]);
        let cut = render_columns(fitted(&table, 40, &CellFit::Cut));
        assert_eq!(cut.lines().count(), 3, "{cut}");
        let wrapped = render_columns(fitted(&table, 40, &CellFit::Wrap));
        for line in cut.lines().chain(wrapped.lines()) {
            assert!(line.width() <= 40, "{line}");
        }
        assert!(wrapped.contains("morning") && wrapped.contains("咖啡"), "{wrapped}");
    }

    #[test]
    fn words_are_quoted_only_where_a_shell_needs_it() {
        assert_eq!(shell_quote("notes.jsonl"), "notes.jsonl");
        assert_eq!(shell_quote("it's here"), r"'it'\''s here'");
        assert_eq!(shell_quote(""), "''");
    }
}
