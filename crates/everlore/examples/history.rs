//! History and undo: every change is journaled, can be taken back, and can be erased for good.
//!
//! `cargo run -p everlore --example history`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use everlore::{
    Engine, MemoryEdit, RememberRequest, Scope, engine::UndoTarget, store::JournalQuery,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> everlore::Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = Engine::open(folder.path().join("memory.db")).await?;
    let scope = Scope::new("assistant", "ana")?;

    let saved = engine.remember(&scope, RememberRequest::new("The launch is on May 3")).await?;
    let edit =
        MemoryEdit { content: Some("The launch is on May 9".into()), ..MemoryEdit::default() };
    engine.edit(&scope, saved.id, &edit).await?;

    for entry in engine.history(&scope, &JournalQuery::default()).await? {
        println!("#{} {:?} by {:?}: {}", entry.seq, entry.op, entry.actor, entry.cause);
    }
    engine.undo(&scope, &UndoTarget::Change(2)).await?;
    println!("after undo: {}", engine.get(&scope, saved.id).await?.content);

    let report = engine.forget(&scope, saved.id).await?;
    println!("erased: {:?}", report.forgotten[0].removed);
    assert!(engine.get(&scope, saved.id).await.is_err());
    Ok(())
}
