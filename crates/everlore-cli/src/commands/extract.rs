//! `everlore extract`: draws memories from conversations now, by hand.

use clap::Args;
use everlore::{
    Engine, Scope,
    engine::{ExtractRequest, ExtractionReport},
    ingest::{DraftFate, DraftOutcome},
};
use serde_json::json;

use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    output::Output,
    render::{pluralize, sanitize},
};

/// Draw memories from what was said, without waiting for it to happen by itself
///
/// Reads every turn that was not read yet, by the model of the settings or by rules. Each turn is read once, whoever reads it;
/// what fails waits and is tried again. Statements that are not worth remembering go to the quarantine.
#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    /// Only from this conversation
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// From the conversations of all agents and users
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// Only say what would be remembered; a model is asked all the same
    #[arg(long)]
    dry_run: bool,
}

impl ExtractArgs {
    /// Whether it only looks.
    pub(crate) fn is_read_only(&self) -> bool {
        self.dry_run
    }

    /// Reads what waits and tells what became of it.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.capture_engine().await?;
        let scopes = match self.all {
            true => engine.store().admin().scopes().await?,
            false => vec![cx.scope.clone()],
        };
        let request = ExtractRequest { session: self.session, dry_run: self.dry_run };
        let mut done = Vec::new();
        for scope in scopes {
            let extractions = engine.extract(&scope, &request).await?;
            done.extend(extractions.into_iter().map(|extraction| (scope.clone(), extraction)));
        }
        print_extractions(&done, self.all, self.dry_run, out)
    }
}

fn print_extractions(
    done: &[(Scope, ExtractionReport)],
    all: bool,
    dry_run: bool,
    out: &mut Output,
) -> Result<Exit> {
    let well = done.iter().all(|(_, extraction)| extraction.error.is_none());
    if out.is_json() {
        let one = |(scope, extraction): &(Scope, ExtractionReport)| {
            let mut value = json!(extraction);
            value["agent"] = json!(scope.agent());
            value["user"] = json!(scope.user());
            value
        };
        let extractions: Vec<_> = done.iter().map(one).collect();
        out.json(&json!({ "extractions": extractions, "dry_run": dry_run }))?;
        return Ok(Exit::from_success(well));
    }
    if done.is_empty() {
        out.note("nothing waits: every turn was read");
    }
    for (scope, extraction) in done {
        let whose = if all { format!("{scope}, ") } else { String::new() };
        out.line(&format!("{whose}{}", summarize_extraction(extraction, dry_run)))?;
        for outcome in &extraction.drafts {
            out.line(&format!("  {}", draft_line(outcome)))?;
        }
        if let Some(note) = &extraction.note {
            out.note(&format!("note: {note}"));
        }
        if let Some(run) = &extraction.run {
            out.note(&format!("undo with: everlore memory undo --run {run}"));
        }
    }
    Ok(Exit::from_success(well))
}

/// Draws memories from every conversation that is due, of any agent and user.
pub(super) async fn extract_due(engine: &Engine) -> Result<()> {
    while engine.extract_due().await?.is_some() {}
    Ok(())
}

/// One line about a reading.
pub(super) fn summarize_extraction(extraction: &ExtractionReport, dry_run: bool) -> String {
    let session = match &extraction.session {
        Some(session) => format!("session {}", sanitize(session)),
        None => "turns outside of sessions".to_owned(),
    };
    if let Some(error) = &extraction.error {
        return format!("{session}: not read, {error}; the turns wait");
    }
    let turns = pluralize(extraction.turns, "turn", "turns");
    let would = if dry_run { " would be" } else { "" };
    let cost = match extraction.tokens {
        0 => String::new(),
        tokens => format!(", {tokens} tokens"),
    };
    format!("{session}: {turns}{would} read by {}{cost}", extraction.by)
}

fn draft_line(outcome: &DraftOutcome) -> String {
    let (what, reason) = match &outcome.fate {
        DraftFate::Added { .. } => ("added", None),
        DraftFate::Updated { .. } => ("updated", None),
        DraftFate::Superseded { .. } => ("superseded", None),
        DraftFate::Skipped { reason } => ("skipped", Some(reason)),
        DraftFate::Held { verdict, reason, .. } => (verdict.as_str(), Some(reason)),
    };
    let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    format!("{what}: {}{reason}", sanitize(&outcome.statement))
}
