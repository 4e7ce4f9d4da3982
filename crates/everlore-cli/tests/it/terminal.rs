//! A pseudo-terminal for the binary: input is typed, and the screen is read. Nothing here sleeps: tests wait for text
//! on the screen.

use std::{
    io::{Read, Write},
    num::NonZeroU16,
    process::Child,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use pty_process::{Size, blocking};

use crate::home::TestHome;

/// Longer than any condition takes that a test waits for.
const DEADLINE: Duration = Duration::from_secs(60);

/// Key codes.
pub(crate) const CTRL_C: &str = "\u{3}";
pub(crate) const CTRL_D: &str = "\u{4}";
pub(crate) const BACKSPACE: &str = "\u{7f}";
pub(crate) const UP: &str = "\u{1b}[A";
pub(crate) const ENTER: &str = "\r";

/// Terminal that runs the binary.
pub(crate) struct TestTerminal {
    pty: Arc<blocking::Pty>,
    child: Child,
    shared: Arc<SharedScreen>,
    /// Bytes printed before the last input: text that was on the screen then is no answer to it.
    typed_at: AtomicUsize,
}

struct SharedScreen {
    state: Mutex<ScreenState>,
    changed: Condvar,
}

struct ScreenState {
    parser: vt100::Parser,
    /// Bytes printed so far.
    printed: usize,
    closed: bool,
}

fn cells(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}

impl TestTerminal {
    /// Starts the binary on a home, in a terminal of 40 lines and 100 columns.
    pub(crate) fn start(home: &TestHome, args: &[&str], env: &[(&str, &str)]) -> Self {
        Self::start_wide(home, args, env, 100)
    }

    /// Starts the binary in a terminal of 40 lines and this many columns.
    pub(crate) fn start_wide(
        home: &TestHome,
        args: &[&str],
        env: &[(&str, &str)],
        columns: u16,
    ) -> Self {
        let (pty, pts) = blocking::open().unwrap();
        pty.resize(Size::new(40, columns)).unwrap();
        let command = blocking::Command::new(env!("CARGO_BIN_EXE_everlore"))
            .env_clear()
            .env("TZ", "UTC")
            .env("TERM", "xterm-256color")
            .env("EVERLORE_HOME", home.path())
            .env("HOME", home.sibling("user"))
            .envs(env.iter().copied())
            .current_dir(home.sibling(""))
            .args(args);
        let child = command.spawn(pts).unwrap();
        let parser = vt100::Parser::new(cells(40), cells(columns), 1_000);
        let state = Mutex::new(ScreenState { parser, printed: 0, closed: false });
        let shared = Arc::new(SharedScreen { state, changed: Condvar::new() });
        let pty = Arc::new(pty);
        let (reading, watching) = (Arc::clone(&pty), Arc::clone(&shared));
        thread::spawn(move || read_pty(&reading, &watching));
        Self { pty, child, shared, typed_at: AtomicUsize::new(0) }
    }

    /// Types a text.
    pub(crate) fn type_keys(&self, keys: &str) {
        let printed = self.shared.state.lock().unwrap().printed;
        self.typed_at.store(printed, Ordering::Relaxed);
        (&*self.pty).write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the prompt, types a line and presses Enter.
    pub(crate) fn type_line(&self, line: &str) {
        self.wait_for_prompt();
        self.type_keys(line);
        self.type_keys(ENTER);
    }

    /// Waits until a text is on the screen.
    pub(crate) fn wait_for_text(&self, text: &str) {
        self.wait_for_screen(text, |screen| screen.contents().contains(text));
    }

    /// Waits for an empty prompt.
    pub(crate) fn wait_for_prompt(&self) {
        self.wait_for_question("›");
    }

    /// Waits until the cursor is right after a question.
    pub(crate) fn wait_for_question(&self, question: &str) {
        let typed_at = self.typed_at.load(Ordering::Relaxed);
        self.wait_state(question, |state| {
            let screen = state.parser.screen();
            let row = usize::from(screen.cursor_position().0);
            let line = screen.rows(0, screen.size().1.get()).nth(row).unwrap_or_default();
            state.printed > typed_at && line.trim_end().ends_with(question)
        });
    }

    /// Returns the text on the screen.
    pub(crate) fn screen(&self) -> String {
        self.shared.state.lock().unwrap().parser.screen().contents()
    }

    /// Returns `true` if a text on the screen is bold from its first to its last character.
    pub(crate) fn is_bold(&self, text: &str) -> bool {
        let state = self.shared.state.lock().unwrap();
        let screen = state.parser.screen();
        let rows: Vec<String> = screen.rows(0, screen.size().1.get()).collect();
        let found = rows.iter().enumerate().find_map(|(row, line)| Some((row, line.find(text)?)));
        let (row, column) = found.unwrap_or_else(|| panic!("`{text}` is not on the screen"));
        let cell = |at: usize| screen.cell(row as u16, at as u16).unwrap().bold();
        (column..column + text.len()).all(cell)
    }

    /// Resizes the terminal.
    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        self.pty.resize(Size::new(rows, columns)).unwrap();
        self.shared.state.lock().unwrap().parser.set_size(cells(rows), cells(columns));
    }

    /// Waits for the process to end and returns the rows of the screen.
    pub(crate) fn final_rows(self) -> Vec<String> {
        let shared = Arc::clone(&self.shared);
        self.wait_for_exit();
        let state = shared.state.lock().unwrap();
        let screen = state.parser.screen();
        screen.rows(0, screen.size().1.get()).map(|row| row.trim_end().to_owned()).collect()
    }

    /// Waits for the process to end and returns its exit code.
    pub(crate) fn wait_for_exit(mut self) -> i32 {
        let state = self.shared.state.lock().unwrap();
        let (state, waited) =
            self.shared.changed.wait_timeout_while(state, DEADLINE, |state| !state.closed).unwrap();
        let screen = state.parser.screen().contents();
        drop(state);
        assert!(!waited.timed_out(), "it goes on:\n{screen}");
        self.child.wait().unwrap().code().expect("ended by itself")
    }

    fn wait_for_screen(&self, what: &str, until: impl Fn(&vt100::Screen) -> bool) {
        self.wait_state(what, |state| until(state.parser.screen()));
    }

    fn wait_state(&self, what: &str, until: impl Fn(&ScreenState) -> bool) {
        let state = self.shared.state.lock().unwrap();
        let (state, waited) = self
            .shared
            .changed
            .wait_timeout_while(state, DEADLINE, |state| !state.closed && !until(state))
            .unwrap();
        let (found, screen) = (until(&state), state.parser.screen().contents());
        drop(state);
        assert!(!waited.timed_out() && found, "no `{what}` on:\n{screen}");
    }
}

impl Drop for TestTerminal {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_pty(mut pty: &blocking::Pty, seen: &SharedScreen) {
    let mut bytes = [0; 4096];
    loop {
        let read = pty.read(&mut bytes);
        let mut state = seen.state.lock().unwrap();
        match read {
            Ok(read) if read > 0 => {
                state.parser.process(&bytes[..read]);
                state.printed += read;
            }
            _ => state.closed = true,
        }
        let closed = state.closed;
        drop(state);
        seen.changed.notify_all();
        if closed {
            return;
        }
    }
}
