//! Models and embeddings through the proxy: the provider's and ours.

use everlore_mock_llm::{MockEmbeddings, MockServer};
use serde_json::json;

use super::{KEY, chats, home_with_provider, last_request};
use crate::{
    home::TestHome,
    serve::{ChatAndEmbeddings, TestServer, provider_and_home},
};

/// Returns the names of the listed models.
fn listed(serving: &TestServer, path: &str) -> Vec<String> {
    let response = serving.request("GET", path, None).json(200);
    let models = response["data"].as_array().unwrap().iter();
    models.map(|model| model["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn without_a_provider_the_built_in_model_embeds() {
    let home = TestHome::new();
    let serving = TestServer::start(&home, &[]);
    assert_eq!(listed(&serving, "/v1/models"), ["everlore-builtin"]);
    assert!(listed(&serving, "/anthropic/v1/models").is_empty());
    let texts = ["My dog is called Rex.", "小狗有名字。", "Taxes are due in April."];
    let body = json!({ "model": "any", "input": texts });
    let vectors = serving.request("POST", "/v1/embeddings", Some(body)).json(200);
    let vector = |index: usize| -> Vec<f64> {
        let numbers = vectors["data"][index]["embedding"].as_array().unwrap();
        numbers.iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let dot = |a: usize, b: usize| vector(a).iter().zip(vector(b)).map(|(a, b)| a * b).sum::<f64>();
    assert_eq!((vectors["model"].as_str(), vector(0).len()), (Some("everlore-builtin"), 256));
    assert!((dot(0, 0) - 1.0).abs() < 1e-3 && dot(0, 1) > dot(0, 2), "they mean something");
    for wrong in [
        json!({"input": "나는 차를 좋아해"}),
        json!({"input": []}),
        json!({"input": [[1, 2]]}),
        json!({"input": "a", "dimensions": 3}),
        json!({}),
    ] {
        let response = serving.request("POST", "/v1/embeddings", Some(wrong)).json(400);
        assert_eq!(response["error"]["type"], "invalid_request_error");
    }
}

#[test]
fn models_and_embeddings_are_those_of_the_provider_and_ours() {
    let server = MockServer::start(ChatAndEmbeddings(
        chats(),
        MockEmbeddings { key: Some(KEY.to_owned()), ..MockEmbeddings::default() },
    ));
    let home = home_with_provider("openai", &server.url());
    let serving = TestServer::start(&home, &[]);
    assert_eq!(
        listed(&serving, "/v1/models"),
        ["scripted-chat", "scripted-other", "everlore", "everlore-builtin"]
    );
    assert_eq!(
        serving.request("GET", "/v1/models/everlore", None).json(200)["owned_by"],
        "everlore"
    );
    let passed = serving
        .request("POST", "/v1/embeddings", Some(json!({"model": "scripted-embed", "input": "茶"})))
        .json(200);
    assert_eq!(passed["model"], "scripted-embed");
    let own = serving
        .request(
            "POST",
            "/v1/embeddings",
            Some(json!({"model": "everlore-builtin", "input": "tea"})),
        )
        .json(200);
    assert_eq!(own["model"], "everlore-builtin");
    let server = MockServer::start(chats());
    let home = home_with_provider("anthropic", &server.url());
    let serving = TestServer::start(&home, &[]);
    assert_eq!(
        listed(&serving, "/anthropic/v1/models?limit=5"),
        ["scripted-chat", "scripted-other", "everlore"]
    );
    assert_eq!(last_request(&server).path, "/v1/models?limit=5");
}

#[test]
fn the_configured_model_can_be_named_wherever_a_model_is() {
    let (_provider, home) = provider_and_home();
    let serving = TestServer::start(&home, &[]);
    let messages = json!([{ "role": "user", "content": "喜欢什么茶" }]);
    let counted = json!({ "model": "everlore", "messages": messages });
    let response =
        serving.request("POST", "/anthropic/v1/messages/count_tokens", Some(counted)).json(200);
    assert!(response["input_tokens"].as_u64().unwrap() > 0, "{response}");
    for path in ["/v1/models/everlore", "/anthropic/v1/models/everlore"] {
        assert_eq!(serving.request("GET", path, None).json(200)["id"], "everlore");
    }
}

#[test]
fn a_model_name_leads_to_no_other_path_of_the_provider() {
    let (provider, home) = provider_and_home();
    let serving = TestServer::start(&home, &[]);
    for name in ["../files", "..%2ffiles", "%2E%2e/files", "a/../../files", "a%2F..%5Cfiles", ".."]
    {
        for api in ["/v1", "/anthropic/v1"] {
            // Clients normalize such paths before they send them.
            let response = serving.send_raw(
                format!(
                    "GET {api}/models/{name} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {}\r\n\r\n",
                    serving.token
                )
                .as_bytes(),
            );
            assert!(response.starts_with("HTTP/1.1 400 "), "{api} {name}: {response}");
        }
    }
    assert!(provider.requests().is_empty());
    serving.request("GET", "/v1/models/org%2Fa..b", None).json(404);
    assert_eq!(last_request(&provider).path, "/v1/models/org%2Fa..b");
}
