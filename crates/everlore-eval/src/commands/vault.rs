//! `vault`: time to list a vault for a prompt and to sync one, beside a plain read of the same files.

use std::{fs, path::Path, time::Instant};

use anyhow::Result;
use everlore::{
    Engine, Scope,
    engine::{SyncReport, SyncRequest},
    internal::files::vault::{MAX_PROMPT_FILES, list},
    store,
};

use crate::{
    table::{number, render},
    timing::SampleStats,
};

/// Samples of a listing.
const LISTINGS: usize = 20;

/// Time the listing of a vault for a prompt, and its sync with a database
#[derive(clap::Args)]
pub(crate) struct VaultArgs {
    /// Files of the vault that is listed
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    listed: usize,
    /// Files of the vault that is synced
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    synced: usize,
}

/// Runs the command.
pub(crate) fn run(args: &VaultArgs) -> Result<()> {
    println!("{}", listing(args.listed)?);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    println!("{}", runtime.block_on(syncing(args.synced))?);
    Ok(())
}

fn listing(files: usize) -> Result<String> {
    let folder = tempfile::tempdir()?;
    fill(folder.path(), files)?;
    let (mut prompt, mut all, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..LISTINGS {
        prompt
            .push(milliseconds(|| Ok(list(folder.path(), Some(MAX_PROMPT_FILES))?.entries.len()))?);
        all.push(milliseconds(|| Ok(list(folder.path(), None)?.entries.len()))?);
        plain.push(milliseconds(|| read_all(folder.path()))?);
    }
    let row = |name: &str, samples: Vec<f64>| {
        let stats = SampleStats::from_samples(samples);
        vec![name.to_owned(), number(stats.p50), number(stats.p95)]
    };
    let rows =
        [row("newest 200, for a prompt", prompt), row("all", all), row("plain read of all", plain)];
    Ok(format!("{files} files\n\n{}", render(&["listing", "p50 ms", "p95 ms"], &rows)))
}

async fn syncing(files: usize) -> Result<String> {
    let (folder, home) = (tempfile::tempdir()?, tempfile::tempdir()?);
    fill(folder.path(), files)?;
    let store = store::open(home.path().join("everlore.db")).await?;
    let engine = Engine::new(store);
    let request = SyncRequest::new(folder.path(), &Scope::default());
    let mut rows = Vec::new();
    let mut sync = async |what: &str, request: &SyncRequest| -> Result<SyncReport> {
        let start = Instant::now();
        let report = engine.sync_vault(request).await?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        rows.push(vec![what.to_owned(), report.done.len().to_string(), number(ms)]);
        Ok(report)
    };
    let start = Instant::now();
    read_all(folder.path())?;
    let plain = start.elapsed().as_secs_f64() * 1e3;
    sync("files → memories, all new", &request).await?;
    sync("nothing changed, files too young to trust", &request).await?;
    // Sync trusts the times of a file only after two seconds.
    tokio::task::spawn_blocking(|| std::thread::sleep(std::time::Duration::from_millis(2_100)))
        .await?;
    sync("nothing changed", &request).await?;
    sync("nothing changed", &request).await?;
    fs::write(folder.path().join("user_note_7.md"), page(7, "edited by hand"))?;
    sync("one file edited", &request).await?;
    let other = tempfile::tempdir()?;
    sync("memories → files, all new", &SyncRequest::new(other.path(), &Scope::default())).await?;
    rows.push(vec!["plain read of the same files".into(), files.to_string(), number(plain)]);
    Ok(format!("{files} files\n\n{}", render(&["sync", "changes", "ms"], &rows)))
}

pub(super) fn fill(folder: &Path, files: usize) -> Result<()> {
    for number in 0..files {
        fs::write(
            folder.join(format!("user_note_{number}.md")),
            page(number, "as it was first written"),
        )?;
    }
    Ok(())
}

/// Renders a memory of the usual size: a sentence or two, the reason, and its application.
fn page(number: usize, how: &str) -> String {
    format!(
        "---\nname: Note {number}\ndescription: What note {number} is about, in one line\ntype: user\n---\n\nThe user told \
         fact number {number} ({how}). 用户说过的第 {number} 件事。\n\n**Why:** it came up in meeting {}.\n**How to apply:** \
         whenever topic {} is discussed.\n",
        number % 97,
        number % 31
    )
}

pub(super) fn read_all(folder: &Path) -> Result<usize> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            bytes += fs::read(entry.path())?.len();
        }
    }
    Ok(bytes)
}

fn milliseconds(work: impl FnOnce() -> Result<usize>) -> Result<f64> {
    let start = Instant::now();
    std::hint::black_box(work()?);
    Ok(start.elapsed().as_secs_f64() * 1e3)
}
