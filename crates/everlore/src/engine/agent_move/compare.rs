//! Comparison of a scope in two databases: counts, every memory and journal line, and sampled recalls.
//!
//! Lines of the journal about erased memories are not compared: they have no text any more, so there is nothing to repeat
//! in the copy, and the numbers of the lines after them differ.

use std::{
    fmt,
    hash::{DefaultHasher, Hasher},
    io::{self, Write},
};

use serde::Serialize;
use serde_json::Value;

use crate::{
    engine::Engine,
    error::Result,
    store::{ListOrder, ListQuery, MemoryFilter},
    sync::boxed,
    types::Scope,
};

/// Memories whose text is recalled in both databases.
const SAMPLED_RECALLS: usize = 20;

/// Memories among which the sample is taken.
const SAMPLED_FROM: usize = 1_000;

/// Difference between both databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CopyProblem {
    /// Numbers of memories by kind and status, or of erased texts.
    Counts,
    /// Content of a memory.
    Memories,
    /// Line of the journal.
    Journal,
    /// Memories that a query recalls.
    Recalls,
}

impl fmt::Display for CopyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counts => "the numbers of memories or erased texts differ",
            Self::Memories => "a memory differs",
            Self::Journal => "a line of the journal differs",
            Self::Recalls => "a query recalls other memories",
        })
    }
}

impl Engine {
    /// Compares a scope in the databases of two engines and returns the differences. Nobody may change it meanwhile.
    pub async fn compare_scope(&self, copy: &Self, scope: &Scope) -> Result<Vec<CopyProblem>> {
        let mut problems = Vec::new();
        let (source, target) = (self.count(scope).await?, copy.count(scope).await?);
        if (source.memories, source.tombstones) != (target.memories, target.tombstones) {
            problems.push(CopyProblem::Counts);
        }
        for (journal, problem) in [(false, CopyProblem::Memories), (true, CopyProblem::Journal)] {
            let (own, copied) =
                tokio::try_join!(digest(self, scope, journal), digest(copy, scope, journal))?;
            if own != copied {
                problems.push(problem);
            }
        }
        if !recalls_agree(self, copy, scope).await? {
            problems.push(CopyProblem::Recalls);
        }
        Ok(problems)
    }
}

/// Compares what texts of memories recall, spread over the scope.
async fn recalls_agree(from: &Engine, to: &Engine, scope: &Scope) -> Result<bool> {
    let query = ListQuery {
        filter: MemoryFilter::default(),
        after: None,
        order: ListOrder::OldestFirst,
        limit: SAMPLED_FROM,
    };
    let listed = from.list(scope, &query).await?;
    let step = listed.len().div_ceil(SAMPLED_RECALLS).max(1);
    for memory in listed.iter().step_by(step) {
        if recalled(from, scope, &memory.content).await?
            != recalled(to, scope, &memory.content).await?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

#[boxed]
async fn recalled(engine: &Engine, scope: &Scope, text: &str) -> Result<Vec<String>> {
    let request = engine.recall_request(scope, text);
    let hits = engine.recall(&request).await?.hits;
    Ok(hits.iter().map(|hit| hit.memory.id.to_string()).collect())
}

/// Returns the digest of an export without its header, which names the time.
async fn digest(engine: &Engine, scope: &Scope, journal: bool) -> Result<(usize, u64)> {
    let mut digest = ExportDigest::default();
    engine.export(scope, journal, &mut digest, &mut |_| ()).await?;
    Ok(digest.finish())
}

/// Digest of all lines after the first. It finds mistakes; both databases are the user's own.
#[derive(Default)]
struct ExportDigest {
    is_past_header: bool,
    /// Beginning of a line.
    line: Vec<u8>,
    hash: DefaultHasher,
    lines: usize,
}

impl ExportDigest {
    fn finish(self) -> (usize, u64) {
        (self.lines, self.hash.finish())
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if std::mem::replace(&mut self.is_past_header, true)
            && let Some(line) = comparable(line)
        {
            self.hash.write(&line);
            self.lines += 1;
        }
    }
}

/// Returns a line as both databases should have it: a change without its number; `None` for that of an erased memory.
fn comparable(line: Vec<u8>) -> Option<Vec<u8>> {
    let Ok(mut value) = serde_json::from_slice::<Value>(&line) else { return Some(line) };
    let Some(change) = value.get_mut("change").and_then(Value::as_object_mut) else {
        return Some(line);
    };
    change.remove("seq");
    let is_gone = |image: &str| change.get(image).is_none_or(Value::is_null);
    if is_gone("before") && is_gone("after") { None } else { Some(value.to_string().into()) }
}

impl Write for ExportDigest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.end_line();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_numbers_and_erased_texts_do_not_count() {
        let digest = |parts: &[&str]| {
            let mut digest = ExportDigest::default();
            parts.iter().for_each(|part| digest.write_all(part.as_bytes()).unwrap());
            digest.finish()
        };
        assert_eq!(digest(&["today\na\nb\n"]), digest(&["yester", "day\na\n", "b\n"]));
        assert_ne!(digest(&["today\na\n"]), digest(&["today\nb\n"]));
        let added = |seq: u64| {
            format!(
                "{{\"change\":{{\"seq\":{seq},\"before\":null,\"after\":{{\"content\":\"tea\"}}}}}}\n"
            )
        };
        let erased = "{\"change\":{\"seq\":1,\"before\":null,\"after\":null}}\n";
        assert_eq!(digest(&["h\n", erased, &added(2)]), digest(&["h\n", &added(1)]));
    }
}
