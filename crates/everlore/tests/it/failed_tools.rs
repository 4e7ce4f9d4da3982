//! Errors of failed tools in a home of unrelated memories that share their words: the cure is told, and nothing else.

use std::sync::Arc;

use everlore::{
    Engine, RecallRequest, Turn, engine::NewExperience, llm::BuiltinEmbedder, store::RamStore,
    types::Role,
};
use serde::Deserialize;

use crate::support::{noon, remember_all, scope, turn};

/// A home and the errors that tools report in it.
#[derive(Deserialize)]
struct FailedTools {
    memories: Vec<String>,
    turns: Vec<(String, String)>,
    experiences: Vec<NewExperience>,
    cases: Vec<FailedTool>,
}

#[derive(Deserialize)]
struct FailedTool {
    error: String,
    /// Words of the cure; `None` if none is stored.
    cure: Option<String>,
}

async fn assert_only_cures_are_told(file: &str) {
    let home: FailedTools = serde_json::from_str(file).unwrap();
    let engine = Engine::builder(Arc::new(RamStore::default()))
        .clock(noon)
        .embedder(Arc::new(BuiltinEmbedder::new()))
        .builtin_encoder()
        .build();
    let owner = scope("ann");
    let texts: Vec<&str> = home.memories.iter().map(String::as_str).collect();
    remember_all(&engine, &owner, &texts).await;
    for (role, text) in &home.turns {
        let role = if role == "user" { Role::User } else { Role::Assistant };
        let said = Turn { role: Some(role), ..turn("old", "", text) };
        engine.observe(&owner, vec![said]).await.unwrap();
    }
    for experience in home.experiences {
        engine.add_experience(&owner, experience).await.unwrap();
    }
    for case in &home.cases {
        let request = engine.context_request(&owner, &case.error);
        let request = RecallRequest { only_cures: true, ..request };
        let block = engine.context(&request, 2_000).await.unwrap();
        let told = block.entries.len();
        match &case.cure {
            Some(cure) => {
                assert!(told == 1 && block.text.contains(cure), "{}: {}", case.error, block.text)
            }
            None => assert_eq!(block.text, "", "{}", case.error),
        }
    }
}

#[tokio::test]
async fn a_failed_tool_is_told_its_cure_and_nothing_else() {
    assert_only_cures_are_told(include_str!("../data/failed_tools.en.json")).await;
}

#[tokio::test]
async fn a_failed_tool_is_told_its_cure_and_nothing_else_in_chinese() {
    assert_only_cures_are_told(include_str!("../data/failed_tools.zh.json")).await;
}
