//! `bench`: every data set of a folder, with baselines and ablations, as a section of a document.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::{
    quality::{abstention, periods, updates},
    retrieval::{
        RetrieverSpec, baselines,
        data::DataSet,
        engine,
        metrics::METRIC_NAMES,
        run::{RetrievalReport, run as measure},
    },
    table::{number, render},
};

/// Markers around the generated section of the document.
const BEGIN: &str = "<!-- written by everlore-eval bench -->";
const END: &str = "<!-- end of what everlore-eval bench wrote -->";

/// Measure every data set of a folder and write the figures into a document
///
/// A set is a folder with corpus.jsonl and queries.jsonl, and noise.jsonl where it has any.
#[derive(clap::Args)]
pub(crate) struct BenchArgs {
    /// Folder with a folder for each set
    #[arg(long, value_name = "DIR")]
    bench_dir: PathBuf,
    /// Measure only this set; may be repeated
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
    /// Document to write the figures into; printed if not given
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Use only this many queries of each ranked set, evenly spaced over the file
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,
    /// Leave out the ablations
    #[arg(long)]
    no_ablations: bool,
    /// Print JSON instead of the section
    #[arg(long)]
    json: bool,
}

/// Data set with its name.
struct NamedDataSet {
    name: String,
    data: DataSet,
}

/// Runs the command.
pub(crate) fn run(args: &BenchArgs) -> Result<()> {
    let mut sets = read_sets(&args.bench_dir)?;
    sets.retain(|set| args.set.is_empty() || args.set.contains(&set.name));
    if sets.is_empty() {
        bail!("no data set in {}", args.bench_dir.display());
    }
    let (mut section, mut json) = (section_head(), serde_json::Map::new());
    for mut set in sets {
        eprintln!(
            "{}: {} rows, {} questions",
            set.name,
            set.data.rows.len(),
            set.data.queries.len()
        );
        let (text, value) = if any_query(&set.data, |query| !query.stale.is_empty()) {
            update_section(&set)?
        } else if any_query(&set.data, |query| !query.paraphrases.is_empty()) {
            period_section(&set)?
        } else {
            args.limit.iter().for_each(|limit| set.data.sample_queries(*limit));
            ranked_section(&set, !args.no_ablations)?
        };
        section += &text;
        json.insert(set.name, value);
    }
    if args.json {
        println!("{:#}", serde_json::Value::Object(json));
    }
    match &args.write {
        Some(path) => write(path, &section),
        None if args.json => Ok(()),
        None => {
            println!("{section}");
            Ok(())
        }
    }
}

fn any_query(set: &DataSet, matches: impl Fn(&crate::retrieval::data::BenchQuery) -> bool) -> bool {
    set.queries.iter().any(matches)
}

/// Reads the sets of a folder, by name.
fn read_sets(folder: &Path) -> Result<Vec<NamedDataSet>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut folders = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    folders.sort();
    let is_set = |folder: &PathBuf| folder.join("corpus.jsonl").is_file();
    folders.into_iter().filter(is_set).map(|folder| read_set(&folder)).collect()
}

fn read_set(folder: &Path) -> Result<NamedDataSet> {
    let noise = Some(folder.join("noise.jsonl")).filter(|noise| noise.is_file());
    let (corpus, queries) = (folder.join("corpus.jsonl"), folder.join("queries.jsonl"));
    let data = DataSet::read(&corpus, &queries, noise.as_deref())?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(NamedDataSet { name, data })
}

type SectionResult = Result<(String, serde_json::Value)>;

/// Measures ranked answers: the engine, the baselines and the ablations, then abstention.
fn ranked_section(set: &NamedDataSet, ablations: bool) -> SectionResult {
    let ablations = if ablations { engine::ABLATIONS } else { &[] };
    let chosen = engine::RETRIEVERS.iter().chain(baselines::RETRIEVERS).chain(ablations);
    let reports =
        chosen.map(|spec: &RetrieverSpec| measure(spec, &set.data)).collect::<Result<Vec<_>>>()?;
    let head: Vec<&str> = [&["", "n"], &METRIC_NAMES[..], &["ms p50"]].concat();
    let rows: Vec<_> = reports.iter().map(row).collect();
    let noise = if set.data.noise.is_empty() { "" } else { " with noise" };
    let mut text = format!("\n### {}{noise}\n\n{}", set.name, render(&head, &rows));
    let mut value = serde_json::json!({ "retrieval": reports });
    if set.data.noise.is_empty() && set.data.by_scope().len() > 1 {
        let abstention = abstention::measure(&set.data)?;
        text += &format!(
            "\nSeparation of own from foreign questions: AUC {:.3} with names, {:.3} without; at the default threshold {:.1}% of \
             the own ones are answered and {:.1}% of the foreign ones get nothing ({:.1}% and {:.1}% without names).\n",
            abstention.auc_names_kept,
            abstention.auc_names_removed,
            100.0 * abstention.names_kept.own_answered,
            100.0 * abstention.names_kept.foreign_silenced,
            100.0 * abstention.names_removed.own_answered,
            100.0 * abstention.names_removed.foreign_silenced,
        );
        value["abstention"] = serde_json::to_value(abstention)?;
    }
    Ok((text, value))
}

