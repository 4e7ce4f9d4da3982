//! `/api/v1/content`: reading at three tiers, and writing.

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use everlore::{
    Error, MemoryEdit,
    engine::fs::{FsAddRequest, to_viking},
    internal::text::{sanitize::sanitize_verbatim, suspect::mark_suspect_lines},
    types::Tier,
};
use serde::Deserialize;
use serde_json::json;

use super::{
    envelope::{VikingResponse, VikingResult},
    tree::{required_uri, virtual_folder},
};
use crate::{Access, JsonBody, Problem, QueryParams, Reader, Writer};

/// Files of OpenViking that hold the lower tiers of a folder.
const SIDECARS: [(&str, Tier); 2] = [("/.abstract.md", Tier::L0), ("/.overview.md", Tier::L1)];

async fn read_tier(access: &Access, uri: &str, tier: Tier) -> Result<String, Problem> {
    let sidecar = SIDECARS.iter().find_map(|(end, tier)| Some((uri.strip_suffix(end)?, *tier)));
    let (uri, tier) = sidecar.unwrap_or((uri, tier));
    match virtual_folder(uri, &access.scope) {
        Some(entries) if tier == Tier::L0 => {
            let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
            Ok(format!("{} entries: {}", names.len(), names.join(", ")))
        }
        Some(entries) if tier == Tier::L1 => {
            let lines = entries.iter().map(|entry| format!("- {}/: {}", entry.name, entry.summary));
            Ok(lines.collect::<Vec<_>>().join("\n"))
        }
        _ => Ok(access.engine().fs_read(&access.scope, uri, tier).await?.text),
    }
}

/// Returns a text that a client may put into a prompt: tags are inert, and what reads like an instruction is marked.
fn marked(text: &str) -> VikingResult {
    VikingResponse::ok(mark_suspect_lines(&sanitize_verbatim(text)).into())
}

/// Reads lines from `offset` on; all of them if `limit` is negative.
pub(super) async fn read(Reader(access): Reader, mut params: QueryParams) -> VikingResult {
    let uri = required_uri(&mut params)?;
    let offset: usize = params.optional("offset")?.unwrap_or(0);
    let limit: i64 = params.optional("limit")?.unwrap_or(-1);
    let text = read_tier(&access, &uri, Tier::L2).await?;
    if offset == 0 && limit < 0 {
        return marked(&text);
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let lines: Vec<&str> = text.lines().skip(offset).take(limit).collect();
    marked(&lines.join("\n"))
}

pub(super) async fn summary(Reader(access): Reader, mut params: QueryParams) -> VikingResult {
    let uri = required_uri(&mut params)?;
    marked(&read_tier(&access, &uri, Tier::L0).await?)
}

pub(super) async fn overview(Reader(access): Reader, mut params: QueryParams) -> VikingResult {
    let uri = required_uri(&mut params)?;
    marked(&read_tier(&access, &uri, Tier::L1).await?)
}

pub(super) async fn download(
    Reader(access): Reader,
    mut params: QueryParams,
) -> Result<Response, Problem> {
    let uri = required_uri(&mut params)?;
    let text = read_tier(&access, &uri, Tier::L2).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], text).into_response())
}

/// Content to write.
#[derive(Deserialize)]
pub(super) struct WriteBody {
    uri: String,
    content: String,
    #[serde(default)]
    mode: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

/// Edits a memory, or adds a memory or a document.
pub(super) async fn write(
    Writer(access): Writer,
    JsonBody(body, _): JsonBody<WriteBody>,
) -> VikingResult {
    let (engine, scope) = (access.engine(), &access.scope);
    let WriteBody { uri, content, mode, tags } = body;
    let existing = match engine.fs_stat(scope, &uri).await {
        Ok(stat) => Some(stat.item),
        Err(Error::NoSuchUri { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let mode = mode.as_deref().unwrap_or("replace");
    let is_document = to_viking(&uri, scope).starts_with("viking://resources/");
    let (uri, saved) = match (existing, mode) {
        (Some(_), "create") => {
            return Err(Problem::from(Error::Conflict { what: format!("`{uri}`") }));
        }
        (Some(item), "replace" | "append") if !is_document && !item.read_only && !item.folder => {
            let Some(id) = item.id else { return Err(read_only()) };
            let content = match mode {
                "append" => format!("{}\n{content}", engine.get(scope, id).await?.content),
                _ => content,
            };
            let edit = MemoryEdit { content: Some(content), ..MemoryEdit::default() };
            (engine.edit(scope, id, &edit).await?.uri, None)
        }
        (Some(_), "append") => return Err(super::not_implemented()),
        (Some(item), _) if item.read_only && !is_document => return Err(read_only()),
        (_, "replace" | "append" | "create") => {
            let request =
                FsAddRequest { uri, bytes: content.into_bytes(), tags, ..FsAddRequest::default() };
            let added = engine.fs_add(scope, request).await?;
            (added.uri, added.memory)
        }
        _ => {
            return Err(Problem::invalid("unknown mode", "use replace, append or create"));
        }
    };
    let mut answer = json!({ "uri": to_viking(&uri, scope), "mode": mode, "written": true });
    if let Some(saved) = saved.filter(|saved| !saved.superseded.is_empty()) {
        answer["superseded"] = json!(saved.superseded);
        answer["undo"] = json!(saved.undo);
    }
    VikingResponse::ok(answer)
}

fn read_only() -> Problem {
    Problem::invalid("this entry is read-only here", "docs/fs.md says how to change it")
}
