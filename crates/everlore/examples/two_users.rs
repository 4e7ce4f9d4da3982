//! Two users of one agent: scopes never see each other.
//!
//! `cargo run -p everlore --example two_users`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use everlore::{Engine, RememberRequest, Scope};

#[tokio::main(flavor = "current_thread")]
async fn main() -> everlore::Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = Engine::open(folder.path().join("memory.db")).await?;
    let (ana, wang) = (Scope::new("assistant", "ana")?, Scope::new("assistant", "王")?);

    engine.remember(&ana, RememberRequest::new("I live in Lisbon")).await?;
    engine.remember(&wang, RememberRequest::new("我住在杭州")).await?;

    for scope in [&ana, &wang] {
        let found =
            engine.recall(&engine.recall_request(scope, "where do I live? 我住在哪里？")).await?;
        let answers: Vec<_> = found.hits.iter().map(|hit| hit.memory.content.as_str()).collect();
        println!("{scope}: {answers:?}");
        assert_eq!(answers.len(), 1, "a scope finds its own memories only");
    }
    Ok(())
}
