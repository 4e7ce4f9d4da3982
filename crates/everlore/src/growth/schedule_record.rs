//! Stored schedule: the phrase, the rule it means, the task, and the next run.

use jiff::{Zoned, tz::TimeZone};
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    text::schedule::{RecurrenceRule, Schedule},
    types::{Memory, SCHEDULE_KEY, Timestamp},
};

/// Most due times that are counted one by one: whoever was away for longer needs no exact number.
const MAX_COUNTED: usize = 1_000;

/// Schedule as it is stored. The rule is stored beside the phrase, so that a later parser changes no stored meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScheduleRecord {
    /// Phrase as it was given.
    pub(crate) text: String,
    /// Task without the words about time; the phrase if it has no others.
    pub(crate) task: String,
    /// Name of the time zone in which the phrase was read.
    pub(crate) zone: String,
    /// Times at which it runs.
    pub(crate) rule: ScheduleRule,
    /// Next run; `None` after the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<Timestamp>,
    /// Last due time that was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) told: Option<Timestamp>,
}

/// Times at which a schedule runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ScheduleRule {
    /// Once, at this time.
    Once(Timestamp),
    /// Again and again.
    Recurring {
        /// Rule of the runs.
        rule: RecurrenceRule,
        /// The rule as five-field cron, where one line says exactly this.
        #[serde(skip_serializing_if = "Option::is_none")]
        cron: Option<String>,
    },
}

/// Due times of a schedule, and its state after they were told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DueTimes {
    /// First due time that nobody was told.
    pub(crate) first: Timestamp,
    /// Last one.
    pub(crate) last: Timestamp,
    /// Their number.
    pub(crate) count: usize,
    /// Record after telling.
    pub(crate) after: ScheduleRecord,
}

impl ScheduleRecord {
    /// Creates the record of a phrase that was read at `now`, in the zone of `now`. Fails if the phrase was unclear or
    /// never runs.
    pub(crate) fn new(text: &str, task: Option<&str>, read: Schedule, now: &Zoned) -> Result<Self> {
        let next = read.next_runs(now, 1).first().map(Zoned::timestamp);
        let (rule, own_task) = match read {
            Schedule::Recurring { rule, cron, task } => {
                (ScheduleRule::Recurring { rule, cron }, task)
            }
            Schedule::Once { at, task } => (ScheduleRule::Once(at.timestamp()), task),
            Schedule::Unclear { what } => return Err(unclear_error(&what)),
        };
        let next = Some(next.ok_or_else(|| unclear_error("it never runs"))?);
        let task = task.map(str::to_owned).or(own_task).unwrap_or_else(|| text.to_owned());
        let zone = zone_name(now.time_zone())?;
        Ok(Self { text: text.to_owned(), task, zone, rule, next, told: None })
    }

    /// Returns the record of a memory; `None` if it has none.
    pub(crate) fn of(memory: &Memory) -> Option<Self> {
        serde_json::from_value(memory.metadata.get(SCHEDULE_KEY)?.clone()).ok()
    }

    /// Writes the record into the metadata of a memory.
    pub(crate) fn store_in(&self, memory: &mut Memory) -> Result<()> {
        let value = serde_json::to_value(self).map_err(|_| nameless_zone())?;
        memory.metadata.insert(SCHEDULE_KEY.to_owned(), value);
        Ok(())
    }

    /// Returns a moment on the wall clock of the schedule.
    pub(crate) fn local(&self, at: Timestamp) -> Zoned {
        at.to_zoned(TimeZone::get(&self.zone).unwrap_or(TimeZone::UTC))
    }

    /// Returns the due times up to `now`; `None` if it is not due.
    pub(crate) fn due(&self, now: Timestamp) -> Option<DueTimes> {
        let first = self.next.filter(|next| *next <= now)?;
        let later = self.runs_after(first, MAX_COUNTED);
        let passed = later.iter().take_while(|at| **at <= now).count();
        let last = passed.checked_sub(1).map_or(first, |index| later[index]);
        let next = self.runs_after(now, 1).first().copied();
        let after = Self { next, told: Some(last), ..self.clone() };
        Some(DueTimes { first, last, count: passed + 1, after })
    }

    fn runs_after(&self, at: Timestamp, count: usize) -> Vec<Timestamp> {
        match &self.rule {
            ScheduleRule::Once(_) => Vec::new(),
            ScheduleRule::Recurring { rule, .. } => {
                rule.next_runs(&self.local(at), count).iter().map(Zoned::timestamp).collect()
            }
        }
    }
}

fn unclear_error(what: &str) -> Error {
    Error::invalid(
        format!("the schedule is unclear: {what}"),
        "say the day and the time, such as \"every weekday at 9\" or 每天早上9点; `everlore schedule explain` shows how a phrase is read",
    )
}

fn zone_name(zone: &TimeZone) -> Result<String> {
    if *zone == TimeZone::UTC {
        return Ok("UTC".to_owned());
    }
    zone.iana_name().map(str::to_owned).ok_or_else(nameless_zone)
}

fn nameless_zone() -> Error {
    Error::invalid("the time zone of this machine has no name", "name one, such as Europe/Berlin")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::schedule::explain;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn berlin(text: &str) -> Zoned {
        at(text).to_zoned(TimeZone::get("Europe/Berlin").unwrap())
    }

    fn record(text: &str, now: &str) -> ScheduleRecord {
        let now = berlin(now);
        ScheduleRecord::new(text, None, explain(text, &now), &now).unwrap()
    }

    #[test]
    fn a_record_survives_storage_whatever_its_rule() {
        for text in ["every other Monday at 9", "每月最后一天", "in 20 minutes", "every 90 minutes"]
        {
            let record = record(text, "2026-03-02T11:00:00Z");
            let json = serde_json::to_value(&record).unwrap();
            assert_eq!(serde_json::from_value::<ScheduleRecord>(json).unwrap(), record, "{text}");
        }
    }

    #[test]
    fn due_times_are_counted_and_the_next_one_follows_now() {
        let daily = record("drink water every day at 9", "2026-03-02T11:00:00Z");
        assert_eq!(daily.due(at("2026-03-03T07:59:00Z")), None);
        let due = daily.due(at("2026-03-05T12:00:00Z")).unwrap();
        assert_eq!((due.first, due.count), (at("2026-03-03T08:00:00Z"), 3));
        assert_eq!(due.last, at("2026-03-05T08:00:00Z"));
        assert_eq!(due.after.next, Some(at("2026-03-06T08:00:00Z")));
        assert_eq!(due.after.due(at("2026-03-05T12:00:01Z")), None);
        assert_eq!(daily.task, "drink water");
    }

    #[test]
    fn a_single_moment_is_due_once() {
        let once = record("20分钟后提醒我关火", "2026-03-02T11:00:00Z");
        let due = once.due(at("2026-03-02T12:00:00Z")).unwrap();
        assert_eq!((due.first, due.count), (at("2026-03-02T11:20:00Z"), 1));
        assert_eq!(due.after.next, None);
        assert_eq!(due.after.due(at("2027-01-01T00:00:00Z")), None);
    }

    #[test]
    fn an_unclear_phrase_is_refused_with_what_is_unclear() {
        let now = berlin("2026-03-02T11:00:00Z");
        let error = ScheduleRecord::new("soon", None, explain("soon", &now), &now).unwrap_err();
        assert!(error.to_string().contains("\"soon\""), "{error}");
    }
}
