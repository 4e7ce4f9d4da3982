//! Adding memories: messages are stored as turns, and memories are extracted from them before the response.

use std::time::Duration;

use everlore::{
    Memory, MemoryEdit, MemoryId, RememberRequest, Scope, Turn,
    engine::{DraftFate, DraftOutcome, ExtractRequest, ExtractionReport},
    types::{Role, Timestamp},
};
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::{
    access::{Mem0Access, Mem0Event},
    fields::RequestFields,
    memories::with_ignored,
    memory_json::{Mem0Metadata, generated_session, is_about_assistant, merge_metadata},
};
use crate::{ApiResult, JsonBody, JsonResponse, Problem, auth};

/// Largest request: a long session, and no more than one write should hold.
const MAX_MESSAGES: usize = 1_000;

/// Number of retries, and the pause between them, while another extraction of the same user runs. Rules take
/// milliseconds; after ten seconds a model is at work, and the worker captures the turns later.
const EXTRACT_RETRIES: (usize, Duration) = (200, Duration::from_millis(50));

/// Parsed add request.
struct Mem0AddRequest {
    messages: Vec<Mem0Message>,
    scope: Scope,
    run: Option<String>,
    infer: bool,
    metadata: Map<String, Value>,
    mem0_metadata: Mem0Metadata,
    at: Option<Timestamp>,
}

/// Message with its text only.
struct Mem0Message {
    role: Role,
    name: Option<String>,
    text: String,
}

/// Add memories, for mem0's clients
///
/// With `infer` (the default) the messages are stored as turns and memories are extracted at once; without it each
/// message becomes a memory as it is.
#[cfg_attr(test, utoipa::path(
    post, path = "/v3/memories/add/", tag = "mem0", operation_id = "add",
    request_body(
        content = Object,
        example = json!({"messages": [{"role": "user", "content": "I moved to Lisbon. 我对花生过敏。"}], "user_id": "ana", "metadata": {"team": "red"}}),
    ),
    responses((status = 200, description = "Id, text and event of each stored memory", body = Object)),
))]
pub(super) async fn add(
    access: Mem0Access,
    JsonBody(body, _): JsonBody<Map<String, Value>>,
) -> ApiResult<Value> {
    access.require_role(auth::KeyRole::Write)?;
    let mut fields = RequestFields::from_body(body);
    let request = Mem0AddRequest::parse(&access, &mut fields)?;
    fields.take("output_format");
    let ignored = fields.finish()?;
    let event = access.begin_event("add");
    let (results, pending) = if request.infer {
        observe_and_extract(&event, &request).await?
    } else {
        (remember_verbatim(&event, &request).await?, None)
    };
    let status = if pending.is_some() { "PENDING" } else { "SUCCEEDED" };
    let message = pending.unwrap_or_else(|| "Memories stored".to_owned());
    let response =
        json!({ "message": message, "status": status, "event_id": event.id, "results": results });
    Ok(JsonResponse::ok(with_ignored(response, &ignored)))
}

impl Mem0AddRequest {
    fn parse(access: &Mem0Access, fields: &mut RequestFields) -> Result<Self, Problem> {
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
                "the request names no owner",
                "give at least one of user_id, agent_id, app_id and run_id",
            ));
        }
        nested.finish()?;
        let expires: Option<Date> = fields.date("expiration_date")?;
        Ok(Self {
            messages,
            scope: access.scope_for_ids(agent.as_deref(), user.as_deref())?,
            run,
            infer: fields.flag("infer")?.unwrap_or(true),
            metadata: fields.object("metadata")?.unwrap_or_default(),
            mem0_metadata: Mem0Metadata {
                app_id: app,
                expiration_date: expires,
                ..Mem0Metadata::default()
            },
            at: fields.time_range("timestamp")?.map(|(at, _)| at),
        })
    }

    /// Returns `true` if the request has metadata for its memories.
    fn has_extras(&self) -> bool {
        !self.metadata.is_empty() || self.mem0_metadata != Mem0Metadata::default()
    }
}

