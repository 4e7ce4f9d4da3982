//! `everlore quarantine`: drafts that the gate did not store, with their reasons.

use clap::{Args, Subcommand};
use everlore::{MemoryId, types::QuarantinedDraft};
use serde_json::json;

use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{indent, new_table, pluralize, render_list, sanitize, truncate_width},
    times::format_age,
};

/// Width of the reason column.
const REASON_CELLS: usize = 44;

/// Width of the statement column.
const STATEMENT_CELLS: usize = 48;

/// Manage statements that were extracted from conversations but not stored, each with its reason
///
/// No extracted statement is dropped silently: a quarantined one should be reviewed, a rejected one seemed not worth
/// it. Both are kept for a while, within the limits of the settings. An ID may be shortened.
#[derive(Debug, Subcommand)]
pub(crate) enum QuarantineCommand {
    List(QuarantineListArgs),
    Show(QuarantineShowArgs),
    Restore(QuarantineRestoreArgs),
    Drop(QuarantineDropArgs),
}

/// List the statements, those to review first
#[derive(Debug, Args)]
pub(crate) struct QuarantineListArgs {}

/// Print one statement in full, with the turns it was extracted from
#[derive(Debug, Args)]
pub(crate) struct QuarantineShowArgs {
    /// The statement
    id: String,
}

/// Store statements after all, as approved by you
#[derive(Debug, Args)]
pub(crate) struct QuarantineRestoreArgs {
    /// The statements
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

/// Remove statements for good
#[derive(Debug, Args)]
pub(crate) struct QuarantineDropArgs {
    /// The statements
    #[arg(required_unless_present = "all", value_name = "ID")]
    ids: Vec<String>,
    /// All of them
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

impl QuarantineCommand {
    /// Returns `true` for commands that only read.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Self::List(_) | Self::Show(_))
    }

    /// Runs the command.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match self {
            Self::List(args) => args.run(cx, out).await,
            Self::Show(args) => args.run(cx, out).await,
            Self::Restore(args) => args.run(cx, out).await,
            Self::Drop(args) => args.run(cx, out).await,
        }
    }
}

impl QuarantineListArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let mut drafts = cx.engine().await?.quarantine(&cx.scope).await?;
        drafts.sort_by_key(|draft| std::cmp::Reverse((draft.verdict, draft.at, draft.id())));
        if out.is_json() {
            out.json(&json!({ "drafts": drafts }))?;
            return Ok(Exit::from_found(!drafts.is_empty()));
        }
        if drafts.is_empty() {
            out.note("the quarantine is empty");
            return Ok(Exit::NothingFound);
        }
        let ids: Vec<_> = drafts.iter().map(QuarantinedDraft::id).collect();
        let mut rows = new_table(&["id", "verdict", "statement", "reason", "age"]);
        for draft in &drafts {
            rows.add_row([
                shorten_draft_id(draft.id(), &ids),
                translate(draft.verdict.as_str()).into_owned(),
                truncate_width(&draft.memory.content, STATEMENT_CELLS),
                truncate_width(&translate(&draft.reason), REASON_CELLS),
                format_age(draft.at, &cx.now()),
            ]);
        }
        out.text(&render_list(rows))?;
        Ok(Exit::Done)
    }
}

impl QuarantineShowArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let draft = find_draft(cx, &self.id).await?;
        if out.is_json() {
            out.json(&draft)?;
            return Ok(Exit::Done);
        }
        let session = draft.session.as_deref().unwrap_or("none");
        out.line(&format!("{} {}", out.bold(&translate(draft.verdict.as_str())), draft.id()))?;
        out.say(&format!("reason    {}", draft.reason))?;
        out.say(&format!("kind      {}", draft.memory.kind))?;
        out.say(&format!("session   {}", sanitize(session)))?;
        out.say(&format!("run       {}", draft.run))?;
        for turn in &draft.memory.source.turns {
            out.say(&format!("from      {turn}"))?;
        }
        out.text(&indent(&sanitize(&draft.memory.content), 2))?;
        out.line("")?;
        Ok(Exit::Done)
    }
}

impl QuarantineRestoreArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let mut restored = Vec::new();
        for id in resolve_ids(cx, &self.ids).await? {
            restored.push(engine.restore_quarantined(&cx.scope, id).await?);
        }
        if out.is_json() {
            out.json(&json!({ "memories": restored }))?;
            return Ok(Exit::Done);
        }
        for memory in &restored {
            out.say(&format!("remembered: {} {}", out.bold(&memory.id.to_string()), memory.name))?;
        }
        Ok(Exit::Done)
    }
}

impl QuarantineDropArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let ids = if self.all {
            engine.quarantine(&cx.scope).await?.iter().map(QuarantinedDraft::id).collect()
        } else {
            resolve_ids(cx, &self.ids).await?
        };
        let dropped = engine.drop_quarantined(&cx.scope, &ids).await?;
        out.answer_line(
            &json!({ "dropped": dropped }),
            &format!("dropped: {}", pluralize(dropped, "statement", "statements")),
        )
    }
}

/// Resolves ids and prefixes; all of them, before the command changes any draft.
async fn resolve_ids(cx: &CliContext, names: &[String]) -> Result<Vec<MemoryId>> {
    let mut ids = Vec::new();
    for name in names {
        ids.push(find_draft(cx, name).await?.id());
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

async fn find_draft(cx: &CliContext, name: &str) -> Result<QuarantinedDraft> {
    let prefix = hex_digits(name);
    let mut drafts = cx.engine().await?.quarantine(&cx.scope).await?;
    drafts.retain(|draft| hex_digits(&draft.id().to_string()).starts_with(&prefix));
    match drafts.len() {
        1 => Ok(drafts.remove(0)),
        0 => Err(everlore::Error::invalid(
            format!("there is no statement `{name}` in quarantine"),
            "list all with `everlore quarantine list`",
        )
        .into()),
        count => Err(everlore::Error::AmbiguousId { prefix: name.to_owned(), count }.into()),
    }
}

fn hex_digits(id: &str) -> String {
    id.trim().replace('-', "").to_lowercase()
}

/// Returns the shortest prefix, eight characters at least, that tells an id from the others.
fn shorten_draft_id(id: MemoryId, all: &[MemoryId]) -> String {
    let text = id.to_string();
    let is_unique = |length: &usize| {
        let shares = |other: &&MemoryId| other.to_string().starts_with(&text[..*length]);
        all.iter().filter(shares).count() == 1
    };
    let length = (8..text.len()).find(is_unique).unwrap_or(text.len());
    text[..length].trim_end_matches('-').to_owned()
}
