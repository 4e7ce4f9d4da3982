//! Temporary home, and commands on it.

use std::{
    ffi::OsStr,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;

/// Home that is removed with the test.
pub(crate) struct TestHome {
    folder: tempfile::TempDir,
}

/// Exit code and output of a command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl TestHome {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Returns a home in RAM if the system has such a folder, for tests of processes that wait for each other thousands of times:
    /// a slow disk would make them slow and prove nothing more.
    pub(crate) fn in_ram() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self { folder: folder.unwrap() }
    }

    /// Returns the folder of `--home`; the first command creates it.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Returns a path beside the home, for exports and the like.
    pub(crate) fn sibling(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the binary on this home, without the developer's environment and with a fixed time zone.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_everlore"));
        command.env_clear().env("TZ", "UTC").env("EVERLORE_HOME", self.path()).args(args);
        // The developer's home folder is never read.
        command.env("HOME", self.folder.path());
        command.current_dir(self.folder.path());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> CommandOutput {
        self.run_with_input(args, b"")
    }

    /// Runs a command with this on standard input.
    pub(crate) fn run_with_input<S: AsRef<OsStr>>(
        &self,
        args: &[S],
        input: &[u8],
    ) -> CommandOutput {
        let mut child = self.start(args);
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // On a thread: a long input and a long answer must not wait for each other.
        let writer = std::thread::spawn(move || {
            // A command that needs no input may have ended already.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        CommandOutput::from(output)
    }

    /// Starts a command with all three streams piped.
    pub(crate) fn start<S: AsRef<OsStr>>(&self, args: &[S]) -> Child {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs a command with `--json`, expects exit code 0 and returns the answer.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(&[&["--json"], args].concat());
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        ran.json()
    }

    /// Remembers a text and returns its id.
    pub(crate) fn remember(&self, text: &str) -> String {
        self.json(&["remember", text])["id"].as_str().unwrap().to_owned()
    }

    /// Returns the contents that a query recalls, best first.
    pub(crate) fn recall(&self, query: &str) -> Vec<String> {
        let ran = self.run(&["--json", "recall", "--", query]);
        assert!([0, 1].contains(&ran.code), "{query:?}: {ran:?}");
        let hits = ran.json()["hits"].as_array().unwrap().clone();
        hits.iter().map(|hit| hit["content"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns every file of the home with its bytes.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        files_below(&self.path())
            .into_iter()
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect()
    }

    /// Fails if the doctor finds a problem.
    pub(crate) fn assert_healthy(&self) {
        let ran = self.run(&["--json", "doctor"]);
        assert_eq!((ran.code, &ran.json()["ok"]), (0, &Value::Bool(true)), "{ran:?}");
    }
}

impl CommandOutput {
    /// Returns the one line of JSON on standard output.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.out).unwrap()
    }

    /// Returns every line of standard output as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        let ran = Self {
            code: output.status.code().expect("ended by itself"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        ran
    }
}

/// Returns every file below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Returns a JSON line for each turn.
pub(crate) fn turn_lines<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().map(|text| serde_json::json!({ "text": text }).to_string() + "\n").collect()
}

/// Writes a file and returns its path as text.
pub(crate) fn write_file(path: &Path, bytes: impl AsRef<[u8]>) -> String {
    fs::write(path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}
