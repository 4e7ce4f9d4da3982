//! `everlore audit`: finds what is wrong with memories.

use std::path::PathBuf;

use clap::Args;
use everlore::{
    MemoryId,
    engine::{
        AuditFinding, AuditFix, AuditReport, AuditRequest, AuditSource, ExternalFormat, ScorePart,
    },
};

use crate::{
    CliContext, Exit, Output, Result,
    ids::ShortIds,
    messages::translate,
    render::{pad_width, pluralize, sanitize, shell_quote},
};

/// Most findings that are listed; `--json` has all of them.
const MAX_LISTED: usize = 50;

/// Width of the column of kinds.
const KIND_CELLS: usize = 13;

/// Width of the column of fixes.
const FIX_CELLS: usize = 7;

/// Most ids of a finding that are listed.
const MAX_IDS: usize = 3;

/// Find what is wrong with the memories: duplicates, echoes, secrets, outdated and vague ones
///
/// Audits the memories of the agent and user, or with EXPORT those of another system: an export of mem0, a memory folder
/// of Claude Code, an OpenClaw workspace, a Hermes folder or the JSON lines of the MCP reference server. An export is
/// read and not stored. Every finding has its evidence and a fix: merge, archive, mask and mark are safe and applied by
/// --fix as one run that `everlore memory undo --run` undoes; ask is for you to decide. The score is
/// 100 × memories ÷ (memories + points): a secret is 10 points, a contradiction or an outdated memory 2, an echo, a
/// duplicate or a vague memory 1, one that nobody said 0.5, one that was never used 0.1.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// File or folder of another memory system; without it, the own memories are audited
    export: Option<PathBuf>,
    /// The system that wrote the export: openclaw, hermes, claude, mcp-graph, mem0 or basic-memory [default: detected]
    #[arg(long, value_name = "FORMAT", requires = "export")]
    format: Option<ExternalFormat>,
    /// Apply the safe fixes, as one run
    #[arg(long, conflicts_with = "export")]
    fix: bool,
    /// List what --fix would do and what is left to you, and change nothing
    #[arg(long, conflicts_with = "fix")]
    plan: bool,
    /// Apply the fixes even if they change more than a quarter of the memories
    #[arg(short, long, requires = "fix")]
    yes: bool,
}

impl AuditArgs {
    /// Returns `true` if nothing is changed.
    pub(crate) fn is_read_only(&self) -> bool {
        !self.fix
    }

    /// Audits and prints the report.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let report = match self.export {
            Some(path) => {
                let source = AuditSource { format: self.format, path };
                engine.audit_export(&cx.scope, &source).await?
            }
            None => {
                let request = AuditRequest { fix: self.fix, yes: self.yes };
                let bar = out.progress("audit", None);
                let mut progress = |read| bar.set_position(read as u64);
                let audited = engine.audit(&cx.scope, &request, &mut progress).await;
                bar.finish_and_clear();
                audited?
            }
        };
        if out.is_json() {
            out.json(&report)?;
        } else if self.plan {
            print_plan(&report, &short_ids(&report, cx).await?, out)?;
        } else {
            print_report(&report, cx, out).await?;
        }
        Ok(Exit::Done)
    }
}

/// Returns the short forms of the ids that are listed; those of an export stay as they are.
async fn short_ids(report: &AuditReport, cx: &CliContext) -> Result<ShortIds> {
    let ids = report.findings.iter().flat_map(|finding| finding.ids.iter().take(MAX_IDS));
    let mut ids: Vec<MemoryId> = ids.filter_map(|id| id.parse().ok()).collect();
    ids.sort_unstable();
    ids.dedup();
    ShortIds::of(cx.engine().await?, &cx.scope, &ids).await
}

async fn print_report(report: &AuditReport, cx: &CliContext, out: &mut Output) -> Result<()> {
    print_score(report, out)?;
    print_findings(&report.findings, &short_ids(report, cx).await?, out)?;
    if let Some(fixed) = &report.fixed {
        out.say(&format!("fixed {}", pluralize(fixed.memories, "memory", "memories")))?;
        let user = shell_quote(cx.scope.user());
        out.say(&format!("undo with: everlore memory undo --run {} --user {user}", fixed.run))?;
    } else if report.findings.iter().any(|finding| finding.fix.is_safe()) {
        out.note("see the plan with --plan; apply the safe fixes of your own memories with --fix");
    }
    Ok(())
}

fn print_score(report: &AuditReport, out: &mut Output) -> Result<()> {
    let (memories, findings) = (
        pluralize(report.memories, "memory", "memories"),
        pluralize(report.findings.len(), "finding", "findings"),
    );
    out.say(&format!("score {} of 100: {memories}, {findings}", report.score))?;
    let part = |part: &ScorePart| {
        let memories = pluralize(part.memories, "memory", "memories");
        let kind = pad_width(&translate(part.kind.as_str()), KIND_CELLS);
        let points = format!("{memories}: {:.1} points", part.points);
        format!("  {kind} {}", translate(&points))
    };
    report.points.iter().try_for_each(|line| out.line(&part(line)))?;
    if !report.skipped.is_empty() {
        let items = pluralize(report.skipped.len(), "item", "items");
        out.say(&format!("  {items} could not be read; --json lists them"))?;
    }
    Ok(())
}

/// Prints findings by their fix, the safe ones first.
fn print_plan(report: &AuditReport, short: &ShortIds, out: &mut Output) -> Result<()> {
    print_score(report, out)?;
    for fix in AuditFix::ALL {
        let of_fix = report.findings.iter().filter(|finding| finding.fix == fix);
        let findings: Vec<AuditFinding> = of_fix.cloned().collect();
        if !findings.is_empty() {
            let count = pluralize(findings.len(), "finding", "findings");
            let (name, about) = (translate(fix.as_str()), translate(describe_fix(fix)));
            out.line(&format!("\n{name} ({}): {about}", translate(&count)))?;
            print_findings(&findings, short, out)?;
        }
    }
    Ok(())
}

fn describe_fix(fix: AuditFix) -> &'static str {
    match fix {
        AuditFix::Merge => "merged into the first, which keeps the evidence and the tags of all",
        AuditFix::Archive => "archived; recall leaves them out, and they can be restored",
        AuditFix::Mask => {
            "masked; the journal still has the text, and `everlore memory forget ID` erases it"
        }
        AuditFix::Mark => "tagged `unattributed`",
        AuditFix::Ask => "left to you: edit, supersede, archive or delete them, or leave them",
    }
}

fn print_findings(findings: &[AuditFinding], short: &ShortIds, out: &mut Output) -> Result<()> {
    for finding in findings.iter().take(MAX_LISTED) {
        let why = sanitize(&finding.why).replace('\n', " ");
        let kind = pad_width(&translate(finding.kind.as_str()), KIND_CELLS);
        let fix = pad_width(&translate(finding.fix.as_str()), FIX_CELLS);
        out.line(&format!("  {kind} {fix} {}", translate(&why)))?;
        out.line(&format!("{:24}{}", "", list_ids(&finding.ids, short)))?;
    }
    if findings.len() > MAX_LISTED {
        out.say(&format!("  and {} more; --json lists them", findings.len() - MAX_LISTED))?;
    }
    Ok(())
}

fn list_ids(ids: &[String], short: &ShortIds) -> String {
    let named = ids.iter().take(MAX_IDS).cloned().collect::<Vec<_>>().join(", ");
    let more = ids.len().saturating_sub(MAX_IDS);
    let named = short.shorten(&sanitize(&named));
    if more == 0 {
        return named;
    }
    translate(&format!("{named} and {more} more")).into_owned()
}
