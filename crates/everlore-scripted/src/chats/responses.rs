//! OpenAI's side of responses.

use serde_json::{Value, json};

use super::{
    Asked, Chats, Said, Wire,
    asked::Role,
    openai::{Openai, text_of},
    said::{Event, Part, argument_pieces, text_pieces},
};
use crate::{Reply, Request};

pub(super) struct Responses;

impl Wire for Responses {
    fn read(&self, chats: &Chats, _: &Request, body: &Value) -> Result<Asked, Reply> {
        let model = body["model"].as_str().unwrap_or_default();
        if model != chats.model {
            return Err(self.error(404, &format!("The requested model '{model}' does not exist.")));
        }
        asked(body).map_err(|what| self.error(400, &what))
    }

    fn write(&self, chats: &Chats, body: &Value, said: &Said) -> Reply {
        let whole = whole(chats, said);
        if body["stream"] != true {
            return Reply::json(200, &whole);
        }
        let mut begun = whole.clone();
        (begun["status"], begun["output"]) = (json!("in_progress"), json!([]));
        let mut events = vec![(json!({ "type": "response.created", "response": begun }), false)];
        for (index, (part, item)) in said.parts.iter().zip(items(said)).enumerate() {
            events.push((json!({ "type": "response.output_item.added", "output_index": index, "item": item }), false));
            events.extend(deltas(index, part).into_iter().map(|delta| (delta, true)));
            events.push((
                json!({ "type": "response.output_item.done", "output_index": index, "item": item }),
                false,
            ));
        }
        events.push((json!({ "type": "response.completed", "response": whole }), false));
        let numbered = events.into_iter().enumerate().map(|(number, (mut value, is_piece))| {
            value["sequence_number"] = json!(number);
            event(&value, is_piece)
        });
        said.reply("text/event-stream; charset=utf-8", numbered.collect(), |kind, message| {
            event(&json!({ "type": "error", "code": kind, "message": message }), false).bytes
        })
    }

    fn error(&self, status: u16, message: &str) -> Reply {
        Openai.error(status, message)
    }

    fn list(&self, chats: &Chats) -> Reply {
        Openai.list(chats)
    }

    fn admits(&self, request: &Request, key: &str) -> bool {
        Openai.admits(request, key)
    }
}

/// What is asked; what is wrong with it in words.
fn asked(body: &Value) -> Result<Asked, String> {
    let mut asked = Asked {
        system: body["instructions"].as_str().unwrap_or_default().to_owned(),
        ..Asked::default()
    };
    if let Some(text) = body["input"].as_str() {
        asked.messages.push((Role::User, text.to_owned()));
        return Ok(asked);
    }
    for item in body["input"].as_array().ok_or("'input' must be a text or a list")? {
        let text = text_of(&item["content"]);
        match (item["role"].as_str(), item["type"].as_str()) {
            (Some("system" | "developer"), _) => asked.system += &text,
            (Some("user"), _) => asked.messages.push((Role::User, text)),
            (Some("assistant"), _) => asked.messages.push((Role::Model, text)),
            (None, Some("function_call")) => {}
            (None, Some("function_call_output")) => {
                asked.messages.push((Role::Tool, text_of(&item["output"])));
            }
            other => return Err(format!("an item {other:?} cannot stand here")),
        }
    }
    Ok(asked)
}

fn items(said: &Said) -> Vec<Value> {
    let item = |(index, part): (usize, &Part)| match part {
        Part::Text(text) => json!({
            "id": format!("msg_{index}"), "type": "message", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }],
        }),
        Part::Thought(text) => json!({
            "id": format!("rs_{index}"), "type": "reasoning", "summary": [{ "type": "summary_text", "text": text }],
        }),
        Part::Call { name, arguments } => json!({
            "id": format!("fc_{index}"), "type": "function_call", "call_id": format!("call_s{index}"),
            "name": name, "arguments": arguments.to_string(), "status": "completed",
        }),
    };
    said.parts.iter().enumerate().map(item).collect()
}

fn deltas(index: usize, part: &Part) -> Vec<Value> {
    let (kind, pieces) = match part {
        Part::Text(text) => ("response.output_text.delta", text_pieces(text)),
        Part::Thought(text) => ("response.reasoning_summary_text.delta", text_pieces(text)),
        Part::Call { arguments, .. } => {
            ("response.function_call_arguments.delta", argument_pieces(arguments))
        }
    };
    let delta = |piece: &String| {
        json!({
            "type": kind, "item_id": format!("msg_{index}"), "output_index": index, "content_index": 0,
            "summary_index": 0, "delta": piece, "logprobs": [],
        })
    };
    pieces.iter().map(delta).collect()
}

fn whole(chats: &Chats, said: &Said) -> Value {
    let tokens = said.tokens;
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": chats.model,
        "output": items(said), "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": tokens.read, "input_tokens_details": { "cached_tokens": tokens.cached },
            "output_tokens": tokens.written, "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": tokens.read + tokens.written,
        },
    })
}

fn event(value: &Value, is_piece: bool) -> Event {
    let name = value["type"].as_str().unwrap_or_default();
    Event { bytes: format!("event: {name}\ndata: {value}\n\n").into_bytes(), is_piece }
}
