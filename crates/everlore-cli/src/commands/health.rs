//! `everlore health`: the state of everything in one call.

use clap::Args;
use everlore::engine::{HealthReport, HealthSeverity, HealthStatus, HeartbeatStatus};

use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{format_bytes, pad_width, pluralize, sanitize},
    text_width::fit_terminal,
    times::format_minute,
};

/// Show the state of everything, and what to do about it
///
/// Database, index, vectors, capture, quarantine, proposals, reminders, heartbeat, spending and files at a glance. It asks no
/// model and repairs nothing: `everlore doctor` checks in depth. It exits with 2 if something does not work.
#[derive(Debug, Args)]
pub(crate) struct HealthArgs {}

impl HealthArgs {
    /// Prints the report.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let mut report = cx.engine().await?.admin().health(&cx.scope).await?;
        // A home without a database is looked at in a temporary one.
        if let Some(store) = report.store.as_mut().filter(|_| cx.store.is_missing()) {
            (store.url, store.bytes) = (cx.store.to_string(), None);
        }
        if out.is_json() {
            out.json(&report)?;
        } else {
            for line in lines(&report, cx) {
                out.line(&fit_terminal(&translate(&sanitize(&line))))?;
            }
            print_warnings(&report, out)?;
        }
        Ok(Exit::from_success(report.status != HealthStatus::Problem))
    }
}

fn lines(report: &HealthReport, cx: &CliContext) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(store) = &report.store {
        let size =
            store.bytes.map_or_else(String::new, |bytes| format!(", {}", format_bytes(bytes)));
        lines.push(if cx.store.is_missing() {
            format!("database: {}, not there yet; the first save creates it", store.url)
        } else {
            format!("database: {}, schema {}{size}", store.url, store.schema)
        });
    }
    lines.extend(memory_lines(report));
    if let Some(heartbeat) = &report.heartbeat {
        lines.push(heartbeat_line(heartbeat, cx));
    }
    let layers =
        report.layers.iter().map(|it| format!("{} {}/{}", it.layer.as_str(), it.chars, it.budget));
    let layers: Vec<String> = layers.collect();
    if !layers.is_empty() {
        lines.push(format!("layers: {} characters", layers.join(", ")));
    }
    if let Some(files) = &report.files {
        lines.push(format!(
            "files: {} of hooks waiting, {} with unsaved input",
            pluralize(files.spooled, "turn", "turns"),
            pluralize(files.unsaved, "file", "files")
        ));
    }
    lines
}

fn memory_lines(report: &HealthReport) -> Vec<String> {
    let HealthReport { memories, index, capture, reminders, today, .. } = report;
    let mut lines = vec![
        format!(
            "memories: {} active, {} put away, {}, {}",
            memories.active,
            memories.put_away,
            pluralize(memories.turns, "turn", "turns"),
            pluralize(memories.records, "record", "records")
        ),
        format!("index: {} of the newest found", index.checked - index.missing),
    ];
    if let Some(embeddings) = &report.embeddings {
        let model = embeddings.model.as_deref().unwrap_or("none");
        lines.push(format!(
            "vectors: {} with, {} without; model {model}",
            embeddings.embedded, embeddings.waiting
        ));
    }
    lines.push(format!(
        "capture: {} unread in {}; {} in quarantine; {} open",
        pluralize(capture.turns, "turn", "turns"),
        pluralize(capture.sessions, "session", "sessions"),
        pluralize(report.quarantine, "draft", "drafts"),
        pluralize(report.proposals, "proposal", "proposals")
    ));
    let next = reminders.next.as_ref().map_or_else(String::new, |next| format!(", next {next}"));
    lines
        .push(format!("reminders: {} scheduled, {} due{next}", reminders.scheduled, reminders.due));
    lines.push(format!(
        "today: {} of a model, {} tokens, cost {:.4}",
        pluralize(today.calls as usize, "call", "calls"),
        today.tokens,
        today.cost
    ));
    lines
}

fn heartbeat_line(heartbeat: &HeartbeatStatus, cx: &CliContext) -> String {
    let job = |job: &everlore::engine::HeartbeatJobStatus| {
        let last = job.last.as_ref().map(|run| format_minute(run.at, &cx.now()));
        let state = if job.on { last.as_deref().unwrap_or("never") } else { "off" };
        format!("{} {}", translate(job.job.as_str()), translate(state))
    };
    let jobs: Vec<String> = heartbeat.jobs.iter().map(job).collect();
    let state = if heartbeat.enabled { "on" } else { "off by the settings" };
    format!("heartbeat: {state}; {}", jobs.join(", "))
}

fn print_warnings(report: &HealthReport, out: &mut Output) -> Result<()> {
    for warning in &report.warnings {
        let mark = match warning.severity {
            HealthSeverity::Problem => translate("PROBLEM"),
            HealthSeverity::Note => translate("note"),
        };
        let (about, message) = (translate(warning.about), translate(&warning.message));
        out.line(&format!("{}   {about}: {}", pad_width(&mark, 7), sanitize(&message)))?;
        out.line(&fit_terminal(&format!("          {}", translate(&warning.advice))))?;
    }
    if report.warnings.is_empty() {
        out.say("all is well")?;
    }
    Ok(())
}
