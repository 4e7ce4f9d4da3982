//! `corpus`: prints the generated corpus as JSON Lines.

use std::io::{self, BufWriter, ErrorKind, Write};

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::corpus::{Corpus, GeneratedMemory, ScopeClass};

/// Print a generated corpus, or queries for it, as JSON Lines
#[derive(clap::Args)]
pub(crate) struct CorpusArgs {
    /// Memories of the corpus
    #[arg(long, default_value_t = 100_000)]
    total: u32,
    /// Print this many queries of each class of scopes instead of the memories
    #[arg(long, value_name = "COUNT")]
    queries: Option<u32>,
    /// Seed of the corpus
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the command; a broken pipe ends it without an error.
pub(crate) fn run(args: &CorpusArgs) -> Result<()> {
    let corpus = Corpus::new(args.total, args.seed);
    let mut out = BufWriter::new(io::stdout().lock());
    let lines: Box<dyn Iterator<Item = Result<Value>>> = match args.queries {
        Some(count) => Box::new(queries(&corpus, count)),
        None => Box::new(corpus.stream().map(|memory| row(&memory))),
    };
    for line in lines {
        match writeln!(out, "{}", line?) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
    }
    Ok(out.flush()?)
}

fn row(memory: &GeneratedMemory) -> Result<Value> {
    let at = Timestamp::from_second(memory.at_seconds).context("a time out of range")?;
    Ok(json!({
        "id": memory.id.to_string(),
        "scope": scope_name(memory.scope),
        "session": format!("{}/{}", scope_name(memory.scope), memory.session),
        "time": at.to_string(),
        "speaker": memory.speaker,
        "text": memory.text,
    }))
}

fn queries(corpus: &Corpus, count: u32) -> impl Iterator<Item = Result<Value>> {
    ScopeClass::ALL.into_iter().flat_map(move |class| {
        let scopes = corpus.scopes_of(class);
        (0..count).map(move |number| {
            let scope = scopes[number as usize % scopes.len()];
            let text = corpus.query(scope, number);
            Ok(json!({ "scope": scope_name(scope), "category": class.name(), "text": text }))
        })
    })
}

fn scope_name(scope: u32) -> String {
    let (agent, user) = Corpus::owner(scope);
    format!("{agent}/{user}")
}
