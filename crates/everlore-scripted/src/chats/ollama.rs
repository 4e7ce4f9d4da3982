//! Ollama's side of a conversation.

use serde_json::{Value, json};

use super::{
    Asked, Chats, Said, Wire,
    asked::Role,
    said::{Event, Part, Stop, text_pieces},
};
use crate::{Reply, Request};

pub(super) struct Ollama;

impl Wire for Ollama {
    fn read(&self, chats: &Chats, _: &Request, body: &Value) -> Result<Asked, Reply> {
        let model = body["model"].as_str().unwrap_or_default();
        if model != chats.model {
            return Err(self.error(404, &format!("model '{model}' not found")));
        }
        asked(body).map_err(|what| self.error(400, &what))
    }

    fn write(&self, chats: &Chats, _: &Value, said: &Said) -> Reply {
        let mut events: Vec<Event> =
            said.parts.iter().flat_map(messages).map(|message| line(chats, &message)).collect();
        let mut last = part(chats, &json!({ "role": "assistant", "content": "" }));
        last["done"] = json!(true);
        last["done_reason"] = json!(if said.stop == Stop::Length { "length" } else { "stop" });
        last["total_duration"] = json!(1_000_000);
        last["prompt_eval_count"] = json!(said.tokens.read);
        last["eval_count"] = json!(said.tokens.written);
        events.push(Event { bytes: format!("{last}\n").into_bytes(), is_piece: false });
        said.reply("application/x-ndjson", events, |_, message| {
            format!("{}\n", json!({ "error": message })).into_bytes()
        })
    }

    fn error(&self, status: u16, message: &str) -> Reply {
        Reply::json(status, &json!({ "error": message }))
    }

    fn list(&self, chats: &Chats) -> Reply {
        let models = chats.models();
        let models = models.iter().map(|name| json!({ "name": name, "model": name, "size": 1 }));
        Reply::json(200, &json!({ "models": models.collect::<Vec<_>>() }))
    }

    fn admits(&self, request: &Request, key: &str) -> bool {
        request.header("authorization") == Some(format!("Bearer {key}").as_str())
    }
}

/// What is asked; what is wrong with it in words.
fn asked(body: &Value) -> Result<Asked, String> {
    let mut asked = Asked { json: body["format"] == "json", ..Asked::default() };
    for tool in body["tools"].as_array().into_iter().flatten() {
        let name = tool["function"]["name"].as_str().filter(|_| tool["type"] == "function");
        asked.tools.push(name.ok_or("invalid tool")?.to_owned());
    }
    for message in body["messages"].as_array().into_iter().flatten() {
        let text =
            message["content"].as_str().ok_or("messages: content must be a string")?.to_owned();
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        if calls.iter().any(|call| !call["function"]["arguments"].is_object()) {
            return Err("json: cannot unmarshal tool_calls.function.arguments".to_owned());
        }
        match message["role"].as_str() {
            Some("system") => asked.system += &text,
            Some("user") => asked.messages.push((Role::User, text)),
            Some("assistant") => asked.messages.push((Role::Model, text)),
            Some("tool") if message["tool_name"].is_string() => {
                asked.messages.push((Role::Tool, text));
            }
            other => return Err(format!("invalid role: {other:?}")),
        }
    }
    Ok(asked)
}

fn messages(part: &Part) -> Vec<Value> {
    match part {
        Part::Text(text) => text_pieces(text)
            .iter()
            .map(|text| json!({ "role": "assistant", "content": text }))
            .collect(),
        Part::Thought(text) => text_pieces(text)
            .iter()
            .map(|text| json!({ "role": "assistant", "content": "", "thinking": text }))
            .collect(),
        Part::Call { name, arguments } => {
            let call = json!({ "function": { "index": 0, "name": name, "arguments": arguments } });
            vec![json!({ "role": "assistant", "content": "", "tool_calls": [call] })]
        }
    }
}

fn part(chats: &Chats, message: &Value) -> Value {
    json!({ "model": chats.model, "created_at": "2026-03-02T12:00:00Z", "message": message, "done": false })
}

fn line(chats: &Chats, message: &Value) -> Event {
    Event { bytes: format!("{}\n", part(chats, message)).into_bytes(), is_piece: true }
}
