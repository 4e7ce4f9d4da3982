//! Budgets of layers: which change is allowed, and how much of a file reaches the prompt.

use serde::Serialize;

use crate::{
    error::{Error, Result},
    files::sections::MarkdownSections,
};

/// Most sections named when a file is full: the largest ones, where shortening helps.
const MAX_LISTED_SECTIONS: usize = 5;

/// Size of a text against its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LayerSize {
    /// Characters.
    pub chars: usize,
    /// Most characters.
    pub budget: usize,
}

/// Part of a file that reaches the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct LayerView {
    /// Text, without blank lines around it.
    pub text: String,
    /// Characters of the text.
    pub chars: usize,
    /// Characters at the end of the file that were left out.
    pub cut_chars: usize,
}

/// Counts the characters of a text, without a byte order mark.
pub(crate) fn count_chars(text: &str) -> usize {
    text.trim_start_matches('\u{feff}').chars().count()
}

/// Refuses a change that makes a file longer than its budget, unless it was longer already and does not grow.
pub(super) fn check(name: &str, before: &str, after: &str, budget: usize) -> Result<()> {
    let (old, new) = (count_chars(before), count_chars(after));
    if new <= budget.max(old) {
        return Ok(());
    }
    let sections = MarkdownSections::parse(before);
    let mut sizes: Vec<_> = sections.iter().map(|one| (count_chars(one.text), one.title)).collect();
    sizes.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let named: Vec<_> = sizes
        .iter()
        .take(MAX_LISTED_SECTIONS)
        .map(|(size, title)| format!("`{title}` ({size})"))
        .collect();
    let advice = if named.is_empty() {
        format!("give a text of at most {} characters", budget.saturating_sub(old))
    } else {
        format!("shorten or remove something first; its largest sections: {}", named.join(", "))
    };
    let message = format!(
        "{name} would have {new} characters, {budget} at most are allowed; it has {old} now, so {} are left",
        budget.saturating_sub(old)
    );
    Err(Error::invalid(message, advice))
}

/// Returns the part of a text that fits: sections and lines from its beginning, with a mark at the cut.
pub fn fit_to_budget(text: &str, budget: usize) -> LayerView {
    let text = text.trim_start_matches('\u{feff}');
    let text = text.trim_matches(['\n', '\r', ' ', '\t']);
    let all = text.chars().count();
    if all <= budget {
        return LayerView { text: text.to_owned(), chars: all, cut_chars: 0 };
    }
    let mark = truncation_mark(all, budget);
    let room = budget.saturating_sub(mark.chars().count() + 2);
    let kept = leading_lines(text, room);
    let cut_chars = all - kept.chars().count();
    let shown = if kept.is_empty() { mark } else { format!("{kept}\n\n{mark}") };
    let shown = if shown.chars().count() <= budget { shown } else { kept.to_owned() };
    LayerView { chars: shown.chars().count(), text: shown, cut_chars }
}

/// Returns the mark for omitted text, short, with the sizes.
fn truncation_mark(all: usize, budget: usize) -> String {
    format!("[… cut here: the file has {all} characters, {budget} fit]")
}

/// Returns as many whole lines as fit; neither a heading without its text nor a part of a fence stays at the end.
fn leading_lines(text: &str, room: usize) -> &str {
    let mut end = 0;
    let mut used = 0;
    for line in text.split_inclusive('\n') {
        used += line.chars().count();
        if used > room + usize::from(line.ends_with('\n')) {
            break;
        }
        end += line.len();
    }
    let mut kept = trim_incomplete_end(text[..end].trim_end());
    if kept.is_empty() {
        // A first line that is too long itself is cut, or nothing would be left.
        let end = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
        kept = text[..end].lines().next().unwrap_or_default();
    }
    kept
}

/// Returns the text without a heading or an open fence at its end.
fn trim_incomplete_end(text: &str) -> &str {
    let sections = MarkdownSections::parse(text);
    let open = sections.unclosed_at().map(|at| text[..at].trim_end());
    if let Some(shorter) = open {
        return trim_incomplete_end(shorter);
    }
    let last = text.lines().next_back().unwrap_or_default();
    let is_heading = last.starts_with('#') && text.len() > last.len();
    if is_heading { trim_incomplete_end(text[..text.len() - last.len()].trim_end()) } else { text }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_full_file_says_what_to_shorten() {
        let before = "## Likes\n\ntea\n\n## 偏好\n\n喜欢喝龙井茶\n";
        let error = check("USER.md", before, &"x".repeat(51), 50).unwrap_err();
        assert_eq!(
            error.to_string(),
            "USER.md would have 51 characters, 50 at most are allowed; it has 29 now, so 21 are left"
        );
        assert_eq!(
            error.hint(),
            "shorten or remove something first; its largest sections: `Likes` (15), `偏好` (14)"
        );
    }

    #[test]
    fn a_file_that_is_too_long_already_may_only_shrink() {
        let long = "x".repeat(100);
        assert!(check("USER.md", &long, &"y".repeat(100), 50).is_ok());
        assert!(check("USER.md", &long, &"y".repeat(60), 50).is_ok());
        assert!(check("USER.md", &long, &"y".repeat(101), 50).is_err());
    }

    #[test]
    fn a_view_keeps_what_comes_first_and_marks_the_cut() {
        let text = "## One\n\nfirst line\nsecond line\n\n## Two\n\nthe rest of it goes on and on and on and on\n";
        let shown = fit_to_budget(text, 82);
        let mark = "[… cut here: the file has 83 characters, 82 fit]";
        assert_eq!(shown.text, format!("## One\n\nfirst line\nsecond line\n\n{mark}"));
        assert_eq!((shown.chars, shown.cut_chars), (80, 53));
        assert_eq!(fit_to_budget(text, 83).cut_chars, 0);
    }

    #[test]
    fn a_fence_is_not_cut_open() {
        let text = format!("intro\n\n```\n{}```\n\nend\n", "code line\n".repeat(20));
        let shown = fit_to_budget(&text, 120);
        assert!(shown.text.starts_with("intro\n\n[… cut here"), "{}", shown.text);
    }

    proptest! {
            #[test]
            fn a_view_fits_and_begins_like_the_text(text in "[a-z茶 \n#`]{0,400}|.{0,300}", budget in 1usize..300) {
                let shown = fit_to_budget(&text, budget);
                prop_assert!(shown.chars <= budget && shown.chars == shown.text.chars().count());
                let kept = shown.text.split("[… cut here").next().unwrap().trim_end();
    let bare = text.trim_start_matches('\u{feff}').trim_start_matches(['\n', '\r', ' ', '\t']);
                prop_assert!(bare.starts_with(kept) || shown.cut_chars == 0);
            }
        }
}
