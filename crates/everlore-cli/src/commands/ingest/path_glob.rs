//! `--include` and `--exclude`: glob patterns in the style of `.gitignore`.
//!
//! `ignore` matches bytes, as git does, so that `?` is no Chinese character there (`第?章.md`). These patterns are
//! translated to a Unicode regular expression instead, which matches in linear time however a pattern is written.

use std::path::Path;

use regex::{Regex, escape};

/// Pattern for names or paths: `*`, `?` and `[a-z]` within a name, `**` across folders.
#[derive(Debug, Clone)]
pub(super) struct PathGlob {
    regex: Regex,
    /// `true` for a pattern with a slash, which matches a path below the walked folder and not a name at any depth.
    matches_path: bool,
    /// `true` for a pattern that ends with a slash.
    folders_only: bool,
}

impl PathGlob {
    /// Compiles a pattern of the command line.
    pub(super) fn parse(pattern: &str) -> Result<Self, String> {
        let (path, folders_only) = match pattern.strip_suffix('/') {
            Some(path) => (path, true),
            None => (pattern, false),
        };
        let path = path.strip_prefix("./").unwrap_or(path);
        let matches_path = path.contains('/');
        let name = path.trim_start_matches('/');
        if name.trim().is_empty() {
            return Err("the pattern is empty".to_owned());
        }
        let regex = Regex::new(&format!("^(?s:{})$", to_regex(name)));
        let regex = regex.map_err(|_| "the pattern cannot be read".to_owned())?;
        Ok(Self { regex, matches_path, folders_only })
    }

    /// Returns `true` if the pattern matches a path below the walked folder.
    pub(super) fn matches(&self, path: &Path, is_folder: bool) -> bool {
        let text = super::source_files::with_slashes(path);
        let name = text.rsplit('/').next().unwrap_or(&text);
        (is_folder || !self.folders_only)
            && self.regex.is_match(if self.matches_path { &text } else { name })
    }
}

fn to_regex(pattern: &str) -> String {
    let (mut regex, mut rest) = (String::new(), pattern);
    while let Some(first) = rest.chars().next() {
        let (part, length) = if rest.starts_with("**/") {
            ("(?:.*/)?".to_owned(), 3)
        } else if rest.starts_with("**") {
            (".*".to_owned(), 2)
        } else if let Some(class) = to_regex_class(rest) {
            class
        } else if let Some(escaped) = rest.strip_prefix('\\').and_then(|rest| rest.chars().next()) {
            (escape(escaped.encode_utf8(&mut [0; 4])), 1 + escaped.len_utf8())
        } else {
            let part = match first {
                '*' => "[^/]*".to_owned(),
                '?' => "[^/]".to_owned(),
                other => escape(other.encode_utf8(&mut [0; 4])),
            };
            (part, first.len_utf8())
        };
        regex += &part;
        rest = &rest[length..];
    }
    regex
}

/// Translates the class `[…]` at the beginning of a pattern; returns it with its length in the pattern.
fn to_regex_class(pattern: &str) -> Option<(String, usize)> {
    let inside = pattern.strip_prefix('[')?;
    let negated = inside.strip_prefix(['!', '^']);
    let inside = negated.unwrap_or(inside);
    // A bracket that comes first is a member of the class.
    let first = inside.chars().next()?.len_utf8();
    let end = first + inside[first..].find(']')?;
    let members = to_regex_members(&inside[..end]);
    let class = match negated {
        Some(_) => format!("[^/{members}]"),
        None => format!("[{members}&&[^/]]"),
    };
    Some((class, pattern.len() - inside.len() + end + 1))
}

/// Writes the characters and ranges of a class; a hyphen at either end stands for itself.
fn to_regex_members(members: &str) -> String {
    let literal = |c: char| escape(c.encode_utf8(&mut [0; 4]));
    let (mut regex, mut rest) = (String::new(), members.chars());
    while let Some(first) = rest.next() {
        regex += &literal(first);
        let mut after = rest.clone();
        if let (Some('-'), Some(last)) = (after.next(), after.next()) {
            regex += &format!("-{}", literal(last));
            rest = after;
        }
    }
    regex
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        PathGlob::parse(pattern).unwrap().matches(Path::new(path), false)
    }

    #[test]
    fn names_match_anywhere_and_paths_from_the_folder_on() {
        assert!(matches("*.md", "docs/a.md") && !matches("*.md", "a.mdx"));
        assert!(matches("a?.md", "a茶.md") && matches("第?章.md", "书/第一章.md"));
        assert!(matches("docs/*.md", "docs/a.md") && !matches("docs/*.md", "docs/b/a.md"));
        assert!(matches("docs/**", "docs/b/a.md") && matches("**/b/*", "docs/b/a.md"));
        assert!(matches("**/a", "a") && matches("./docs/a.md", "docs/a.md"));
        assert!(matches("/a.md", "a.md") && !matches("/a.md", "docs/a.md"));
    }

    #[test]
    fn sets_and_escapes_are_read() {
        assert!(matches("*.py[cod]", "x.pyc") && !matches("*.py[!cod]", "x.pyc"));
        assert!(matches("[a-c]", "b") && matches("[]]", "]") && matches("a[", "a["));
        assert!(matches("[茶水]", "水") && matches("[^茶]", "水") && !matches("a[!b]c", "a/c"));
        assert!(matches("[-x]", "-") && matches("[x-]", "-") && matches("[a&&b]", "&"));
        assert!(matches("\\*", "*") && !matches("\\*", "a"));
        assert!(matches("#todo*", "#todo.md") && matches("!a", "!a") && !matches("!a", "b"));
    }

    #[test]
    fn a_pattern_with_a_slash_at_its_end_matches_folders_only() {
        let glob = PathGlob::parse("sub/").unwrap();
        assert!(glob.matches(Path::new("a/sub"), true) && !glob.matches(Path::new("sub"), false));
    }

    #[test]
    fn no_pattern_is_slow() {
        assert!(!matches(&"*a".repeat(200), &"a".repeat(190)));
        assert!(!matches(&"**/".repeat(100), &"a/b".repeat(500)));
    }

    #[test]
    fn patterns_that_cannot_be_read_are_rejected() {
        assert!(PathGlob::parse(" ").is_err() && PathGlob::parse("[z-a]").is_err());
    }
}
