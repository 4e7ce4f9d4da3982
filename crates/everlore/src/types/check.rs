//! A check: how a machine can tell whether a memory still holds, and what it told.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use jiff::{Timestamp, ToSpan, Zoned, civil::Date};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Actor, Memory, to_millisecond};
use crate::error::{Error, Result};

/// Under this key a memory's metadata holds its check.
pub const CHECK_KEY: &str = "check";

/// A path longer than this cannot be opened on most systems.
const MAX_PATH_BYTES: usize = 4_096;

/// A command with more words, or with more bytes in all, is a program and belongs into a file.
const MAX_WORDS: usize = 64;
const MAX_COMMAND_BYTES: usize = 8_192;

/// What must be verified later than in a hundred years need not be verified.
const MAX_DAYS: u32 = 36_500;

/// A check as a caller gives it: exactly one of path, file, command, until and days.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewCheck {
    /// Something must be at this path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// This file must have the same bytes as when the check was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// With `file`: the SHA-256 of its bytes, in hexadecimal; taken from the file if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// This program, with these arguments and no shell, must exit with 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// With `command`: where it is run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// With `command`: what it must print, blanks around it aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prints: Option<String>,
    /// It holds until then: a day, which is included, or a moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// It is to be verified again after so many days.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole_number")]
    pub days: Option<u32>,
}

impl NewCheck {
    /// Whether it looks at this machine: its answer tells something about files or programs.
    pub fn looks(&self) -> bool {
        self.path.is_some() || self.file.is_some() || self.command.is_some()
    }

    /// The same, with relative paths taken from `folder`; a command is run there.
    #[must_use]
    pub fn from_folder(mut self, folder: &Path) -> Self {
        let whole = |path: String| match path.trim().is_empty() {
            true => path,
            false => tidy(&folder.join(path)).display().to_string(),
        };
        self.path = self.path.map(whole);
        self.file = self.file.map(whole);
        if self.command.is_some() {
            let at = self.folder.map_or_else(|| folder.to_path_buf(), |inner| folder.join(inner));
            self.folder = Some(tidy(&at).display().to_string());
        }
        self
    }

    /// Every text in it, for whoever looks for secrets.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        let single = [&self.path, &self.file, &self.folder, &self.prints].into_iter().flatten();
        single.chain(self.command.iter().flatten())
    }

    /// The check that it is, if it is one; days end by the calendar of `now`.
    pub fn checked(self, now: &Zoned) -> Result<Check> {
        let given = [
            self.path.is_some(),
            self.file.is_some(),
            self.command.is_some(),
            self.until.is_some(),
            self.days.is_some(),
        ];
        if given.iter().filter(|given| **given).count() != 1 {
            return Err(Error::invalid(
                "a check has exactly one of path, file, command, until and days",
                "give one of them; a memory has one check at most",
            ));
        }
        self.check_company()?;
        let Self { path, file, sha256, command, folder, prints, until, days } = self;
        match (path, file, command, until, days) {
            (Some(path), ..) => Ok(Check::Path { path: whole_path(path)? }),
            (_, Some(file), ..) => {
                let sha256 = sha256.map(|digest| checked_digest(&digest)).transpose()?;
                Ok(Check::File { file: whole_path(file)?, sha256 })
            }
            (_, _, Some(command), ..) => {
                let folder = folder.map(whole_path).transpose()?;
                Ok(Check::Command { command: checked_command(command)?, folder, prints })
            }
            (_, _, _, Some(until), _) => Ok(Check::Until { until: end_of(&until, now)? }),
            (_, _, _, _, days) => Ok(Check::Days { days: checked_days(days.unwrap_or_default())? }),
        }
    }

    /// What goes with one sort of check says nothing with another.
    fn check_company(&self) -> Result<()> {
        let lonely = |what: &str, with: &str| {
            Err(Error::invalid(
                format!("`{what}` is given without `{with}`"),
                format!("`{what}` belongs to a check with `{with}`; leave it out"),
            ))
        };
        if self.sha256.is_some() && self.file.is_none() {
            return lonely("sha256", "file");
        }
        if self.prints.is_some() && self.command.is_none() {
            return lonely("prints", "command");
        }
        if self.folder.is_some() && self.command.is_none() {
            return lonely("folder", "command");
        }
        Ok(())
    }
}

/// How a machine can tell whether a memory still holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Check {
    /// Something is at a path.
    Path {
        /// The whole path.
        path: String,
    },
    /// A file has the same bytes as when the check was set.
    File {
        /// The whole path.
        file: String,
        /// The SHA-256 of its bytes, in hexadecimal; none where nobody has read it yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
    },
    /// A program exits with 0.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// Where it is run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// What it must print.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prints: Option<String>,
    },
    /// It holds until a moment.
    Until {
        /// The first moment at which it no longer holds.
        until: Timestamp,
    },
    /// It is to be verified again after some days.
    Days {
        /// How many.
        days: u32,
    },
}

