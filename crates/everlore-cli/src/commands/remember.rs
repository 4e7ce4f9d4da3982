//! `everlore remember`: stores one statement.

use clap::Args;
use everlore::{
    Kind, MemoryId, RememberRequest,
    engine::{DoubtedMemory, SavedMemory, SupersededMemory, UndoRun},
    internal::{ingest::ExportLine, to_millisecond},
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{check_args::CheckArgs, filter_args::kind_parser};
use crate::{
    CliContext, Exit, Output, Result, ids, input,
    render::{TITLE_CELLS, masked_note, memory_title, sanitize, truncate_width},
    rescue_log,
    times::{TimeSpec, parse_time_spec},
};

/// Store a statement, from the arguments or from standard input
#[derive(Debug, Args)]
pub(crate) struct RememberArgs {
    /// The text; without it, or with `-`, it is read from standard input
    text: Vec<String>,
    /// The kind of memory; judged by the text if left out
    #[arg(long, value_name = "KIND", value_parser = kind_parser())]
    kind: Option<Kind>,
    /// A title; the beginning of the text if left out
    #[arg(long, value_name = "TITLE")]
    name: Option<String>,
    /// A one-line description, by which recall shows it in lists
    #[arg(long, value_name = "LINE")]
    description: Option<String>,
    /// A keyword; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Importance, from 0 to 1
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f64>,
    /// The conversation it came from
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The person who said it, if it is not the user
    #[arg(long, value_name = "NAME")]
    speaker: Option<String>,
    /// The time at which it was said or became true; now if left out
    #[arg(long, value_name = "TIME", value_parser = parse_time_spec)]
    at: Option<TimeSpec>,
    /// Free data of yours, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = parse_json_object)]
    metadata: Option<Map<String, Value>>,
    /// The older memory that this one replaces
    #[arg(long, value_name = "ID")]
    replaces: Option<String>,
    #[command(flatten)]
    check: CheckArgs,
}

/// Stored memory, and the one it replaces.
#[derive(Serialize)]
struct RememberView<'a> {
    #[serde(flatten)]
    saved: &'a SavedMemory,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<MemoryId>,
}

impl RememberArgs {
    /// Stores the text and prints the memory.
    pub(crate) async fn run(mut self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let content = input::text_or_stdin(&std::mem::take(&mut self.text), out)?;
        let replaces = self.replaces.take();
        let mut request = self.into_request(content, cx)?;
        match save(cx, &mut request, replaces.as_deref()).await {
            Ok(saved) => print_saved(cx, out, &saved, request.replaces).await,
            Err(error) if error.is_storage() => {
                let line = ExportLine::Remember(Box::new(request));
                Err(rescue_log::rescue_lines(cx, vec![line], error))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the request with the current time, which stays right even if the text is saved later from the rescue
    /// log.
    fn into_request(self, content: String, cx: &CliContext) -> Result<RememberRequest> {
        let check = self.check.into_new_check()?;
        let at = self.at.map_or_else(|| cx.now().timestamp(), TimeSpec::start);
        Ok(RememberRequest {
            content,
            kind: self.kind,
            name: self.name,
            description: self.description.unwrap_or_default(),
            tags: self.tag,
            importance: self.importance,
            confidence: None,
            at: Some(to_millisecond(at)),
            session: self.session,
            speaker: self.speaker,
            role: None,
            metadata: self.metadata.unwrap_or_default(),
            check,
            replaces: None,
        })
    }
}

async fn save(
    cx: &CliContext,
    request: &mut RememberRequest,
    replaces: Option<&str>,
) -> Result<SavedMemory> {
    let engine = cx.engine().await?;
    if let Some(name) = replaces {
        request.replaces = Some(engine.resolve(&cx.scope, name).await?);
    }
    Ok(engine.remember(&cx.scope, request.clone()).await?)
}

async fn print_saved(
    cx: &CliContext,
    out: &mut Output,
    saved: &SavedMemory,
    replaces: Option<MemoryId>,
) -> Result<Exit> {
    if out.is_json() {
        out.json(&RememberView { saved, replaces })?;
        return Ok(Exit::Done);
    }
    let engine = cx.engine().await?;
    let memory = engine.get(&cx.scope, saved.id).await?;
    let id = ids::shorten_id(engine, &cx.scope, saved.id).await?;
    let done = if saved.receipt.known { "already known" } else { "remembered" };
    let instead = match replaces {
        Some(older) => format!(", instead of {}", ids::shorten_id(engine, &cx.scope, older).await?),
        None => String::new(),
    };
    let name = truncate_width(&memory_title(&memory), TITLE_CELLS);
    out.say(&format!("{done}: {} [{}] {name}{instead}", out.bold(&id), saved.kind))?;
    print_superseded(cx, out, &saved.superseded, saved.undo.as_ref()).await?;
    if let Some(older) = &saved.may_replace {
        print_doubted(cx, out, older).await?;
    }
    if !saved.masked.is_empty() {
        out.say(&masked_note(&saved.masked))?;
    }
    Ok(Exit::Done)
}

/// Prints the memories that newer ones superseded, and how to undo it.
pub(crate) async fn print_superseded(
    cx: &CliContext,
    out: &mut Output,
    superseded: &[SupersededMemory],
    undo: Option<&UndoRun>,
) -> Result<()> {
    let ids: Vec<MemoryId> = superseded.iter().map(|older| older.id).collect();
    let short = cx.engine().await?.shorten_ids(&cx.scope, &ids).await?;
    for (older, id) in superseded.iter().zip(short) {
        let text = truncate_width(&sanitize(&older.content), TITLE_CELLS);
        out.say(&format!("superseded: {} {text}", out.bold(&id)))?;
    }
    match undo {
        Some(UndoRun { run }) if !superseded.is_empty() => {
            out.say(&format!("undo with: everlore memory undo --run {run}"))
        }
        _ => Ok(()),
    }
}

/// Prints the memory that a newer one may have replaced, and how to put it away.
async fn print_doubted(cx: &CliContext, out: &mut Output, older: &DoubtedMemory) -> Result<()> {
    let id = ids::shorten_id(cx.engine().await?, &cx.scope, older.id).await?;
    let text = truncate_width(&sanitize(&older.content), TITLE_CELLS);
    out.say(&format!("may replace: {} {text}", out.bold(&id)))?;
    out.say(&format!("if that no longer holds: everlore memory archive {id}"))
}

pub(super) fn parse_json_object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("it is not a JSON object: {error}"))
}
