//! YAML settings edited in place: marked lines go in or out, everything else stays.
//!
//! Only what can be told from the lines is edited: keys at the margin, and lists below such a key, one item a line. A file
//! of another form is left alone.

/// First line of a block; the name of its key follows.
const BEGIN: &str = "# everlore: begin";

/// Last line of a block.
const END: &str = "# everlore: end";

/// Line of a block that keeps the user's line in the place of which the block stands.
const INSTEAD_OF: &str = "# instead of: ";

/// Values of a key that mean an empty list.
const EMPTY_LISTS: [&str; 4] = ["[]", "[ ]", "null", "~"];

/// Lines of ours in a YAML file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct YamlBlock {
    /// Key at the margin whose list gets the lines; `None` if the lines are keys at the margin.
    list: Option<&'static str>,
    /// Keys that a file without any content needs.
    head: Vec<&'static str>,
    lines: Vec<String>,
}

impl YamlBlock {
    /// Returns items for the list below a key. A file that is empty gets `head` first.
    pub(super) fn items(key: &'static str, head: &[&'static str], lines: Vec<String>) -> Self {
        Self { list: Some(key), head: head.to_vec(), lines }
    }

    /// Returns keys at the margin.
    pub(super) fn keys(lines: Vec<String>) -> Self {
        Self { list: None, head: Vec::new(), lines }
    }

    /// Returns a file with nothing but the block, as its own mark in the first line.
    pub(super) fn whole_file(&self, head: &[&str]) -> String {
        let lines = [self.begin()].into_iter().chain(head.iter().map(|&line| line.to_owned()));
        let lines = lines.chain(self.list.map(|key| format!("{key}:"))).chain(self.indented(2));
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// Returns the text with the block; `None` if it has no place for it.
    pub(super) fn insert(&self, text: &str) -> Option<String> {
        let plain = self.remove(text)?;
        let mut lines: Vec<&str> = plain.split_inclusive('\n').collect();
        let has_content = lines.iter().any(|line| !is_filler(line));
        let mut empty_list = None;
        let (at, indent) = match self.list {
            None if self.keys_of_block().any(|key| key_line(&lines, key).is_some()) => return None,
            None => (lines.len(), None),
            Some(key) => match key_line(&lines, key) {
                None => (lines.len(), None),
                Some((line, value)) if EMPTY_LISTS.contains(&value) => {
                    empty_list = Some(lines.remove(line).trim_end_matches(['\r', '\n']));
                    (line, None)
                }
                Some((_, value)) if !value.is_empty() => return None,
                Some((line, _)) => list_end(&lines, line + 1).map(|(at, n)| (at, Some(n)))?,
            },
        };
        let mut block = self.rendered(indent, !has_content, newline_of(&plain));
        if let Some(line) = empty_list {
            let first = block.find('\n')? + 1;
            block.insert_str(first, &format!("{INSTEAD_OF}{line}{}", newline_of(&plain)));
        }
        let glue = if at > 0 && !lines[at - 1].ends_with('\n') { newline_of(&plain) } else { "" };
        let inserted = format!("{glue}{block}");
        lines.insert(at, &inserted);
        Some(lines.concat())
    }

    /// Returns the text without the block; `None` if its end is missing.
    pub(super) fn remove(&self, text: &str) -> Option<String> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let begin = self.begin();
        let Some(first) = lines.iter().position(|line| line.trim() == begin) else {
            return Some(text.to_owned());
        };
        let count = lines[first..].iter().position(|line| line.trim() == END)?;
        let (block, after) = lines[first..].split_at(count + 1);
        let instead_of = block.iter().find_map(|line| line.strip_prefix(INSTEAD_OF));
        let instead_of = instead_of.as_slice();
        Some([&lines[..first], instead_of, after].concat().concat())
    }

    /// Returns the block for a file that has what it needs already.
    pub(super) fn without_head(&self) -> String {
        self.rendered(None, false, "\n")
    }

    /// Returns `true` if the text has the block.
    pub(super) fn is_in(&self, text: &str) -> bool {
        text.lines().any(|line| line.trim() == self.begin())
    }

    fn begin(&self) -> String {
        self.list.map_or_else(|| BEGIN.to_owned(), |key| format!("{BEGIN} {key}"))
    }

    /// Returns the block between its marks, in a list with this indent or with the key of the list.
    fn rendered(&self, indent: Option<usize>, with_head: bool, newline: &str) -> String {
        let spaces = " ".repeat(indent.unwrap_or(0));
        let head = self.head.iter().filter(|_| with_head).map(|&line| line.to_owned());
        let key = self.list.filter(|_| indent.is_none()).map(|key| format!("{key}:"));
        let items = self.indented(match (self.list, indent) {
            (Some(_), None) => 2,
            (_, indent) => indent.unwrap_or(0),
        });
        let marks = |mark: String| format!("{spaces}{mark}");
        let lines = [marks(self.begin())].into_iter().chain(head).chain(key).chain(items);
        lines.chain([marks(END.to_owned())]).map(|line| line + newline).collect()
    }

    fn indented(&self, indent: usize) -> impl Iterator<Item = String> + '_ {
        self.lines.iter().map(move |line| format!("{}{line}", " ".repeat(indent)))
    }

    fn keys_of_block(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(|line| line.split_once(':').map(|(key, _)| key))
    }
}

