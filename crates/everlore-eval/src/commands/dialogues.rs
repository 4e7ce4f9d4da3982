//! `dialogues`: capture without a chat model on labelled conversations.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::json;

use crate::{
    quality::dialogues::{
        CaptureFigures, CaptureQuality, CaptureWay, Dialogue, measure, parse_dialogues,
    },
    table::render,
};

/// Measure what is remembered of labelled conversations without a chat model, beside patterns alone
#[derive(clap::Args)]
pub(crate) struct DialoguesArgs {
    /// Read the dialogues from these files instead of the training set
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Raise every threshold of the classifier by this much
    #[arg(long, value_name = "LOG_ODDS", allow_negative_numbers = true)]
    stricter: Option<f32>,
    /// List every miss, wrong memory, trap and statement that is still held
    #[arg(long)]
    verbose: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Folder of the training set.
const TRAINING_FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/dialogues");

/// Runs the command.
pub(crate) fn run(args: &DialoguesArgs) -> Result<()> {
    let dialogues = read_dialogues(args)?;
    let way = args.stricter.map_or(CaptureWay::Classifier, CaptureWay::Stricter);
    let (own, rival) = (measure(&dialogues, &way)?, measure(&dialogues, &CaptureWay::Patterns)?);
    if args.json {
        println!("{:#}", json!({ "classifier": own.languages, "patterns": rival.languages }));
        return Ok(());
    }
    let rows: Vec<_> =
        rows("classifier", &own).into_iter().chain(rows("patterns", &rival)).collect();
    let head = [
        "way",
        "language",
        "dialogues",
        "facts found",
        "memories right",
        "traps fallen into",
        "corrections honoured",
    ];
    println!("{}", render(&head, &rows));
    own.failures.iter().filter(|_| args.verbose).for_each(|failure| println!("{failure}"));
    Ok(())
}

fn read_dialogues(args: &DialoguesArgs) -> Result<Vec<Dialogue>> {
    let mut files = args.file.clone();
    if files.is_empty() {
        for entry in std::fs::read_dir(TRAINING_FOLDER)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("train_") {
                files.push(entry.path());
            }
        }
        files.sort();
    }
    let mut dialogues = Vec::new();
    for path in &files {
        dialogues.extend(parse_dialogues(&read_text(path)?)?);
    }
    Ok(dialogues)
}

fn read_text(path: &PathBuf) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn rows(way: &str, quality: &CaptureQuality) -> Vec<Vec<String>> {
    let languages = quality.languages.iter();
    languages.map(|(language, figures)| row(way, language, figures)).collect()
}

fn row(way: &str, language: &str, figures: &CaptureFigures) -> Vec<String> {
    let share = |part: usize, all: usize| {
        format!("{part}/{all} {:.1}%", 100.0 * part as f64 / all.max(1) as f64)
    };
    vec![
        way.to_owned(),
        language.to_owned(),
        figures.dialogues.to_string(),
        share(figures.found, figures.facts),
        share(figures.right, figures.memories),
        share(figures.fallen, figures.traps),
        share(figures.honoured, figures.retracted),
    ]
}
