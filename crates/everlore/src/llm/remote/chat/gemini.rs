//! Contents as Gemini has them: parts of text and calls, in events that have no name and no last one.

use hyper::header::HeaderName;
use serde_json::{Map, Value, json};

use super::{
    lines::Framing,
    wire::{Fault, Progress, Question, Reader, Wire, number, object, text},
};
use crate::{
    config::Secret,
    llm::{
        chat::{Message, Piece, Stop, ToolCall},
        http::{Header, hidden},
        trouble::Trouble,
    },
};

/// Between the id of a call and the signature that the model wants back with it: no id has this.
const SIGNED: char = '#';

pub(super) struct Gemini;

impl Wire for Gemini {
    fn base(&self, given: &str) -> String {
        let base = given.trim_end_matches('/');
        let bare = base.splitn(4, '/').count() < 4;
        if bare { format!("{base}/v1beta") } else { base.to_owned() }
    }

    fn path(&self, model: &str) -> String {
        let model = model.strip_prefix("models/").unwrap_or(model);
        format!("/models/{model}:streamGenerateContent?alt=sse")
    }

    /// The key never goes into the address, where logs would keep it.
    fn headers(&self, key: &Secret) -> Result<Vec<Header>, Trouble> {
        if key.reveal().is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![(HeaderName::from_static("x-goog-api-key"), hidden(key.reveal().trim())?)])
    }

    fn body(&self, question: &Question<'_>) -> Value {
        let request = question.request;
        let mut body = json!({ "contents": contents(&request.messages) });
        let system = system(question);
        if !system.is_empty() {
            body["system_instruction"] = json!({ "parts": system });
        }
        let mut choices = Map::new();
        choices.extend(question.temperature.map(|given| ("temperature".into(), json!(given))));
        choices.extend(question.max_tokens.map(|most| ("maxOutputTokens".into(), json!(most))));
        // The promise of JSON cannot be had together with tools.
        if request.json && request.tools.is_empty() {
            choices.insert("responseMimeType".into(), json!("application/json"));
        }
        if !choices.is_empty() {
            body["generationConfig"] = Value::Object(choices);
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema })
            });
            body["tools"] = json!([{ "functionDeclarations": tools.collect::<Vec<_>>() }]);
        }
        body
    }

    fn optional(&self) -> &'static [&'static str] {
        &[]
    }

    fn wanted(&self) -> &'static [&'static str] {
        &[]
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Candidate>::default()
    }

    fn models_path(&self) -> &'static str {
        "/models?pageSize=1000"
    }

    fn models(&self, list: &Value) -> Vec<String> {
        let talks = |model: &&Value| {
            let methods = &model["supportedGenerationMethods"];
            methods.as_array().is_none_or(|all| all.contains(&json!("generateContent")))
        };
        let models = list["models"].as_array().into_iter().flatten();
        let names = models.filter(talks).filter_map(|model| text(&model["name"]));
        names.map(|name| name.strip_prefix("models/").unwrap_or(name).to_owned()).collect()
    }
}

/// What stays the same first, then what is added: the provider's cache goes by the beginning.
fn system(question: &Question<'_>) -> Vec<Value> {
    let parts = [&question.request.system, &question.request.context];
    let said = parts.into_iter().filter(|part| !part.trim().is_empty());
    said.map(|part| json!({ "text": part })).collect()
}

/// The messages, of which two of one side in a row are one.
fn contents(messages: &[Message]) -> Vec<Value> {
    let mut all: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, parts) = parts(message);
        match all.last_mut() {
            _ if parts.is_empty() => {}
            Some((last, there)) if *last == role => there.extend(parts),
            _ => all.push((role, parts)),
        }
    }
    all.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect()
}

fn parts(message: &Message) -> (&'static str, Vec<Value>) {
    let said = |text: &str| (!text.is_empty()).then(|| json!({ "text": text }));
    match message {
        Message::User { text } => ("user", said(text).into_iter().collect()),
        Message::Assistant { text, calls } => {
            ("model", said(text).into_iter().chain(calls.iter().map(called)).collect())
        }
        Message::Tool { name, text, failed, .. } => {
            let field = if *failed { "error" } else { "output" };
            let response = json!({ "name": name, "response": { field: text } });
            ("user", vec![json!({ "functionResponse": response })])
        }
    }
}

fn called(call: &ToolCall) -> Value {
    let args = object(&call.arguments);
    let mut part = json!({ "functionCall": { "name": call.name, "args": args } });
    if let Some((_, signature)) = call.id.split_once(SIGNED) {
        part["thoughtSignature"] = json!(signature);
    }
    part
}

/// An answer, of which there is one candidate.
#[derive(Default)]
struct Candidate {
    progress: Progress,
}

impl Reader for Candidate {
    fn read(&mut self, value: &Value) -> Result<Vec<Piece>, Fault> {
        if !value["error"].is_null() {
            return Err(Fault::Told(value.clone()));
        }
        self.note_usage(&value["usageMetadata"]);
        if text(&value["promptFeedback"]["blockReason"]).is_some() {
            self.progress.stop = Some(Stop::Refused);
        }
        let candidate = &value["candidates"][0];
        let parts = candidate["content"]["parts"].as_array().into_iter().flatten();
        let pieces = parts.filter_map(|part| self.piece(part)).collect();
        self.note_stop(text(&candidate["finishReason"]))?;
        Ok(pieces)
    }

    fn end(&mut self, _: bool) -> Result<Vec<Piece>, Fault> {
        let stop = self.progress.stop.ok_or(Fault::Cut)?;
        Ok(vec![self.progress.end(stop)])
    }
}

impl Candidate {
    /// What a part says; thoughts are left out.
    fn piece(&mut self, part: &Value) -> Option<Piece> {
        let call = &part["functionCall"];
        if call.is_object() {
            let name = text(&call["name"]).unwrap_or_default();
            let args = object(&call["args"]);
            let mut id = text(&call["id"]).unwrap_or_default().to_owned();
            if let Some(signature) = text(&part["thoughtSignature"]) {
                let number = self.progress.called + 1;
                let own = if id.is_empty() { format!("call_{number}") } else { id };
                id = format!("{own}{SIGNED}{signature}");
            }
            return Some(self.progress.call(&id, name, args));
        }
        let said = text(&part["text"]).filter(|_| part["thought"] != true);
        said.map(|text| Piece::Text(text.to_owned()))
    }

    fn note_usage(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        let tokens = &mut self.progress.tokens;
        tokens.read = number(&usage["promptTokenCount"]);
        tokens.cached = number(&usage["cachedContentTokenCount"]);
        tokens.written =
            number(&usage["candidatesTokenCount"]) + number(&usage["thoughtsTokenCount"]);
    }

    fn note_stop(&mut self, reason: Option<&str>) -> Result<(), Fault> {
        self.progress.stop = match reason {
            None => return Ok(()),
            Some("MAX_TOKENS") => Some(Stop::Length),
            Some("STOP") => Some(Stop::Done),
            Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL") => {
                return Err(Fault::Odd("has a call of a tool that cannot be read".to_owned()));
            }
            Some("OTHER" | "FINISH_REASON_UNSPECIFIED") => return Err(Fault::Cut),
            Some(_) => Some(Stop::Refused),
        };
        Ok(())
    }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
