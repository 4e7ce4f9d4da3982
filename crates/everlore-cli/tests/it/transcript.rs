//! Transcript of commands with their answers, for snapshots; what differs from run to run is replaced.

use crate::home::TestHome;

/// Transcript of commands on one home.
pub(crate) struct CommandTranscript<'a> {
    home: &'a TestHome,
    text: String,
    ids: Vec<String>,
}

impl<'a> CommandTranscript<'a> {
    pub(crate) fn new(home: &'a TestHome) -> Self {
        Self { home, text: String::new(), ids: Vec::new() }
    }

    /// Runs a command; `@1` in an argument stands for the first id seen, and so on.
    pub(crate) fn run(&mut self, args: &[&str]) -> &mut Self {
        self.run_with_input(args, "")
    }

    /// Runs a command with this on standard input.
    pub(crate) fn run_with_input(&mut self, args: &[&str], input: &str) -> &mut Self {
        let named: Vec<String> = args.iter().map(|arg| self.expand_ids(arg)).collect();
        let ran = self.home.run_with_input(&named, input.as_bytes());
        self.text += &format!("$ everlore {}\n{}", args.join(" "), ran.out);
        for line in ran.err.lines() {
            self.text += &format!("! {line}\n");
        }
        self.text += &format!("[exit {}]\n\n", ran.code);
        self.learn_ids();
        self
    }

    /// Returns the transcript without what differs from run to run.
    pub(crate) fn redacted(&self) -> String {
        let home = self.home.path().display().to_string();
        let mut text = self.text.replace(&home, "[home]");
        text = replace_runs(&text, is_id_character, |run| self.id(run));
        text = replace_runs(&text, |c| c.is_ascii_digit() || "-:.TZ".contains(c), time);
        text = text.replace("[time] [clock]", "[time]");
        text = replace_runs(&text, |c| c.is_ascii_digit() || c == '.', number);
        text = replace_runs(
            &text,
            |c| "█░".contains(c),
            |run| (run.chars().count() == 8).then(|| "[bar]".to_owned()),
        );
        text.lines().map(single_gaps).collect::<Vec<_>>().join("\n")
    }

    fn expand_ids(&self, arg: &str) -> String {
        match arg.strip_prefix('@').and_then(|number| number.parse::<usize>().ok()) {
            Some(number) => self.ids[number - 1].clone(),
            None => arg.to_owned(),
        }
    }

    /// Numbers every id in the order of creation, so that shortened ones are recognised too.
    fn learn_ids(&mut self) {
        let journal = self.home.run(&["--json", "memory", "history", "--limit", "1000"]);
        let changes = journal.json()["changes"].as_array().unwrap().clone();
        for change in changes.iter().rev() {
            let id = change["id"].as_str().unwrap().to_owned();
            if !self.ids.contains(&id) {
                self.ids.push(id);
            }
        }
    }

    fn id(&self, run: &str) -> Option<String> {
        let long_enough = run.len() >= 8;
        let is_named = |id: &String| id.starts_with(run) || id[24..].starts_with(run);
        let index = self.ids.iter().position(|id| long_enough && is_named(id))?;
        Some(format!("[id {}]", index + 1))
    }
}

fn is_id_character(c: char) -> bool {
    c.is_ascii_hexdigit() || c == '-'
}

/// Replaces times of the test run; times that a test sets itself are years earlier.
fn time(run: &str) -> Option<String> {
    if run.len() == 5 && run.get(2..3) == Some(":") {
        return Some("[clock]".to_owned());
    }
    let year: u32 = run.get(..4)?.parse().ok()?;
    let shape: String = run.chars().map(|c| if c.is_ascii_digit() { 'd' } else { c }).collect();
    let is_time = ["dddd-dd-dd", "dddd-dd-ddTdd:dd:ddZ"].contains(&shape.as_str())
        || shape.starts_with("dddd-dd-ddTdd:dd:dd.d");
    (year >= 2025 && is_time).then(|| "[time]".to_owned())
}

/// Replaces fractions, sizes and the like; small counts stay.
fn number(run: &str) -> Option<String> {
    let fraction = run.contains('.') && !run.ends_with('.') && run.parse::<f64>().is_ok();
    let large = run.len() >= 5 && run.parse::<u64>().is_ok();
    (fraction || large).then(|| "[n]".to_owned())
}

/// Replaces the longest runs of matching characters for which `with` returns something.
fn replace_runs(
    text: &str,
    of: impl Fn(char) -> bool,
    with: impl Fn(&str) -> Option<String>,
) -> String {
    let (mut replaced, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(&of) {
        let (before, tail) = rest.split_at(start);
        let end = tail.find(|c| !of(c)).unwrap_or(tail.len());
        let (run, after) = tail.split_at(end);
        replaced += before;
        replaced += &with(run).unwrap_or_else(|| run.to_owned());
        rest = after;
    }
    replaced + rest
}

/// Equalizes gaps between columns, whose width depends on the ids.
fn single_gaps(line: &str) -> String {
    let inner = line.trim_start();
    let indent = &line[..line.len() - inner.len()];
    let columns: Vec<_> =
        inner.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
    format!("{indent}{}", columns.join("  "))
}

#[test]
fn what_differs_from_run_to_run_is_replaced() {
    let home = TestHome::new();
    let mut transcript = CommandTranscript::new(&home);
    transcript.run(&["remember", "tea"]).run(&["memory", "show", "@1"]);
    let text = transcript.redacted();
    assert!(text.contains("[id 1]") && text.contains("[time]"), "{text}");
}
