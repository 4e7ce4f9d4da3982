//! No interface writes past the engine: its settings, masks and wake-ups apply to every way in.

use std::{fs, path::Path};

/// Sources of the interfaces, from the folder of this crate.
const INTERFACES: [&str; 4] =
    ["../everlore-server/src", "../everlore-cli/src", "src/tools", "src/chat"];

/// Ways to a store that writes: the store itself, its access for tests, and the only method that writes.
const WAYS_PAST_THE_ENGINE: [&str; 4] = ["store_of(", ".store()", ".apply(", "WriteBatch"];

fn for_each_source(folder: &Path, each: &mut dyn FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            for_each_source(&path, each);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            // Tests set the stage as they like.
            let is_test = path.to_str().unwrap().contains("test");
            let code = text.split("#[cfg(test)]").next().unwrap();
            each(&path, if is_test { "" } else { code });
        }
    }
}

#[test]
fn no_interface_writes_past_the_engine() {
    let mut sources = 0;
    for folder in INTERFACES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for_each_source(&folder, &mut |path, code| {
            sources += 1;
            for way in WAYS_PAST_THE_ENGINE {
                assert!(!code.contains(way), "{} uses {way}", path.display());
            }
        });
    }
    assert!(sources > 200, "{sources} sources");
}
