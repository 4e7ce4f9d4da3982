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
    ids::ShortIds,
    messages::translate,
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
        print_all(cx, &found, "no proposal waits for a decision", out).await
    }
}

impl ProposalHistoryArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let mut found = cx.engine().await?.proposals(&cx.scope, None).await?;
        found.retain(|proposal| proposal.decided_at.is_some());
        found.sort_by_key(|proposal| std::cmp::Reverse((proposal.decided_at, proposal.id)));
        print_all(cx, &found, "nothing was decided yet", out).await
    }
}

impl ProposalShowArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let id = resolve(cx, &self.id).await?;
        let proposal = cx.engine().await?.proposal(&cx.scope, id).await?;
        print_one(cx, &proposal, None, out).await
    }
}

impl ProposalApproveArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let id = resolve(cx, &self.id).await?;
        let proposal = cx.engine().await?.approve_proposal(&cx.scope, id).await?;
        print_one(cx, &proposal, Some("approved and applied; take it back with rollback"), out)
            .await
    }
}

impl ProposalRejectArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let id = resolve(cx, &self.id).await?;
        let proposal = cx.engine().await?.reject_proposal(&cx.scope, id).await?;
        print_one(cx, &proposal, Some("rejected; it will not be proposed again"), out).await
    }
}

impl ProposalRollbackArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let id = resolve(cx, &self.id).await?;
        let proposal = cx.engine().await?.roll_back_proposal(&cx.scope, id).await?;
        print_one(cx, &proposal, Some("taken back; it will not be proposed again"), out).await
    }
}

async fn resolve(cx: &CliContext, id: &str) -> Result<MemoryId> {
    Ok(cx.engine().await?.resolve(&cx.scope, id).await?)
}

async fn print_all(
    cx: &CliContext,
    found: &[ProposalView],
    none: &str,
    out: &mut Output,
) -> Result<Exit> {
    if out.is_json() {
        out.json(&json!({ "proposals": found }))?;
    } else if found.is_empty() {
        out.note(none);
    } else {
        out.text(&render_proposals(cx, found).await?)?;
    }
    Ok(Exit::from_found(!found.is_empty()))
}

/// Prints a proposal in full, with its evidence, after what became of it.
async fn print_one(
    cx: &CliContext,
    proposal: &ProposalView,
    note: Option<&str>,
    out: &mut Output,
) -> Result<Exit> {
    let short = short_ids(cx, std::slice::from_ref(proposal)).await?;
    let note = note.map_or_else(String::new, |note| format!("{}\n", translate(note)));
    let evidence: Vec<String> = proposal.evidence.iter().map(ToString::to_string).collect();
    let evidence = short.shorten(&evidence.join(", "));
    let evidence = translate(&format!("evidence: {evidence}")).into_owned();
    let text = format!("{note}{}  {evidence}\n", render_proposal(proposal, &short));
    out.answer_text(proposal, &text)
}

/// Returns proposals as text, each with its reason and its change.
pub(super) async fn render_proposals(cx: &CliContext, found: &[ProposalView]) -> Result<String> {
    let short = short_ids(cx, found).await?;
    Ok(found.iter().map(|proposal| render_proposal(proposal, &short)).collect())
}

async fn short_ids(cx: &CliContext, found: &[ProposalView]) -> Result<ShortIds> {
    let ids = found.iter().flat_map(|it| std::iter::once(&it.id).chain(&it.evidence));
    let mut ids: Vec<MemoryId> = ids.copied().collect();
    ids.sort_unstable();
    ids.dedup();
    ShortIds::of(cx.engine().await?, &cx.scope, &ids).await
}

fn render_proposal(proposal: &ProposalView, short: &ShortIds) -> String {
    let id = short.shorten(&proposal.id.to_string());
    let state = proposal.state.in_words();
    let head = format!("{id} {} {}", translate(&state), translate(proposal.reason.as_str()));
    // Lines of a file stay as they are; of a change of memories, the ids are shortened.
    let diff = if proposal.target == "memories" {
        let lines = short.shorten(&proposal.diff);
        lines.lines().map(|line| translate(line).into_owned()).collect::<Vec<_>>().join("\n")
    } else {
        proposal.diff.clone()
    };
    let text = format!("{}\n{diff}", translate(&proposal.why));
    format!("{head}\n{}\n", indent(sanitize(&text).trim_end(), 2))
}
