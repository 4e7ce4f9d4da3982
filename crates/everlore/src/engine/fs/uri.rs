//! URIs of the tree: a pure mapping between URIs and nodes.
//!
//! Parsing decodes a URI once and splits it before any lookup. It rejects everything that could lead out of the tree
//! (`..`, a NUL, a backslash, the name of another agent or user), so that later steps see plain names only; and every
//! lookup is confined to the caller's scope.

use jiff::civil::Date;

use crate::{
    error::{Error, Result},
    files::layers::Layer,
    ingest::root_uri,
    types::{Kind, Scope},
};

/// Longest URI; a longer one is a mistake, not a name.
const MAX_URI_BYTES: usize = 4_096;

/// Folders that are no kinds of memories.
pub(super) const LAYERS: &str = "layers";
pub(super) const RESOURCES: &str = "resources";
pub(super) const SESSIONS: &str = "sessions";
pub(super) const FILES: &str = "files";
pub(super) const MEMORIES: &str = "memories";
pub(super) const DAILY: &str = "daily";

/// Stand-in for the leading slash of a document's absolute path.
const ABSOLUTE_PREFIX: &str = "~root";

/// Names of our kinds in other systems.
const KIND_ALIASES: [(&str, Kind); 9] = [
    ("preferences", Kind::User),
    ("profile", Kind::User),
    ("entities", Kind::Knowledge),
    ("facts", Kind::Knowledge),
    ("events", Kind::Project),
    ("cases", Kind::Experience),
    ("trajectories", Kind::Experience),
    ("experiences", Kind::Experience),
    ("projects", Kind::Project),
];

/// Parsed URI of a node, which need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FsUri {
    /// Root of the scope.
    Root,
    /// Memories of all kinds.
    Kinds,
    /// Memory, or a folder of memories: the part of a stored URI after the root.
    Memory(String),
    /// Folder of layers.
    Layers,
    /// One layer.
    Layer(Layer),
    /// Folder of the daily log.
    Days,
    /// One day of the log.
    Day(Date),
    /// Document, or a folder of documents, by the parts of its path; all documents if there are none.
    Document(Vec<String>),
    /// Folder of sessions.
    Sessions,
    /// One session.
    Session(String),
    /// Turn, by its id.
    Turn(String),
    /// One of the agent's own files, or a folder of them, by the parts of its path.
    File(Vec<String>),
}

impl FsUri {
    /// Parses a URI (`agent://…`, `viking://…`, or a path from the root of the scope). Fails if it is malformed or
    /// belongs to another scope.
    pub(super) fn parse(uri: &str, scope: &Scope) -> Result<Self> {
        check_uri_text(uri)?;
        let uri = uri.trim();
        if let Some(rest) = uri.strip_prefix("viking://") {
            return parse_viking_uri(&split_path(rest)?, scope);
        }
        if let Some(rest) = uri.strip_prefix(&root_uri(scope)) {
            return parse_path(split_path(rest)?);
        }
        match uri.strip_prefix("agent://") {
            Some(rest) => parse_agent_uri(rest, scope),
            None if uri.contains("://") => Err(Error::invalid(
                "only agent:// and viking:// uris are supported",
                format!("begin with {}, or with a name such as user/", root_uri(scope)),
            )),
            None => parse_path(split_path(uri.strip_prefix('/').unwrap_or(uri))?),
        }
    }

    /// Returns the URI, without a trailing slash except for the root.
    pub(super) fn uri(&self, scope: &Scope) -> String {
        root_uri(scope)
            + &self.path().iter().map(|part| percent_encode(part)).collect::<Vec<_>>().join("/")
    }

    /// Returns the parts of its path below the root.
    pub(super) fn path(&self) -> Vec<String> {
        let under = |folder: &str, rest: &[String]| {
            std::iter::once(folder.to_owned()).chain(rest.iter().cloned()).collect()
        };
        let one = |folder: &str, name: String| under(folder, &[name]);
        match self {
            Self::Root => Vec::new(),
            Self::Kinds => under(MEMORIES, &[]),
            Self::Memory(path) => path.split('/').map(str::to_owned).collect(),
            Self::Layers => under(LAYERS, &[]),
            Self::Layer(layer) => one(LAYERS, layer_file(*layer)),
            Self::Days => one(LAYERS, DAILY.to_owned()),
            Self::Day(date) => under(LAYERS, &[DAILY.to_owned(), format!("{date}.md")]),
            Self::Document(rest) => under(RESOURCES, rest),
            Self::Sessions => under(SESSIONS, &[]),
            Self::Session(name) => one(SESSIONS, name.clone()),
            Self::Turn(id) => one(Kind::Turn.as_str(), id.clone()),
            Self::File(rest) => under(FILES, rest),
        }
    }

