//! A check: how a machine can tell whether a memory still holds, and what it told.

use std::fmt;

use jiff::{Timestamp, ToSpan, civil::Date};
use serde::{Deserialize, Serialize, Serializer};

use super::{Actor, Memory, to_millisecond};

/// Under this key a memory's metadata holds its check.
pub const CHECK_KEY: &str = "check";

/// How a machine can tell whether a memory still holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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
pub struct StoredCheck {
    /// The check.
    #[serde(flatten)]
    pub check: Check,
    /// Who set it.
    pub set_by: Actor,
    /// When.
    pub set_at: Timestamp,
    /// What the file looked like from outside when its digest was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<CheckedFileStat>,
    /// The proof that it was set in this home: only what has it is looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

/// What a file looks like from outside: while that stays, its bytes need not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedFileStat {
    /// Its length.
    pub bytes: u64,
    /// Its times and its number on the disk; none if it was written so lately that they could hide a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<String>,
}

impl StoredCheck {
    /// A check that nothing proves yet.
    pub fn unsigned(check: Check, set_by: Actor, set_at: Timestamp) -> Self {
        Self { check, set_by, set_at: to_millisecond(set_at), seen: None, seal: None }
    }

    /// What a calendar tells of it at `now`; none if it needs a look at this machine.
    pub fn evaluate_date(&self, now: Timestamp) -> Option<CheckResult> {
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
            (true, _) => (CheckStatus::Fresh, CheckReason::NotExpired(end)),
            (false, Check::Days { .. }) => (CheckStatus::Stale, CheckReason::Due(self.set_at)),
            (false, _) => (CheckStatus::Stale, CheckReason::Expired(end)),
        };
        Some(self.result(verdict, reason))
    }

    /// What was found out about it.
    pub fn result(&self, verdict: CheckStatus, reason: CheckReason) -> CheckResult {
        CheckResult { check: self.check.clone(), verdict, reason }
    }

    /// It could not be found out.
    pub fn unverifiable(&self, reason: CheckReason) -> CheckResult {
        self.result(CheckStatus::Unverifiable, reason)
    }
}

impl Memory {
    /// Its check, if it has one. What a caller calls the same and is none is left alone.
    pub fn check(&self) -> Option<StoredCheck> {
        let kept = self.metadata.get(CHECK_KEY)?;
        serde_json::from_value(kept.clone()).ok()
    }
}

/// Whether a memory holds by its check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// It was verified just now.
    Fresh,
    /// It was verified just now, and does not hold.
    Stale,
    /// Nothing was found out.
    Unverifiable,
}

impl CheckStatus {
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

impl fmt::Display for CheckStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a verdict is what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckReason {
    /// Something is at the path.
    Exists,
    /// The file has the same bytes.
    Unchanged,
    /// The command did what it should.
    Passed,
    /// It holds until then.
    NotExpired(Timestamp),
    /// Nothing is at the path.
    Missing,
    /// The file has other bytes.
    Changed,
    /// What is at the path is no plain file.
    NotAFile,
    /// The command exited with another code, or was ended by a signal.
    Failed(Option<i32>),
    /// The command printed something else.
    OutputDiffers,
    /// It held until then.
    Expired(Timestamp),
    /// It was set then, and its days are over.
    Due(Timestamp),
    /// The answer did not come in time.
    TimedOut,
    /// The file is too large to be read in passing.
    TooLarge,
    /// The system would not say.
    Unreadable(String),
    /// It was not set in this home.
    SetElsewhere,
    /// Commands are not allowed.
    CommandsDisabled,
    /// Only a person's check of a memory that is trusted may run a command.
    UntrustedAuthor,
}

/// What was found out about a memory by its check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CheckResult {
    /// The check.
    #[cfg_attr(feature = "schema", serde(flatten))]
    pub check: Check,
    /// What it says.
    pub verdict: CheckStatus,
    /// Why.
    #[cfg_attr(feature = "schema", schema(rename = "why", value_type = String))]
    pub reason: CheckReason,
}

