//! Patterns for paths: `*`, `?`, `[a-z]` within a name, `**` across folders.

use std::str::FromStr;

/// A pattern for names or paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    tokens: Vec<Token>,
    /// Whether it is about a path and not about a name anywhere.
    has_slash: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// This character.
    Char(char),
    /// One character of a name.
    One,
    /// Any characters of a name.
    Star,
    /// Any characters at all.
    Any,
    /// Any folders, with the slash after them; or none.
    Folders,
    /// One of these characters, or none of them.
    Set(Vec<(char, char)>, bool),
}

impl Glob {
    /// Reads a pattern for the command line.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            Err("the pattern is empty".to_owned())
        } else {
            Ok(Self::new(text))
        }
    }

    /// Reads a pattern; one with a slash is about paths below a folder, any other about names.
    pub(super) fn new(text: &str) -> Self {
        let text = text.strip_prefix("./").unwrap_or(text);
        let has_slash = text.contains('/');
        Self { tokens: tokens(text.trim_start_matches('/')), has_slash }
    }

    /// Whether it fits a path below the folder it is about.
    pub(super) fn fits(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.matches(if self.has_slash { path } else { name })
    }

    /// Follows all ways through the text at once, so that no pattern is slow.
    fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let mut reached = vec![false; text.len() + 1];
        reached[0] = true;
        for token in &self.tokens {
            reached = step(token, &text, &reached);
        }
        reached[text.len()]
    }
}

impl FromStr for Glob {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

/// Where a token leads to from the places reached so far.
fn step(token: &Token, text: &[char], reached: &[bool]) -> Vec<bool> {
    let mut next = vec![false; reached.len()];
    let mut ever = false;
    for place in 0..reached.len() {
        let before = place.checked_sub(1).map(|before| (text[before], before));
        let one =
            |fits: &dyn Fn(char) -> bool| before.is_some_and(|(c, at)| reached[at] && fits(c));
        let many = |fits: &dyn Fn(char) -> bool, next: &[bool]| {
            reached[place] || before.is_some_and(|(c, at)| next[at] && fits(c))
        };
        next[place] = match token {
            Token::Char(wanted) => one(&|c| c == *wanted),
            Token::One => one(&|c| c != '/'),
            Token::Set(ranges, inverted) => one(&|c| {
                c != '/' && ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *inverted
            }),
            Token::Star => many(&|c| c != '/', &next),
            Token::Any => many(&|_| true, &next),
            Token::Folders => reached[place] || ever && before.is_some_and(|(c, _)| c == '/'),
        };
        ever |= reached[place];
    }
    next
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (token, length) = if rest.starts_with("**/") {
            (Token::Folders, 3)
        } else if rest.starts_with("**") {
            (Token::Any, 2)
        } else if let Some(set) = set(rest) {
            set
        } else if let Some(c) = rest.strip_prefix('\\').and_then(|rest| rest.chars().next()) {
            (Token::Char(c), 1 + c.len_utf8())
        } else {
            let token = match c {
                '*' => Token::Star,
                '?' => Token::One,
                c => Token::Char(c),
            };
            (token, c.len_utf8())
        };
        tokens.push(token);
        rest = &rest[length..];
    }
    tokens
}

/// The set `[…]` that the text begins with, and its length.
fn set(text: &str) -> Option<(Token, usize)> {
    let inside = text.strip_prefix('[')?;
    let (inside, inverted) = match inside.strip_prefix(['!', '^']) {
        Some(inside) => (inside, true),
        None => (inside, false),
    };
    // A bracket that stands first is one of the set.
    let first = inside.chars().next()?.len_utf8();
    let end = first + inside[first..].find(']')?;
    let chars: Vec<char> = inside[..end].chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(from) = chars.get(at) {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(to)) => {
                ranges.push((*from, *to));
                at += 3;
            }
            _ => {
                ranges.push((*from, *from));
                at += 1;
            }
        }
    }
    Some((Token::Set(ranges, inverted), text.len() - inside.len() + end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, path: &str) -> bool {
        Glob::new(pattern).fits(path)
    }

    #[test]
    fn names_fit_anywhere_and_paths_from_the_folder_on() {
        assert!(fits("*.md", "docs/a.md") && fits("a?.md", "a茶.md") && !fits("*.md", "a.mdx"));
        assert!(fits("docs/*.md", "docs/a.md") && !fits("docs/*.md", "docs/b/a.md"));
        assert!(
            fits("docs/**", "docs/b/a.md") && fits("**/b/*", "docs/b/a.md") && fits("**/a", "a")
        );
        assert!(fits("/a.md", "a.md") && !fits("/a.md", "docs/a.md"));
    }

    #[test]
    fn sets_and_escapes_are_read() {
        assert!(fits("*.py[cod]", "x.pyc") && !fits("*.py[!cod]", "x.pyc") && fits("[a-c]", "b"));
        assert!(fits("\\*", "*") && !fits("\\*", "a") && fits("a[", "a[") && fits("[]]", "]"));
    }

    #[test]
    fn no_pattern_is_slow() {
        assert!(!fits(&"*a".repeat(200), &"a".repeat(190)));
        assert!(!fits(&"**/".repeat(100), &"a/b".repeat(500)));
    }
}
