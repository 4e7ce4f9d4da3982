//! Schedules in words: explain, add, list, remove.

use jiff::{Zoned, tz::TimeZone};
use serde::{Deserialize, Serialize};

use crate::{
    engine::Engine,
    error::{Error, Result},
    growth::schedule_record::{ScheduleRecord, ScheduleRule},
    ingest::record_memory,
    text::{
        schedule::{ScheduleAnswer, explain, format_run},
        secrets::mask,
        suspect::{is_suspect, is_unverified},
    },
    types::{Actor, Change, Kind, Memory, MemoryId, Scope, TRUST_KEY, Timestamp, Trust},
};

/// Most characters of a phrase with its task.
const MAX_CHARS: usize = 1_000;

/// Request for a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NewSchedule {
    /// Times in words, with or without the task: "every weekday at 9 stand up", 每天早上9点吃药.
    pub text: String,
    /// Task, if the text does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Time zone, such as Europe/Berlin; that of the engine by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// Stored schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScheduledTask {
    /// Id of its memory.
    pub id: MemoryId,
    /// `recurring` or `once`.
    pub kind: &'static str,
    /// Times in words, as given.
    pub text: String,
    /// Task.
    pub task: String,
    /// Five-field cron on the wall clock of the zone, where one line says exactly this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// Time zone.
    pub zone: String,
    /// Next run as local time with its offset; `None` after the last.
    pub next: Option<String>,
    /// Set if nobody vouches for it: it came from outside or reads like an instruction. It is listed, and never told.
    pub unverified: bool,
}

impl Engine {
    /// Explains a phrase as said at `at` in `zone`; now and the engine's zone by default. Fails if there is no such
    /// zone.
    pub fn explain_schedule(
        &self,
        text: &str,
        zone: Option<&str>,
        at: Option<Timestamp>,
    ) -> Result<ScheduleAnswer> {
        let now = self.now_in(zone)?;
        let now = at.map_or(now.clone(), |at| at.to_zoned(now.time_zone().clone()));
        Ok(explain(text, &now).answer(&now))
    }

    /// Stores a schedule. Masks secrets first if the settings say so. Fails if the phrase is unclear or too long, or
    /// reads like an instruction to a model.
    pub async fn add_schedule(&self, scope: &Scope, new: &NewSchedule) -> Result<ScheduledTask> {
        self.check_writable(scope)?;
        let (text, task) = (new.text.trim(), new.task.as_deref().map(str::trim));
        let task = task.filter(|task| !task.is_empty());
        check_words(text, task)?;
        let masks = self.masks_secrets(scope);
        let masked = |text: &str| if masks { mask(text).0.into_owned() } else { text.to_owned() };
        let (text, task) = (masked(text), task.map(masked));
        let now = self.now_in(new.zone.as_deref())?;
        let record = ScheduleRecord::new(&text, task.as_deref(), explain(&text, &now), &now)?;
        let memory = self.schedule_memory(scope, &record)?;
        let added = Change::Add(Box::new(memory.clone()));
        self.write_records(scope, "schedule: add", vec![added]).await?;
        Ok(scheduled_task(&memory, &record))
    }

    /// Returns the schedules of a scope, that with the earliest next run first.
    pub async fn schedules(&self, scope: &Scope) -> Result<Vec<ScheduledTask>> {
        let memories = self.active_records(scope, Kind::Schedule).await?;
        let records = memories.iter().filter_map(|it| Some((it, ScheduleRecord::of(it)?)));
        let mut records: Vec<_> = records.collect();
        records.sort_by_key(|(memory, record)| (record.next, memory.id));
        Ok(records.iter().map(|(memory, record)| scheduled_task(memory, record)).collect())
    }

    /// Removes a schedule and returns it; the journal keeps it. Fails if the scope has no such schedule.
    pub async fn remove_schedule(&self, scope: &Scope, id: MemoryId) -> Result<ScheduledTask> {
        let memory = self.get(scope, id).await?;
        let record = Some(&memory).filter(|memory| memory.kind == Kind::Schedule);
        let record = record.and_then(ScheduleRecord::of);
        let record = record.ok_or_else(|| Error::not_found("schedule", id))?;
        self.write_records(scope, "schedule: remove", vec![Change::Delete(id)]).await?;
        Ok(scheduled_task(&memory, &record))
    }

    fn now_in(&self, zone: Option<&str>) -> Result<Zoned> {
        let now = self.now();
        let Some(name) = zone else { return Ok(now) };
        let unknown = || {
            let hint = "use a name such as Europe/Berlin, Asia/Shanghai or UTC";
            Error::invalid(format!("there is no time zone `{name}`"), hint)
        };
        Ok(now.with_time_zone(TimeZone::get(name).map_err(|_| unknown())?))
    }

    fn schedule_memory(&self, scope: &Scope, record: &ScheduleRecord) -> Result<Memory> {
        let content = if record.text.contains(&record.task) {
            record.text.clone()
        } else {
            format!("{}: {}", record.text, record.task)
        };
        let now = self.now().timestamp();
        let mut memory = record_memory(scope, Kind::Schedule, &record.task, content, now);
        record.store_in(&mut memory)?;
        if self.author.actor != Actor::Person {
            let trust = serde_json::to_value(Trust::Inferred).unwrap_or_default();
            memory.metadata.insert(TRUST_KEY.to_owned(), trust);
        }
        Ok(memory)
    }
}

fn check_words(text: &str, task: Option<&str>) -> Result<()> {
    let chars = text.chars().count() + task.map_or(0, |task| task.chars().count());
    if chars > MAX_CHARS {
        return Err(Error::invalid(
            format!("a schedule of {chars} characters is too long"),
            format!("say the times and the task in at most {MAX_CHARS} characters"),
        ));
    }
    if is_suspect(text) || task.is_some_and(is_suspect) {
        return Err(Error::invalid(
            "this reads like an instruction to the model, not like a reminder",
            "say what to be reminded of, in plain words",
        ));
    }
    Ok(())
}

/// Returns `true` if nobody vouches for a schedule.
pub(super) fn is_unvouched(memory: &Memory) -> bool {
    memory.trust() < Trust::Inferred || is_unverified(memory)
}

fn scheduled_task(memory: &Memory, record: &ScheduleRecord) -> ScheduledTask {
    let (kind, cron) = match &record.rule {
        ScheduleRule::Once(_) => ("once", None),
        ScheduleRule::Recurring { cron, .. } => ("recurring", cron.clone()),
    };
    ScheduledTask {
        id: memory.id,
        kind,
        text: record.text.clone(),
        task: record.task.clone(),
        cron,
        zone: record.zone.clone(),
        next: record.next.map(|next| format_run(&record.local(next))),
        unverified: is_unvouched(memory),
    }
}