    /// Returns the parent folder; `None` for the root.
    pub(super) fn parent(&self) -> Option<Self> {
        let mut path = self.path();
        path.pop()?;
        parse_path(path).ok()
    }
}

/// Returns the name of a layer's file.
pub(super) fn layer_file(layer: Layer) -> String {
    format!("{}.md", layer.as_str().to_uppercase())
}

/// Returns the parts of a document's path; an absolute path begins with `~root`.
pub(super) fn document_parts(path: &str) -> Vec<String> {
    let rooted = path.starts_with('/').then(|| ABSOLUTE_PREFIX.to_owned());
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "." | ".."));
    rooted.into_iter().chain(parts.map(str::to_owned)).collect()
}

/// Returns the path of such parts.
pub(super) fn document_path(parts: &[String]) -> String {
    match parts.split_first() {
        Some((first, rest)) if first == ABSOLUTE_PREFIX => format!("/{}", rest.join("/")),
        _ => parts.join("/"),
    }
}

/// Percent-encodes the characters of a URI part that have a meaning in URIs.
pub(super) fn percent_encode(part: &str) -> String {
    let special = |c: char| c.is_control() || c.is_whitespace() || "/%?#\\\"<>".contains(c);
    let mut text = String::with_capacity(part.len());
    for c in part.chars() {
        if special(c) {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes)
                .bytes()
                .for_each(|byte| text.push_str(&format!("%{byte:02X}")));
        } else {
            text.push(c);
        }
    }
    text
}

fn check_uri_text(uri: &str) -> Result<()> {
    let what = if uri.len() > MAX_URI_BYTES {
        "is longer than 4,096 bytes"
    } else if uri.chars().any(char::is_control) {
        "has a control character in it"
    } else if uri.contains('\\') {
        "has a backslash in it"
    } else {
        return Ok(());
    };
    Err(Error::invalid(format!("the uri {what}"), "use names that `ls` shows, joined by /"))
}

/// Returns the decoded parts of a path, which may end with one slash.
fn split_path(path: &str) -> Result<Vec<String>> {
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Ok(Vec::new());
    }
    path.split('/').map(decode_part).collect()
}

fn decode_part(raw: &str) -> Result<String> {
    let part = percent_decode(raw)?;
    let what = match part.as_str() {
        "" => "a part of the uri is empty",
        "." | ".." => "`.` and `..` are not supported in uris",
        _ if part.chars().any(char::is_control) || part.contains('\\') => {
            "a part of the uri has a character that is not allowed in names"
        }
        _ => return Ok(part),
    };
    Err(Error::invalid(what, "use names that `ls` shows, joined by /"))
}

/// Decodes percent signs once; the result is text and nothing else.
fn percent_decode(raw: &str) -> Result<String> {
    let bad =
        || Error::invalid("the uri has an invalid % escape", "write a plain % as %25, in UTF-8");
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = more.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|it| it.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or_else(bad)?);
        rest = &more[2..];
    }
    String::from_utf8(bytes).map_err(|_| bad())
}

/// Parses a URI that begins with an agent's name; the scope's own name may contain blanks.
fn parse_agent_uri(rest: &str, scope: &Scope) -> Result<FsUri> {
    let (agent, path) = rest.split_once('/').unwrap_or((rest, ""));
    let root = root_uri(scope);
    let own = root.trim_start_matches("agent://").trim_end_matches('/');
    let name = percent_decode(agent)?;
    if agent == own || name == own || name == scope.agent() {
        return parse_path(split_path(path)?);
    }
    Err(Error::invalid(
        "this uri belongs to another agent",
        format!("use a uri that begins with {root}"),
    ))
}

