//! `everlore extract`: extracts memories from conversations now.

use clap::Args;
use everlore::{
    Engine, Scope,
    engine::{DraftFate, DraftOutcome, ExtractRequest, ExtractionReport},
};
use serde_json::json;

use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{pluralize, sanitize},
};

/// Extract memories from conversations now, instead of in the background
///
/// Processes every turn that was not processed yet, with the model of the settings or by rules. Each turn is processed
/// once; what fails is retried later. Statements that are not worth remembering go to the quarantine.
#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    /// Only from this conversation
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// From the conversations of all agents and users
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// Report what would be remembered, and change nothing; a model is asked all the same
    #[arg(long)]
    dry_run: bool,
}

impl ExtractArgs {
    /// Returns `true` if nothing is stored.
    pub(crate) fn is_read_only(&self) -> bool {
        self.dry_run
    }

    /// Extracts from all pending sessions and prints the drafts.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.capture_engine().await?;
        let scopes = if self.all { engine.admin().scopes().await? } else { vec![cx.scope.clone()] };
        let request = ExtractRequest { session: self.session, dry_run: self.dry_run };
        let mut reports = Vec::new();
        for scope in scopes {
            let extracted = engine.extract(&scope, &request).await?;
            reports.extend(extracted.into_iter().map(|report| (scope.clone(), report)));
        }
        print_extractions(&reports, self.all, self.dry_run, out)
    }
}

fn print_extractions(
    reports: &[(Scope, ExtractionReport)],
    all: bool,
    dry_run: bool,
    out: &mut Output,
) -> Result<Exit> {
    let exit = Exit::from_success(reports.iter().all(|(_, extraction)| extraction.error.is_none()));
    if out.is_json() {
        let view = |(scope, extraction): &(Scope, ExtractionReport)| {
            let mut value = json!(extraction);
            value["agent"] = json!(scope.agent());
            value["user"] = json!(scope.user());
            value
        };
        let extractions: Vec<_> = reports.iter().map(view).collect();
        out.json(&json!({ "extractions": extractions, "dry_run": dry_run }))?;
        return Ok(exit);
    }
    if reports.is_empty() {
        out.note("nothing to extract: every turn was processed");
    }
    for (scope, extraction) in reports {
        let scope = if all { format!("{scope}, ") } else { String::new() };
        let summary = summarize_extraction(extraction, dry_run);
        out.line(&format!("{scope}{}", translate(&summary)))?;
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
    Ok(exit)
}

/// Extracts memories from every conversation that is due, of any agent and user.
pub(super) async fn extract_due(engine: &Engine) -> Result<()> {
    while engine.extract_due().await?.is_some() {}
    Ok(())
}

/// Formats one line about an extraction.
pub(super) fn summarize_extraction(extraction: &ExtractionReport, dry_run: bool) -> String {
    let session = match &extraction.session {
        Some(session) => format!("session {}", sanitize(session)),
        None => "turns outside of sessions".to_owned(),
    };
    if let Some(error) = &extraction.error {
        return format!("{session}: extraction failed: {error}; it is retried later");
    }
    let turns = pluralize(extraction.turns, "turn", "turns");
    let would = if dry_run { " would be" } else { "" };
    let cost = match extraction.tokens {
        0 => String::new(),
        tokens => format!(", {tokens} tokens"),
    };
    format!("{session}: {turns}{would} processed by {}{cost}", extraction.by)
}

fn draft_line(outcome: &DraftOutcome) -> String {
    let (action, reason) = match &outcome.fate {
        DraftFate::Added { .. } => ("added", None),
        DraftFate::Updated { .. } => ("updated", None),
        DraftFate::Superseded { .. } => ("superseded", None),
        DraftFate::Withdrew { .. } => ("withdrew", None),
        DraftFate::Skipped { reason } => ("skipped", Some(reason)),
        DraftFate::Held { verdict, reason, .. } => (verdict.as_str(), Some(reason)),
    };
    let reason = reason.map_or_else(String::new, |reason| format!(" ({})", translate(reason)));
    format!("{}: {}{reason}", translate(action), sanitize(&outcome.statement))
}
