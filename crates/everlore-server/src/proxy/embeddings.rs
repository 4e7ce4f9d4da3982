//! Embeddings of the built-in model, in the shape of OpenAI's API.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use everlore::llm::{BuiltinEmbedder, Embedder};
use serde_json::{Value, json};

use crate::problem::Problem;

/// Name of the built-in model for clients.
pub(super) const BUILTIN_MODEL: &str = "everlore-builtin";

/// Largest number of texts, as in OpenAI's API.
const MAX_TEXTS: usize = 2_048;

/// Answers an embedding request.
pub(super) async fn embed(body: &[u8]) -> Result<Value, Problem> {
    let body: Value = serde_json::from_slice(body).map_err(|error| {
        Problem::invalid(format!("the body is not JSON: {error}"), "send {\"input\": \"…\"}")
    })?;
    let (model, texts) = (BuiltinEmbedder::new(), input_texts(&body["input"])?);
    let size = model.model().dimensions;
    if body["dimensions"].as_u64().is_some_and(|wanted| wanted != size as u64) {
        return Err(Problem::invalid(
            format!("{BUILTIN_MODEL} has {size} dimensions"),
            "leave out `dimensions`",
        ));
    }
    if let Some(index) = texts.iter().position(|text| !model.understands(text)) {
        return Err(Problem::invalid(
            format!(
                "{BUILTIN_MODEL} understands English and Chinese, and input {index} is in another language"
            ),
            "set a provider in section [embedding] of the settings; recall itself needs none",
        ));
    }
    let base64 = match body["encoding_format"].as_str() {
        None | Some("float") => false,
        Some("base64") => true,
        Some(_) => {
            return Err(Problem::invalid("unknown `encoding_format`", "use float or base64"));
        }
    };
    let vectors = model.embed(&texts).await?;
    let item = |(index, numbers): (usize, &Vec<f32>)| {
        let embedding = if base64 { json!(base64_floats(numbers)) } else { json!(numbers) };
        json!({ "object": "embedding", "index": index, "embedding": embedding })
    };
    let data: Vec<Value> = vectors.iter().enumerate().map(item).collect();
    let tokens: usize =
        texts.iter().map(|text| everlore::internal::text::tokens::estimate_tokens(text)).sum();
    let usage = json!({ "prompt_tokens": tokens, "total_tokens": tokens });
    Ok(json!({ "object": "list", "data": data, "model": BUILTIN_MODEL, "usage": usage }))
}

/// Returns the texts of a request: one, or a list.
fn input_texts(input: &Value) -> Result<Vec<&str>, Problem> {
    let invalid =
        |title: &str| Problem::invalid(title, "give `input` as a text or a list of texts");
    let texts: Vec<&str> = match input {
        Value::String(text) => vec![text],
        Value::Array(list) => {
            list.iter().map(Value::as_str).collect::<Option<_>>().ok_or_else(|| {
                invalid("`input` must hold texts; token numbers belong to another model")
            })?
        }
        _ => return Err(invalid("there is no `input`")),
    };
    match texts.len() {
        0 => Err(invalid("`input` is empty")),
        1..=MAX_TEXTS => Ok(texts),
        _ => Err(Problem::invalid(
            format!("`input` has more than {MAX_TEXTS} texts"),
            "split the request",
        )),
    }
}

fn base64_floats(numbers: &[f32]) -> String {
    STANDARD.encode(numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>())
}
