//! Work on large input grows with its size and no faster.

use std::{sync::Arc, time::{Duration, Instant}};

use everlore::{Engine, RememberRequest, Scope, Turn, engine::{Document, IngestOptions}, store::RamStore};

fn patterns() -> Vec<&'static str> {
    vec!["a", "a ", "ab, ", "茶", "茶。", "1", "1 ", "1.", "- ", "- a\n", "  ", "\n", "#", "# a\n", "`", "```\n", "[", "[a](", "![", "(", "<", "<a ", "<a>", "<!--", "</", "&", "&amp", "|", "|a", "|-", "*", "**a", "_", "_a", ">", "> a\n", "\"", "'", "\\", "=", "a=b ", "@", "a@b.", ":", "https://a", "/", "a/", "-", "----", "-----BEGIN ", "key: ", "password ", "password: x", "token=", "0x", "fn a() {", "{", "}", "{\n", "A.", "A. ", "Dr. ", "\u{202e}", "\u{301}", "a\u{301}", "👍", "👨\u{200d}", "我 ", "我的", "下周", "下周五，", "next friday ", "2024-01-", "1月2日", "in 3 ", "what is my ", "?", "Tom ", "Tom’s ", "我叫", "remember ", "I am ", "\t", "\r", "\t- a\n", "1. a\n", "~", "$", "%", "^", "+", ";", "//", "/*", "<script>", "<div>", "<table><tr><td>", "<li>"]
}

fn timed(work: impl FnOnce()) -> Duration { let began = Instant::now(); work(); began.elapsed() }

#[tokio::test]
async fn explore() {
    let sizes: Vec<usize> = std::env::var("SIZES").unwrap_or("100000,200000,400000".into()).split(',').map(|s| s.parse().unwrap()).collect();
    let only = std::env::var("OPS").unwrap_or_default();
    for pattern in patterns() {
        for op in ["md", "txt", "html", "rs", "remember", "turn", "recall", "context"] {
            if !only.is_empty() && !only.split(',').any(|o| o == op) { continue; }
            let mut took = Vec::new();
            for size in &sizes {
                let text = pattern.repeat(size / pattern.len());
                let engine = Engine::new(Arc::new(RamStore::default()));
                let scope = Scope::default();
                let began = Instant::now();
                let result: Result<String, everlore::Error> = match op {
                    "remember" => engine.remember(&scope, RememberRequest::new(text)).await.map(|_| String::new()),
                    "turn" => engine.observe(&scope, vec![Turn { text, ..Turn::default() }]).await.map(|_| String::new()),
                    "recall" => engine.recall(&engine.recall_request(&scope, text)).await.map(|_| String::new()),
                    "context" => engine.context(&engine.context_request(&scope, text), 2000).await.map(|_| String::new()),
                    format => engine.ingest_document(&scope, &Document::new(format!("a.{format}"), text), &IngestOptions::default()).await.map(|r| r.chunks.to_string()),
                };
                took.push(began.elapsed());
                if let Err(error) = result { eprintln!("{pattern:?} {op} {error}"); }
                if took.last().unwrap() > &Duration::from_secs(20) { break; }
            }
            let last = took[took.len()-1].as_secs_f64();
            let first = took[0].as_secs_f64();
            let growth = last / first / (sizes[took.len()-1] as f64 / sizes[0] as f64);
            if growth > 1.5 && last > 0.3 || last > 3.0 { eprintln!("{pattern:?} {op} growth {growth:.2} {took:?}"); }
        }
    }
}
