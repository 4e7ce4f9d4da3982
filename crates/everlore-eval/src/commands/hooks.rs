//! `hooks`: latency of hooks, process start included, with and without a server.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use everlore::{Engine, llm::BuiltinEmbedder, store};
use serde_json::{Value, json};

use crate::{
    corpus::Corpus,
    table::{number, render},
    timing::SampleStats,
};

/// Longest acceptable wait of a prompt, in milliseconds.
const TARGET: f64 = 50.0;

/// Measure hooks as agents call them: a process for each, on a home with one large scope
#[derive(clap::Args)]
pub(crate) struct HooksArgs {
    /// Binary to measure, built for release
    #[arg(long, value_name = "FILE", default_value = "target/release/everlore")]
    binary: PathBuf,
    /// Memories of the scope
    #[arg(long, default_value_t = 100_000)]
    total: u32,
    /// Calls of each hook
    #[arg(long, default_value_t = 100)]
    calls: u32,
    /// Home to use again; created there if it does not exist
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

/// Runs the command.
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
    let row = |(name, stats): &(&str, SampleStats)| {
        let within = if stats.p95 < TARGET { "yes" } else { "no" };
        vec![
            (*name).to_owned(),
            number(stats.p50),
            number(stats.p95),
            number(stats.max),
            within.to_owned(),
        ]
    };
    let head = ["ms", "p50", "p95", "most", "p95 below 50"];
    render(&head, &rows.iter().map(row).collect::<Vec<_>>())
}

/// Binary and home under test.
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
        let field = |name: &str, value: Value| json!({ name: value });
        let answer =
            |number: u32| field("last_assistant_message", json!(self.corpus.query(0, number)));
        Ok(vec![
            (
                prompt,
                self.time_hook(round, "UserPromptSubmit", |number| {
                    field("prompt", json!(self.corpus.query(0, number)))
                })?,
            ),
            (
                tool,
                self.time_hook(round, "PostToolUse", |number| {
                    field(
                        "tool_response",
                        json!({ "exit_code": 1, "stderr": self.corpus.query(0, number) }),
                    )
                })?,
            ),
            (start, self.time_hook(round, "SessionStart", |_| field("source", json!("startup")))?),
            (stop, self.time_hook(round, "Stop", answer)?),
        ])
    }

    /// Times calls of a hook, each in its own session, so that no memory is left out as already injected.
    fn time_hook(
        &self,
        round: &str,
        event: &str,
        payload: impl Fn(u32) -> Value,
    ) -> Result<SampleStats> {
        let (mut samples, mut injected) = (Vec::new(), 0);
        for number in 0..self.calls {
            let mut input = payload(number);
            input["session_id"] = json!(format!("{round}-{event}-{number}-{}", std::process::id()));
            input["cwd"] = json!(self.home);
            let (ms, out) = self.call(event, &input)?;
            samples.push(ms);
            injected += u32::from(!out.is_empty());
        }
        eprintln!("{event}, {round}: {injected} of {} calls got memories", self.calls);
        ensure!(
            event != "UserPromptSubmit" || injected > self.calls / 2,
            "hardly any call got memories"
        );
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
        // The first prompt fills the server's cache, as the first one of a day does.
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

/// Creates a home with one scope.
fn load(home: &Path, total: u32) -> Result<()> {
    fs::create_dir_all(home)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = store::open(home.join("everlore.db")).await?;
        let engine =
            Engine::builder(store.clone()).embedder(Arc::new(BuiltinEmbedder::new())).build();
        Corpus::new(total, 1).observe(&engine, 0, total).await?;
        store.admin().close().await;
        Ok(())
    })
}
