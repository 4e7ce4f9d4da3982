//! Vault index `MEMORY.md`: a line for each file, changed in place; every other line stays as it is.

use std::collections::HashMap;

use serde::Serialize;

use crate::{text::language::Language, types::Memory};

/// Most lines of the index in a prompt, the truncation mark included.
pub const MAX_INDEX_VIEW_LINES: usize = 200;
/// Most bytes of the index in a prompt, the truncation mark included.
pub const MAX_INDEX_VIEW_BYTES: usize = 25_000;

/// Most characters of a summary: one line that fits a screen.
const MAX_SUMMARY_CHARS: usize = 150;

/// Separators between a link and its summary that people and programs use; the first is ours.
const SEPARATORS: [&str; 5] = [" — ", ": ", " - ", " – ", "："];

/// Index by lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VaultIndex {
    /// Lines with their ends; a removed line is empty.
    lines: Vec<String>,
    by_file: HashMap<String, usize>,
}

/// Part of the index that a prompt shows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct VaultIndexView {
    /// Lines, with a mark at the end if some are left out.
    pub text: String,
    /// Number of lines left out; they are still on disk.
    pub left_out: usize,
}

/// Line that names a file: text before the link, title, target, and text after it.
struct IndexLink<'a> {
    before: &'a str,
    title: &'a str,
    target: String,
    after: &'a str,
}

impl VaultIndex {
    /// Parses an index; any text is one.
    pub fn parse(text: &str) -> Self {
        let mut index = Self::default();
        for line in text.split_inclusive('\n') {
            index.push(line.to_owned());
        }
        index
    }

    /// Returns the line of a file, without its end.
    pub fn line_for(&self, file: &str) -> Option<&str> {
        self.by_file.get(file).map(|at| self.lines[*at].trim_end_matches(['\n', '\r']))
    }

    /// Writes the line of a file: in place and in its style if there is one, after the last one if not.
    pub fn set(&mut self, file: &str, title: &str, summary: &str) {
        match self.by_file.get(file).copied() {
            Some(at) => {
                let line = revise_line(&self.lines[at], file, title, summary);
                self.lines[at] = line;
            }
            None => self.insert(file, line(title, file, SEPARATORS[0], summary)),
        }
    }

    /// Changes the line of a file from one title and summary to another; a line that a person reworded stays.
    pub fn update_unless_reworded(
        &mut self,
        file: &str,
        before: (&str, &str),
        after: (&str, &str),
    ) {
        let Some(at) = self.by_file.get(file).copied() else { return };
        if revise_line(&self.lines[at], file, before.0, before.1) == self.lines[at] {
            self.set(file, after.0, after.1);
        }
    }

    /// Removes the line of a file.
    pub fn remove(&mut self, file: &str) {
        if let Some(at) = self.by_file.remove(file) {
            self.lines[at].clear();
        }
    }

    /// Points the line of a file to its new name.
    pub fn rename(&mut self, from: &str, to: &str) {
        let Some(at) = self.by_file.remove(from) else { return };
        let line = &self.lines[at];
        let renamed = parse_link(line).map(|link| {
            let title = if link.title == from { to } else { link.title };
            format!("{}[{title}]({}){}", link.before, link_target(to), link.after)
        });
        if let Some(renamed) = renamed {
            self.lines[at] = renamed;
            self.by_file.insert(to.to_owned(), at);
        }
    }

    /// Returns lines that point to files which `exists` does not know, by title: their files may have been renamed.
    pub fn dangling(&self, exists: impl Fn(&str) -> bool) -> HashMap<String, String> {
        let lost = self.by_file.iter().filter(|(file, _)| !exists(file));
        lost.filter_map(|(file, at)| {
            Some((parse_link(&self.lines[*at])?.title.to_owned(), file.clone()))
        })
        .collect()
    }

