//! Paths as an agent gives them: below `/memories`, and nowhere else by any spelling.

use unicode_normalization::UnicodeNormalization;

/// Name of the folder for the agent, wherever it lies.
pub(super) const ROOT: &str = "/memories";

/// Most bytes of a path, as in hosted memory stores.
const MAX_PATH_BYTES: usize = 1_024;

/// Most bytes of a name in common file systems.
const MAX_NAME_BYTES: usize = 255;

/// Most levels of folders; it also bounds how many are open at once.
pub(super) const MAX_DEPTH: usize = 16;

/// Names that are devices on Windows, where a synced folder may end up.
const DEVICE_NAMES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Characters that look like a slash or a backslash.
const SLASH_LOOKALIKES: [char; 8] = ['∕', '⁄', '⧸', '⧹', '／', '＼', '﹨', '╱'];

/// Characters that some systems forbid in a file name.
const FORBIDDEN_CHARS: [char; 8] = ['\\', ':', '*', '?', '"', '<', '>', '|'];

/// Validated path: the names below the root, none for the root itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MemoryPath {
    given: String,
    names: Vec<String>,
}

impl MemoryPath {
    /// Validates a path; the error is a sentence.
    pub(super) fn parse(given: &str) -> Result<Self, String> {
        if given.len() > MAX_PATH_BYTES {
            return Err(format!(
                "Path is {} bytes long, {MAX_PATH_BYTES} at most. Use shorter names.",
                given.len()
            ));
        }
        let below =
            given.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let Some(below) = below else {
            return Err(format!("Path must start with {ROOT}, got: {}", printable(given)));
        };
        if escapes(below) {
            return Err(format!("Path {} would escape {ROOT} directory", printable(given)));
        }
        let names: Vec<String> = below
            .split('/')
            .filter(|name| !name.is_empty() && *name != ".")
            .map(str::to_owned)
            .collect();
        if names.len() > MAX_DEPTH {
            return Err(format!("Path {given} has more than {MAX_DEPTH} levels. Use fewer."));
        }
        match names.iter().find_map(|name| name_problem(name)) {
            Some(problem) => Err(format!("Path {} {problem}", printable(given))),
            None => Ok(Self { given: given.to_owned(), names }),
        }
    }

    /// Returns the path as it was given, for answers.
    pub(super) fn given(&self) -> &str {
        &self.given
    }

    /// Returns the names below the root.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the canonical spelling of the path.
    pub(super) fn canonical(&self) -> String {
        self.names.iter().fold(ROOT.to_owned(), |path, name| format!("{path}/{name}"))
    }

    /// Returns `true` if it is `other` or lies below it.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.names.starts_with(&other.names)
    }
}

/// Returns `true` if any reading of a path leaves the folder: as it is, with escapes decoded however often, with
/// characters replaced by those they look like.
fn escapes(below: &str) -> bool {
    let mut reading = below.to_owned();
    loop {
        let folded: String = reading.nfkc().collect();
        let climbs = |text: &str| text.split(['/', '\\']).any(|name| name.trim() == "..");
        if climbs(&reading) || climbs(&folded) || reading.contains(SLASH_LOOKALIKES) {
            return true;
        }
        let decoded = percent_decode(&reading);
        if decoded == reading {
            return false;
        }
        // An escape that hides a separator or an end of text is never a name.
        if count_separators(&decoded) > count_separators(&reading) || decoded.contains('\0') {
            return true;
        }
        reading = decoded;
    }
}

fn count_separators(text: &str) -> usize {
    text.matches(['/', '\\']).count()
}

/// Returns the text with each `%XX` replaced by its byte; shorter than before if there was any.
fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Returns why a name cannot be used on every system, or should not.
fn name_problem(name: &str) -> Option<String> {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let numbered = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
    let device = DEVICE_NAMES.contains(&stem.as_str())
        || numbered.is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']));
    if name.starts_with('.') {
        Some("names a hidden item, which is no part of the memory directory. Use a name without a dot at its start.".into())
    } else if name.len() > MAX_NAME_BYTES {
        Some(format!(
            "has a name of {} bytes, {MAX_NAME_BYTES} at most. Use a shorter one.",
            name.len()
        ))
    } else if name.ends_with(['.', ' ']) || name.starts_with(' ') {
        Some("has a name with a blank around it or a dot at its end. Leave it out.".into())
    } else if name.contains(FORBIDDEN_CHARS) || name.chars().any(is_deceptive) {
        Some(r#"has a name with a control or hidden character or one of \ : * ? " < > |. Use letters, digits, - and _."#.into())
    } else if device {
        Some(format!("uses the device name `{name}`. Use another name."))
    } else {
        None
    }
}

/// Returns `true` for control characters, and for invisible ones or those that reverse what follows.
fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Returns the path for messages: nothing in it steers a terminal.
fn printable(given: &str) -> String {
    given.chars().map(|c| if is_deceptive(c) { '\u{fffd}' } else { c }).collect()
}