/// The check of a memory, with who set it and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCheck {
    /// The check.
    #[serde(flatten)]
    pub check: Check,
    /// Who set it.
    pub set_by: Actor,
    /// When.
    pub set_at: Timestamp,
    /// What the file looked like from outside when its digest was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    /// The proof that it was set in this home: only what has it is looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

/// What a file looks like from outside: while that stays, its bytes need not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Its length.
    pub bytes: u64,
    /// Its times and its number on the disk; none if it was written so lately that they could hide a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<String>,
}

impl KeptCheck {
    /// A check that nothing proves yet.
    pub fn unsealed(check: Check, set_by: Actor, set_at: Timestamp) -> Self {
        Self { check, set_by, set_at: to_millisecond(set_at), seen: None, seal: None }
    }

    /// What a calendar tells of it at `now`; none if it needs a look at this machine.
    pub fn by_date(&self, now: Timestamp) -> Option<Verified> {
        let end = match self.check {
            Check::Until { until } => until,
            // A check that is never due is not due.
            Check::Days { days } => {
                let span = (i64::from(days) * 24).hours();
                self.set_at.checked_add(span).unwrap_or(Timestamp::MAX)
            }
            _ => return None,
        };
        let (verdict, reason) = match (now < end, &self.check) {
            (true, _) => (Verdict::Fresh, Reason::InTime(end)),
            (false, Check::Days { .. }) => (Verdict::Stale, Reason::Due(self.set_at)),
            (false, _) => (Verdict::Stale, Reason::Ended(end)),
        };
        Some(self.told(verdict, reason))
    }

    /// What was found out about it.
    pub fn told(&self, verdict: Verdict, reason: Reason) -> Verified {
        Verified { check: self.check.clone(), verdict, reason }
    }

    /// It could not be found out.
    pub fn unverifiable(&self, reason: Reason) -> Verified {
        self.told(Verdict::Unverifiable, reason)
    }
}

impl Memory {
    /// Its check, if it has one. What a caller calls the same and is none is left alone.
    pub fn check(&self) -> Option<KeptCheck> {
        let kept = self.metadata.get(CHECK_KEY)?;
        serde_json::from_value(kept.clone()).ok()
    }
}

/// Whether a memory holds by its check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It was verified just now.
    Fresh,
    /// It was verified just now, and does not hold.
    Stale,
    /// Nothing was found out.
    Unverifiable,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 3] = [Self::Fresh, Self::Stale, Self::Unverifiable];

    /// The name used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Stale => "stale",
            Self::Unverifiable => "unverifiable",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a verdict is what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Something is at the path.
    There,
    /// The file has the same bytes.
    Same,
    /// The command did what it should.
    Passed,
    /// It holds until then.
    InTime(Timestamp),
    /// Nothing is at the path.
    Gone,
    /// The file has other bytes.
    Changed,
    /// What is at the path is no plain file.
    NotAFile,
    /// The command exited with another code, or was ended by a signal.
    Failed(Option<i32>),
    /// The command printed something else.
    PrintedOther,
    /// It held until then.
    Ended(Timestamp),
    /// It was set then, and its days are over.
    Due(Timestamp),
    /// The answer did not come in time.
    TookTooLong,
    /// The file is too large to be read in passing.
    TooLarge,
    /// The system would not say.
    Refused(String),
    /// It was not set in this home.
    SetElsewhere,
    /// Commands are not allowed.
    CommandsOff,
    /// Only a person's check of a memory that is trusted may run a command.
    NotByAPerson,
}

/// What was found out about a memory by its check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The check.
    pub check: Check,
    /// What it says.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
}

impl Verified {
    /// What it is about, in a word: a path, a command, nothing for dates.
    pub fn subject(&self) -> String {
        match &self.check {
            Check::Path { path } | Check::File { file: path, .. } => path.clone(),
            Check::Command { command, .. } => command.join(" "),
            Check::Until { .. } | Check::Days { .. } => String::new(),
        }
    }

