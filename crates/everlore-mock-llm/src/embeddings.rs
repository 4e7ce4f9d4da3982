//! Mock embedding model with a few concepts, on OpenAI's `/v1/embeddings` and Ollama's `/api/embed`.
//!
//! It is as strict as the real providers: a wrong path, a missing key, an unknown model, an empty text or a wrong field
//! gets the status and the message that they use.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{HttpRequest, HttpResponse, Responder};

/// Concepts, one dimension each: words of the same meaning in English and Chinese.
const CONCEPTS: [&[&str]; 5] = [
    &["dog", "puppy", "animal", "pet", "小狗", "宠物", "动物"],
    &["doctor", "physician", "hospital", "medicine", "医生", "大夫", "药"],
    &["port", "server", "staging", "服务器", "端口"],
    &["tea", "drink", "beverage", "龙井", "茶", "饮料"],
    &["move", "lisbon", "live", "搬", "住"],
];

/// Weight of a byte beside a concept: enough that no vector is zero, too little to be similar to another text.
const NOISE_WEIGHT: f32 = 0.02;

/// Provider with one embedding model.
#[derive(Debug, Clone)]
pub struct MockEmbeddings {
    /// Name of the model.
    pub model: String,
    /// Dimensions of the embeddings unless the request sets them.
    pub dimensions: usize,
    /// API key that it requires; `None` accepts every request.
    pub key: Option<String>,
    /// Most characters of one request.
    pub max_chars: usize,
}

impl Default for MockEmbeddings {
    fn default() -> Self {
        Self {
            model: "scripted-embed".to_owned(),
            dimensions: 16,
            key: None,
            max_chars: usize::MAX,
        }
    }
}

impl Responder for MockEmbeddings {
    fn respond(&mut self, request: &HttpRequest) -> HttpResponse {
        let body = request.json();
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/v1/embeddings") => self.openai_response(request, &body),
            ("POST", "/api/embed") => self.ollama_response(request, &body),
            _ => HttpResponse::error(404, "Not Found"),
        }
    }
}

impl MockEmbeddings {
    fn openai_response(&self, request: &HttpRequest, body: &Value) -> HttpResponse {
        if !self.has_valid_key(request) {
            let sent = request.header("authorization").unwrap_or_default().replace("Bearer ", "");
            return HttpResponse::error(401, &format!("Incorrect API key provided: {sent}."));
        }
        if body["model"] != self.model.as_str() {
            return HttpResponse::error(
                404,
                &format!("The model {} does not exist", body["model"]),
            );
        }
        let texts = match parse_input(body) {
            Ok(texts) => texts,
            Err(message) => return HttpResponse::error(400, &message),
        };
        if texts.iter().any(String::is_empty) {
            return HttpResponse::error(400, "'$.input' is invalid: an item is empty");
        }
        if self.exceeds_limit(&texts) {
            return HttpResponse::error(400, "This model's maximum context length is exceeded");
        }
        let dimensions = self.requested_dimensions(body);
        let base64 = body["encoding_format"] == "base64";
        let item = |(index, text): (usize, &String)| {
            let numbers = concept_vector(text, dimensions);
            let embedding = if base64 { json!(to_base64(&numbers)) } else { json!(numbers) };
            json!({ "object": "embedding", "index": index, "embedding": embedding })
        };
        // The API promises no order, so the last item comes first here.
        let data: Vec<Value> = texts.iter().enumerate().rev().map(item).collect();
        let usage = json!({ "prompt_tokens": texts.len(), "total_tokens": texts.len() });
        HttpResponse::json(
            200,
            &json!({ "object": "list", "data": data, "model": self.model, "usage": usage }),
        )
    }

    fn ollama_response(&self, request: &HttpRequest, body: &Value) -> HttpResponse {
        let failed =
            |status, message: String| HttpResponse::json(status, &json!({ "error": message }));
        if !self.has_valid_key(request) {
            return failed(401, "unauthorized".to_owned());
        }
        let named = body["model"].as_str().unwrap_or_default();
        if named != self.model {
            return failed(404, format!("model \"{named}\" not found, try pulling it first"));
        }
        let texts = match parse_input(body) {
            Ok(texts) => texts,
            Err(message) => return failed(400, message),
        };
        if self.exceeds_limit(&texts) {
            return failed(400, "the input length exceeds the context length".to_owned());
        }
        let dimensions = self.requested_dimensions(body);
        let vectors: Vec<_> = texts.iter().map(|text| concept_vector(text, dimensions)).collect();
        HttpResponse::json(
            200,
            &json!({ "model": self.model, "embeddings": vectors, "total_duration": 1 }),
        )
    }

    fn has_valid_key(&self, request: &HttpRequest) -> bool {
        let expected = self.key.as_ref().map(|key| format!("Bearer {key}"));
        expected.is_none_or(|expected| request.header("authorization") == Some(expected.as_str()))
    }

    fn exceeds_limit(&self, texts: &[String]) -> bool {
        texts.iter().map(|text| text.chars().count()).sum::<usize>() > self.max_chars
    }

    fn requested_dimensions(&self, body: &Value) -> usize {
        body["dimensions"].as_u64().map_or(self.dimensions, |given| given as usize)
    }
}

/// Returns the texts of a request: one, or a list.
pub fn parse_input(body: &Value) -> Result<Vec<String>, String> {
    let list = match &body["input"] {
        Value::String(text) => return Ok(vec![text.clone()]),
        Value::Array(list) if !list.is_empty() => list,
        _ => return Err("'$.input' is invalid: it must be a text or a list of texts".to_owned()),
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    list.iter()
        .map(text)
        .collect::<Option<_>>()
        .ok_or_else(|| "'$.input' is invalid: an item is not a text".to_owned())
}

/// Returns the embedding of a text: its concepts plus a little noise. It is not normalized, as with some servers.
pub fn concept_vector(text: &str, dimensions: usize) -> Vec<f32> {
    let lower = text.to_lowercase();
    let mut numbers = vec![0.0; dimensions];
    for (number, words) in numbers.iter_mut().zip(CONCEPTS) {
        *number = words.iter().filter(|word| lower.contains(**word)).count() as f32;
    }
    for (position, byte) in lower.bytes().enumerate() {
        let sign =
            if (position ^ usize::from(byte)) & 1 == 0 { NOISE_WEIGHT } else { -NOISE_WEIGHT };
        numbers[(position * 7 + usize::from(byte)) % dimensions] += sign;
    }
    // The last dimension keeps the embedding of any text from being zero.
    numbers[dimensions - 1] += NOISE_WEIGHT;
    numbers
}

fn to_base64(numbers: &[f32]) -> String {
    STANDARD.encode(numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>())
}