/// Parses the parts of a path from the root.
fn parse_path(mut parts: Vec<String>) -> Result<FsUri> {
    if parts.is_empty() {
        return Ok(FsUri::Root);
    }
    let first = parts.remove(0);
    match (first.as_str(), parts.len()) {
        (MEMORIES, 0) => Ok(FsUri::Kinds),
        (MEMORIES, _) => parse_path(parts),
        (LAYERS, _) => layer_uri(&parts),
        (RESOURCES, _) => without_slashes(parts).map(FsUri::Document),
        (FILES, _) => without_slashes(parts).map(FsUri::File),
        (SESSIONS, 0) => Ok(FsUri::Sessions),
        (SESSIONS, 1) => Ok(FsUri::Session(parts.remove(0))),
        (SESSIONS | "turn", 2) => Ok(FsUri::Turn(parts.remove(1))),
        ("turn", 1) => Ok(FsUri::Turn(parts.remove(0))),
        ("turn", 0) => Ok(FsUri::Sessions),
        _ => memory_uri(first, parts),
    }
}

fn memory_uri(first: String, parts: Vec<String>) -> Result<FsUri> {
    let alias = KIND_ALIASES.iter().find(|(alias, _)| *alias == first);
    let first = alias.map_or(first, |(_, kind)| kind.as_str().to_owned());
    let all = without_slashes(std::iter::once(first).chain(parts).collect())?;
    Ok(FsUri::Memory(all.join("/")))
}

fn layer_uri(parts: &[String]) -> Result<FsUri> {
    match parts {
        [] => Ok(FsUri::Layers),
        [daily] if daily == DAILY => Ok(FsUri::Days),
        [name] => Ok(FsUri::Layer(name.parse()?)),
        [daily, day] if daily == DAILY => {
            let date = day.strip_suffix(".md").unwrap_or(day).parse();
            date.map(FsUri::Day).map_err(|_| {
                Error::invalid(format!("`{day}` is not a day"), "a day looks like 2026-03-02.md")
            })
        }
        _ => Err(Error::not_found("uri", format!("{LAYERS}/{}", parts.join("/")))),
    }
}

/// Fails if a part contains a slash, because joining the parts would make another path.
fn without_slashes(parts: Vec<String>) -> Result<Vec<String>> {
    if parts.iter().any(|part| part.contains('/')) {
        return Err(Error::invalid(
            "only names of sessions may contain a slash",
            "write / between the parts of a path",
        ));
    }
    Ok(parts)
}

/// Parses a URI of OpenViking.
fn parse_viking_uri(parts: &[String], scope: &Scope) -> Result<FsUri> {
    let (first, rest) = match parts.split_first() {
        None => return Ok(FsUri::Root),
        Some((first, rest)) => (first.as_str(), rest),
    };
    match first {
        "~" => parse_path(viking_home_path(rest)),
        "user" => match rest.split_first() {
            None => Ok(FsUri::Root),
            Some((user, rest)) if user == scope.user() => parse_path(viking_home_path(rest)),
            Some((folder, _))
                if [MEMORIES, RESOURCES, SESSIONS, "profile.md"].contains(&folder.as_str()) =>
            {
                parse_path(viking_home_path(rest))
            }
            Some(_) => Err(Error::invalid(
                "this uri belongs to another user",
                format!("use a uri that begins with viking://user/{}/", scope.user()),
            )),
        },
        "session" => {
            parse_path(std::iter::once(SESSIONS.to_owned()).chain(rest.iter().cloned()).collect())
        }
        "agent" => parse_path(rest.to_vec()),
        RESOURCES => parse_path(parts.to_vec()),
        _ => Err(Error::invalid(
            format!("there is no viking://{first}"),
            "the folders are viking://resources, viking://user, viking://agent and viking://session",
        )),
    }
}

/// Converts a path in OpenViking's home of the user.
fn viking_home_path(rest: &[String]) -> Vec<String> {
    match rest {
        [profile] if profile == "profile.md" => vec![LAYERS.to_owned(), "USER.md".to_owned()],
        rest => rest.to_vec(),
    }
}

