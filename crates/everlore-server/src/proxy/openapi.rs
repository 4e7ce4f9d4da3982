//! What the routes of the proxy take and tell, for the description.
//!
//! The protocols are those of others: bodies stay open beyond what every provider wants, and problems have the shape that
//! the clients of the protocol read, whether they are ours or the provider's.

use everlore::llm::remote::ClientProtocol;
use serde_json::{Value, json};

use super::{models::CONFIGURED_MODEL, routes::ANTHROPIC_PREFIX, session};

/// What goes wrong here, before or instead of an answer of the provider.
const PROBLEMS: [(&str, &str); 10] = [
    ("400", "A header or a body cannot be read"),
    ("401", "There is no such token or key"),
    (
        "403",
        "The key is for another memory or may not do this, or the request names another host or comes from a foreign page",
    ),
    ("408", "The body did not come in time"),
    ("413", "The body is too long"),
    ("415", "The body is said to be something else than JSON"),
    ("422", "The agent or the user has a name that cannot be one"),
    ("429", "Too many requests: wait as long as Retry-After says"),
    ("502", "The provider cannot be reached"),
    ("503", "No provider is set that can be asked in this way"),
];

/// Those that only a body can bring about.
const BODY_PROBLEMS: [&str; 3] = ["408", "413", "415"];

/// Routes that answer without a provider too.
const ROUTES_WITHOUT_PROVIDER: [&str; 2] = ["/embeddings", "/models"];

/// Completes a description that has these routes.
pub(crate) fn complete_openapi(api: &mut Value) {
    for (tongue, shape) in
        [(ClientProtocol::Openai, openai_error()), (ClientProtocol::Anthropic, anthropic_error())]
    {
        api["components"]["schemas"][error_name(tongue)] = shape;
        for (status, what) in PROBLEMS {
            let response = problem_response(tongue, what);
            api["components"]["responses"][response_name(tongue, status)] = response;
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
    let tongue = if path.starts_with(ANTHROPIC_PREFIX) {
        ClientProtocol::Anthropic
    } else {
        ClientProtocol::Openai
    };
    let needs_provider = !ROUTES_WITHOUT_PROVIDER.iter().any(|alone| path.ends_with(alone));
    for (status, _) in PROBLEMS {
        let is_told = match status {
            "503" => needs_provider,
            status => method == "post" || !BODY_PROBLEMS.contains(&status),
        };
        if is_told {
            let name = response_name(tongue, status);
            operation["responses"][status] =
                json!({ "$ref": format!("#/components/responses/{name}") });
        }
    }
    operation["responses"]["default"] = problem_response(tongue, "What the provider says instead");
    let is_talk = ["/chat/completions", "/responses", "/messages"]
        .iter()
        .any(|conversation| path.ends_with(conversation));
    if is_talk {
        let events = json!({ "schema": { "type": "string" } });
        operation["responses"]["200"]["content"]["text/event-stream"] = events;
    }
    if let Some(body) = body_schema(path) {
        operation["requestBody"]["content"]["application/json"] = body;
    }
    let mut parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
    parameters.iter_mut().for_each(|model| model["example"] = json!(CONFIGURED_MODEL));
    parameters.extend(["agent", "user"].map(scope_parameter));
    if is_talk {
        parameters.extend(header_parameters());
    }
    operation["parameters"] = json!(parameters);
}

fn error_name(tongue: ClientProtocol) -> &'static str {
    match tongue {
        ClientProtocol::Openai => "OpenaiError",
        ClientProtocol::Anthropic => "AnthropicError",
    }
}

fn response_name(tongue: ClientProtocol, status: &str) -> String {
    format!("{}{status}", error_name(tongue))
}

fn problem_response(tongue: ClientProtocol, what: &str) -> Value {
    let schema = json!({ "$ref": format!("#/components/schemas/{}", error_name(tongue)) });
    json!({ "description": what, "content": { "application/json": { "schema": schema } } })
}

fn openai_error() -> Value {
    let maybe = json!({ "type": ["string", "null"] });
    let error = json!({
        "type": "object",
        "required": ["message"],
        "properties": { "message": { "type": "string" }, "type": maybe, "param": maybe, "code": maybe },
    });
    json!({
        "type": "object",
        "description": "What went wrong, as OpenAI's clients read it",
        "required": ["error"],
        "properties": { "error": error },
    })
}

fn anthropic_error() -> Value {
    let error = json!({
        "type": "object",
        "required": ["type", "message"],
        "properties": { "type": { "type": "string" }, "message": { "type": "string" } },
    });
    json!({
        "type": "object",
        "description": "What went wrong, as Anthropic's clients read it",
        "required": ["type", "error"],
        "properties": {
            "type": { "type": "string", "enum": ["error"] },
            "error": error,
            "request_id": { "type": ["string", "null"] },
        },
    })
}

/// What every provider wants of a body, and one that is answered. The rest is between the client and the provider.
fn body_schema(path: &str) -> Option<Value> {
    let (model, question) = (json!({ "type": "string" }), "What tea do I like? 我喜欢什么茶？");
    let messages = json!({ "type": "array", "minItems": 1, "items": { "type": "object" } });
    let asked = json!([{ "role": "user", "content": question }]);
    let input = |fewest: usize| json!({ "anyOf": [{ "type": "string" }, { "type": "array", "minItems": fewest }] });
    let (properties, example) = match path.rsplit('/').next()? {
        "completions" => (
            json!({ "model": model, "messages": messages }),
            json!({ "model": CONFIGURED_MODEL, "messages": asked }),
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
            let most = json!({ "type": "integer", "minimum": 1 });
            (
                json!({ "model": model, "max_tokens": most, "messages": messages }),
                json!({ "model": CONFIGURED_MODEL, "max_tokens": 1_000, "messages": asked }),
            )
        }
        "count_tokens" => (
            json!({ "model": model, "messages": messages }),
            json!({ "model": CONFIGURED_MODEL, "messages": asked }),
        ),
        _ => return None,
    };
    let required: Vec<&String> = properties.as_object()?.keys().collect();
    let schema = json!({ "type": "object", "required": required, "properties": properties });
    Some(json!({ "schema": schema, "example": example }))
}

fn scope_parameter(name: &str) -> Value {
    let what =
        format!("The {name} whose memory is meant; that of the key or of the settings if left out");
    json!({ "name": name, "in": "query", "description": what, "schema": { "type": "string" } })
}

/// The headers by which a client says more of its conversation.
fn header_parameters() -> Vec<Value> {
    let text = json!({ "type": "string" });
    let modes = json!({ "type": "string", "enum": ["off", "read", "full"] });
    let header = |(name, what, schema): (&str, &str, Value)| json!({ "name": name, "in": "header", "description": what, "schema": schema });
    [
        (session::AGENT_HEADERS[0], "The agent whose memory is meant", text.clone()),
        (session::USER_HEADERS[0], "The user whose memory is meant", text.clone()),
        (session::SESSION_HEADERS[0], "The conversation; found from the messages if left out", text),
        (session::MODE_HEADER, "What memory does: nothing, tell what it knows, or also keep what is said, which it does if left out", modes),
    ]
    .map(header)
    .into()
}