/// Parses a list of messages, one message, or a text.
fn parse_messages(given: Option<Value>) -> Result<Vec<Mem0Message>, Problem> {
    let invalid = || {
        Problem::invalid(
            "`messages` cannot be read",
            "send [{\"role\": \"user\", \"content\": \"…\"}, …], up to 1000 of them",
        )
    };
    let all = match given.ok_or_else(invalid)? {
        Value::Array(all) => all,
        Value::Object(one) => vec![Value::Object(one)],
        Value::String(text) => vec![json!({ "role": "user", "content": text })],
        _ => return Err(invalid()),
    };
    if all.is_empty() || all.len() > MAX_MESSAGES {
        return Err(invalid());
    }
    let read: Result<Vec<_>, _> = all.into_iter().map(parse_message).collect();
    // System messages are instructions, not statements.
    Ok(read?.into_iter().filter(|message| message.role != Role::System).collect())
}

fn parse_message(given: Value) -> Result<Mem0Message, Problem> {
    let Value::Object(given) = given else {
        return Err(Problem::invalid(
            "a message is not an object",
            "send role and content of each",
        ));
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

/// Returns the text of a message, or of its text parts; images cannot be remembered.
fn message_text(content: Option<Value>) -> Result<String, Problem> {
    let invalid = || {
        Problem::invalid(
            "a message has content that is not text",
            "send texts; images and files are not stored",
        )
    };
    match content {
        Some(Value::String(text)) => Ok(text),
        Some(Value::Array(parts)) => {
            let text = |part: &Value| match (part["type"].as_str(), part["text"].as_str()) {
                (None | Some("text"), Some(text)) => Ok(text.to_owned()),
                _ => Err(invalid()),
            };
            let texts: Result<Vec<_>, _> = parts.iter().map(text).collect();
            Ok(texts?.join("\n"))
        }
        _ => Err(invalid()),
    }
}

/// Stores each message as a memory.
async fn remember_verbatim(event: &Mem0Event, add: &Mem0AddRequest) -> Result<Vec<Value>, Problem> {
    let mut results = Vec::new();
    for Mem0Message { role, name, text } in &add.messages {
        let mut metadata = add.metadata.clone();
        add.mem0_metadata.write_to(&mut metadata);
        let request = RememberRequest {
            content: text.clone(),
            at: add.at,
            session: add.run.clone(),
            speaker: name.clone(),
            role: Some(*role),
            metadata,
            ..RememberRequest::default()
        };
        let saved = event.engine.remember(&add.scope, request).await?;
        let event_name = if saved.receipt.known { "UPDATE" } else { "ADD" };
        let mut result = result_json(saved.id, text, event_name);
        result["role"] = json!(role);
        result["actor_id"] = json!(name);
        results.push(result);
        let replaced = saved.superseded.iter();
        results.extend(replaced.map(|older| result_json(older.id, &older.content, "DELETE")));
    }
    Ok(results)
}

/// Stores the messages and extracts memories; also returns the reason if extraction is pending.
async fn observe_and_extract(
    event: &Mem0Event,
    add: &Mem0AddRequest,
) -> Result<(Vec<Value>, Option<String>), Problem> {
    let session = add.run.clone().unwrap_or_else(|| generated_session(&event.id));
    let turn = |Mem0Message { role, name, text }: &Mem0Message| Turn {
        text: text.clone(),
        session: Some(session.clone()),
        speaker: name.clone(),
        role: Some(*role),
        time: add.at,
        ..Turn::default()
    };
    let turns = add.messages.iter().map(turn).collect();
    let saved = event.engine.observe(&add.scope, turns).await?;
    let turns: Vec<MemoryId> = saved.iter().map(|saved| saved.id).collect();
    let (drafts, pending) = extract_drafts(event, &add.scope, &session).await?;
    apply_metadata(event, add, &turns, &drafts).await?;
    Ok((add_results(event, add, &turns, &drafts).await?, pending))
}

/// Extracts drafts from a session, and returns the reason if some are pending.
async fn extract_drafts(
    event: &Mem0Event,
    scope: &Scope,
    session: &str,
) -> Result<(Vec<DraftOutcome>, Option<String>), Problem> {
    let request = ExtractRequest { session: Some(session.to_owned()), dry_run: false };
    let (mut drafts, mut error) = (Vec::new(), None);
    for _ in 0..EXTRACT_RETRIES.0 {
        let reports: Vec<ExtractionReport> = event.engine.extract(scope, &request).await?;
        error = reports.iter().find_map(|it| it.error.clone());
        let is_taken = reports.iter().any(|it| it.error.is_some() && it.turns == 0);
        drafts.extend(reports.into_iter().flat_map(|it| it.drafts));
        if !is_taken {
            break;
        }
        tokio::time::sleep(EXTRACT_RETRIES.1).await;
    }
    Ok((drafts, error.map(|error| format!("stored; memories are extracted later: {error}"))))
}

/// Returns the memory that a draft became, and mem0's name for the change.
fn stored_memory(outcome: &DraftOutcome) -> Option<(MemoryId, &'static str)> {
    match &outcome.fate {
        DraftFate::Added { id } | DraftFate::Superseded { id, .. } => Some((*id, "ADD")),
        DraftFate::Updated { id } => Some((*id, "UPDATE")),
        DraftFate::Withdrew { .. } | DraftFate::Skipped { .. } | DraftFate::Held { .. } => None,
    }
}

/// Sets the request's metadata on its turns and memories, and marks turns that say nothing new.
async fn apply_metadata(
    event: &Mem0Event,
    add: &Mem0AddRequest,
    turns: &[MemoryId],
    drafts: &[DraftOutcome],
) -> Result<(), Problem> {
    let memories = drafts.iter().filter_map(stored_memory).map(|(id, _)| id);
    for id in turns.iter().copied().chain(memories) {
        let was_known = says_nothing_new(id, drafts);
        if !add.has_extras() && !was_known {
            continue;
        }
        let memory = event.engine.get(&add.scope, id).await?;
        let mut metadata = if add.metadata.is_empty() {
            memory.metadata.clone()
        } else {
            merge_metadata(&memory, &add.metadata)
        };
        Mem0Metadata { was_known, ..add.mem0_metadata.clone() }.write_to(&mut metadata);
        let edit = MemoryEdit { metadata: Some(metadata), ..MemoryEdit::default() };
        event.engine.edit(&add.scope, id, &edit).await?;
    }
    Ok(())
}

/// Returns `true` if every draft of a turn was known before.
fn says_nothing_new(turn: MemoryId, drafts: &[DraftOutcome]) -> bool {
    let mut drafts_of_turn = drafts.iter().filter(|draft| draft.turns.contains(&turn)).peekable();
    drafts_of_turn.peek().is_some()
        && drafts_of_turn.all(|draft| matches!(draft.fate, DraftFate::Skipped { .. }))
}

/// Returns the results: new and replaced memories, and turns that no memory was extracted from.
async fn add_results(
    event: &Mem0Event,
    add: &Mem0AddRequest,
    turns: &[MemoryId],
    drafts: &[DraftOutcome],
) -> Result<Vec<Value>, Problem> {
    let mut results = Vec::new();
    for outcome in drafts {
        if let Some((id, event_name)) = stored_memory(outcome) {
            let memory = event.engine.get(&add.scope, id).await?;
            let mut result = result_json(id, &memory.content, event_name);
            if let Some(speaker) = &memory.source.speaker {
                result["actor_id"] = json!(speaker);
            }
            results.push(result);
        }
        if let DraftFate::Superseded { older, .. } | DraftFate::Withdrew { older } = &outcome.fate {
            for memory in event.engine.get_many(&add.scope, older).await? {
                results.push(result_json(memory.id, &memory.content, "DELETE"));
            }
        }
    }
    for memory in event.engine.get_many(&add.scope, turns).await? {
        results.extend(unextracted_turn(&memory, drafts));
    }
    Ok(results)
}

fn unextracted_turn(memory: &Memory, drafts: &[DraftOutcome]) -> Option<Value> {
    let is_extracted =
        drafts.iter().any(|it| stored_memory(it).is_some() && it.turns.contains(&memory.id));
    if is_extracted || says_nothing_new(memory.id, drafts) || is_about_assistant(memory) {
        return None;
    }
    let mut result = result_json(memory.id, &memory.content, "ADD");
    result["role"] = json!(memory.source.role);
    Some(result)
}

/// Returns a result in the shapes of all API versions.
pub(super) fn result_json(id: MemoryId, text: &str, event: &str) -> Value {
    json!({ "id": id, "memory": text, "event": event, "data": { "memory": text } })
}
