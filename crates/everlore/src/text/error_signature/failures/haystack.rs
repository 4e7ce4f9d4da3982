//! Haystack: a text in which phrases are found as whole words, with the name beside them.

/// A text in lower case with single spaces.
pub(super) struct Haystack(String);

/// A phrase found in the text.
#[derive(Debug, PartialEq)]
pub(super) struct Occurrence {
    /// Bytes of the phrase.
    pub(super) length: usize,
    /// Name that `{}` stands for.
    pub(super) captured: Option<String>,
}

impl Haystack {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Finds `phrase`: whole words, a prefix where it ends in `*`, with a name before or after it where it has `{}`.
    pub(super) fn find(&self, phrase: &str) -> Option<Occurrence> {
        let Some((head, tail)) = phrase.split_once("{}") else {
            return self
                .position(phrase, 0)
                .map(|_| Occurrence { length: phrase.len(), captured: None });
        };
        let (head, tail) = (head.trim_end_matches('\''), tail.trim_start_matches('\''));
        if head.is_empty() {
            return self.find_with(tail, |start, _| self.name_before(start));
        }
        // The name may touch the phrase: `-l{}`.
        self.find_with(&format!("{head}*"), |_, end| {
            self.name_after(end).filter(|name| self.follows(name, end, tail.trim_start()))
        })
    }

    fn find_with(
        &self,
        phrase: &str,
        name: impl Fn(usize, usize) -> Option<String>,
    ) -> Option<Occurrence> {
        let mut from = 0;
        while let Some(start) = self.position(phrase, from) {
            let length = phrase.trim_end_matches('*').len();
            let end = start + length;
            if let Some(captured) = name(start, end) {
                return Some(Occurrence { length, captured: Some(captured) });
            }
            from = end.max(from + 1);
        }
        None
    }

    /// Returns whether `tail` comes right after the first `name` behind the byte `from`.
    fn follows(&self, name: &str, from: usize, tail: &str) -> bool {
        let rest = &self.0[from..];
        let behind = rest.find(name).map_or("", |at| &rest[at + name.len()..]);
        behind
            .trim_start_matches([' ', '\'', ':', '.', ')', '"'])
            .starts_with(tail.trim_start_matches([' ', ':', '.', '\'']))
    }

    fn position(&self, phrase: &str, from: usize) -> Option<usize> {
        let (needle, open) =
            phrase.strip_suffix('*').map_or((phrase, false), |needle| (needle, true));
        let mut at = from;
        while let Some(start) = self.0.get(at..)?.find(needle).map(|offset| at + offset) {
            let end = start + needle.len();
            if self.is_edge(start) && (open || self.is_edge(end)) {
                return Some(start);
            }
            at = start + needle.chars().next().map_or(1, char::len_utf8);
        }
        None
    }

    /// Returns whether no ASCII word runs across the byte `at`.
    fn is_edge(&self, at: usize) -> bool {
        let word = |byte: Option<&u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        };
        let bytes = self.0.as_bytes();
        at == 0 || !(word(bytes.get(at - 1)) && word(bytes.get(at)))
    }

    fn name_after(&self, end: usize) -> Option<String> {
        let rest = self.0.get(end..)?.trim_start_matches([' ', ':', '\'', '(']);
        clean_name(&until_colon(rest.split([' ', '\'', ',', ';', ')', '<', '(']).next()?))
    }

    fn name_before(&self, start: usize) -> Option<String> {
        let head = self.0.get(..start)?.trim_end_matches([' ', ':', '\'', ')']);
        clean_name(head.rsplit([' ', '\'', ',', ';', '(', '>']).next()?)
    }
}

/// Cuts a name at its first single colon; `std::io` keeps its double ones.
fn until_colon(name: &str) -> String {
    let masked = name.replace("::", "\u{1}");
    masked.split(':').next().unwrap_or_default().replace('\u{1}', "::")
}

fn clean_name(raw: &str) -> Option<String> {
    let name = without_version(raw).trim_matches(['.', ':', '!', '?', '[', ']', '{', '}', '=']);
    let named = name.chars().any(char::is_alphanumeric);
    named.then(|| name.to_owned())
}

/// Cuts the version and the extras of a package: `torch==1.4.0`, `uvicorn[standard]`, `react@18.2.0`.
fn without_version(name: &str) -> &str {
    let is_release = |at: &usize| name[at + 1..].starts_with(|sign: char| sign.is_ascii_digit());
    let cuts = ["==", ">=", "<=", "~=", "!=", "["].iter().filter_map(|mark| name.find(mark));
    let cut = cuts.chain(name.rfind('@').filter(is_release)).filter(|at| *at > 0).min();
    cut.map_or(name, |at| &name[..at])
}

#[cfg(test)]
mod tests {
    use super::Haystack;

    fn captured(text: &str, phrase: &str) -> Option<String> {
        Haystack::new(text).find(phrase)?.captured
    }

    #[test]
    fn phrases_are_whole_words() {
        let text = Haystack::new("Connection  refused\nby peer");
        assert!(text.find("connection refused").is_some());
        assert!(text.find("connect").is_none() && text.find("connect*").is_some());
        assert!(Haystack::new("端口失败:拒绝连接").find("拒绝连接").is_some());
    }

    #[test]
    fn names_are_captured_on_either_side() {
        assert_eq!(
            captured("No module named 'yaml'", "no module named {}").as_deref(),
            Some("yaml")
        );
        assert_eq!(
            captured("bash: jq: command not found", "{}: command not found").as_deref(),
            Some("jq")
        );
        assert_eq!(captured("no module named", "no module named {}"), None);
        let wanted = |text: &str| captured(text, "requirement {}");
        assert_eq!(wanted("the requirement torch==1.4.0 (from none)").as_deref(), Some("torch"));
        assert_eq!(wanted("the requirement uvicorn[standard]>=0.2").as_deref(), Some("uvicorn"));
        assert_eq!(wanted("the requirement @scope/a@1.2").as_deref(), Some("@scope/a"));
    }
}