    /// Why, in a sentence.
    pub fn why(&self) -> String {
        let subject = self.subject();
        match &self.reason {
            Reason::There => format!("{subject} is there"),
            Reason::Same => format!("{subject} is unchanged"),
            Reason::Passed => format!("`{subject}` passed"),
            Reason::InTime(until) => format!("it holds until {}", last_day(*until)),
            Reason::Gone => format!("{subject} is gone"),
            Reason::Changed => format!("{subject} has changed"),
            Reason::NotAFile => format!("{subject} is no longer a file"),
            Reason::Failed(Some(code)) => format!("`{subject}` exited with {code}"),
            Reason::Failed(None) => format!("`{subject}` was ended by a signal"),
            Reason::PrintedOther => format!("`{subject}` printed something else"),
            Reason::Ended(until) => format!("it held until {}", last_day(*until)),
            Reason::Due(set) => format!("it was last verified on {}", day(*set)),
            Reason::TookTooLong => "it took too long".to_owned(),
            Reason::TooLarge => format!("{subject} is too large to be read in passing"),
            Reason::Refused(cause) => format!("{subject}: {cause}"),
            Reason::SetElsewhere => {
                "the check was not set in this home; set it again to confirm it".to_owned()
            }
            Reason::CommandsOff => {
                "commands are not run unless [checks] commands = true in config.toml".to_owned()
            }
            Reason::NotByAPerson => {
                "only a check that a person set, on a memory that is no import, runs a command"
                    .to_owned()
            }
        }
    }
}

impl Serialize for Verified {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct View<'a> {
            #[serde(flatten)]
            check: &'a Check,
            verdict: Verdict,
            why: String,
        }
        View { check: &self.check, verdict: self.verdict, why: self.why() }.serialize(serializer)
    }
}

fn day(at: Timestamp) -> Date {
    at.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// The last day before a moment: midnight ends the day before.
fn last_day(end: Timestamp) -> Date {
    day(end.checked_sub(1.millisecond()).unwrap_or(end))
}

/// The path without `.` in it; `..` stays, because a link may stand before it.
fn tidy(path: &Path) -> PathBuf {
    path.components().collect()
}

fn whole_path(path: String) -> Result<String> {
    if path.trim().is_empty() || path.contains('\0') {
        return Err(Error::invalid("the path of the check is empty or has a NUL", "give a path"));
    }
    if path.len() > MAX_PATH_BYTES {
        return Err(Error::invalid(
            format!("the path of the check is longer than {MAX_PATH_BYTES} bytes"),
            "give a path that can be opened",
        ));
    }
    if Path::new(&path).is_absolute() {
        return Ok(path);
    }
    Err(Error::invalid(
        format!("`{path}` starts from a folder that is not known here"),
        "give the whole path, from the root",
    ))
}

fn checked_digest(digest: &str) -> Result<String> {
    let digest = digest.trim().to_lowercase();
    match digest.len() == 64 && digest.chars().all(|c| c.is_ascii_hexdigit()) {
        true => Ok(digest),
        false => Err(Error::invalid(
            "`sha256` is no SHA-256",
            "give 64 hexadecimal digits, or leave it out to take it from the file",
        )),
    }
}

fn checked_command(command: Vec<String>) -> Result<Vec<String>> {
    let bytes: usize = command.iter().map(String::len).sum();
    let program = command.first().is_some_and(|program| !program.trim().is_empty());
    if !program || command.iter().any(|word| word.contains('\0')) {
        return Err(Error::invalid(
            "the command of the check is empty or has a NUL",
            "give a program and its arguments",
        ));
    }
    if command.len() > MAX_WORDS || bytes > MAX_COMMAND_BYTES {
        return Err(Error::invalid(
            format!(
                "the command has more than {MAX_WORDS} words or {MAX_COMMAND_BYTES} bytes in all"
            ),
            "put it into a script and give its path",
        ));
    }
    Ok(command)
}

/// A whole number, also where a program writes it as 5.0.
fn whole_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let Some(number) = Option::<serde_json::Number>::deserialize(from)? else { return Ok(None) };
    let whole = number.as_f64().filter(|float| float.fract() == 0.0);
    let fits = whole.filter(|float| (0.0..=f64::from(u32::MAX)).contains(float));
    match fits {
        Some(float) => Ok(Some(float as u32)),
        None => Err(D::Error::custom(format!("`days` goes from 1 to {MAX_DAYS}"))),
    }
}

fn checked_days(days: u32) -> Result<u32> {
    match (1..=MAX_DAYS).contains(&days) {
        true => Ok(days),
        false => Err(Error::invalid(
            format!("`days` is {days}"),
            format!("days go from 1 to {MAX_DAYS}"),
        )),
    }
}

