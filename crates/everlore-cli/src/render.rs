//! Text and tables for people: stored text cannot control the terminal, and Chinese columns line up.

use std::borrow::Cow;

use comfy_table::{ContentArrangement, Table, presets};
use everlore::{
    Kind, Memory,
    engine::SecretKind,
    internal::text::{sanitize::sanitize_verbatim, secrets::describe_kinds, tiers::one_line},
};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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

/// Sanitizes a text and indents every line.
pub(crate) fn indent(text: &str, blanks: usize) -> String {
    let text = sanitize(text.trim_end());
    let lines = text.lines().map(|line| match line {
        "" => String::new(),
        line => format!("{:blanks$}{line}", ""),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a table without rules, its columns two blanks apart.
pub(crate) fn new_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    if !header.is_empty() {
        table.set_header(header);
    }
    table
}

/// Renders a table, with a line break at its end.
pub(crate) fn render_table(mut table: Table) -> String {
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
    fn words_are_quoted_only_where_a_shell_needs_it() {
        assert_eq!(shell_quote("notes.jsonl"), "notes.jsonl");
        assert_eq!(shell_quote("it's here"), r"'it'\''s here'");
        assert_eq!(shell_quote(""), "''");
    }
}
