//! Conversations as Ollama has them: a value a line, calls whole.

use serde_json::{Value, json};

use super::{
    lines::Framing,
    thinking::Thinking,
    wire::{Fault, Progress, Question, Reader, Wire, arguments, names, number, object, text},
};
use crate::{
    config::Secret,
    llm::{
        chat::{Message, Piece, Stop},
        http::{Header, bearer},
        trouble::Trouble,
    },
};

pub(super) struct Ollama;

impl Wire for Ollama {
    fn base(&self, given: &str) -> String {
        let base = given.trim_end_matches('/');
        let base = base.strip_suffix("/v1").or_else(|| base.strip_suffix("/api")).unwrap_or(base);
        base.to_owned()
    }

    fn path(&self, _: &str) -> String {
        "/api/chat".to_owned()
    }

    fn headers(&self, key: &Secret) -> Result<Vec<Header>, Trouble> {
        let key = (!key.reveal().is_empty()).then(|| bearer(key)).transpose()?;
        Ok(key.into_iter().collect())
    }

    fn body(&self, question: &Question<'_>) -> Value {
        let request = question.request;
        let mut body =
            json!({ "model": question.model, "messages": messages(question), "stream": true });
        let mut options = json!({});
        if let Some(temperature) = question.temperature {
            options["temperature"] = json!(temperature);
        }
        if let Some(most) = question.max_tokens {
            options["num_predict"] = json!(most);
        }
        if options != json!({}) {
            body["options"] = options;
        }
        question.set(&mut body, "format", request.json.then(|| json!("json")));
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({ "type": "function", "function": { "name": tool.name, "description": tool.description, "parameters": tool.schema } })
            });
            body["tools"] = tools.collect();
        }
        body
    }

    fn optional(&self) -> &'static [&'static str] {
        &["format"]
    }

    fn wanted(&self) -> &'static [&'static str] {
        &[]
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Parts>::default()
    }

    fn models_path(&self) -> &'static str {
        "/api/tags"
    }

    fn models(&self, list: &Value) -> Vec<String> {
        names(&list["models"], "name")
    }
}

fn messages(question: &Question<'_>) -> Vec<Value> {
    let system = question.system();
    let system = (!system.is_empty()).then(|| json!({ "role": "system", "content": system }));
    system.into_iter().chain(question.request.messages.iter().map(message)).collect()
}

fn message(message: &Message) -> Value {
    match message {
        Message::User { text } => json!({ "role": "user", "content": text }),
        Message::Assistant { text, calls } => {
            let mut said = json!({ "role": "assistant", "content": text });
            if !calls.is_empty() {
                let calls = calls.iter().map(|call| {
                    json!({ "function": { "name": call.name, "arguments": object(&call.arguments) } })
                });
                said["tool_calls"] = calls.collect();
            }
            said
        }
        Message::Tool { name, text, .. } => {
            json!({ "role": "tool", "tool_name": name, "content": text })
        }
    }
}

/// An answer in parts.
#[derive(Default)]
struct Parts {
    progress: Progress,
    thinking: Thinking,
}

impl Reader for Parts {
    fn read(&mut self, value: &Value) -> Result<Vec<Piece>, Fault> {
        if !value["error"].is_null() {
            return Err(Fault::Told(value.clone()));
        }
        let message = &value["message"];
        let said = text(&message["content"]).map(|text| self.thinking.without(text));
        let mut pieces: Vec<Piece> =
            said.filter(|text| !text.is_empty()).map(Piece::Text).into_iter().collect();
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            pieces.push(self.call(call));
        }
        if value["done"] == true {
            pieces.extend(self.thinking.rest().map(Piece::Text));
            self.progress.tokens.read = number(&value["prompt_eval_count"]);
            self.progress.tokens.written = number(&value["eval_count"]);
            let length = value["done_reason"] == "length";
            pieces.push(self.progress.end(if length { Stop::Length } else { Stop::Done }));
        }
        Ok(pieces)
    }

    fn end(&mut self, _: bool) -> Result<Vec<Piece>, Fault> {
        Err(Fault::Cut)
    }
}

impl Parts {
    fn call(&mut self, call: &Value) -> Piece {
        let function = &call["function"];
        let given = match &function["arguments"] {
            Value::String(written) => arguments(written),
            Value::Null => json!({}),
            whole => whole.clone(),
        };
        let id = text(&call["id"]).unwrap_or_default();
        self.progress.call(id, text(&function["name"]).unwrap_or_default(), given)
    }
}

#[cfg(test)]
#[path = "ollama_tests.rs"]
mod tests;
