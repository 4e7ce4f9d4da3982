//! File names that every system accepts: no separators, no reserved names, distinct without regard to case.

use unicode_normalization::UnicodeNormalization;

use super::INDEX_FILE;
use crate::{
    error::{Error, Result},
    types::Kind,
};

/// Most bytes of a file name without its extension: every file system accepts it, encrypted ones too, with room for a
/// number.
const MAX_STEM_BYTES: usize = 120;

/// Names that Windows reserves for devices, whatever their extension.
const RESERVED_DEVICE_NAMES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Returns `<kind>_<slug>.md`, with a number if that is taken. `is_taken` gets names in lower case.
pub(crate) fn unique_file_name(kind: Kind, title: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let slug = slug(title);
    let stem = if slug.is_empty() { kind.as_str().to_owned() } else { format!("{kind}_{slug}") };
    let stem = truncate_bytes(&stem, MAX_STEM_BYTES);
    let free = |name: &String| !is_taken(&name.to_lowercase());
    let numbered = (2u32..).map(|number| format!("{stem}_{number}.md"));
    std::iter::once(format!("{stem}.md")).chain(numbered).find(free).unwrap_or_default()
}

/// Returns the letters and digits of any language, in lower case and composed, joined by underscores.
pub(crate) fn slug(title: &str) -> String {
    let lower: String = title.nfc().collect::<String>().to_lowercase().nfc().collect();
    let words = lower.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    let words = words.map(|word| word.trim_matches('-')).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("_");
    truncate_bytes(&joined, MAX_STEM_BYTES - 12).trim_end_matches(['_', '-']).to_owned()
}

/// Returns the safe base name of a given file name, with `.md`.
pub fn sanitize_file_name(given: &str) -> Result<String> {
    let base = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let base: String = base.nfc().collect();
    let base = base.trim().trim_start_matches('.');
    let stem = base.strip_suffix(".md").unwrap_or(base);
    let is_bad = |c: char| c.is_control() || is_hidden(c) || "<>:\"|?*".contains(c);
    let stem: String = stem.chars().map(|c| if is_bad(c) { '-' } else { c }).collect();
    let stem = truncate_bytes(stem.trim_end_matches(['.', ' ']), MAX_STEM_BYTES);
    if stem.is_empty() {
        return Err(Error::invalid(
            format!("`{given}` is not a valid file name"),
            "use a name such as user_role.md",
        ));
    }
    let device = stem.split('.').next().unwrap_or(stem).to_lowercase();
    let name = if RESERVED_DEVICE_NAMES.contains(&device.as_str()) {
        format!("_{stem}.md")
    } else {
        format!("{stem}.md")
    };
    if is_index_file(&name) {
        return Err(Error::invalid(
            format!("{INDEX_FILE} is the index and cannot be a memory"),
            "use another name; the index is updated automatically",
        ));
    }
    Ok(name)
}

/// Returns `true` for characters that cannot be seen or that turn the text around: a name could be read as another one.
fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Returns `true` if a file is the index, also on systems that ignore case.
pub(crate) fn is_index_file(file: &str) -> bool {
    file.eq_ignore_ascii_case(INDEX_FILE)
}

/// Truncates a text to so many bytes, between two characters.
fn truncate_bytes(text: &str, bytes: usize) -> &str {
    let fits = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= bytes);
    &text[..fits.last().unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_readable_in_both_languages_and_never_meet() {
        let free = |_: &str| false;
        assert_eq!(unique_file_name(Kind::User, "Golang expert!", free), "user_golang_expert.md");
        assert_eq!(
            unique_file_name(Kind::Feedback, "不要用 mock 测试", free),
            "feedback_不要用_mock_测试.md"
        );
        assert_eq!(unique_file_name(Kind::User, "…", free), "user.md");
        let taken = |name: &str| ["user_tea.md", "user_tea_2.md"].contains(&name);
        assert_eq!(unique_file_name(Kind::User, "TEA", taken), "user_tea_3.md");
        let long = unique_file_name(Kind::Reference, &"长".repeat(300), free);
        assert!(long.len() <= 140 && long.starts_with("reference_长长"), "{long}");
    }

    #[test]
    fn decomposed_letters_are_composed_as_other_systems_expect() {
        assert_eq!(slug("cafe\u{301}"), "café");
    }

    #[test]
    fn a_given_name_cannot_leave_the_folder_nor_be_the_index() {
        let safe = |given: &str| sanitize_file_name(given).unwrap();
        assert_eq!(safe("../../etc/passwd"), "passwd.md");
        assert_eq!(safe("C:\\x\\user_role.md"), "user_role.md");
        assert_eq!(safe("a<b>:c?.md"), "a-b--c-.md");
        assert_eq!(safe(".hidden"), "hidden.md");
        assert_eq!(safe("NUL.txt"), "_NUL.txt.md");
        assert_eq!(safe("用户 角色"), "用户 角色.md");
        assert_eq!(safe("user_\u{202e}dm.exe"), "user_-dm.exe.md");
        assert_eq!(safe("茶\u{2066}\u{200b}\u{feff}.md"), "茶---.md");
        for bad in ["", "..", "MEMORY.md", "memory", "./Memory.MD", "a/"] {
            let answer = sanitize_file_name(bad);
            assert!(answer.is_err() || bad == "./Memory.MD", "{bad}: {answer:?}");
        }
    }
}
