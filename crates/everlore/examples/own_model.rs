//! A model of your own: anything that turns texts into vectors can rank memories.
//!
//! `cargo run -p everlore --example own_model`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use async_trait::async_trait;
use everlore::{
    Engine, RememberRequest, Result, Scope, llm::Embedder, store, types::EmbeddingModelId,
};

/// Embeds a text by three themes that it names. A real one would call a neural network here.
struct ThemeEmbedder(EmbeddingModelId);

const THEMES: [[&str; 4]; 3] = [
    ["tea", "coffee", "drink", "茶"],
    ["cat", "dog", "pet", "猫"],
    ["rent", "flat", "home", "房租"],
];

#[async_trait]
impl Embedder for ThemeEmbedder {
    fn model(&self) -> &EmbeddingModelId {
        &self.0
    }

    fn understands(&self, _text: &str) -> bool {
        true
    }

    fn least_similarity(&self) -> f32 {
        0.5
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let theme =
            |text: &str, words: &[&str]| f32::from(words.iter().any(|word| text.contains(word)));
        Ok(texts.iter().map(|text| THEMES.map(|words| theme(text, &words)).to_vec()).collect())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store =
        store::open(&format!("sqlite:{}", folder.path().join("memory.db").display())).await?;
    let model = EmbeddingModelId { name: "themes-1".into(), dimensions: THEMES.len() };
    let engine = Engine::builder(store).embedder(Arc::new(ThemeEmbedder(model))).build();
    let scope = Scope::default();

    engine.remember(&scope, RememberRequest::new("every morning a cup of coffee")).await?;
    engine.remember(&scope, RememberRequest::new("the dog is called Rex")).await?;
    let found = engine.recall(&engine.recall_request(&scope, "我的猫")).await?;
    println!("{}", found.hits[0].memory.content);
    Ok(())
}
