//! `gate`: fits the coefficients of the confidence gate.

use std::path::{Path, PathBuf};

use anyhow::Result;
use everlore::Config;

use crate::{
    quality::{
        abstention::place_questions,
        gate::{self, GateQuality, GateReport, QuestionSetReport},
    },
    retrieval::data::DataSet,
    table::render,
};

/// Fit the coefficients of the confidence gate and score them on held-out conversations
#[derive(clap::Args)]
pub(crate) struct GateArgs {
    /// Folder with a folder for each data set
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,
    /// Sets to fit on. Sets whose scopes share facts, or whose questions ask for periods, have no foreign questions
    #[arg(long, value_delimiter = ',', default_values = ["locomo", "realmem", "memdaily"])]
    sets: Vec<String>,
    /// Write the gate's inputs to this file, one question a line
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
    /// Also calibrate on the memories of each scope, as a user would, and score the questions with that
    #[arg(long)]
    calibrate: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &GateArgs) -> Result<()> {
    let read = |name: &String| Ok((name.clone(), read(&args.data.join(name))?));
    let sets = args.sets.iter().map(read).collect::<Result<Vec<_>>>()?;
    if let Some(path) = &args.features {
        return write_features(path, &sets);
    }
    let report = gate::measure(&sets, args.calibrate, Config::default().recall.min_confidence)?;
    if args.json {
        println!("{:#}", serde_json::to_value(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

fn write_features(path: &Path, sets: &[(String, DataSet)]) -> Result<()> {
    let mut lines = String::new();
    for (name, set) in sets {
        for question in place_questions(set, false)? {
            let line = serde_json::json!({"set": name, "own": question.own, "names": question.names_kept,
                "basis": question.judgement.basis, "evidence": question.judgement.evidence});
            lines.push_str(&format!("{line}\n"));
        }
    }
    Ok(std::fs::write(path, lines)?)
}

fn read(folder: &Path) -> Result<DataSet> {
    DataSet::read(&folder.join("corpus.jsonl"), &folder.join("queries.jsonl"), None)
}

fn print(report: &GateReport) {
    let rows: Vec<_> = report.parts.iter().flat_map(quality_rows).collect();
    let head = ["", "n", "constants", "auc", "brier", "own answered", "foreign silenced"];
    println!("At the threshold {}:\n{}", report.threshold, render(&head, &rows));
    let names: Vec<&str> = report.parts.iter().map(|part| part.name.as_str()).collect();
    let trade = (0..gate::THRESHOLDS.len()).map(|at| trade_row(&report.parts, at));
    let head = [&["threshold"], &names[..]].concat();
    println!("Own questions answered / foreign ones silenced, held out:");
    println!("{}", render(&head, &trade.collect::<Vec<_>>()));
    let bins = report.parts[0].bins.len();
    let rows: Vec<_> = (0..bins).map(|at| bin_row(&report.parts, at)).collect();
    let head = [&["bin"], &names[..]].concat();
    println!("Confidence → share answerable (questions), held out:");
    println!("{}", render(&head, &rows));
    println!("Fitted on all sets: {:.2?}", report.weights.encoder);
    if let Some(made_up) = report.made_up {
        println!(
            "Mean calibration on synthetic questions: bias {:.2}, slope {:.2}",
            made_up.bias, made_up.slope
        );
    }
}

fn quality_rows(part: &QuestionSetReport) -> Vec<Vec<String>> {
    let row = |name: &str, n: String, constants: &str, quality: &GateQuality| {
        let numbers = [format!("{:.3}", quality.auc), format!("{:.3}", quality.brier)];
        let shares = [quality.own_answered, quality.foreign_silenced].map(percent);
        let words = [name.to_owned(), n, constants.to_owned()];
        words.into_iter().chain(numbers).chain(shares).collect()
    };
    let calibrated = part.calibrated.as_ref();
    let calibrated = calibrated.map(|quality| row("", String::new(), "calibrated", quality));
    let rows = vec![
        row(&part.name, part.n.to_string(), "shipped", &part.shipped),
        row("", String::new(), "fitted, in sample", &part.in_sample),
        row("", String::new(), "fitted, held out", &part.held_out),
    ];
    rows.into_iter().chain(calibrated).collect()
}

fn trade_row(parts: &[QuestionSetReport], at: usize) -> Vec<String> {
    let cell = |part: &QuestionSetReport| {
        let (_, own, foreign) = part.trade_off[at];
        format!("{} / {}", percent(own), percent(foreign))
    };
    [format!("{:.2}", gate::THRESHOLDS[at])].into_iter().chain(parts.iter().map(cell)).collect()
}

fn bin_row(parts: &[QuestionSetReport], at: usize) -> Vec<String> {
    let cell = |part: &QuestionSetReport| {
        let (confidence, share, count) = part.bins[at];
        format!("{confidence:.2} → {share:.2} ({count})")
    };
    [(at + 1).to_string()].into_iter().chain(parts.iter().map(cell)).collect()
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}
