//! Work on large input grows with its size and no faster, whatever the input repeats, and limits come before the work.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use everlore::{
    Engine, MemoryEdit, RememberRequest, Scope, Turn,
    engine::{Document, IngestOptions},
    store::RamStore,
};

/// Smallest size in bytes, unless `EVERLORE_TEST_KIB` names it in KiB. The largest is eight times that: 1024 compares 1 with
/// 8 MB, prints the times at 1, 2, 4 and 8 MB, and takes one of [`FULL_STEP`] patterns. Smaller texts say nothing of growth:
/// 3 KiB of some patterns are one chunk, and 24 KiB are 43.
const FIRST_SIZE: usize = 8 * 1024;

/// Environment variable with the first size in KiB.
const SIZE_VARIABLE: &str = "EVERLORE_TEST_KIB";

/// Share of the patterns that are measured at full size, which takes minutes.
const FULL_STEP: usize = 11;

/// Share of the patterns that are measured as plain text and as code too: the rest of the way is that of markdown.
const FORMAT_STEP: usize = 4;

/// Most time that eight times the input may take, compared with once: eight, and as much again for noise.
const MAX_GROWTH: f64 = 16.0;

/// Time below which nothing is compared: it is all noise.
const NEGLIGIBLE: Duration = Duration::from_millis(150);

/// Repeated patterns that parsers know as the beginning of something.
const PATTERNS: [&str; 44] = [
    "a",
    "a ",
    "茶",
    "茶。",
    "1",
    "1.",
    "- a\n",
    "\n",
    "#",
    "# a\n",
    "`",
    "```\n",
    "[",
    "[a](",
    "![",
    "<",
    "<a ",
    "<a>",
    "<!--",
    "</",
    "&amp",
    "|a",
    "|-",
    "**a",
    "_a",
    "> a\n",
    "\"",
    "\\",
    "a@b.",
    "https://a",
    "-----BEGIN ",
    "password: x",
    "fn a() {",
    "{\n",
    "Dr. ",
    "a\u{301}",
    "👨\u{200d}",
    "下周五，",
    "next friday ",
    "2024-01-",
    "Tom’s ",
    "<script>",
    "<table><tr><td>",
    "1. a\n",
];

/// Returns the first size in bytes that the environment names.
fn given_size() -> Option<usize> {
    let given = std::env::var(SIZE_VARIABLE).ok()?;
    Some(given.parse::<usize>().unwrap() * 1024)
}

/// Returns the sizes: the first and the last, and those between if they are to be printed.
fn sizes() -> Vec<usize> {
    given_size().map_or(vec![FIRST_SIZE, 8 * FIRST_SIZE], |first| {
        [1, 2, 4, 8].map(|times| times * first).to_vec()
    })
}

/// Returns the patterns of an operation: most of them at small sizes.
fn patterns(operation: &str) -> impl Iterator<Item = &'static str> {
    let step = match (given_size(), operation) {
        (Some(_), _) => FULL_STEP,
        (None, "txt" | "rs") => FORMAT_STEP,
        (None, _) => 1,
    };
    PATTERNS.into_iter().step_by(step)
}

/// Runs an operation on `size` bytes of a pattern and returns how long it took.
async fn timed(operation: &str, pattern: &str, size: usize) -> Duration {
    let (engine, scope) = (Engine::new(Arc::new(RamStore::default())), Scope::default());
    let text = pattern.repeat(size / pattern.len());
    let began = Instant::now();
    // A text without a word may be refused, at any speed.
    match operation {
        "turn" => {
            drop(engine.observe(&scope, vec![Turn { text, ..Turn::default() }]).await);
        }
        "recall" => drop(engine.recall(&engine.recall_request(&scope, text)).await.unwrap()),
        format => {
            let document = Document::new(format!("a.{format}"), text);
            drop(engine.ingest_document(&scope, &document, &IngestOptions::default()).await);
        }
    }
    began.elapsed()
}

/// Prints the times at a size that the caller chose: they are what such a run is for.
#[expect(clippy::print_stdout, reason = "a run at a chosen size is a measurement")]
fn report_times(operation: &str, pattern: &str, took: &[Duration]) {
    if given_size().is_some() {
        println!("{operation} {pattern:?}: {took:.2?}");
    }
}

/// Returns the growth from the first size to the last. The best of three runs counts: other programs only add time.
async fn growth(operation: &str, pattern: &str) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        let mut took = Vec::new();
        for size in sizes() {
            took.push(timed(operation, pattern, size).await);
        }
        report_times(operation, pattern, &took);
        let last = took[took.len() - 1];
        if last < NEGLIGIBLE {
            return 0.0;
        }
        least = least.min(last.as_secs_f64() / took[0].as_secs_f64());
        if least < MAX_GROWTH {
            break;
        }
    }
    least
}

#[tokio::test]
async fn repeated_patterns_take_time_in_proportion_to_their_length() {
    for operation in ["md", "txt", "html", "rs", "turn", "recall"] {
        for pattern in patterns(operation) {
            let growth = growth(operation, pattern).await;
            assert!(growth < MAX_GROWTH, "{operation} of {pattern:?} grows {growth:.1}-fold");
        }
    }
}

#[tokio::test]
async fn a_hundred_thousand_tags_are_refused_before_they_are_looked_at() {
    let (engine, scope) = (Engine::new(Arc::new(RamStore::default())), Scope::default());
    let tags: Vec<String> = (0..100_000).map(|number| format!("标签{number}")).collect();
    let began = Instant::now();
    let request = RememberRequest { tags: tags.clone(), ..RememberRequest::new("tea 茶") };
    let error = engine.remember(&scope, request).await.unwrap_err();
    assert!(error.to_string().contains("100000 tags, 64 at most"), "{error}");
    let id = engine.remember(&scope, RememberRequest::new("tea 茶")).await.unwrap().id;
    let edit = MemoryEdit { tags: Some(tags), ..MemoryEdit::default() };
    assert!(engine.edit(&scope, id, &edit).await.is_err());
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_text_that_is_too_long_is_refused_before_it_is_searched_for_secrets() {
    let (engine, scope) = (Engine::new(Arc::new(RamStore::default())), Scope::default());
    let text = "password: x ".repeat(2_000_000);
    let began = Instant::now();
    let turn = Turn { text: text.clone(), ..Turn::default() };
    assert!(engine.observe(&scope, vec![turn]).await.is_err());
    assert!(engine.remember(&scope, RememberRequest::new(text)).await.is_err());
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn of_a_long_message_the_beginning_and_the_end_are_read() {
    let (engine, scope) = (Engine::new(Arc::new(RamStore::default())), Scope::default());
    for text in ["The spare key is under the flower pot", "备用钥匙在花盆下面"] {
        engine.remember(&scope, RememberRequest::new(text)).await.unwrap();
    }
    let paste = "log line 日志 ".repeat(400_000);
    for (query, expected) in [
        (format!("{paste}\nWhere is the spare key?"), "The spare key is under the flower pot"),
        (format!("备用钥匙在哪里？\n{paste}"), "备用钥匙在花盆下面"),
    ] {
        let found = engine.recall(&engine.recall_request(&scope, query)).await.unwrap();
        let texts: Vec<_> = found.hits.iter().map(|hit| hit.memory.content.as_str()).collect();
        assert!(texts.contains(&expected), "{texts:?}");
    }
}
