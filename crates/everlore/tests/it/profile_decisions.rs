//! Values of the profile that a person rejects or corrects: hidden for good, superseded, and undone; on both stores, in
//! both languages.

use std::sync::Arc;

use everlore::{
    Engine, Scope, Turn,
    engine::{ProfileField, UndoTarget},
    store::{RamStore, Store},
    types::Role,
};
use jiff::SignedDuration;

use crate::support::{noon, scope, sqlite, turn};

async fn engines() -> [Engine; 2] {
    let with = |store: Arc<dyn Store>| Engine::builder(store).clock(noon).build();
    [with(Arc::new(RamStore::default())), with(sqlite().await)]
}

/// Says something some hours before noon.
async fn say_before(engine: &Engine, owner: &Scope, hours: i64, text: &str) {
    let time = Some(noon() - SignedDuration::from_hours(hours));
    let session = hours.to_string();
    let said = Turn { role: Some(Role::User), time, ..turn(&session, "", text) };
    engine.observe(owner, vec![said]).await.unwrap();
}

async fn fields(engine: &Engine, owner: &Scope) -> Vec<ProfileField> {
    engine.profile(owner).await.unwrap().fields
}

/// Returns the values of a field that hold.
async fn holding(engine: &Engine, owner: &Scope, name: &str) -> Vec<String> {
    let held = fields(engine, owner).await.into_iter();
    let held = held.filter(|field| field.name == name && field.until.is_none());
    held.map(|field| field.value).collect()
}

async fn undo(engine: &Engine, owner: &Scope, run: Option<String>) {
    engine.undo(owner, &UndoTarget::Run(run.expect("it changed something"))).await.unwrap();
}

#[tokio::test]
async fn a_rejected_value_stays_out_however_often_it_is_said_until_it_is_restored() {
    for engine in engines().await {
        for (user, said, again, value) in [
            ("ann", "I work as a nurse.", "I'm a nurse, as I said.", "nurse"),
            ("安", "我是一名护士。", "我的职业是护士。", "护士"),
        ] {
            let owner = scope(user);
            say_before(&engine, &owner, 2, said).await;
            assert_eq!(holding(&engine, &owner, "role").await, [value]);
            let decided = engine.reject_profile_value(&owner, "Role", value).await.unwrap();
            say_before(&engine, &owner, 1, again).await;
            let report = engine.profile(&owner).await.unwrap();
            let is_role = |field: &ProfileField| field.name == "role" && field.value == value;
            assert!(!report.fields.iter().any(is_role), "{report:?}");
            assert_eq!(report.rejected[0].value, value);
            let twice = engine.reject_profile_value(&owner, "role", value).await.unwrap();
            assert!(!twice.changed && twice.undo.is_none());
            undo(&engine, &owner, decided.undo.map(|undo| undo.run)).await;
            assert_eq!(holding(&engine, &owner, "role").await, [value]);
            engine.reject_profile_value(&owner, "role", value).await.unwrap();
            assert!(engine.restore_profile_value(&owner, "role", value).await.unwrap().changed);
            assert_eq!(holding(&engine, &owner, "role").await, [value]);
            assert!(engine.profile(&owner).await.unwrap().rejected.is_empty());
        }
    }
}

#[tokio::test]
async fn without_the_rejected_value_the_one_before_it_holds() {
    for engine in engines().await {
        let owner = scope("ann");
        say_before(&engine, &owner, 2, "I work as a nurse.").await;
        say_before(&engine, &owner, 1, "I work as a paramedic now.").await;
        assert_eq!(holding(&engine, &owner, "role").await, ["paramedic"]);
        engine.reject_profile_value(&owner, "role", "paramedic").await.unwrap();
        assert_eq!(holding(&engine, &owner, "role").await, ["nurse"]);
    }
}

#[tokio::test]
async fn a_correction_ends_the_value_that_was_said_and_can_be_undone() {
    for engine in engines().await {
        for (user, said, old, new) in [
            ("ann", "I always use Vim for my notes.", "Vim", "Helix"),
            ("安", "我平时用 Vim 写笔记。", "Vim", "Helix"),
        ] {
            let owner = scope(user);
            say_before(&engine, &owner, 1, said).await;
            assert_eq!(holding(&engine, &owner, "tools").await, [old]);
            let saved = engine.correct_profile_value(&owner, "tools", old, new).await.unwrap();
            assert_eq!(holding(&engine, &owner, "tools").await, [new]);
            let ended = fields(&engine, &owner).await;
            let is_ended = |field: &ProfileField| field.value == old && field.until.is_some();
            assert!(ended.iter().any(is_ended), "{ended:?}");
            engine.undo(&owner, &UndoTarget::Change(saved.receipt.seq)).await.unwrap();
            assert_eq!(holding(&engine, &owner, "tools").await, [old]);
        }
    }
}

#[tokio::test]
async fn a_value_that_a_person_set_goes_when_it_is_rejected_and_stands_when_it_is_set_again() {
    for engine in engines().await {
        let owner = scope("ann");
        engine.set_profile_field(&owner, "industry", "aviation").await.unwrap();
        let decided = engine.reject_profile_value(&owner, "industry", "Aviation").await.unwrap();
        assert!(holding(&engine, &owner, "industry").await.is_empty());
        undo(&engine, &owner, decided.undo.map(|undo| undo.run)).await;
        assert_eq!(holding(&engine, &owner, "industry").await, ["aviation"]);
        engine.reject_profile_value(&owner, "industry", "aviation").await.unwrap();
        engine.set_profile_field(&owner, "industry", "aviation").await.unwrap();
        assert_eq!(holding(&engine, &owner, "industry").await, ["aviation"]);
    }
}

#[tokio::test]
async fn a_second_tool_ends_no_other_and_a_correction_names_what_it_ends() {
    for engine in engines().await {
        let owner = scope("ann");
        for tool in ["Vim", "Emacs", "Helix"] {
            engine.set_profile_field(&owner, "tools", tool).await.unwrap();
        }
        let mut tools = holding(&engine, &owner, "tools").await;
        tools.sort();
        assert_eq!(tools, ["Emacs", "Helix", "Vim"]);
        let unknown = engine.correct_profile_value(&owner, "tools", "Pico", "Nano").await;
        assert!(unknown.unwrap_err().to_string().contains("Pico"));
        engine.correct_profile_value(&owner, "tools", "vim", "Nano").await.unwrap();
        let mut tools = holding(&engine, &owner, "tools").await;
        tools.sort();
        assert_eq!(tools, ["Emacs", "Helix", "Nano"]);
        for role in ["nurse", "paramedic"] {
            engine.set_profile_field(&owner, "role", role).await.unwrap();
        }
        assert_eq!(holding(&engine, &owner, "role").await, ["paramedic"]);
    }
}

#[tokio::test]
async fn a_restored_value_is_the_one_that_the_person_had_set() {
    for engine in engines().await {
        for (user, role) in [("ann", "nurse"), ("安", "护士")] {
            let owner = scope(user);
            engine.set_profile_field(&owner, "role", role).await.unwrap();
            engine.reject_profile_value(&owner, "role", role).await.unwrap();
            assert!(holding(&engine, &owner, "role").await.is_empty());
            let restored = engine.restore_profile_value(&owner, "role", role).await.unwrap();
            assert_eq!(holding(&engine, &owner, "role").await, [role]);
            undo(&engine, &owner, restored.undo.map(|undo| undo.run)).await;
            assert!(holding(&engine, &owner, "role").await.is_empty());
        }
    }
}
