//! Where the files of an agent and a user are.
//!
//! The agent and the user called `default` live in the home itself; others in `agents/NAME` and `users/NAME` below it.
//! SOUL.md is the agent's; everything else belongs to one agent and one user.

use std::{
    fs,
    path::{Path, PathBuf},
};

use jiff::civil::Date;
use sha2::{Digest, Sha256};

use super::Layer;
use crate::types::Scope;

/// Names that some file systems keep for devices.
const RESERVED: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// File names may have 255 bytes; what is longer is told by a digest.
const MAX_NAME_BYTES: usize = 200;

/// The folders of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Of the agent.
    pub(super) agent: PathBuf,
    /// Of the agent's memories of the user.
    pub(super) memories: PathBuf,
}

impl Place {
    pub(super) fn of(home: &Path, scope: &Scope) -> Self {
        let default = Scope::default();
        let agent = match scope.agent() {
            name if name == default.agent() => home.to_owned(),
            name => home.join("agents").join(folder_name(name)),
        };
        let user = match scope.user() {
            name if name == default.user() => agent.clone(),
            name => agent.join("users").join(folder_name(name)),
        };
        Self { agent, memories: user.join("memories") }
    }

    /// The file of a layer; of the daily log, that of `day`.
    pub(super) fn file(&self, layer: Layer, day: Date) -> PathBuf {
        match layer {
            Layer::Soul => self.agent.join("SOUL.md"),
            Layer::User => self.memories.join("USER.md"),
            Layer::Memory => self.memories.join("MEMORY.md"),
            Layer::Daily => self.days().join(format!("{day}.md")),
        }
    }

    /// The file that keeps what a layer said before, without its end.
    pub(super) fn history(&self, layer: Layer, day: Date) -> PathBuf {
        match layer {
            Layer::Soul => self.agent.join(".history").join("SOUL"),
            Layer::User => self.memories.join(".history").join("USER"),
            Layer::Memory => self.memories.join(".history").join("MEMORY"),
            Layer::Daily => self.memories.join(".history").join(format!("daily-{day}")),
        }
    }

    /// Where days are that are still in the prompt.
    pub(super) fn days(&self) -> PathBuf {
        self.memories.join("daily")
    }

    /// Where days are that no longer are.
    pub(super) fn archive(&self) -> PathBuf {
        self.days().join("archive")
    }
}

/// Every folder of an agent and a user below a home, whoever they are.
pub(super) fn all(home: &Path) -> Vec<Place> {
    let agents = std::iter::once(home.to_owned()).chain(folders(&home.join("agents")));
    let place = |agent: PathBuf| {
        let users = std::iter::once(agent.clone()).chain(folders(&agent.join("users")));
        let place = |user: PathBuf| Place { agent: agent.clone(), memories: user.join("memories") };
        users.map(place).collect::<Vec<_>>()
    };
    agents.flat_map(place).collect()
}

fn folders(below: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(below) else { return Vec::new() };
    let mut folders: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

/// A name as a folder: different for different names, even where case and the form of letters do not count.
///
/// Small letters, digits and Han characters stay, everything else becomes `%` and the hexadecimal digits of its bytes.
fn folder_name(name: &str) -> String {
    let device = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let reserved = RESERVED.contains(&device);
    let mut encoded = String::new();
    for (at, c) in name.char_indices() {
        let plain = matches!(c, 'a'..='z' | '0'..='9' | '-' | '_' | '\u{4e00}'..='\u{9fff}');
        if plain && !(reserved && at == 0) {
            encoded.push(c);
        } else {
            let mut bytes = [0; 4];
            encoded.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02x}")));
        }
    }
    if encoded.len() <= MAX_NAME_BYTES {
        return encoded;
    }
    let digest = Sha256::digest(name);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    // A tilde is never left plain, so no short name can be the same.
    format!("~{digest}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    use super::*;

    #[test]
    fn readable_names_stay_readable() {
        assert_eq!(folder_name("anna-2"), "anna-2");
        assert_eq!(folder_name("助手"), "助手");
        assert_eq!(folder_name("Anna B."), "%41nna%20%42%2e");
        assert_eq!(folder_name("con"), "%63on");
        assert_eq!(folder_name("com1"), "%63om1");
        assert!(folder_name(&"é".repeat(100)).len() < 100);
    }

    #[test]
    fn each_scope_has_its_own_files_and_only_the_soul_is_shared() {
        let file = |agent: &str, user: &str, layer| {
            let scope = Scope::new(agent, user).unwrap();
            let day = jiff::civil::date(2026, 3, 2);
            let path = Place::of(Path::new("/h"), &scope).file(layer, day);
            path.to_str().unwrap().replace('\\', "/")
        };
        assert_eq!(file("default", "default", Layer::Soul), "/h/SOUL.md");
        assert_eq!(file("default", "default", Layer::Daily), "/h/memories/daily/2026-03-02.md");
        assert_eq!(file("default", "bob", Layer::User), "/h/users/bob/memories/USER.md");
        assert_eq!(file("anna", "bob", Layer::Soul), "/h/agents/anna/SOUL.md");
        assert_eq!(file("anna", "bob", Layer::User), "/h/agents/anna/users/bob/memories/USER.md");
    }

    proptest! {
        #[test]
        fn no_two_names_share_a_folder_and_none_leaves_it(names in prop::collection::vec(".{1,100}|[aAéÉe\u{301}.%~]{1,4}", 2..20)) {
            let mut seen: HashMap<String, String> = HashMap::new();
            for name in names {
                let folder = folder_name(&name);
                prop_assert!(folder.len() <= 255 && !folder.contains(['/', '\\', ':', '.']));
                // As a file system sees it that minds neither case nor the form of letters.
                let seen_as: String = folder.to_lowercase().nfd().collect();
                if let Some(other) = seen.insert(seen_as, name.clone()) {
                    prop_assert_eq!(other, name);
                }
            }
        }
    }
}
