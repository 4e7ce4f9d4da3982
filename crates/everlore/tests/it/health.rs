//! Tests of the health report: each part is told, and every warning says what to do.

use everlore::{
    Engine, RememberRequest, Turn,
    engine::{HealthStatus, Layer, LayerEdit, NewSchedule},
    llm::BuiltinEmbedder,
    types::{Actor, Timestamp},
};
use std::{fs, sync::Arc};

use crate::support::{noon, scope, sqlite, temp_folder};

fn tomorrow() -> Timestamp {
    noon() + jiff::SignedDuration::from_hours(24)
}

#[tokio::test]
async fn a_fresh_home_is_well_and_tells_its_parts() {
    let home = temp_folder();
    let engine = Engine::builder(sqlite().await)
        .clock(noon)
        .home(&home)
        .embedder(Arc::new(BuiltinEmbedder::new()))
        .build();
    let owner = scope("wang");
    engine.remember(&owner, RememberRequest::new("我喜欢喝龙井茶")).await.unwrap();
    let report = engine.admin().health(&owner).await.unwrap();
    assert_eq!((report.status, report.warnings.len()), (HealthStatus::Ok, 0), "{report:?}");
    assert_eq!((report.memories.active, report.index.checked, report.index.missing), (1, 1, 0));
    let store = report.store.unwrap();
    assert!(store.backend == "sqlite" && store.bytes.unwrap() > 0 && store.schema > 0);
    assert_eq!(report.embeddings.unwrap().waiting, 0);
    assert!(report.heartbeat.unwrap().enabled && report.files.is_some());
    assert_eq!(report.layers.len(), Layer::ALL.len());
}

#[tokio::test]
async fn what_waits_for_a_person_is_a_warning_with_advice() {
    let home = temp_folder();
    let store = sqlite().await;
    let (engine, owner) =
        (Engine::builder(store.clone()).clock(noon).home(&home).build(), scope("wang"));
    let text = "every hour 喝水".to_owned();
    engine.add_schedule(&owner, &NewSchedule { text, ..NewSchedule::default() }).await.unwrap();
    let turn = Turn { text: "hello".into(), session: Some("s".into()), ..Turn::default() };
    engine.observe(&owner, vec![turn]).await.unwrap();
    let edit = LayerEdit::Add { section: "Notes".into(), content: "x".repeat(1_340) };
    engine.edit_layer(&owner, Layer::User, edit, Actor::Person).await.unwrap();
    fs::create_dir_all(home.join("hooks/waiting")).unwrap();
    fs::write(home.join("hooks/waiting/a.refused"), "{}").unwrap();
    fs::write(home.join("unsaved.jsonl"), "{}\n").unwrap();
    let later = Engine::builder(store).clock(tomorrow).home(&home).build();
    let report = later.admin().health(&owner).await.unwrap();
    let about: Vec<_> = report.warnings.iter().map(|warning| warning.about).collect();
    assert_eq!(about, ["files", "files", "reminders", "layers"], "{report:?}");
    assert_eq!(report.status, HealthStatus::Problem);
    assert!(report.warnings.iter().all(|warning| !warning.advice.is_empty()));
    assert_eq!((report.reminders.due, report.capture.turns), (1, 1));
    assert_eq!(later.due_reminders(&owner).await.unwrap().len(), 1, "looking tells nothing");
    let own = later.health(&owner).await.unwrap();
    assert!(own.store.is_none() && own.heartbeat.is_none() && own.files.is_none());
    assert_eq!(own.status, HealthStatus::Attention);
    let other = later.health(&scope("li")).await.unwrap();
    assert_eq!((other.memories.turns, other.reminders.scheduled), (0, 0));
}

#[tokio::test]
async fn tokens_are_counted_and_texts_embedded_in_both_languages() {
    let builder = Engine::builder(sqlite().await).embedder(Arc::new(BuiltinEmbedder::new()));
    let engine = builder.build();
    let size = engine.count_tokens("我喜欢茶");
    assert_eq!((size.characters, size.bytes), (4, 12));
    assert!((2..=8).contains(&size.tokens), "{size:?}");
    let [tea, brewed, car] = ["I drink green tea", "我喝绿茶", "The car needs a new tyre"];
    let vector = async |text: &str| engine.embed_text(text).await.unwrap().vector;
    let (tea, brewed, car) = (vector(tea).await, vector(brewed).await, vector(car).await);
    let cosine =
        |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
    assert!(cosine(&tea, &brewed) > cosine(&tea, &car));
    let providers = engine.embedding_providers();
    let in_use: Vec<_> =
        providers.iter().filter(|it| it.in_use).map(|it| it.name.as_str()).collect();
    assert_eq!(in_use, ["builtin"]);
    assert_eq!(providers.len(), 3);
    assert!(engine.embed_text(" ").await.is_err());
    let without = Engine::builder(sqlite().await).build();
    assert!(without.embed_text("tea").await.unwrap_err().hint().contains("vector_index"));
}