impl CheckResult {
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
            CheckReason::Exists => format!("{subject} is there"),
            CheckReason::Unchanged => format!("{subject} is unchanged"),
            CheckReason::Passed => format!("`{subject}` passed"),
            CheckReason::NotExpired(until) => format!("it holds until {}", last_day(*until)),
            CheckReason::Missing => format!("{subject} is gone"),
            CheckReason::Changed => format!("{subject} has changed"),
            CheckReason::NotAFile => format!("{subject} is no longer a file"),
            CheckReason::Failed(Some(code)) => format!("`{subject}` exited with {code}"),
            CheckReason::Failed(None) => format!("`{subject}` was ended by a signal"),
            CheckReason::OutputDiffers => format!("`{subject}` printed something else"),
            CheckReason::Expired(until) => format!("it held until {}", last_day(*until)),
            CheckReason::Due(set) => format!("it was last verified on {}", utc_date(*set)),
            CheckReason::TimedOut => "it took too long".to_owned(),
            CheckReason::TooLarge => format!("{subject} is too large to be read in passing"),
            CheckReason::Unreadable(cause) => format!("{subject}: {cause}"),
            CheckReason::SetElsewhere => {
                "the check was not set in this home; set it again to confirm it".to_owned()
            }
            CheckReason::CommandsDisabled => {
                "commands are not run unless [checks] commands = true in config.toml".to_owned()
            }
            CheckReason::UntrustedAuthor => {
                "only a check that a person set, on a memory that is no import, runs a command"
                    .to_owned()
            }
        }
    }
}

impl Serialize for CheckResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct CheckResultJson<'a> {
            #[serde(flatten)]
            check: &'a Check,
            verdict: CheckStatus,
            why: String,
        }
        CheckResultJson { check: &self.check, verdict: self.verdict, why: self.why() }
            .serialize(serializer)
    }
}

fn utc_date(at: Timestamp) -> Date {
    at.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// The last day before a moment: midnight ends the day before.
fn last_day(end: Timestamp) -> Date {
    utc_date(end.checked_sub(1.millisecond()).unwrap_or(end))
}

#[cfg(test)]
mod tests {
    use jiff::Zoned;

    use super::*;
    use crate::types::{Kind, MemorySource, NewCheck, Origin, Scope};

    fn now() -> Zoned {
        "2026-03-02T12:00:00+08:00[Asia/Shanghai]".parse().unwrap()
    }

    fn until(text: &str) -> NewCheck {
        NewCheck { until: Some(text.into()), ..NewCheck::default() }
    }

    fn stored(new: NewCheck) -> StoredCheck {
        StoredCheck::unsigned(new.validate(&now()).unwrap(), Actor::Person, now().timestamp())
    }

    #[test]
    fn a_day_is_included_and_ends_where_the_user_is() {
        let kept = stored(until("2026-03-05"));
        let verdict = |at: &str| kept.evaluate_date(at.parse().unwrap()).unwrap().verdict;
        assert_eq!(verdict("2026-03-05T15:59:59Z"), CheckStatus::Fresh);
        assert_eq!(verdict("2026-03-05T16:00:00Z"), CheckStatus::Stale);
    }

    #[test]
    fn a_moment_is_taken_as_it_is_and_a_past_one_is_stale_at_once() {
        let kept = stored(until("2026-03-01T00:00:00+01:00"));
        assert_eq!(
            kept.evaluate_date(now().timestamp()).unwrap().why(),
            "it held until 2026-02-28"
        );
    }

    #[test]
    fn days_are_counted_from_when_the_check_was_set() {
        let kept = stored(NewCheck { days: Some(3), ..NewCheck::default() });
        let verdict = |days: i64| {
            let at = now().timestamp() + (days * 24).hours();
            kept.evaluate_date(at).unwrap().verdict
        };
        assert_eq!((verdict(2), verdict(3)), (CheckStatus::Fresh, CheckStatus::Stale));
    }

    #[test]
    fn a_check_is_read_back_from_metadata_and_other_data_of_that_name_is_none() {
        let at = now().timestamp();
        let source = MemorySource::new(Origin::Remember);
        let mut memory =
            Memory::with_content(&Scope::default(), Kind::User, "茶".into(), source, at, at);
        assert_eq!(memory.check(), None);
        for new in [
            NewCheck { path: Some("/a".into()), ..NewCheck::default() },
            NewCheck { file: Some("/文件".into()), ..NewCheck::default() },
            NewCheck { command: Some(vec!["true".into()]), ..NewCheck::default() },
            NewCheck { days: Some(2), ..NewCheck::default() },
            until("2026-03-05"),
        ] {
            let kept = stored(new);
            memory.metadata.insert(CHECK_KEY.into(), serde_json::to_value(&kept).unwrap());
            assert_eq!(memory.check(), Some(kept));
        }
        memory.metadata.insert(CHECK_KEY.into(), "done".into());
        assert_eq!(memory.check(), None);
    }

    #[test]
    fn an_answer_says_the_check_the_verdict_and_why() {
        let kept = stored(NewCheck { path: Some("/a".into()), ..NewCheck::default() });
        let told =
            serde_json::to_value(kept.result(CheckStatus::Stale, CheckReason::Missing)).unwrap();
        let expected = serde_json::json!({ "path": "/a", "verdict": "stale", "why": "/a is gone" });
        assert_eq!(told, expected);
    }
}
