//! `fs`: latency of the file view in a large home and in a small one.

use anyhow::{Result, ensure};
use everlore::{
    Engine, Kind, Memory, Scope,
    engine::fs::{FsFindRequest, FsListRequest},
    internal::store_of,
    internal::text::tiers::{one_line, overview},
    store,
    types::{Actor, Change, MemorySource, Origin, WriteBatch},
};
use jiff::Timestamp;

use crate::{
    table::{number, render},
    timing::{SampleStats, timed},
};

/// Folders of each home.
const TOPICS: u32 = 20;

/// Entries of a page.
const PAGE: usize = 10;

/// Memory long enough to have an overview.
const LONG_TEXT: &str = "The release train leaves every second Tuesday. A change is merged before Monday noon. Hot fixes go \
    out on any day, but the person on call must agree. The checklist is in the handbook and has nine steps. After the \
    release the team watches the error rate for two hours. If the rate doubles, the release is rolled back at once. The \
    notes of the review are kept for a year. 发布列车每隔一周的星期二出发。紧急修复任何一天都可以发布，但是必须得到值班人员的同意。";

/// Time pages and searches of the file view, in a large home and in a small one
#[derive(clap::Args)]
pub(crate) struct FsArgs {
    /// Memories of the large home
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    large: u32,
    /// Memories of the small home
    #[arg(long, value_name = "COUNT", default_value_t = 400)]
    small: u32,
    /// Calls of each operation
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    calls: u32,
}

/// Runs the command.
pub(crate) fn run(args: &FsArgs) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let rows = runtime.block_on(measure(args))?;
    let head = [
        "ms".to_owned(),
        format!("{} memories, p50", args.large),
        "p95".to_owned(),
        format!("{} memories, p50", args.small),
        "p95".to_owned(),
    ];
    println!("{}", render(&head.each_ref().map(String::as_str), &rows));
    println!(
        "l0 and l1 of a memory without a stored overview: {} µs",
        number(tier_us(args.calls)?)
    );
    Ok(())
}

async fn measure(args: &FsArgs) -> Result<Vec<Vec<String>>> {
    let folder = tempfile::tempdir()?;
    let engine = Engine::new(store::open(folder.path().join("everlore.db")).await?);
    let homes =
        [load(&engine, "large", args.large).await?, load(&engine, "small", args.small).await?];
    let mut rows = Vec::new();
    for uri in ["user", "user/topic-7"] {
        let request = FsListRequest { limit: PAGE, ..FsListRequest::new(uri) };
        let list = async |home: &Scope| {
            let listing = engine.fs_list(home, &request).await?;
            ensure!(listing.items.len() == PAGE, "{uri} has {} entries", listing.items.len());
            Ok(())
        };
        rows.push(row(&format!("ls {uri}, {PAGE} entries"), &homes, args.calls, list).await?);
    }
    let request = FsFindRequest {
        query: "number 87".into(),
        uri: "user/topic-7".into(),
        limit: PAGE,
        min_score: 0.0,
        explain: false,
    };
    let find = async |home: &Scope| {
        ensure!(!engine.fs_find(home, &request).await?.found.is_empty(), "nothing found");
        Ok(())
    };
    rows.push(row(&format!("find in one of {TOPICS} folders"), &homes, args.calls, find).await?);
    engine.admin().close().await;
    Ok(rows)
}

/// Times `call` in both homes in turn, after one call each that warms the caches.
async fn row(
    name: &str,
    homes: &[Scope; 2],
    calls: u32,
    call: impl AsyncFn(&Scope) -> Result<()>,
) -> Result<Vec<String>> {
    let mut samples = [const { Vec::new() }; 2];
    for number in 0..=calls {
        for (home, samples) in homes.iter().zip(&mut samples) {
            let begun = std::time::Instant::now();
            call(home).await?;
            if number > 0 {
                samples.push(begun.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    let figures = samples.map(SampleStats::from_samples);
    let cells = figures.iter().flat_map(|stats| [number(stats.p50), number(stats.p95)]);
    Ok([name.to_owned()].into_iter().chain(cells).collect())
}

async fn load(engine: &Engine, user: &str, count: u32) -> Result<Scope> {
    let scope = Scope::new("eval", user)?;
    let now = Timestamp::now();
    let fact = |number: u32| {
        let source = MemorySource::new(Origin::Remember);
        let text = format!("fact number {number} 关于茶");
        let mut memory = Memory::with_content(&scope, Kind::User, text, source, now, now);
        memory.uri = format!("agent://eval/user/topic-{}/fact-{number:05}", number % TOPICS);
        Change::Add(Box::new(memory))
    };
    let changes = (1..=count).map(fact).collect();
    store_of(engine).apply(WriteBatch::new(&scope, Actor::Engine, "load", now, changes)).await?;
    Ok(scope)
}

/// Returns the mean microseconds of making the two short tiers of a memory.
fn tier_us(calls: u32) -> Result<f64> {
    let (now, source) = (Timestamp::now(), MemorySource::new(Origin::Remember));
    let memory =
        Memory::with_content(&Scope::default(), Kind::Project, LONG_TEXT.into(), source, now, now);
    let (_, ms) = timed(|| {
        for _ in 0..calls {
            std::hint::black_box((one_line(&memory), overview(&memory)));
        }
        Ok(())
    })?;
    Ok(ms * 1e3 / f64::from(calls.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_searches_of_both_homes_are_timed() {
        run(&FsArgs { large: 800, small: 400, calls: 2 }).unwrap();
    }
}
