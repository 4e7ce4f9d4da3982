//! Models and vectors through the proxy: those of the provider, and ours (X5).

use everlore_scripted::{Chats, Embeddings, Reply, Request, Script, Server};
use serde_json::json;

use super::{KEY, chats, home_of, last};
use crate::{home::Home, serve::Serving};

/// A provider that also makes vectors.
struct Both(Chats, Embeddings);

impl Script for Both {
    fn answer(&mut self, request: &Request) -> Reply {
        match request.path.as_str() {
            "/v1/embeddings" => self.1.answer(request),
            _ => self.0.answer(request),
        }
    }
}

/// The names of the models that are listed.
fn listed(serving: &Serving, path: &str) -> Vec<String> {
    let told = serving.ask("GET", path, None).json(200);
    let models = told["data"].as_array().unwrap().iter();
    models.map(|model| model["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn without_a_provider_the_built_in_model_makes_vectors() {
    let home = Home::new();
    let serving = Serving::on(&home, &[]);
    assert_eq!(listed(&serving, "/v1/models"), ["everlore-builtin"]);
    assert!(listed(&serving, "/anthropic/v1/models").is_empty());
    let texts = ["My dog is called Rex.", "The puppy has a name.", "Taxes are due in April."];
    let body = json!({ "model": "any", "input": texts });
    let vectors = serving.ask("POST", "/v1/embeddings", Some(body)).json(200);
    let vector = |place: usize| -> Vec<f64> {
        let numbers = vectors["data"][place]["embedding"].as_array().unwrap();
        numbers.iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let dot = |a: usize, b: usize| vector(a).iter().zip(vector(b)).map(|(a, b)| a * b).sum::<f64>();
    assert_eq!((vectors["model"].as_str(), vector(0).len()), (Some("everlore-builtin"), 256));
    assert!((dot(0, 0) - 1.0).abs() < 1e-3 && dot(0, 1) > dot(0, 2), "they mean something");
    for wrong in [
        json!({"input": "我喜欢喝茶"}),
        json!({"input": []}),
        json!({"input": [[1, 2]]}),
        json!({"input": "a", "dimensions": 3}),
        json!({}),
    ] {
        let told = serving.ask("POST", "/v1/embeddings", Some(wrong)).json(400);
        assert_eq!(told["error"]["type"], "invalid_request_error");
    }
}

#[test]
fn models_and_vectors_are_those_of_the_provider_and_ours() {
    let server = Server::start(Both(
        chats(),
        Embeddings { key: Some(KEY.to_owned()), ..Embeddings::default() },
    ));
    let home = home_of("openai", &server.url());
    let serving = Serving::on(&home, &[]);
    assert_eq!(
        listed(&serving, "/v1/models"),
        ["scripted-chat", "scripted-other", "everlore", "everlore-builtin"]
    );
    assert_eq!(serving.ask("GET", "/v1/models/everlore", None).json(200)["owned_by"], "everlore");
    let passed = serving
        .ask("POST", "/v1/embeddings", Some(json!({"model": "scripted-embed", "input": "茶"})))
        .json(200);
    assert_eq!(passed["model"], "scripted-embed");
    let own = serving
        .ask("POST", "/v1/embeddings", Some(json!({"model": "everlore-builtin", "input": "tea"})))
        .json(200);
    assert_eq!(own["model"], "everlore-builtin");
    let server = Server::start(chats());
    let home = home_of("anthropic", &server.url());
    let serving = Serving::on(&home, &[]);
    assert_eq!(
        listed(&serving, "/anthropic/v1/models?limit=5"),
        ["scripted-chat", "scripted-other", "everlore"]
    );
    assert_eq!(last(&server).path, "/v1/models?limit=5");
}