    /// Returns the index for a prompt: as it is within the limits, else whole lines and a mark.
    pub fn view(text: &str, language: Language) -> VaultIndexView {
        let total = text.lines().count();
        if total <= MAX_INDEX_VIEW_LINES && text.len() <= MAX_INDEX_VIEW_BYTES {
            return VaultIndexView { text: text.to_owned(), left_out: 0 };
        }
        // The mark is at its longest when everything is left out.
        let room = MAX_INDEX_VIEW_BYTES - truncation_mark(total, language).len();
        let mut shown = String::new();
        let mut count = 0;
        for line in text.split_inclusive('\n').take(MAX_INDEX_VIEW_LINES - 1) {
            if shown.len() + line.len() + 1 > room {
                break;
            }
            shown.push_str(line);
            count += 1;
        }
        if !shown.is_empty() && !shown.ends_with('\n') {
            shown.push('\n');
        }
        shown.push_str(&truncation_mark(total - count, language));
        VaultIndexView { text: shown, left_out: total - count }
    }

    fn insert(&mut self, file: &str, line: String) {
        let newline =
            if self.lines.iter().any(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
        let after = self.lines.iter().rposition(|line| !line.trim().is_empty());
        // Blank lines at the end stay at the end only if nothing but blank lines follows the last entry.
        let at = after.map_or(0, |after| after + 1);
        if let Some(last) = at.checked_sub(1).and_then(|last| self.lines.get_mut(last))
            && !last.ends_with('\n')
        {
            last.push_str(newline);
        }
        if at < self.lines.len() {
            self.by_file.values_mut().filter(|line| **line >= at).for_each(|line| *line += 1);
        }
        self.lines.insert(at, line + newline);
        self.by_file.insert(file.to_owned(), at);
    }

    fn push(&mut self, line: String) {
        if let Some(link) = parse_link(&line) {
            self.by_file.entry(link.target).or_insert(self.lines.len());
        }
        self.lines.push(line);
    }
}

impl std::fmt::Display for VaultIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.lines.iter().try_for_each(|line| f.write_str(line))
    }
}

