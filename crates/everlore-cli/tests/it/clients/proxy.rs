//! OpenAI's and Anthropic's own clients, changed only in base URL and key, talk to a model with memory.

use everlore_mock_llm::{MockChat, MockServer, ModelResponse, chat::ModelRequest};
use serde_json::{Value, json};

use super::{clients, succeed};
use crate::serve::{
    TestServer,
    proxy::{KEY, home_with_provider},
};

/// Answers by the beginning of the user's message, whatever memory appends to it.
fn answer(request: &ModelRequest) -> ModelResponse {
    let Some(question) = request.last_user_message() else {
        return ModelResponse::text("It is sunny.");
    };
    let answers = [
        ("What is my dog called?", "Rex."),
        ("我对什么过敏？", "花生。"),
        ("我对花生过敏。", "记住了。"),
        ("My dog", "Noted."),
    ];
    if let Some(status) = question.strip_prefix("fail ") {
        let status = status[..3].parse().unwrap();
        return ModelResponse::fail_with(status, &format!("scripted {status}"));
    }
    if question.starts_with("weather") {
        return ModelResponse::call("weather", json!({ "city": "Lisbon" }));
    }
    let found = answers.iter().find(|(beginning, _)| question.starts_with(beginning));
    found.map_or_else(
        || ModelResponse::fail(404),
        |(_, answer)| ModelResponse::text(answer).with_usage(12, 4, 3),
    )
}

/// Runs a script against a provider's protocol, and returns the bodies that the provider got.
fn run_client(provider: &str, script: &str) -> Option<Vec<Value>> {
    let clients = clients()?;
    let server = MockServer::start(MockChat::new().with_key(KEY).otherwise(answer));
    let home = home_with_provider(provider, &server.url());
    let serving = TestServer::start(&home, &[]);
    let mut command = clients.python(script);
    command.env("URL", format!("http://{}", serving.address)).env("KEY", &serving.token);
    let printed = succeed(command);
    assert!(printed.lines().count() >= 4, "{printed}");
    let requests = server.requests();
    for request in &requests {
        let foreign = request
            .headers
            .iter()
            .any(|(name, value)| name.starts_with("x-memory") || value.contains(&serving.token));
        assert!(!foreign, "{:?}", request.headers);
        let key = format!("Bearer {KEY}");
        assert_eq!(
            request.header("authorization"),
            Some(key.as_str()),
            "as the client sends its own"
        );
    }
    Some(requests.iter().map(everlore_mock_llm::HttpRequest::json).collect())
}

/// Returns the text of the last message, and `true` if memory is in it.
fn last_message(body: &Value) -> (String, bool) {
    let list = if body["messages"].is_array() { &body["messages"] } else { &body["input"] };
    let last =
        list.as_array().and_then(|all| all.last()).map_or(list, |message| &message["content"]);
    let text = match last {
        Value::String(text) => text.clone(),
        parts => parts.to_string(),
    };
    let has_memory = text.contains("<memory-context>");
    (text, has_memory)
}

/// Checks that facts of earlier sessions reached the model with each question, and none during a tool loop.
fn check(bodies: &[Value]) {
    for (question, fact) in
        [("What is my dog called?", "My dog is called Rex."), ("我对什么过敏？", "我对花生过敏。")]
    {
        let messages: Vec<_> =
            bodies.iter().map(last_message).filter(|(text, _)| text.contains(question)).collect();
        assert!(messages.len() >= 2, "{question}: {messages:?}");
        assert!(
            messages.iter().all(|(text, has_memory)| *has_memory && text.contains(fact)),
            "{messages:?}"
        );
    }
    let in_loop: Vec<_> = bodies
        .iter()
        .filter(|body| body.to_string().contains("sunny") && !body["tools"].is_null())
        .collect();
    assert!(
        !in_loop.is_empty()
            && in_loop.iter().all(|body| !body.to_string().contains("memory-context")),
        "{in_loop:?}"
    );
}

#[test]
fn openais_client_remembers() {
    if let Some(bodies) = run_client("openai", "proxy_openai.py") {
        check(&bodies);
    }
}

#[test]
fn anthropics_client_remembers() {
    if let Some(bodies) = run_client("anthropic", "proxy_anthropic.py") {
        check(&bodies);
        let system =
            json!([{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]);
        assert!(
            bodies.iter().any(|body| body["system"] == system),
            "the cached part is not touched"
        );
    }
}