fn row(report: &RetrievalReport) -> Vec<String> {
    let summary = &report.judged.overall;
    let errors = report.judged.standard_error.values();
    let is_first = report.retriever == "everlore";
    let cell = |(mean, error): (f64, f64)| {
        let mean = format!("{:.1}", mean * 100.0);
        if is_first { format!("{mean} ±{:.1}", error * 100.0) } else { mean }
    };
    let cells = summary.mean.values().into_iter().zip(errors).map(cell);
    let name = [report.retriever.to_owned(), summary.n.to_string()];
    name.into_iter().chain(cells).chain([number(report.ms.search.p50)]).collect()
}

/// Measures questions for a period, in all their wordings.
fn period_section(set: &NamedDataSet) -> SectionResult {
    let report = periods::measure(&set.data)?;
    let row = |name: &str, scores: &periods::SetScores| {
        let shares = [scores.f1, scores.precision, scores.recall, scores.macro_f1];
        let shares = shares.map(|share| format!("{:.1}", share * 100.0));
        [name.to_owned(), scores.n.to_string()].into_iter().chain(shares).collect::<Vec<_>>()
    };
    let mut rows = vec![row("overall", &report.overall)];
    rows.extend(report.by_category.iter().map(|(name, scores)| row(name, scores)));
    let head = ["periods", "wordings", "f1", "precision", "recall", "macro f1"];
    let text = format!(
        "\n### {}\n\nThe rows returned for a period against those of the period, counted over all wordings; `{}` asks for one \
         row and is not in the overall figure.\n\n{}",
        set.name,
        periods::EXCLUDED_CATEGORY,
        render(&head, &rows)
    );
    Ok((text, serde_json::to_value(report)?))
}

/// Measures updates.
fn update_section(set: &NamedDataSet) -> SectionResult {
    let report = updates::measure(&set.data)?;
    let text = format!(
        "\n### {}\n\nOf {} questions with an outdated answer, {:.1}% have the newest above every outdated one.\n",
        set.name,
        report.overall.n,
        100.0 * report.overall.newest_first
    );
    Ok((text, serde_json::to_value(report)?))
}

/// Renders the head of the section: version and machine.
fn section_head() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.and_then(|line| line.split_once(':')).map_or("unknown processor", |it| it.1);
    format!(
        "## Quality\n\n`everlore-eval bench`, version {}, {cores} cores of {}. In percent, ± the standard error; questions \
         that are adversarial are in no overall figure. `bm25` is plain BM25, `dense` the \
         vectors of the built-in model alone, `source` the trigram baseline.\n",
        env!("CARGO_PKG_VERSION"),
        model.trim()
    )
}

/// Replaces the section in the document, or appends it.
fn write(path: &Path, section: &str) -> Result<()> {
    let old = fs::read_to_string(path).unwrap_or_default();
    fs::write(path, replace_section(&old, section))
        .with_context(|| format!("cannot write {}", path.display()))
}

fn replace_section(old: &str, section: &str) -> String {
    let section = format!("{BEGIN}\n{}\n{END}\n", section.trim_end());
    let replaced = old.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some(format!("{before}{section}{}", after.trim_start_matches('\n')))
    });
    replaced.unwrap_or_else(|| match old.trim_end() {
        "" => format!("# Benchmarks\n\n{section}"),
        old => format!("{old}\n\n{section}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_replaces_the_one_before_and_leaves_the_rest() {
        let first = replace_section("# Benchmarks\n\nSpeed.\n", "## Quality\n\nGood.\n");
        assert!(first.starts_with("# Benchmarks\n\nSpeed.\n\n<!--"), "{first}");
        let with_more = format!("{first}More.\n");
        let second = replace_section(&with_more, "## Quality\n\nBetter.\n");
        assert_eq!(second, with_more.replace("Good", "Better"));
        assert!(replace_section("", "x").starts_with("# Benchmarks\n"));
    }

    #[test]
    fn a_folder_of_sets_is_measured_and_written() {
        let folder = tempfile::tempdir().unwrap();
        let set = |name: &str, corpus: &str, queries: &str| {
            let set = folder.path().join(name);
            fs::create_dir(&set).unwrap();
            fs::write(set.join("corpus.jsonl"), corpus).unwrap();
            fs::write(set.join("queries.jsonl"), queries).unwrap();
        };
        let row = |id: u8, text: &str| {
            format!(r#"{{"id":"{id}","scope":"s","text":"{text}","seq":{id}}}"#)
        };
        let query = |more: &str| {
            format!(
                r#"{{"id":"q","scope":"s","text":"Where is the office?","category":"c","relevant":["2"]{more}}}"#
            )
        };
        let corpus =
            [row(1, "The office is in Lisbon"), row(2, "The office is in Porto")].join("\n");
        set("ranks", &corpus, &query(""));
        set("updates", &corpus, &query(r#","stale":["1"]"#));
        set("periods", &corpus, &query(r#","paraphrases":["Where?"]"#));
        fs::create_dir(folder.path().join("no set")).unwrap();
        let document = folder.path().join("benchmarks.md");
        run(&BenchArgs {
            bench_dir: folder.path().to_owned(),
            set: Vec::new(),
            write: Some(document.clone()),
            limit: None,
            no_ablations: true,
            json: false,
        })
        .unwrap();
        let text = fs::read_to_string(document).unwrap();
        for part in ["### ranks", "| bm25", "### periods", "### updates", "100.0% have the newest"]
        {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }
}