/// Returns the line of a key at the margin, and its value there without a comment.
fn key_line<'t>(lines: &[&'t str], key: &str) -> Option<(usize, &'t str)> {
    lines.iter().enumerate().find_map(|(at, line)| {
        let rest = line.strip_prefix(key)?.strip_prefix(':')?;
        let value = rest.split(" #").next().unwrap_or_default().trim();
        Some((at, value))
    })
}

/// Returns where a list ends that begins at a line, and the indent of its items; `None` if it is no such list.
fn list_end(lines: &[&str], from: usize) -> Option<(usize, usize)> {
    let first = lines[from..].iter().position(|line| !is_filler(line)).map(|at| from + at);
    let first = first.filter(|at| is_item(lines[*at]) || lines[*at].starts_with([' ', '\t']));
    let Some(first) = first else { return Some((from, 2)) };
    if !is_item(lines[first]) {
        return None;
    }
    let indent = lines[first].len() - lines[first].trim_start_matches(' ').len();
    let belongs = |line: &str| is_filler(line) || line.starts_with(' ') || is_item(line);
    let after = lines[first..].iter().position(|line| !belongs(line));
    let mut end = after.map_or(lines.len(), |after| first + after);
    // Comments and blank lines before the next key belong to that.
    while is_filler(lines[end - 1]) {
        end -= 1;
    }
    Some((end, indent))
}

fn is_item(line: &str) -> bool {
    line.trim_start_matches(' ').starts_with("- ")
}

/// Returns `true` for blank lines, comments and the start of a document.
fn is_filler(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || line == "---"
}

fn newline_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> YamlBlock {
        let lines = vec!["- name: everlore".to_owned(), "  args: [\"mcp\"]".to_owned()];
        YamlBlock::items("mcpServers", &["name: Everlore"], lines)
    }

    fn keys() -> YamlBlock {
        YamlBlock::keys(vec!["openai-api-base: \"u\"".to_owned(), "model: m".to_owned()])
    }

    #[test]
    fn what_goes_in_comes_out_again() {
        for text in [
            "name: mine\nmodels:\n  - name: a # the good one\n    model: b\n\n# rules\nrules: []\n",
            "mcpServers:\n- name: other\n  command: x\n\n# end\n",
            "mcpServers:\n    - name: other\n      args:\n        - y\nname: mine\n",
            "name: mine\r\nmcpServers:\r\n  - name: o\r\n",
            "mcpServers:\n# none yet\nname: mine\n",
            "mcpServers: [] # none\nname: mine\n",
            "name: mine\r\nmcpServers: null\r\n",
            "# only a comment\n",
            "",
        ] {
            let edited = server().insert(text).unwrap();
            assert!(server().is_in(&edited) && !server().is_in(text), "{edited}");
            assert_eq!(server().insert(&edited).unwrap(), edited);
            assert_eq!(server().remove(&edited).unwrap(), text);
        }
    }

    #[test]
    fn an_item_goes_to_the_end_of_its_list_with_the_indent_of_the_others() {
        let text = "mcpServers:\n    - name: other\n      args:\n        - y\n\nname: mine\n";
        let edited = server().insert(text).unwrap();
        let expected = "        - y\n    # everlore: begin mcpServers\n    - name: everlore\n      args: [\"mcp\"]\n    # everlore: end\n\nname: mine\n";
        assert!(edited.ends_with(expected), "{edited}");
        let fresh = server().insert("").unwrap();
        assert_eq!(
            fresh,
            "# everlore: begin mcpServers\nname: Everlore\nmcpServers:\n  - name: everlore\n    args: [\"mcp\"]\n# everlore: end\n"
        );
    }

    #[test]
    fn keys_that_the_user_has_set_are_left_alone() {
        let text = "dark-mode: true # nice\n";
        let edited = keys().insert(text).unwrap();
        assert_eq!(keys().remove(&edited).unwrap(), text);
        assert_eq!(keys().insert("model: sonnet\n"), None);
        assert_eq!(keys().insert(&edited.replace("model: m", "model: n")).unwrap(), edited);
    }

    #[test]
    fn an_empty_list_becomes_one_with_our_item() {
        let edited = server().insert("mcpServers: []\nname: mine\n").unwrap();
        let expected = "# everlore: begin mcpServers\n# instead of: mcpServers: []\nmcpServers:\n  - name: everlore\n    args: [\"mcp\"]\n# everlore: end\nname: mine\n";
        assert_eq!(edited, expected);
    }

    #[test]
    fn a_list_in_another_form_is_left_alone() {
        for text in ["mcpServers: [{name: a}]\n", "mcpServers:\n  a: b\n"] {
            assert_eq!(server().insert(text), None, "{text}");
        }
        assert_eq!(server().remove("# everlore: begin mcpServers\n- x\n"), None);
    }

    #[test]
    fn a_last_line_without_an_end_gets_one() {
        let edited = server().insert("name: mine").unwrap();
        assert!(edited.starts_with("name: mine\n# everlore: begin"), "{edited}");
        assert_eq!(server().remove(&edited).unwrap(), "name: mine\n");
    }
}
