//! The first memory: open a file, remember two things, ask in other words.
//!
//! `cargo run -p everlore --example first_memory`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use everlore::{Engine, RememberRequest, Scope};

#[tokio::main(flavor = "current_thread")]
async fn main() -> everlore::Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = Engine::open(folder.path().join("memory.db")).await?;
    let scope = Scope::new("assistant", "ana")?;

    engine.remember(&scope, RememberRequest::new("I'm allergic to peanuts")).await?;
    engine.remember(&scope, RememberRequest::new("我喜欢喝龙井茶，每天早上一杯")).await?;

    for question in ["am I allergic to anything?", "早上喝什么茶？"] {
        let found = engine.recall(&engine.recall_request(&scope, question)).await?;
        let best = found.hits.first().expect("something is known");
        println!("{question}\n  {} ({:.2})", best.memory.content, best.score);
    }
    Ok(())
}
