//! API against its own OpenAPI description: every route, with valid and invalid data, and in sequences of requests.

use std::path::Path;

use everlore_mock_llm::{HttpRequest, MockServer};
use serde_json::json;

use super::{clients, succeed};
use crate::serve::{TestServer, provider_and_home};

#[test]
fn the_description_and_the_server_agree_in_every_case_of_schemathesis() {
    let Some(clients) = clients() else { return };
    // The proxy's routes need a provider.
    let (provider, home) = provider_and_home();
    // As many requests as it can send, failed authentications included.
    let server = TestServer::start(&home, &["--rate", "1000000"]);
    let known = json!({ "content": "喜欢喝龙井茶 and oolong", "tags": ["茶"] });
    server.request("POST", "/v1/memories", Some(known)).json(201);
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/schemathesis"));
    let mut command = clients.python_command("schemathesis");
    command
        .env("SCHEMATHESIS_HOOKS", "hooks")
        .env("PYTHONPATH", folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(home.path())
        .arg("--config-file")
        .arg(folder.join("schemathesis.toml"))
        .arg("run")
        .arg(format!("http://{}/v1/openapi.json", server.address))
        .args(["--header", &format!("Authorization: Bearer {}", server.token)])
        // The same cases every time.
        .args(["--seed", "20260301", "--output-truncate", "false"]);
    let output = succeed(command);
    assert!(output.contains("No issues found") || output.contains("passed"), "{output}");
    assert_eq!(server.request_with_headers(&[], "GET", "/health", None).status, 200);
    if cfg!(feature = "remote") {
        assert_asked(&provider);
    }
}

/// Checks that every API of the provider was relayed and answered at least once.
fn assert_asked(provider: &MockServer) {
    let requests = provider.requests();
    for api in ["chat/completions", "responses", "messages", "messages/count_tokens"] {
        // The configured model is named only where a body could be parsed, and is answered.
        let path = format!("/v1/{api}");
        let relayed =
            requests.iter().filter(|one| one.path.split('?').next() == Some(path.as_str()));
        assert!(
            relayed.map(HttpRequest::json).any(|body| body["model"] == "scripted-chat"),
            "{path}"
        );
    }
}
