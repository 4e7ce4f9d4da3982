//! Folders of an agent and a user in a home.
//!
//! The agent and the user called `default` live in the home itself; others in `agents/NAME` and `users/NAME` below it.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::types::Scope;

/// Names that some file systems reserve for devices.
const RESERVED_DEVICE_NAMES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// Most bytes of a folder name, of the 255 that file systems allow; a longer name is replaced by a digest.
const MAX_NAME_BYTES: usize = 200;

/// Returns the folder of an agent.
pub(crate) fn agent_folder(home: &Path, agent: &str) -> PathBuf {
    if agent == Scope::default().agent() {
        home.to_owned()
    } else {
        home.join("agents").join(folder_name(agent))
    }
}

/// Returns the folder of an agent's memories of a user.
pub(crate) fn scope_folder(home: &Path, scope: &Scope) -> PathBuf {
    let agent = agent_folder(home, scope.agent());
    if scope.user() == Scope::default().user() {
        agent
    } else {
        agent.join("users").join(folder_name(scope.user()))
    }
}

/// Returns the vault of an agent and a user.
pub fn vault_folder(home: &Path, scope: &Scope) -> PathBuf {
    scope_folder(home, scope).join("vault")
}

/// Returns a name as a folder: different for different names, even where case and Unicode normalization do not count.
///
/// Small letters, digits and Han characters stay, everything else becomes `%` and the hexadecimal digits of its bytes.
pub(crate) fn folder_name(name: &str) -> String {
    let device = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let reserved = RESERVED_DEVICE_NAMES.contains(&device);
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

    proptest! {
        #[test]
        fn no_two_names_share_a_folder_and_none_leaves_it(names in prop::collection::vec(".{1,100}|[aAéÉe\u{301}.%~]{1,4}", 2..20)) {
            let mut folders: HashMap<String, String> = HashMap::new();
            for name in names {
                let folder = folder_name(&name);
                prop_assert!(folder.len() <= 255 && !folder.contains(['/', '\\', ':', '.']));
                // As seen by a file system that ignores case and Unicode normalization.
                let seen_as: String = folder.to_lowercase().nfd().collect();
                if let Some(other) = folders.insert(seen_as, name.clone()) {
                    prop_assert_eq!(other, name);
                }
            }
        }
    }
}