/// The first moment at which what holds until `text` no longer holds.
fn end_of(text: &str, now: &Zoned) -> Result<Timestamp> {
    let text = text.trim();
    let after = |day: Date| day.tomorrow()?.to_zoned(now.time_zone().clone());
    let day = |text: &str| text.parse::<Date>().and_then(after).map(|next| next.timestamp());
    // A moment is tried first: a date would be read from its beginning.
    text.parse::<Timestamp>().or_else(|_| day(text)).map(to_millisecond).map_err(|_| {
        Error::invalid(
            format!("`until` is `{text}`, which is no date"),
            "write a day such as 2026-12-31, or a moment with its offset such as 2026-12-31T18:00:00+01:00",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Kind, Scope, Source, Via};

    fn now() -> Zoned {
        "2026-03-02T12:00:00+08:00[Asia/Shanghai]".parse().unwrap()
    }

    fn until(text: &str) -> NewCheck {
        NewCheck { until: Some(text.into()), ..NewCheck::default() }
    }

    fn kept(new: NewCheck) -> KeptCheck {
        KeptCheck::unsealed(new.checked(&now()).unwrap(), Actor::Person, now().timestamp())
    }

    #[test]
    fn a_day_is_included_and_ends_where_the_user_is() {
        let kept = kept(until("2026-03-05"));
        let verdict = |at: &str| kept.by_date(at.parse().unwrap()).unwrap().verdict;
        assert_eq!(verdict("2026-03-05T15:59:59Z"), Verdict::Fresh);
        assert_eq!(verdict("2026-03-05T16:00:00Z"), Verdict::Stale);
    }

    #[test]
    fn a_moment_is_taken_as_it_is_and_a_past_one_is_stale_at_once() {
        let kept = kept(until("2026-03-01T00:00:00+01:00"));
        assert_eq!(kept.by_date(now().timestamp()).unwrap().why(), "it held until 2026-02-28");
    }

    #[test]
    fn days_are_counted_from_when_the_check_was_set() {
        let kept = kept(NewCheck { days: Some(3), ..NewCheck::default() });
        let verdict = |days: i64| {
            let at = now().timestamp() + (days * 24).hours();
            kept.by_date(at).unwrap().verdict
        };
        assert_eq!((verdict(2), verdict(3)), (Verdict::Fresh, Verdict::Stale));
    }

    #[test]
    fn a_check_is_one_thing_and_its_paths_are_whole() {
        let path = |path: &str| NewCheck { path: Some(path.into()), ..NewCheck::default() };
        let refused = |check: NewCheck| check.checked(&now()).unwrap_err();
        assert!(refused(NewCheck::default()).to_string().contains("exactly one"));
        let two = NewCheck { days: Some(1), ..path("/a") };
        assert!(refused(two).to_string().contains("exactly one"));
        assert!(refused(path("源/a.rs")).hint().contains("whole path"));
        let from = path("./源/a.rs").from_folder(Path::new("/home/wang"));
        assert_eq!(
            from.checked(&now()).unwrap(),
            Check::Path { path: "/home/wang/源/a.rs".into() }
        );
        let odd = NewCheck { prints: Some("x".into()), ..path("/a") };
        assert!(refused(odd).to_string().contains("without `command`"));
        let digest =
            NewCheck { file: Some("/a".into()), sha256: Some("12".into()), ..NewCheck::default() };
        assert!(refused(digest).to_string().contains("no SHA-256"));
        for bad in ["", "soon", "2026-13-01", "2026-03-01 noon"] {
            assert!(refused(until(bad)).to_string().contains("no date"), "{bad}");
        }
        for days in [0, MAX_DAYS + 1] {
            let days = NewCheck { days: Some(days), ..NewCheck::default() };
            assert!(refused(days).hint().contains("from 1 to"));
        }
    }

    #[test]
    fn a_check_is_read_back_from_metadata_and_other_data_of_that_name_is_none() {
        let at = now().timestamp();
        let source = Source::of(Via::Remember);
        let mut memory = Memory::blank(&Scope::default(), Kind::User, "茶".into(), source, at, at);
        assert_eq!(memory.check(), None);
        for new in [
            NewCheck { path: Some("/a".into()), ..NewCheck::default() },
            NewCheck { file: Some("/文件".into()), ..NewCheck::default() },
            NewCheck { command: Some(vec!["true".into()]), ..NewCheck::default() },
            NewCheck { days: Some(2), ..NewCheck::default() },
            until("2026-03-05"),
        ] {
            let kept = kept(new);
            memory.metadata.insert(CHECK_KEY.into(), serde_json::to_value(&kept).unwrap());
            assert_eq!(memory.check(), Some(kept));
        }
        memory.metadata.insert(CHECK_KEY.into(), "done".into());
        assert_eq!(memory.check(), None);
    }

    #[test]
    fn an_answer_says_the_check_the_verdict_and_why() {
        let kept = kept(NewCheck { path: Some("/a".into()), ..NewCheck::default() });
        let told = serde_json::to_value(kept.told(Verdict::Stale, Reason::Gone)).unwrap();
        let expected = serde_json::json!({ "path": "/a", "verdict": "stale", "why": "/a is gone" });
        assert_eq!(told, expected);
    }
}
