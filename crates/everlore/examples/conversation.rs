//! A conversation with context: store every turn, and build the prompt block for the next message.
//!
//! `cargo run -p everlore --example conversation`

use everlore::{Engine, Scope, Turn, types::Role};

#[tokio::main(flavor = "current_thread")]
async fn main() -> everlore::Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = Engine::open(folder.path().join("memory.db")).await?;
    let scope = Scope::new("assistant", "ana")?;
    let said = |role, text: &str| Turn {
        text: text.into(),
        role: Some(role),
        session: Some("monday".into()),
        ..Turn::default()
    };

    let turns = vec![
        said(Role::User, "My landlord is called Mr. Silva and the rent is 1450 euros."),
        said(Role::Assistant, "Noted: Mr. Silva, 1450 euros."),
        said(Role::User, "支付模块周三上线。"),
    ];
    engine.observe(&scope, turns).await?;

    // A later session: what the model should know for this message, in at most 200 tokens.
    let request = engine.context_request(&scope, "how much is my rent?");
    let block = engine.context(&request, 200).await?;
    println!("{}", block.text);
    assert!(block.text.contains("1450"));
    Ok(())
}