/// Returns one line on a memory: its description, or the beginning of its text.
pub(crate) fn index_summary(memory: &Memory) -> String {
    let text = match memory.description.trim() {
        "" => memory.content.trim().lines().next().unwrap_or_default(),
        description => description,
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_SUMMARY_CHARS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

fn truncation_mark(lines: usize, language: Language) -> String {
    match language {
        Language::Chinese => format!(
            "……（还有 {lines} 行未显示：上限 200 行、25,000 字节；它们仍在 MEMORY.md 中，可以检索）\n"
        ),
        _ => format!(
            "… ({lines} more lines are not shown: the limit is 200 lines, 25,000 bytes; they are in MEMORY.md and can be \
             searched)\n"
        ),
    }
}

fn line(title: &str, file: &str, separator: &str, summary: &str) -> String {
    let title = escape_link_text(title);
    let separator = if summary.is_empty() { "" } else { separator };
    format!("- [{title}]({}){separator}{summary}", link_target(file))
}

/// Escapes a title for the text of a link.
pub(crate) fn escape_link_text(title: &str) -> String {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    title.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

/// Returns a link target; a name with blanks or brackets is put in angle brackets.
fn link_target(file: &str) -> String {
    if file.contains([' ', '(', ')']) { format!("<{file}>") } else { file.to_owned() }
}

/// Returns the line with another title and summary; a title that is the file's name, the bullet and the separator stay.
fn revise_line(old: &str, file: &str, title: &str, summary: &str) -> String {
    let end = &old[old.trim_end_matches(['\n', '\r']).len()..];
    let Some(link) = parse_link(old) else {
        return line(title, file, SEPARATORS[0], summary) + end;
    };
    let stem = file.trim_end_matches(".md");
    let title = if link.title == file || link.title == stem { link.title } else { title };
    let separator = SEPARATORS.into_iter().find(|separator| link.after.starts_with(separator));
    let new = line(title, file, separator.unwrap_or(SEPARATORS[0]), summary);
    let bullet = link.before.trim_end_matches('[');
    format!("{bullet}{}{end}", new.trim_start_matches("- "))
}

/// Parses a list item that starts with a link to a file.
fn parse_link(line: &str) -> Option<IndexLink<'_>> {
    let item = line.trim_start();
    let item = item.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['.', ')']);
    let item = item.trim_start_matches(['-', '*', '+']).trim_start_matches([' ', '*']);
    let before = &line[..line.len() - item.len()];
    let (title, rest) = item.strip_prefix('[')?.split_once("](")?;
    let (target, after) = match rest.strip_prefix('<') {
        Some(angled) => angled.split_once(">)")?,
        None => rest.split_once(')')?,
    };
    let target = target.trim_start_matches("./").replace("%20", " ");
    let is_file = target.ends_with(".md") && !target.contains(['/', '\\']) && !before.is_empty();
    is_file.then_some(IndexLink { before, title, target, after })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_changed_in_place_and_in_its_own_way() {
        let text = "# Memory\n\n- [Tea](user_tea.md) — likes tea\n* [user_role.md](user_role.md): is a nurse\r\n\nThe end.\n";
        let mut index = VaultIndex::parse(text);
        assert_eq!(index.to_string(), text);
        index.set("user_tea.md", "茶", "喜欢龙井");
        index.set("user_role.md", "Role", "is a doctor");
        assert_eq!(
            index.to_string(),
            "# Memory\n\n- [茶](user_tea.md) — 喜欢龙井\n* [user_role.md](user_role.md): is a doctor\r\n\nThe end.\n"
        );
        index.remove("user_tea.md");
        index.rename("user_role.md", "user_job.md");
        assert_eq!(
            index.to_string(),
            "# Memory\n\n* [user_job.md](user_job.md): is a doctor\r\n\nThe end.\n"
        );
    }

    #[test]
    fn a_new_line_comes_last_and_blank_lines_stay_behind_it() {
        let mut index = VaultIndex::parse("# Memory\n\n- [A](a.md) — a\n\n");
        index.set("b c.md", "B [x]", "");
        index.set("d.md", "D", "d");
        assert_eq!(
            index.to_string(),
            "# Memory\n\n- [A](a.md) — a\n- [B \\[x\\]](<b c.md>)\n- [D](d.md) — d\n\n"
        );
        assert_eq!(
            VaultIndex::parse(&index.to_string()).line_for("b c.md"),
            index.line_for("b c.md")
        );
        let mut empty = VaultIndex::parse("no end");
        empty.set("a.md", "A", "a");
        assert_eq!(empty.to_string(), "no end\n- [A](a.md) — a\n");
    }

    #[test]
    fn a_line_follows_its_memory_unless_somebody_worded_it() {
        let text = "- [Tea](a.md) — likes tea\n- [Tea!](b.md) — my own words\n";
        let mut index = VaultIndex::parse(text);
        index.update_unless_reworded("a.md", ("Tea", "likes tea"), ("茶", "喜欢茶"));
        index.update_unless_reworded("b.md", ("Tea", "likes tea"), ("茶", "喜欢茶"));
        index.update_unless_reworded("c.md", ("Tea", "likes tea"), ("茶", "喜欢茶"));
        assert_eq!(index.to_string(), "- [茶](a.md) — 喜欢茶\n- [Tea!](b.md) — my own words\n");
    }

    #[test]
    fn links_elsewhere_are_not_files_of_the_vault() {
        let index = VaultIndex::parse(
            "- [x](https://a.b/c.md)\n- [y](../up.md)\nsee [z](z.md)\n- [w](./w.md)\n",
        );
        assert_eq!((index.line_for("z.md"), index.line_for("up.md")), (None, None));
        assert!(index.line_for("w.md").is_some());
    }

    #[test]
    fn the_view_of_a_long_index_keeps_its_limits_and_says_so() {
        for (count, width) in [(201, 20), (150, 400), (5_000, 10), (3, 30_000)] {
            let text: String = (0..count)
                .map(|n| format!("- [{n}](f{n}.md) — {}\n", "茶".repeat(width / 3)))
                .collect();
            for language in [Language::English, Language::Chinese] {
                let view = VaultIndex::view(&text, language);
                assert!(
                    view.text.lines().count() <= MAX_INDEX_VIEW_LINES
                        && view.text.len() <= MAX_INDEX_VIEW_BYTES
                );
                assert!(view.left_out > 0);
                let last = view.text.lines().last().unwrap();
                assert!(last.contains(&view.left_out.to_string()), "{last}");
                let shown = view.text.lines().count() - 1;
                assert_eq!(shown + view.left_out, count);
            }
        }
        let fits = "- [a](a.md)\n".repeat(200);
        assert_eq!(
            VaultIndex::view(&fits, Language::English),
            VaultIndexView { text: fits, left_out: 0 }
        );
    }
}
