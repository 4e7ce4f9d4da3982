//! The API against its own description: every route, with data that fits and data that does not, and one request after another.

use std::path::Path;

use everlore_mock_llm::{HttpRequest, MockServer};
use serde_json::json;

use super::{clients, succeed};
use crate::serve::{TestServer, provider_and_home};

#[test]
fn the_description_and_the_server_agree_in_every_case_that_schemathesis_thinks_of() {
    let Some(clients) = clients() else { return };
    // The routes that pass something on have somebody to pass it to.
    let (provider, home) = provider_and_home();
    // As many requests as it can make, guesses of tokens included.
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
    let told = succeed(command);
    assert!(told.contains("No issues found") || told.contains("passed"), "{told}");
    assert_eq!(server.request_with_headers(&[], "GET", "/health", None).status, 200);
    if cfg!(feature = "remote") {
        assert_asked(&provider);
    }
}

/// Every way to ask a provider came through, and was answered at least once.
fn assert_asked(provider: &MockServer) {
    let heard = provider.requests();
    for wire in ["chat/completions", "responses", "messages", "messages/count_tokens"] {
        // The model of the settings is named only where a body could be read, and is answered.
        let path = format!("/v1/{wire}");
        let asked = heard.iter().filter(|one| one.path.split('?').next() == Some(path.as_str()));
        assert!(
            asked.map(HttpRequest::json).any(|body| body["model"] == "scripted-chat"),
            "{path}"
        );
    }
}
