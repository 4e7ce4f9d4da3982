//! `everlore proposals`: decisions on what reflection proposed.

use clap::{Args, Subcommand};
use everlore::{
    MemoryId,
    engine::{ProposalState, ProposalView},
};
use serde_json::json;

use super::dispatch;
use crate::{
    CliContext, Exit, Output, Result,
    commands::CommandFuture,
    render::{indent, sanitize},
};

/// Decide on proposals of `everlore reflect`
///
/// An approved proposal changes USER.md, SOUL.md, MEMORY.md or memories, or makes a skill or a workflow, if what it was made
/// against is unchanged. Rolling it back restores the file byte for byte, unless something else has changed it since: then only its line is taken back.
/// A rejected one never returns, whatever its words. An ID may be shortened.
#[derive(Debug, Args)]
pub(crate) struct ProposalsArgs {
    #[command(subcommand)]
    command: Option<ProposalsCommand>,
}

#[derive(Debug, Subcommand)]
enum ProposalsCommand {
    List(ProposalListArgs),
    Show(ProposalShowArgs),
    Approve(ProposalApproveArgs),
    Reject(ProposalRejectArgs),
    Rollback(ProposalRollbackArgs),
    History(ProposalHistoryArgs),
}

/// List the proposals that wait for a decision
#[derive(Debug, Args)]
struct ProposalListArgs {
    /// List decided ones too
    #[arg(long)]
    all: bool,
}

/// Print one proposal with its evidence
#[derive(Debug, Args)]
struct ProposalShowArgs {
    /// The proposal
    id: String,
}

/// Approve a proposal and apply its change
#[derive(Debug, Args)]
struct ProposalApproveArgs {
    /// The proposal
    id: String,
}

/// Reject a proposal for good
#[derive(Debug, Args)]
struct ProposalRejectArgs {
    /// The proposal
    id: String,
}

/// Take back an approved proposal
#[derive(Debug, Args)]
struct ProposalRollbackArgs {
    /// The proposal
    id: String,
}

/// List the decisions, newest first
#[derive(Debug, Args)]
struct ProposalHistoryArgs {}

impl ProposalsArgs {
    /// Returns `true` for commands that only read.
    pub(crate) fn is_read_only(&self) -> bool {
        use ProposalsCommand::{Approve, Reject, Rollback};
        !matches!(self.command, Some(Approve(_) | Reject(_) | Rollback(_)))
    }

    /// Runs the command; without one, lists the proposals that wait.
    pub(crate) fn run<'a>(self, cx: &'a CliContext, out: &'a mut Output) -> CommandFuture<'a> {
        let list = || ProposalsCommand::List(ProposalListArgs { all: false });
        let command = self.command.unwrap_or_else(list);
        dispatch!(command, ProposalsCommand, cx, out: List | Show | Approve | Reject | Rollback | History)
    }
}

impl ProposalListArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let state = (!self.all).then_some(ProposalState::Open);
        let found = cx.engine().await?.proposals(&cx.scope, state).await?;
        print_all(&found, "no proposal waits for a decision", out)
    }
}

impl ProposalHistoryArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let mut found = cx.engine().await?.proposals(&cx.scope, None).await?;
        found.retain(|proposal| proposal.decided_at.is_some());
        found.sort_by_key(|proposal| std::cmp::Reverse((proposal.decided_at, proposal.id)));
        print_all(&found, "nothing was decided yet", out)
    }
}

impl ProposalShowArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let id = resolve(cx, &self.id).await?;
        let proposal = cx.engine().await?.proposal(&cx.scope, id).await?;
        print_one(&proposal, "", out)
    }
}

impl ProposalApproveArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let id = resolve(cx, &self.id).await?;
        let proposal = cx.engine().await?.approve_proposal(&cx.scope, id).await?;
        print_one(&proposal, "approved and applied; take it back with rollback\n", out)
    }
}

impl ProposalRejectArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let id = resolve(cx, &self.id).await?;
        let proposal = cx.engine().await?.reject_proposal(&cx.scope, id).await?;
        print_one(&proposal, "rejected; it will not be proposed again\n", out)
    }
}

impl ProposalRollbackArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let id = resolve(cx, &self.id).await?;
        let proposal = cx.engine().await?.roll_back_proposal(&cx.scope, id).await?;
        print_one(&proposal, "taken back; it will not be proposed again\n", out)
    }
}

async fn resolve(cx: &CliContext, id: &str) -> Result<MemoryId> {
    Ok(cx.engine().await?.resolve(&cx.scope, id).await?)
}

fn print_all(found: &[ProposalView], none: &str, out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(&json!({ "proposals": found }))?;
    } else if found.is_empty() {
        out.note(none);
    } else {
        out.text(&render_proposals(found))?;
    }
    Ok(Exit::from_found(!found.is_empty()))
}

fn print_one(proposal: &ProposalView, note: &str, out: &mut Output) -> Result<Exit> {
    let text = format!("{note}{}", render_proposal(proposal));
    out.answer_text(proposal, &text)
}

/// Returns proposals as text, each with its reason and its change.
pub(super) fn render_proposals(proposals: &[ProposalView]) -> String {
    proposals.iter().map(render_proposal).collect()
}

fn render_proposal(proposal: &ProposalView) -> String {
    let head = format!("{} {} {}", proposal.id, proposal.state.in_words(), proposal.reason);
    let text = format!("{}\n{}", proposal.why, proposal.diff);
    format!("{head}\n{}\n", indent(sanitize(&text).trim_end(), 2))
}
