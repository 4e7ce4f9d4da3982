//! Files of a home that hold secrets: readable by their owner only.

use std::path::Path;

use everlore::internal::files::private_file::make_private;

use crate::keys::KEYS_FILE;

/// Owner's token, API keys, signed-in browsers, keys of providers, and the key that signs checks.
const SECRET_FILES: [&str; 5] =
    ["server.token", "server.keys.json", "server.browsers.json", KEYS_FILE, "checks.key"];

/// Makes the secret files of a home private, and returns a note on each that was not.
pub(crate) fn tighten(home: &Path) -> Vec<String> {
    SECRET_FILES.iter().filter_map(|file| tighten_file(&home.join(file))).collect()
}

fn tighten_file(path: &Path) -> Option<String> {
    let shown = path.display();
    match make_private(path) {
        Ok(None) => None,
        Ok(Some(mode)) => Some(format!(
            "warning: other users of this machine could read or change {shown} (mode {mode:04o}); it is 0600 now. \
             If others use this machine, replace the secret in it"
        )),
        Err(error) => Some(format!(
            "warning: other users of this machine can read or change {shown}, and it could not be made private: {error}"
        )),
    }
}