/// Returns the OpenViking URI of a node; returns `uri` unchanged if it cannot be parsed.
pub fn to_viking(uri: &str, scope: &Scope) -> String {
    let Ok(fs_uri) = FsUri::parse(uri, scope) else { return uri.to_owned() };
    let path = fs_uri.path().iter().map(|part| percent_encode(part)).collect::<Vec<_>>().join("/");
    let user = percent_encode(scope.user());
    let end = if uri.ends_with('/') && !path.is_empty() { "/" } else { "" };
    match fs_uri {
        FsUri::Root => "viking://".to_owned(),
        FsUri::Kinds => format!("viking://user/{user}/{path}{end}"),
        FsUri::Document(_) => format!("viking://{path}{end}"),
        FsUri::Sessions | FsUri::Session(_) => format!("viking://user/{user}/{path}{end}"),
        FsUri::Memory(_) => format!("viking://user/{user}/{MEMORIES}/{path}{end}"),
        _ => format!("viking://agent/{path}{end}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Scope {
        Scope::new("my agent", "王").unwrap()
    }

    fn parse(uri: &str) -> Result<FsUri> {
        FsUri::parse(uri, &own())
    }

    fn memory(path: &str) -> FsUri {
        FsUri::Memory(path.into())
    }

    fn words(parts: &[&str]) -> Vec<String> {
        parts.iter().map(|part| (*part).to_owned()).collect()
    }

    #[test]
    fn a_uri_a_path_and_an_alias_name_the_same() {
        for uri in [
            "agent://my-agent/user/食物",
            "agent://my agent/user/食物/",
            "agent://my%20agent/user/食物",
            "user/食物",
            "/user/食物",
            "memories/user/食物",
            "preferences/食物",
            "user/%E9%A3%9F%E7%89%A9",
            "viking://user/王/memories/preferences/食物",
            "viking://~/memories/user/食物",
            "viking://user/memories/user/食物",
        ] {
            assert_eq!(parse(uri).unwrap(), memory("user/食物"), "{uri}");
        }
    }

    #[test]
    fn every_place_is_named_by_its_own_uri() {
        let uris = [
            FsUri::Root,
            FsUri::Kinds,
            memory("user/food/tea-1"),
            FsUri::Layers,
            FsUri::Layer(Layer::User),
            FsUri::Days,
            FsUri::Day("2026-03-02".parse().unwrap()),
            FsUri::Document(words(&["手册", "a b.md"])),
            FsUri::Sessions,
            FsUri::Session("周一/会议 50%".into()),
            FsUri::File(words(&["notes", "todo.md"])),
        ];
        for fs_uri in uris {
            let uri = fs_uri.uri(&own());
            assert_eq!(parse(&uri).unwrap(), fs_uri, "{uri}");
            let viking = to_viking(&uri, &own());
            assert!(viking.starts_with("viking://"), "{viking}");
            assert_eq!(parse(&viking).unwrap(), fs_uri, "{viking}");
        }
    }

    #[test]
    fn absolute_and_relative_paths_of_documents_are_told_apart() {
        for path in ["/home/wang/a.md", "home/wang/a.md", "手册/部署.md"] {
            assert_eq!(document_path(&document_parts(path)), path);
        }
        assert_ne!(document_parts("/a"), document_parts("a"));
    }

    #[test]
    fn what_could_lead_out_of_the_tree_is_refused() {
        for uri in [
            "../other",
            "user/../../other",
            "user/%2e%2e/other",
            "user/%2E%2E%2Fother",
            "user/.",
            "user//tea",
            "user/a%00b",
            "user/a\0b",
            "user/a\nb",
            "user\\tea",
            "user/%5c..%5c",
            "user/a%2Fb",
            "resources/..%2f..%2fetc/passwd",
            "user/%",
            "user/%4",
            "user/%zz",
            "user/%+1",
            "user/%ff%fe",
            "agent://other/user/tea",
            "agent://../user",
            "agent://",
            "viking://user/李/memories/user",
            "viking://temp/x",
            "file:///etc/passwd",
            "http://localhost/",
            "layers/SECRET.md",
            "layers/daily/../SOUL.md",
            &"a/".repeat(3_000),
        ] {
            assert!(parse(uri).is_err(), "{uri:?} was taken");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_refused_or_names_one_place_by_plain_names(
            uri in "(agent://my-agent/|viking://(user/王/|resources/|~/)?|)[a-z0-9%./\\\\:茶 ]{0,30}",
        ) {
            if let Ok(fs_uri) = parse(&uri) {
                let bad = |part: &String| part.is_empty() || part == "." || part == ".." || part.contains('\\');
                proptest::prop_assert!(!fs_uri.path().iter().any(bad), "{fs_uri:?}");
                let again = parse(&fs_uri.uri(&own()));
                let same = again.as_ref().is_ok_and(|again| *again == fs_uri);
                proptest::prop_assert!(same, "{uri:?} {fs_uri:?} {again:?}");
            }
        }
    }

    #[test]
    fn a_name_is_decoded_once() {
        assert_eq!(parse("user/%252e%252e").unwrap(), memory("user/%2e%2e"));
    }
}
