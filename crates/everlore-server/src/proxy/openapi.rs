//! OpenAPI details of the proxy's routes.
//!
//! The protocols belong to the providers: bodies stay open beyond the fields that every provider requires, and errors,
//! ours and the provider's, have the shape of the protocol.

use everlore::internal::llm::ClientProtocol;
use serde_json::{Value, json};

use super::{models::CONFIGURED_MODEL, routes::ANTHROPIC_PREFIX, session};

/// Errors of the proxy itself, before or instead of a response of the provider.
const PROBLEMS: [(&str, &str); 10] = [
    ("400", "A header or a body cannot be read"),
    ("401", "Unknown token or key"),
    (
        "403",
        "The key is for another scope or has too low a role, or the request has a foreign host or origin",
    ),
    ("408", "The body did not arrive in time"),
    ("413", "The body is too long"),
    ("415", "The media type of the body is not JSON"),
    ("422", "The name of the agent or the user is invalid"),
    ("429", "Too many requests: wait for the seconds in Retry-After"),
    ("502", "The provider cannot be reached"),
    ("503", "No provider is configured for this protocol"),
];

/// Errors that need a request body.
const BODY_PROBLEMS: [&str; 3] = ["408", "413", "415"];

/// Routes that also answer without a provider.
const ROUTES_WITHOUT_PROVIDER: [&str; 2] = ["/embeddings", "/models"];

/// Adds errors, bodies and parameters to the proxy's routes of a description.
pub(crate) fn complete_openapi(api: &mut Value) {
    for protocol in [ClientProtocol::Openai, ClientProtocol::Anthropic] {
        for (status, description) in PROBLEMS {
            let response = problem_response(protocol, description);
            api["components"]["responses"][response_name(protocol, status)] = response;
        }
    }
    let paths = api["paths"].as_object_mut().into_iter().flatten();
    for (path, item) in paths {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            if operation["tags"][0] == "proxy" {
                complete_operation(path, method, operation);
            }
        }
    }
}

fn complete_operation(path: &str, method: &str, operation: &mut Value) {
    let protocol = if path.starts_with(ANTHROPIC_PREFIX) {
        ClientProtocol::Anthropic
    } else {
        ClientProtocol::Openai
    };
    let needs_provider = !ROUTES_WITHOUT_PROVIDER.iter().any(|alone| path.ends_with(alone));
    for (status, _) in PROBLEMS {
        let applies = match status {
            "503" => needs_provider,
            status => method == "post" || !BODY_PROBLEMS.contains(&status),
        };
        if applies {
            let name = response_name(protocol, status);
            operation["responses"][status] =
                json!({ "$ref": format!("#/components/responses/{name}") });
        }
    }
    operation["responses"]["default"] = problem_response(protocol, "Error of the provider");
    let is_chat =
        ["/chat/completions", "/responses", "/messages"].iter().any(|chat| path.ends_with(chat));
    if is_chat {
        let events = json!({ "schema": { "type": "string" } });
        operation["responses"]["200"]["content"]["text/event-stream"] = events;
    }
    if let Some(body) = body_schema(path) {
        operation["requestBody"]["content"]["application/json"] = body;
    }
    let mut parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
    parameters.iter_mut().for_each(|model| model["example"] = json!(CONFIGURED_MODEL));
    parameters.extend(["agent", "user"].map(scope_parameter));
    if is_chat {
        parameters.extend(header_parameters());
    }
    operation["parameters"] = json!(parameters);
}

fn error_name(protocol: ClientProtocol) -> &'static str {
    match protocol {
        ClientProtocol::Openai => "OpenaiError",
        ClientProtocol::Anthropic => "AnthropicError",
    }
}

fn response_name(protocol: ClientProtocol, status: &str) -> String {
    format!("{}{status}", error_name(protocol))
}

fn problem_response(protocol: ClientProtocol, description: &str) -> Value {
    let schema = json!({ "$ref": format!("#/components/schemas/{}", error_name(protocol)) });
    json!({ "description": description, "content": { "application/json": { "schema": schema } } })
}

/// Returns the fields that every provider requires, and an example. The rest is between the client and the provider.
fn body_schema(path: &str) -> Option<Value> {
    let (model, question) = (json!({ "type": "string" }), "What tea do I like? 我喜欢什么茶？");
    let messages = json!({ "type": "array", "minItems": 1, "items": { "type": "object" } });
    let conversation = json!([{ "role": "user", "content": question }]);
    let input = |min_items: usize| json!({ "anyOf": [{ "type": "string" }, { "type": "array", "minItems": min_items }] });
    let (properties, example) = match path.rsplit('/').next()? {
        "completions" => (
            json!({ "model": model, "messages": messages }),
            json!({ "model": CONFIGURED_MODEL, "messages": conversation }),
        ),
        "responses" => (
            json!({ "model": model, "input": input(0) }),
            json!({ "model": CONFIGURED_MODEL, "input": question }),
        ),
        "embeddings" => (
            json!({ "model": model, "input": input(1) }),
            json!({ "model": super::embeddings::BUILTIN_MODEL, "input": "tea" }),
        ),
        "messages" => {
            let max_tokens = json!({ "type": "integer", "minimum": 1 });
            (
                json!({ "model": model, "max_tokens": max_tokens, "messages": messages }),
                json!({ "model": CONFIGURED_MODEL, "max_tokens": 1_000, "messages": conversation }),
            )
        }
        "count_tokens" => (
            json!({ "model": model, "messages": messages }),
            json!({ "model": CONFIGURED_MODEL, "messages": conversation }),
        ),
        _ => return None,
    };
    let required: Vec<&String> = properties.as_object()?.keys().collect();
    let schema = json!({ "type": "object", "required": required, "properties": properties });
    Some(json!({ "schema": schema, "example": example }))
}

fn scope_parameter(name: &str) -> Value {
    let description =
        format!("The {name} whose memory is meant; that of the key or the settings by default");
    json!({ "name": name, "in": "query", "description": description, "schema": { "type": "string" } })
}

/// Returns the headers by which a client identifies its session.
fn header_parameters() -> Vec<Value> {
    let text = json!({ "type": "string" });
    let modes = json!({ "type": "string", "enum": ["off", "read", "full"] });
    let header = |(name, description, schema): (&str, &str, Value)| json!({ "name": name, "in": "header", "description": description, "schema": schema });
    [
        (session::AGENT_HEADERS[0], "Agent whose memory is meant", text.clone()),
        (session::USER_HEADERS[0], "User whose memory is meant", text.clone()),
        (session::SESSION_HEADERS[0], "Session; derived from the messages by default", text),
        (
            session::MODE_HEADER,
            "Use of memory: off, recall only (read), or recall and capture (full, the default)",
            modes,
        ),
    ]
    .map(header)
    .into()
}
