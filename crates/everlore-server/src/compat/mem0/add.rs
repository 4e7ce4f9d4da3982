//! Adding: what was told is stored word for word, and memories are drawn from it before the answer.

use std::time::Duration;

use axum::http::StatusCode;
use everlore::{
    Memory, MemoryEdit, MemoryId, RememberRequest, Scope, Turn,
    engine::{ExtractRequest, ExtractionReport},
    ingest::{DraftFate, DraftOutcome},
    types::{Role, Timestamp},
};
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::{
    access::{Mem0Access, Mem0Event},
    fields::RequestFields,
    memory_json::{Mem0Metadata, generated_session, merge_metadata},
};
use crate::{
    auth,
    body::JsonBody,
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

/// The most messages of a request: a long conversation, and no more than one write should hold.
const MAX_MESSAGES: usize = 1_000;

/// How often another one who draws memories of the same user is waited for, and how long each time. Rules take
/// milliseconds; after ten seconds a model is at work, and the turns are read by and by.
const EXTRACT_RETRIES: (usize, Duration) = (200, Duration::from_millis(50));

/// What is to be stored.
struct Mem0AddRequest {
    messages: Vec<Mem0Message>,
    scope: Scope,
    run: Option<String>,
    infer: bool,
    metadata: Map<String, Value>,
    marks: Mem0Metadata,
    at: Option<Timestamp>,
}

/// One message, its text alone.
struct Mem0Message {
    role: Role,
    name: Option<String>,
    text: String,
}

/// Store what was told, for mem0's clients
///
/// With `infer` (the default) the messages are stored word for word and memories are drawn from them at once; without, each
/// message becomes a memory as it is.
#[utoipa::path(post, path = "/v3/memories/add/", tag = "mem0", operation_id = "add", request_body(content = Object, example = json!({"messages": [{"role": "user", "content": "I moved to Lisbon. 我对花生过敏。"}], "user_id": "ana", "metadata": {"team": "red"}})), responses((status = 200, description = "What was stored: id, text and event of each", body = Object)))]
pub(super) async fn add(
    asked: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    asked.require_role(auth::KeyRole::Write)?;
    let mut fields = RequestFields::from_body(body);
    let adding = Mem0AddRequest::parse(&asked, &mut fields)?;
    fields.take("output_format");
    let ignored = fields.finish()?;
    let event = asked.begin_event("add");
    let (results, waits) = match adding.infer {
        true => observe_and_extract(&event, &adding).await?,
        false => (remember_verbatim(&event, &adding).await?, None),
    };
    let status = if waits.is_some() { "PENDING" } else { "SUCCEEDED" };
    let message = waits.unwrap_or_else(|| "Memories stored".to_owned());
    let mut answer =
        json!({ "message": message, "status": status, "event_id": event.id, "results": results });
    if !ignored.is_empty() {
        answer["ignored"] = json!(ignored);
    }
    Ok(JsonResponse(StatusCode::OK, answer))
}

/// The same, by the paths of older clients and of the open-source server
#[utoipa::path(post, path = "/v1/memories/", tag = "mem0", operation_id = "add_v1", request_body(content = Object, example = json!({"messages": [{"role": "user", "content": "I moved to Lisbon. 我对花生过敏。"}], "user_id": "ana", "metadata": {"team": "red"}})), responses((status = 200, description = "What was stored", body = Object)))]
pub(super) async fn add_v1(
    asked: Mem0Access,
    body: JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    add(asked, body).await
}

/// The same, by the path of the open-source server
#[utoipa::path(post, path = "/memories", tag = "mem0", operation_id = "add_open", request_body(content = Object, example = json!({"messages": [{"role": "user", "content": "I moved to Lisbon. 我对花生过敏。"}], "user_id": "ana", "metadata": {"team": "red"}})), responses((status = 200, description = "What was stored", body = Object)))]
pub(super) async fn add_open(
    asked: Mem0Access,
    body: JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    add(asked, body).await
}

impl Mem0AddRequest {
    fn parse(asked: &Mem0Access, fields: &mut RequestFields) -> Result<Self, Problem> {
        let messages = parse_messages(fields.take("messages"))?;
        let mut nested = RequestFields::from_body(fields.object("filters")?.unwrap_or_default());
        let mut id = |name: &str| -> Result<Option<String>, Problem> {
            match (fields.id(name)?, nested.id(name)?) {
                (Some(one), Some(other)) if one != other => Err(Problem::invalid(
                    format!("`{name}` is given twice"),
                    "give it once, beside the messages or in `filters`",
                )),
                (one, other) => Ok(one.or(other)),
            }
        };
        let [user, agent, app, run] =
            [id("user_id")?, id("agent_id")?, id("app_id")?, id("run_id")?];
        if [&user, &agent, &app, &run].iter().all(|id| id.is_none()) {
            return Err(Problem::invalid(
                "it is not said whose memory this is",
                "give at least one of user_id, agent_id, app_id and run_id",
            ));
        }
        nested.finish()?;
        let expires: Option<Date> = fields.date("expiration_date")?;
        Ok(Self {
            messages,
            scope: asked.scope_for_ids(agent.as_deref(), user.as_deref())?,
            run,
            infer: fields.flag("infer")?.unwrap_or(true),
            metadata: fields.object("metadata")?.unwrap_or_default(),
            marks: Mem0Metadata {
                app_id: app,
                expiration_date: expires,
                ..Mem0Metadata::default()
            },
            at: fields.time_range("timestamp")?.map(|(at, _)| at),
        })
    }

    /// What every memory of this request carries.
    fn has_extras(&self) -> bool {
        !self.metadata.is_empty() || self.marks != Mem0Metadata::default()
    }
}

/// A list of messages, one message, or a text.
fn parse_messages(given: Option<Value>) -> Result<Vec<Mem0Message>, Problem> {
    let bad = || {
        Problem::invalid(
            "`messages` cannot be read",
            "send [{\"role\": \"user\", \"content\": \"…\"}, …], up to 1000 of them",
        )
    };
    let all = match given.ok_or_else(bad)? {
        Value::Array(all) => all,
        Value::Object(one) => vec![Value::Object(one)],
        Value::String(text) => vec![json!({ "role": "user", "content": text })],
        _ => return Err(bad()),
    };
    if all.is_empty() || all.len() > MAX_MESSAGES {
        return Err(bad());
    }
    let read: Result<Vec<_>, _> = all.into_iter().map(parse_message).collect();
    // What a host tells its model is no part of what was told.
    Ok(read?.into_iter().filter(|message| message.role != Role::System).collect())
}

fn parse_message(given: Value) -> Result<Mem0Message, Problem> {
    let Value::Object(given) = given else {
        return Err(Problem::invalid("a message is no object", "send role and content of each"));
    };
    let mut fields = RequestFields::from_body(given);
    let role = match fields.text("role")?.as_deref() {
        None | Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system" | "developer") => Role::System,
        Some("tool" | "function") => Role::Tool,
        Some(_) => {
            let detail = "use user, assistant, system or tool";
            return Err(Problem::invalid("a message has an unknown role", detail));
        }
    };
    let text = message_text(fields.take("content"))?;
    Ok(Mem0Message { role, name: fields.text("name")?, text })
}

/// A text, or the texts among parts; a picture cannot be remembered.
fn message_text(content: Option<Value>) -> Result<String, Problem> {
    let bad = || {
        Problem::invalid(
            "a message has a content that is no text",
            "send texts; pictures and files are not stored",
        )
    };
    match content {
        Some(Value::String(text)) => Ok(text),
        Some(Value::Array(parts)) => {
            let text = |part: &Value| match (part["type"].as_str(), part["text"].as_str()) {
                (None | Some("text"), Some(text)) => Ok(text.to_owned()),
                _ => Err(bad()),
            };
            let texts: Result<Vec<_>, _> = parts.iter().map(text).collect();
            Ok(texts?.join("\n"))
        }
        _ => Err(bad()),
    }
}

/// Each message becomes a memory as it is.
async fn remember_verbatim(
    event: &Mem0Event,
    adding: &Mem0AddRequest,
) -> Result<Vec<Value>, Problem> {
    let mut results = Vec::new();
    for Mem0Message { role, name, text } in &adding.messages {
        let mut metadata = adding.metadata.clone();
        adding.marks.write_to(&mut metadata);
        let request = RememberRequest {
            content: text.clone(),
            at: adding.at,
            session: adding.run.clone(),
            metadata,
            ..RememberRequest::default()
        };
        let saved = event.engine.remember(&adding.scope, request).await?;
        let done = if saved.receipt.known { "UPDATE" } else { "ADD" };
        let mut result = result_json(saved.id, text, done);
        result["role"] = json!(role);
        result["actor_id"] = json!(name);
        results.push(result);
    }
    Ok(results)
}

/// Stores the messages and draws memories from them; also says why some of that has to wait.
async fn observe_and_extract(
    event: &Mem0Event,
    adding: &Mem0AddRequest,
) -> Result<(Vec<Value>, Option<String>), Problem> {
    let session = adding.run.clone().unwrap_or_else(|| generated_session(&event.id));
    let turn = |Mem0Message { role, name, text }: &Mem0Message| Turn {
        text: text.clone(),
        session: Some(session.clone()),
        speaker: name.clone(),
        role: Some(*role),
        time: adding.at,
    };
    let turns = adding.messages.iter().map(turn).collect();
    let saved = event.engine.observe(&adding.scope, turns).await?;
    let turns: Vec<MemoryId> = saved.iter().map(|saved| saved.id).collect();
    let (drafts, waits) = extract_drafts(event, &adding.scope, &session).await?;
    apply_metadata(event, adding, &turns, &drafts).await?;
    Ok((add_results(event, adding, &turns, &drafts).await?, waits))
}

/// What became of what was drawn, and why not all was drawn.
async fn extract_drafts(
    event: &Mem0Event,
    scope: &Scope,
    session: &str,
) -> Result<(Vec<DraftOutcome>, Option<String>), Problem> {
    let request = ExtractRequest { session: Some(session.to_owned()), dry_run: false };
    let (mut drafts, mut trouble) = (Vec::new(), None);
    for _ in 0..EXTRACT_RETRIES.0 {
        let read: Vec<ExtractionReport> = event.engine.extract(scope, &request).await?;
        trouble = read.iter().find_map(|it| it.error.clone());
        let is_taken = read.iter().any(|it| it.error.is_some() && it.turns == 0);
        drafts.extend(read.into_iter().flat_map(|it| it.drafts));
        if !is_taken {
            break;
        }
        tokio::time::sleep(EXTRACT_RETRIES.1).await;
    }
    Ok((drafts, trouble.map(|why| format!("stored; memories are drawn from it later: {why}"))))
}

/// The memory that a draft became, with what happened to it.
fn stored_memory(outcome: &DraftOutcome) -> Option<(MemoryId, &'static str)> {
    match &outcome.fate {
        DraftFate::Added { id } | DraftFate::Superseded { id, .. } => Some((*id, "ADD")),
        DraftFate::Updated { id } => Some((*id, "UPDATE")),
        DraftFate::Skipped { .. } | DraftFate::Held { .. } => None,
    }
}

/// Puts the metadata of the request on whatever it made, and notes turns that said nothing new.
async fn apply_metadata(
    event: &Mem0Event,
    adding: &Mem0AddRequest,
    turns: &[MemoryId],
    drafts: &[DraftOutcome],
) -> Result<(), Problem> {
    let made = drafts.iter().filter_map(stored_memory).map(|(id, _)| id);
    for id in turns.iter().copied().chain(made) {
        let was_known = says_nothing_new(id, drafts);
        if !adding.has_extras() && !was_known {
            continue;
        }
        let memory = event.engine.get(&adding.scope, id).await?;
        let mut metadata = match adding.metadata.is_empty() {
            true => memory.metadata.clone(),
            false => merge_metadata(&memory, &adding.metadata),
        };
        Mem0Metadata { was_known, ..adding.marks.clone() }.write_to(&mut metadata);
        let edit = MemoryEdit { metadata: Some(metadata), ..MemoryEdit::default() };
        event.engine.edit(&adding.scope, id, &edit).await?;
    }
    Ok(())
}

/// Whether all that was drawn from a turn was known before.
fn says_nothing_new(turn: MemoryId, drafts: &[DraftOutcome]) -> bool {
    let mut of_it = drafts.iter().filter(|draft| draft.turns.contains(&turn)).peekable();
    of_it.peek().is_some() && of_it.all(|draft| matches!(draft.fate, DraftFate::Skipped { .. }))
}

/// What is shown from now on: memories that were drawn, and turns that none was drawn from.
async fn add_results(
    event: &Mem0Event,
    adding: &Mem0AddRequest,
    turns: &[MemoryId],
    drafts: &[DraftOutcome],
) -> Result<Vec<Value>, Problem> {
    let mut results = Vec::new();
    for outcome in drafts {
        if let Some((id, done)) = stored_memory(outcome) {
            let memory = event.engine.get(&adding.scope, id).await?;
            results.push(result_json(id, &memory.content, done));
        }
        if let DraftFate::Superseded { older, .. } = &outcome.fate {
            for memory in event.engine.get_many(&adding.scope, older).await? {
                results.push(result_json(memory.id, &memory.content, "DELETE"));
            }
        }
    }
    for memory in event.engine.get_many(&adding.scope, turns).await? {
        results.extend(unextracted_turn(&memory, drafts));
    }
    Ok(results)
}

fn unextracted_turn(memory: &Memory, drafts: &[DraftOutcome]) -> Option<Value> {
    let became =
        drafts.iter().any(|it| stored_memory(it).is_some() && it.turns.contains(&memory.id));
    if became || says_nothing_new(memory.id, drafts) {
        return None;
    }
    let mut result = result_json(memory.id, &memory.content, "ADD");
    result["role"] = json!(memory.source.role);
    Some(result)
}

/// One line of an answer, in the shapes of all versions.
pub(super) fn result_json(id: MemoryId, text: &str, event: &str) -> Value {
    json!({ "id": id, "memory": text, "event": event, "data": { "memory": text } })
}
