//! Notice that rules replaced the model that extracts, until the model extracts again. It is a file of the home, so that
//! a command shows what a server or a hook met.

use std::{fs, io, path::Path};

use crate::{
    engine::Engine,
    files::atomic_file::{TempFile, WriteOptions, remove_if_exists},
    sync::lock,
};

/// File of the home with the notice.
const NOTE_FILE: &str = "capture-note.txt";

impl Engine {
    /// Keeps or clears the notice. It is advice only, so a failure goes to the log.
    pub(super) fn set_capture_note(&self, note: Option<&str>) {
        *lock(&self.capture_note) = note.map(str::to_owned);
        let Some(home) = self.home.as_deref() else { return };
        if let Err(error) = write_note(home, note) {
            tracing::warn!("{error}: the notice about the model was not written");
        }
    }

    /// Returns the notice: that of the home, or of this process if there is no home.
    pub(super) fn capture_note(&self) -> Option<String> {
        match self.home.as_deref() {
            Some(home) => fs::read_to_string(home.join(NOTE_FILE)).ok(),
            None => lock(&self.capture_note).clone(),
        }
    }
}

fn write_note(home: &Path, note: Option<&str>) -> io::Result<()> {
    let path = home.join(NOTE_FILE);
    let Some(note) = note else { return remove_if_exists(&path) };
    let options = WriteOptions { private: true, ..WriteOptions::default() };
    TempFile::write(path.with_extension("new"), note.as_bytes(), options)?.persist(&path)
}
