//! Check of a memory: how a machine verifies that the memory still holds, and with which result.

use jiff::{Timestamp, ToSpan, civil::Date};
use serde::{Deserialize, Serialize, Serializer};

use super::{Actor, Memory, to_millisecond};

/// Metadata key of a memory's check.
pub const CHECK_KEY: &str = "check";

/// Way to verify by machine that a memory still holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Check {
    /// Something exists at a path.
    Path {
        /// Absolute path.
        path: String,
    },
    /// A file has the same bytes as when the check was set.
    File {
        /// Absolute path.
        file: String,
        /// SHA-256 of its bytes in hexadecimal; `None` until the file is read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<String>,
    },
    /// A program exits with 0.
    Command {
        /// Program and arguments.
        command: Vec<String>,
        /// Working directory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// Expected output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prints: Option<String>,
    },
    /// The memory holds until a moment.
    Until {
        /// First moment at which it no longer holds.
        until: Timestamp,
    },
    /// The memory must be verified again after some days.
    Days {
        /// Number of days.
        days: u32,
    },
}

/// Check of a memory, with its author and time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCheck {
    /// Check.
    #[serde(flatten)]
    pub check: Check,
    /// Author.
    pub set_by: Actor,
    /// Time at which it was set.
    pub set_at: Timestamp,
    /// Metadata of the file when its digest was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<CheckedFileStat>,
    /// Message authentication code that proves that the check was set in this home: others are not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

/// Metadata of a file: while it stays the same, the bytes need not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedFileStat {
    /// Length in bytes.
    pub bytes: u64,
    /// Times and inode number; `None` if the file was written so recently that they could hide a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<String>,
}

impl StoredCheck {
    /// Creates a check without a signature.
    pub(crate) fn unsigned(check: Check, set_by: Actor, set_at: Timestamp) -> Self {
        Self { check, set_by, set_at: to_millisecond(set_at), seen: None, seal: None }
    }

    /// Returns the result that the calendar gives at `now`; `None` if the check must probe this machine.
    pub fn evaluate_date(&self, now: Timestamp) -> Option<CheckResult> {
        let end = match self.check {
            Check::Until { until } => until,
            // Days beyond the last timestamp are never due.
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

    /// Returns a result for this check.
    pub(crate) fn result(&self, verdict: CheckStatus, reason: CheckReason) -> CheckResult {
        CheckResult { check: self.check.clone(), verdict, reason }
    }

    /// Returns the result of a check that gave no answer.
    pub(crate) fn unverifiable(&self, reason: CheckReason) -> CheckResult {
        self.result(CheckStatus::Unverifiable, reason)
    }
}

impl Memory {
    /// Returns the check of the memory, if it has one. Metadata of a caller under the same key that is no check is
    /// ignored.
    pub fn check(&self) -> Option<StoredCheck> {
        let stored = self.metadata.get(CHECK_KEY)?;
        serde_json::from_value(stored.clone()).ok()
    }
}

/// Result of verifying a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// Verified just now: the memory holds.
    Fresh,
    /// Verified just now: the memory does not hold.
    Stale,
    /// No answer.
    Unverifiable,
}

crate::types::variant_names! { pub CheckStatus: Fresh = "fresh", Stale = "stale", Unverifiable = "unverifiable" }

/// Reason of a check status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckReason {
    /// Something exists at the path.
    Exists,
    /// The file has the same bytes.
    Unchanged,
    /// The command exited and printed as expected.
    Passed,
    /// The memory holds until then.
    NotExpired(Timestamp),
    /// Nothing exists at the path.
    Missing,
    /// The file has other bytes.
    Changed,
    /// The path leads to something that is no plain file.
    NotAFile,
    /// The command exited with another code, or was ended by a signal.
    Failed(Option<i32>),
    /// The command printed something else.
    OutputDiffers,
    /// The memory held until then.
    Expired(Timestamp),
    /// The check was set then, and its days are over.
    Due(Timestamp),
    /// The answer did not come in time.
    TimedOut,
    /// The file is too large to be read during recall.
    TooLarge,
    /// The system refused access.
    Unreadable(String),
    /// The check was set in another home.
    SetElsewhere,
    /// The settings allow no commands.
    CommandsDisabled,
    /// Only a check that a person set on a trusted memory may run a command.
    UntrustedAuthor,
}

/// Result of a memory's check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CheckResult {
    /// Check.
    #[cfg_attr(feature = "schema", serde(flatten))]
    pub check: Check,
    /// Status.
    pub verdict: CheckStatus,
    /// Reason of the status.
    #[cfg_attr(feature = "schema", schema(rename = "why", value_type = String))]
    pub reason: CheckReason,
}

impl CheckResult {
    /// Returns its subject in a word: a path, a command, or nothing for dates.
    pub fn subject(&self) -> String {
        match &self.check {
            Check::Path { path } | Check::File { file: path, .. } => path.clone(),
            Check::Command { command, .. } => command.join(" "),
            Check::Until { .. } | Check::Days { .. } => String::new(),
        }
    }

    /// Returns the reason as a sentence.
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
            CheckReason::TooLarge => format!("{subject} is too large to be read during recall"),
            CheckReason::Unreadable(cause) => format!("{subject}: {cause}"),
            CheckReason::SetElsewhere => {
                "the check was not set in this home; set it again to confirm it".to_owned()
            }
            CheckReason::CommandsDisabled => {
                "commands are not run unless [checks] commands = true in config.toml".to_owned()
            }
            CheckReason::UntrustedAuthor => {
                "a command is run only for a check that a person set, and not for an imported memory"
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

/// Returns the last day before a moment: midnight ends the day before.
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
        let check = stored(until("2026-03-05"));
        let verdict = |at: &str| check.evaluate_date(at.parse().unwrap()).unwrap().verdict;
        assert_eq!(verdict("2026-03-05T15:59:59Z"), CheckStatus::Fresh);
        assert_eq!(verdict("2026-03-05T16:00:00Z"), CheckStatus::Stale);
    }

    #[test]
    fn a_moment_is_taken_as_it_is_and_a_past_one_is_stale_at_once() {
        let check = stored(until("2026-03-01T00:00:00+01:00"));
        assert_eq!(
            check.evaluate_date(now().timestamp()).unwrap().why(),
            "it held until 2026-02-28"
        );
    }

    #[test]
    fn days_are_counted_from_when_the_check_was_set() {
        let check = stored(NewCheck { days: Some(3), ..NewCheck::default() });
        let verdict = |days: i64| {
            let at = now().timestamp() + (days * 24).hours();
            check.evaluate_date(at).unwrap().verdict
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
            let check = stored(new);
            memory.metadata.insert(CHECK_KEY.into(), serde_json::to_value(&check).unwrap());
            assert_eq!(memory.check(), Some(check));
        }
        memory.metadata.insert(CHECK_KEY.into(), "done".into());
        assert_eq!(memory.check(), None);
    }

    #[test]
    fn an_answer_says_the_check_the_verdict_and_why() {
        let check = stored(NewCheck { path: Some("/a".into()), ..NewCheck::default() });
        let json =
            serde_json::to_value(check.result(CheckStatus::Stale, CheckReason::Missing)).unwrap();
        let expected = serde_json::json!({ "path": "/a", "verdict": "stale", "why": "/a is gone" });
        assert_eq!(json, expected);
    }
}
