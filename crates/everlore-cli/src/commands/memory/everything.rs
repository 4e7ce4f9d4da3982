//! `--all-of-user` and `--all-of-agent`: deletes or forgets everything of a user or an agent, after a preview.

use std::io::{self, IsTerminal};

use clap::Args;
use everlore::{
    MemoryId,
    engine::{
        KindCount, Removal, RemovalMode, RemovalReport, RemovalTarget, ScopeRemoval, SourceTurns,
        VaultErasure,
    },
};
use serde_json::json;

use crate::{
    CliContext, CliError, Exit, Output, Result,
    messages::translate,
    render::{memory_title, pluralize, truncate_width},
    text_width::fit_terminal,
};

/// Widest title in a preview, so that a line with the id fits 80 cells.
const PREVIEW_CELLS: usize = 28;

/// Owner of all that is removed, in place of ids; both together mean one user with one agent.
#[derive(Debug, Args)]
pub(crate) struct OwnerArgs {
    /// Everything of this user, with every agent
    #[arg(long, value_name = "USER", conflicts_with = "ids")]
    all_of_user: Option<String>,
    /// Everything of this agent, with every user
    #[arg(long, value_name = "AGENT", conflicts_with = "ids")]
    all_of_agent: Option<String>,
    /// Show what would be removed and what stays, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl OwnerArgs {
    /// Returns `true` if an owner is named.
    pub(super) fn is_named(&self) -> bool {
        self.all_of_user.is_some() || self.all_of_agent.is_some()
    }

    /// Shows a preview, asks, removes and prints the receipt.
    pub(super) async fn remove(
        self,
        mode: RemovalMode,
        yes: bool,
        cx: &CliContext,
        out: &mut Output,
    ) -> Result<Exit> {
        let target = RemovalTarget { agent: self.all_of_agent, user: self.all_of_user };
        let preview = Removal { target, mode, dry_run: true };
        let admin = cx.engine().await?.admin();
        let planned = admin.remove_everything(&preview).await?;
        if self.dry_run {
            return print_report(&planned, out);
        }
        if !yes {
            if !out.is_json() {
                print_report(&planned, out)?;
            }
            if !confirm(&planned, out)? {
                out.note("nothing was removed");
                return Ok(Exit::Failed);
            }
        }
        print_report(&admin.remove_everything(&Removal { dry_run: false, ..preview }).await?, out)
    }
}

/// Prints which memories would be removed, and changes nothing.
pub(super) async fn preview(
    mode: RemovalMode,
    ids: &[MemoryId],
    cx: &CliContext,
    out: &mut Output,
) -> Result<Exit> {
    let engine = cx.engine().await?;
    let sources = engine.source_turns(&cx.scope, ids, mode).await?;
    let mut lines = String::new();
    for id in ids.iter().chain(&sources.alone) {
        // A deleted memory has no text any more but in the journal.
        let memory = engine.get(&cx.scope, *id).await.ok();
        let title = memory.map(|memory| truncate_width(&memory_title(&memory), PREVIEW_CELLS));
        let title = title.unwrap_or_default();
        let done = match mode {
            RemovalMode::Delete => translate("would delete"),
            RemovalMode::Forget => translate("would forget"),
        };
        lines += format!("{done} {id}  {title}").trim_end();
        lines += "\n";
    }
    if !out.is_json() {
        sources.shared.iter().for_each(|turn| out.note(&remaining_turn_note(*turn, mode)));
    }
    let SourceTurns { alone, shared } = sources;
    let preview = json!({
        "mode": mode, "dry_run": true, "ids": ids, "turns": alone, "remaining_turns": shared
    });
    out.answer_text(&preview, &lines)
}

/// Returns a note about a turn that stays because other memories come from it.
pub(super) fn remaining_turn_note(turn: MemoryId, mode: RemovalMode) -> String {
    let command = match mode {
        RemovalMode::Delete => "delete",
        RemovalMode::Forget => "forget",
    };
    format!(
        "the turn {turn} may still tell it, since other memories come from that turn; to remove the turn: everlore \
         memory {command} {turn}"
    )
}

fn confirm(planned: &RemovalReport, out: &mut Output) -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(CliError::invalid(
            "this needs a confirmation, for which there is no terminal",
            "see what it removes with --dry-run, and repeat the command with --yes",
        ));
    }
    let total: usize = planned.scopes.iter().map(ScopeRemoval::total).sum();
    let (verb, end) = match planned.mode {
        RemovalMode::Delete => ("Delete", ""),
        RemovalMode::Forget => ("Forget", " for good"),
    };
    out.confirm(&format!("{verb} {}{end}?", pluralize(total, "memory", "memories")))
}

fn print_report(report: &RemovalReport, out: &mut Output) -> Result<Exit> {
    let found = Exit::from_found(!report.scopes.is_empty());
    if out.is_json() {
        out.json(report)?;
        return Ok(found);
    }
    if report.scopes.is_empty() {
        out.note("there is nothing of that owner");
    }
    for scope in &report.scopes {
        out.line(&fit_terminal(&translate(&scope_line(report, scope))))?;
        if let Some(run) = &scope.run {
            let ScopeRemoval { agent, user, .. } = scope;
            out.say(&format!(
                "undo with: everlore --agent {agent} --user {user} memory undo --run {run}"
            ))?;
        }
        scope.vaults.iter().filter_map(vault_note).for_each(|note| out.note(&note));
    }
    out.line(&fit_terminal(&translate(&format!("stays: {}", report.stays.join("; ")))))?;
    for name in &report.backups {
        out.note(&format!(
            "warning: the backup {name} still holds the texts; delete it when you no longer need it"
        ));
    }
    Ok(found)
}

fn scope_line(report: &RemovalReport, scope: &ScopeRemoval) -> String {
    let done = match (report.mode, report.dry_run) {
        (RemovalMode::Delete, false) => "deleted",
        (RemovalMode::Delete, true) => "would delete",
        (RemovalMode::Forget, false) => "forgotten",
        (RemovalMode::Forget, true) => "would forget",
    };
    let count = |kind: &KindCount| format!("{} {}", kind.count, kind.kind);
    let mut parts: Vec<String> = scope.memories.iter().map(count).collect();
    if scope.drafts > 0 {
        parts.push(translate(&pluralize(scope.drafts, "draft", "drafts")).into_owned());
    }
    if let Some(pending) = scope.pending.filter(|pending| *pending > 0) {
        let pending = pluralize(pending, "pending save", "pending saves");
        parts.push(translate(&pending).into_owned());
    }
    parts.extend(scope.files.iter().map(|file| format!("{file}/")));
    let parts = if parts.is_empty() { translate("nothing").into_owned() } else { parts.join(", ") };
    format!("{done} of agent {} and user {}: {parts}", scope.agent, scope.user)
}

/// Returns a note about a vault that lost files or could not be synced.
pub(super) fn vault_note(vault: &VaultErasure) -> Option<String> {
    match (&vault.failure, vault.removed.is_empty()) {
        (Some(error), _) => Some(format!(
            "the vault {} could not be synced and may still hold the text: {error}; run `everlore vault sync`",
            vault.folder
        )),
        (None, true) => None,
        (None, false) => {
            Some(format!("removed from the vault {}: {}", vault.folder, vault.removed.join(", ")))
        }
    }
}
