//! `hooks`: how long a prompt waits for its hook, process start included, with and without a server.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use everlore::{
    Engine, Scope, Turn,
    llm::BuiltinEmbedder,
    store::{SqliteStore, Store},
};
use serde_json::{Value, json};

use crate::{
    corpus::Corpus,
    table::{number, render},
    timing::SampleStats,
};

/// Turns of one write while loading.
const BATCH: u32 = 2_000;

/// What a prompt may wait, in milliseconds.
const TARGET: f64 = 50.0;

/// Measure hooks as agents call them: a process for each, on a home with one large scope
#[derive(clap::Args)]
pub(crate) struct HooksArgs {
    /// The binary to measure, built for release
    #[arg(long, value_name = "FILE", default_value = "target/release/everlore")]
    binary: PathBuf,
    /// How many memories the scope has
    #[arg(long, default_value_t = 100_000)]
    total: u32,
    /// How many calls are measured of each
    #[arg(long, default_value_t = 100)]
    calls: u32,
    /// A home that was made before; it is made, and kept, if it is not there
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

/// Measures and prints a table.
pub(crate) fn run(args: &HooksArgs) -> Result<()> {
    let own = tempfile::tempdir()?;
    let home = args.home.clone().unwrap_or_else(|| own.path().join("home"));
    if !home.join("everlore.db").exists() {
        load(&home, args.total)?;
    }
    let bench = HookBench {
        binary: fs::canonicalize(&args.binary)?,
        home,
        corpus: Corpus::new(args.total, 1),
        calls: args.calls,
    };
    let mut rows = vec![("bare start: everlore --version", bench.time_bare_start()?)];
    rows.extend(bench.time_hooks(
        ["prompt, from the files", "failed tool, from the files", "session start", "stop"],
        "alone",
    )?);
    let mut server = bench.serve()?;
    let served = bench.time_hooks(
        [
            "prompt, by the server",
            "failed tool, by the server",
            "session start, a server runs",
            "stop, a server runs",
        ],
        "served",
    );
    server.kill()?;
    server.wait()?;
    rows.extend(served?);
    println!("{} memories in one scope, {} calls each\n", args.total, args.calls);
    println!("{}", render_rows(&rows));
    Ok(())
}

fn render_rows(rows: &[(&str, SampleStats)]) -> String {
    let row = |(name, spread): &(&str, SampleStats)| {
        let kept = if spread.p95 < TARGET { "yes" } else { "no" };
        vec![
            (*name).to_owned(),
            number(spread.p50),
            number(spread.p95),
            number(spread.max),
            kept.to_owned(),
        ]
    };
    let head = ["ms", "p50", "p95", "most", "p95 below 50"];
    render(&head, &rows.iter().map(row).collect::<Vec<_>>())
}

/// What is measured.
struct HookBench {
    binary: PathBuf,
    home: PathBuf,
    corpus: Corpus,
    calls: u32,
}

impl HookBench {
    fn time_bare_start(&self) -> Result<SampleStats> {
        let mut samples = Vec::new();
        for _ in 0..self.calls {
            let began = Instant::now();
            let status = self.command(&["--version"]).stdout(Stdio::null()).status()?;
            samples.push(began.elapsed().as_secs_f64() * 1e3);
            ensure!(status.success());
        }
        Ok(SampleStats::from_samples(samples))
    }

    fn time_hooks<'a>(
        &self,
        names: [&'a str; 4],
        round: &str,
    ) -> Result<Vec<(&'a str, SampleStats)>> {
        let [prompt, tool, start, stop] = names;
        let say = |field: &str, value: Value| json!({ field: value });
        let answer =
            |number: u32| say("last_assistant_message", json!(self.corpus.query(0, number)));
        Ok(vec![
            (
                prompt,
                self.time_hook(round, "UserPromptSubmit", |number| {
                    say("prompt", json!(self.corpus.query(0, number)))
                })?,
            ),
            (
                tool,
                self.time_hook(round, "PostToolUse", |number| {
                    say(
                        "tool_response",
                        json!({ "exit_code": 1, "stderr": self.corpus.query(0, number) }),
                    )
                })?,
            ),
            (start, self.time_hook(round, "SessionStart", |_| say("source", json!("startup")))?),
            (stop, self.time_hook(round, "Stop", answer)?),
        ])
    }

    /// Calls a hook often, each time in a conversation of its own, so that nothing is left out because it was told before.
    fn time_hook(
        &self,
        round: &str,
        event: &str,
        said: impl Fn(u32) -> Value,
    ) -> Result<SampleStats> {
        let (mut samples, mut told) = (Vec::new(), 0);
        for number in 0..self.calls {
            let mut input = said(number);
            input["session_id"] = json!(format!("{round}-{event}-{number}-{}", std::process::id()));
            input["cwd"] = json!(self.home);
            let (ms, out) = self.call(event, &input)?;
            samples.push(ms);
            told += u32::from(!out.is_empty());
        }
        eprintln!("{event}, {round}: told something in {told} of {} calls", self.calls);
        ensure!(event != "UserPromptSubmit" || told > self.calls / 2, "hardly anything was told");
        Ok(SampleStats::from_samples(samples))
    }

    fn call(&self, event: &str, input: &Value) -> Result<(f64, Vec<u8>)> {
        let mut command = self.command(&["hook", "codex", event]);
        let input = input.to_string();
        let began = Instant::now();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        child.stdin.take().context("no input")?.write_all(input.as_bytes())?;
        let output = child.wait_with_output()?;
        let ms = began.elapsed().as_secs_f64() * 1e3;
        ensure!(output.status.success(), "{event} failed");
        Ok((ms, output.stdout))
    }

    fn serve(&self) -> Result<Child> {
        let mut command = self.command(&["--json", "serve", "--port", "0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        ensure!(line.contains("url"), "the server did not start: {line}");
        // The first question fills its cache, as the first prompt of a day does.
        self.call(
            "UserPromptSubmit",
            &json!({ "session_id": "warm", "prompt": self.corpus.query(0, 0) }),
        )?;
        Ok(child)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.env("EVERLORE_HOME", &self.home).args(args);
        command
    }
}

/// Fills a home with one scope.
fn load(home: &Path, total: u32) -> Result<()> {
    fs::create_dir_all(home)?;
    let corpus = Corpus::new(total, 1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = Arc::new(SqliteStore::open(home.join("everlore.db")).await?);
        let engine =
            Engine::builder(store.clone()).embedder(Arc::new(BuiltinEmbedder::new())).build();
        for from in (0..total).step_by(BATCH as usize) {
            let turn = |place| {
                let memory = corpus.memory(i64::from(place), 0, place);
                let session = Some(format!("session-{}", memory.session));
                Turn { text: memory.text, session, ..Turn::default() }
            };
            let turns = (from..total.min(from + BATCH)).map(turn).collect();
            engine.observe(&Scope::default(), turns).await?;
        }
        store.admin().close().await;
        Ok(())
    })
}
