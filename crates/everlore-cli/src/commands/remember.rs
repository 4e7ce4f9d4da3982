//! `everlore remember`: stores one statement.

use clap::Args;
use everlore::{
    Kind, MemoryId, RememberRequest,
    engine::SavedMemory,
    internal::{ingest::ExportLine, to_millisecond},
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{check_args::CheckArgs, filter_args::kind_parser};
use crate::{
    CliContext, CliError, Exit, Output, Result, ids, input,
    render::{TITLE_CELLS, masked_note, memory_title, truncate_width},
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
        let request = self.into_request(content, cx)?;
        match save(cx, &request, replaces.as_deref()).await {
            Ok((saved, replaces)) => print_saved(cx, out, &saved, replaces).await,
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
            metadata: self.metadata.unwrap_or_default(),
            check,
        })
    }
}

async fn save(
    cx: &CliContext,
    request: &RememberRequest,
    replaces: Option<&str>,
) -> Result<(SavedMemory, Option<MemoryId>)> {
    let engine = cx.engine().await?;
    let older = match replaces {
        Some(name) => Some(engine.resolve(&cx.scope, name).await?),
        None => None,
    };
    let saved = engine.remember(&cx.scope, request.clone()).await?;
    if let Some(older) = older {
        engine.supersede(&cx.scope, older, saved.id).await.map_err(CliError::from)?;
    }
    Ok((saved, older))
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
    out.line(&format!("{done}: {} [{}] {name}{instead}", out.bold(&id), saved.kind))?;
    if !saved.masked.is_empty() {
        out.line(&masked_note(&saved.masked))?;
    }
    Ok(Exit::Done)
}

pub(super) fn parse_json_object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("it is not a JSON object: {error}"))
}
