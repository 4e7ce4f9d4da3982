//! `need`: fits and scores the models that tell which messages call for memory.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    quality::need::{self, LabelledMessage, NeedQuality},
    table::render,
};

/// Fit the form of messages that call for memory, and score it and the built-in model on messages outside the fit
#[derive(clap::Args)]
pub(crate) struct NeedArgs {
    /// Labelled messages, JSON Lines: text, lang, needs_memory
    #[arg(long, value_name = "FILE", default_value = "crates/everlore-eval/data/messages.jsonl")]
    messages: PathBuf,
    /// Score the fit on the queries of these files too; those of the category `none` need no memory
    #[arg(long, value_name = "FILE")]
    queries: Vec<PathBuf>,
    /// Write the coefficients to this file, as the engine reads them
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// Query of a data set, as far as this command reads it.
#[derive(Deserialize)]
struct LabelledQuery {
    text: String,
    category: String,
}

/// Runs the command.
pub(crate) fn run(args: &NeedArgs) -> Result<()> {
    let messages: Vec<LabelledMessage> = read(&args.messages)?;
    let mut report = need::fit(&messages);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for path in &args.queries {
        let queries: Vec<LabelledQuery> = read(path)?;
        let labelled: Vec<_> = queries.into_iter().map(labelled).collect();
        let name = path.display().to_string();
        let scores = need::score(&name, &labelled, &report.coefficients);
        report.held_out.extend(runtime.block_on(scores)?);
    }
    let rows: Vec<_> = report.held_out.iter().map(row).collect();
    println!("{}", render(&["messages", "n", "auc", "kept", "silent"], &rows));
    if let Some(path) = &args.write {
        let bytes = report.coefficients.iter().flat_map(|number| (*number as f32).to_le_bytes());
        fs::write(path, bytes.collect::<Vec<_>>())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn labelled(query: LabelledQuery) -> LabelledMessage {
    let needs_memory = query.category != "none";
    LabelledMessage { text: query.text, lang: String::new(), needs_memory }
}

fn read<T: DeserializeOwned>(path: &PathBuf) -> Result<Vec<T>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn row(quality: &NeedQuality) -> Vec<String> {
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    vec![
        quality.name.clone(),
        quality.n.to_string(),
        format!("{:.3}", quality.auc),
        percent(quality.kept),
        percent(quality.silent),
    ]
}
