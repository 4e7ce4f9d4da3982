//! Where the values of a JSON text begin and end, so that one can be changed and the others stay.

use serde_json::Value;

/// Deeper files are no settings.
const MAX_DEPTH: usize = 100;

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) inside: Inside,
}

#[derive(Debug)]
pub(super) enum Inside {
    /// Keys, where they begin, and values.
    Object(Vec<(String, usize, Node)>),
    Array(Vec<Node>),
    Other,
}

impl Node {
    pub(super) fn at(&self, path: &[String]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.member(key))
    }

    pub(super) fn member(&self, key: &str) -> Option<&Self> {
        match &self.inside {
            Inside::Object(members) => {
                members.iter().find(|(name, _, _)| name == key).map(|(_, _, node)| node)
            }
            _ => None,
        }
    }
}

/// Where everything stands in a text; none if it is no plain JSON.
pub(super) fn parse(text: &str) -> Option<Node> {
    let mut reader = Reader { text, at: 0 };
    reader.blank();
    let node = reader.value(0)?;
    reader.blank();
    (reader.at == text.len()).then_some(node)
}

/// Finds where values begin and end; what they say is left to others.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Node> {
        let start = self.at;
        let inside = match self.peek()? {
            _ if depth > MAX_DEPTH => return None,
            b'{' => Inside::Object(self.members(depth)?),
            b'[' => Inside::Array(self.items(depth)?),
            b'"' => self.string().map(|_| Inside::Other)?,
            _ => self.word().map(|()| Inside::Other)?,
        };
        Some(Node { start, end: self.at, inside })
    }

    fn members(&mut self, depth: usize) -> Option<Vec<(String, usize, Node)>> {
        let mut members = Vec::new();
        self.at += 1;
        self.blank();
        while self.peek()? != b'}' {
            let at = self.at;
            let key = serde_json::from_str(self.string()?).ok()?;
            self.blank();
            self.take(b':')?;
            self.blank();
            members.push((key, at, self.value(depth + 1)?));
            self.next_of(b'}')?;
        }
        self.at += 1;
        Some(members)
    }

    fn items(&mut self, depth: usize) -> Option<Vec<Node>> {
        let mut items = Vec::new();
        self.at += 1;
        self.blank();
        while self.peek()? != b']' {
            items.push(self.value(depth + 1)?);
            self.next_of(b']')?;
        }
        self.at += 1;
        Some(items)
    }

    /// Passes a comma, after which something must follow; without one, the end must.
    fn next_of(&mut self, end: u8) -> Option<()> {
        self.blank();
        if self.peek()? == end {
            return Some(());
        }
        self.take(b',')?;
        self.blank();
        (self.peek()? != end).then_some(())
    }

    fn string(&mut self) -> Option<&str> {
        let start = self.at;
        self.take(b'"')?;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        self.text.get(start..self.at)
    }

    /// A number, true, false or null.
    fn word(&mut self) -> Option<()> {
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c))
            .unwrap_or(rest.len());
        serde_json::from_str::<Value>(&rest[..end]).ok()?;
        self.at += end;
        Some(())
    }

    fn blank(&mut self) {
        let rest = self.text[self.at..].trim_start_matches([' ', '\t', '\n', '\r']);
        self.at = self.text.len() - rest.len();
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}
