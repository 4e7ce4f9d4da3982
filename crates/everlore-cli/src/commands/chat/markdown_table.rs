//! Tables of markdown, as columns that fit the terminal.

use unicode_width::UnicodeWidthStr;

use crate::render::layout_rows;

const BOLD: &str = "\x1b[1m";
const FAINT: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// Renders the lines of a table; `None` if they are none.
pub(super) fn render_markdown_table(lines: &[String], width: Option<usize>) -> Option<String> {
    let [header, rule, rows @ ..] = lines else { return None };
    if !cells(rule).iter().all(|cell| is_rule(cell)) {
        return None;
    }
    let columns = cells(header).len();
    let row = |line: &String| {
        let mut row = cells(line);
        row.resize(columns, String::new());
        row
    };
    let all: Vec<Vec<String>> = std::iter::once(header).chain(rows).map(row).collect();
    let laid_out = layout_rows(&all, width);
    let (header, rows) = laid_out.split_first()?;
    let header = header.lines().map(|line| format!("{BOLD}{line}{RESET}\n")).collect::<String>();
    let rule = format!("{FAINT}{}{RESET}\n", rule_line(&laid_out, &all, width));
    Some(header + &rule + &rows.iter().map(|row| format!("{row}\n")).collect::<String>())
}

/// Returns a rule below each column.
fn rule_line(laid_out: &[String], all: &[Vec<String>], width: Option<usize>) -> String {
    let widest = laid_out.iter().flat_map(|row| row.lines()).map(UnicodeWidthStr::width).max();
    let columns = all.first().map_or(0, Vec::len);
    let cell = |column: usize| {
        all.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
    };
    let natural: Vec<usize> = (0..columns).map(cell).collect();
    let total = natural.iter().sum::<usize>() + 2 * columns.saturating_sub(1);
    match width {
        Some(width) if total > width => "─".repeat(widest.unwrap_or(width).min(width)),
        _ => natural.iter().map(|cells| "─".repeat(*cells)).collect::<Vec<_>>().join("  "),
    }
}

/// Splits a line into its cells, without the markers of bold and code.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line).replace("\\|", "\u{0}");
    line.split('|').map(|cell| plain(&cell.replace('\u{0}', "|"))).collect()
}

fn plain(cell: &str) -> String {
    cell.trim().replace("**", "").replace('`', "").replace("<br>", " ")
}

fn is_rule(cell: &str) -> bool {
    cell.contains('-') && cell.chars().all(|c| c == '-' || c == ':')
}
