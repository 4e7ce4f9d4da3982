//! Documents as knowledge: ingest a markdown text, ask it, ingest a new version.
//!
//! `cargo run -p everlore --example documents`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use everlore::{Document, Engine, Scope, engine::IngestOptions};

const GUIDE: &str =
    "# Deployment\n\nStaging runs on port 9443.\n\n# 回滚\n\n在堡垒机上运行 make rollback。\n";

#[tokio::main(flavor = "current_thread")]
async fn main() -> everlore::Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let engine = Engine::open(folder.path().join("memory.db")).await?;
    let scope = Scope::new("assistant", "team")?;

    for text in [GUIDE.to_owned(), GUIDE.replace("9443", "9444")] {
        let document = Document::new("guide.md", text.into_bytes());
        let report = engine.ingest_document(&scope, &document, &IngestOptions::default()).await?;
        println!(
            "{} added, {} unchanged, {} removed",
            report.added, report.unchanged, report.removed
        );
    }
    for question in ["which port does staging use?", "怎么回滚？"] {
        let found = engine.recall(&engine.recall_request(&scope, question)).await?;
        println!("{question}\n  {}", found.hits[0].memory.content);
    }
    Ok(())
}
