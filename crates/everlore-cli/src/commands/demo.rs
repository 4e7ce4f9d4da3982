//! `everlore demo`: a guided tour in a temporary home that runs the real commands.

use clap::{Args, Parser};
use everlore::{
    MemoryId,
    store::{JournalQuery, ListOrder, ListQuery},
};
use serde_json::json;

use crate::{
    CliContext, CliError, Exit, Output, Result, cli::Cli, messages::translate, render::shell_quote,
};

/// See what Everlore does: a guided tour of a few seconds in a temporary home
///
/// With --json, each step is a line with its command, and then the answer of that command.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {}

/// Step of the tour.
struct DemoStep {
    caption: &'static str,
    command: &'static [&'static str],
}

/// Placeholder for the memory that the last `remember` of the tour stored.
const LAST_STORED: &str = "LAST_ID";

/// Placeholder for the number of the newest change.
const LAST_CHANGE: &str = "LAST_CHANGE";

const STEPS: &[DemoStep] = &[
    DemoStep {
        caption: "Tell it something. The answer comes when it is safe on disk and can be found.",
        command: &["remember", "I'm allergic to peanuts and never eat them."],
    },
    DemoStep {
        caption: "In Chinese too, or in both.",
        command: &["remember", "我喜欢喝龙井茶，每天早上一杯。", "--tag", "饮食"],
    },
    DemoStep {
        caption: "Any kind of fact.",
        command: &[
            "remember",
            "The staging server listens on port 8443; 生产环境用 443。",
            "--kind",
            "project",
        ],
    },
    DemoStep {
        caption: "Ask in your own words.",
        command: &["recall", "what must I not eat, peanuts?"],
    },
    DemoStep { caption: "Two characters are enough.", command: &["recall", "龙井"] },
    DemoStep {
        caption: "Every number that made a score can be seen.",
        command: &["recall", "Which port does staging use?", "--limit", "1", "--explain"],
    },
    DemoStep {
        caption: "And why something was not found.",
        command: &["recall", "peanuts", "--why-not", LAST_STORED],
    },
    DemoStep {
        caption: "What an agent gets: a block for its prompt, within a budget of tokens.",
        command: &["context", "早上喝龙井茶吗？", "--budget", "300"],
    },
    DemoStep {
        caption: "Facts change. The old one steps back, and recall shows what holds now.",
        command: &[
            "remember",
            "The staging server listens on port 9443 now.",
            "--kind",
            "project",
            "--replaces",
            LAST_STORED,
        ],
    },
    DemoStep { caption: "", command: &["recall", "staging port"] },
    DemoStep {
        caption: "Everything is in a journal …",
        command: &["memory", "history", "--limit", "2"],
    },
    DemoStep {
        caption: "… so everything can be undone.",
        command: &["memory", "undo", LAST_CHANGE],
    },
    DemoStep {
        caption: "Except this: forgetting removes every trace, and says what it removed.",
        command: &["memory", "forget", LAST_STORED, "--yes"],
    },
    DemoStep { caption: "And all is well.", command: &["doctor"] },
];

const NEXT_STEPS: &str = "\
That was a temporary home; it is gone now. Yours is ~/.everlore. Try:

  everlore remember \"I work from Lisbon on Fridays\"
  everlore recall \"where do I work?\"
  echo '{\"speaker\":\"Wang\",\"text\":\"下周三去杭州出差\"}' | everlore observe
  everlore memory list
  everlore --help";

impl DemoArgs {
    /// Runs all steps.
    pub(crate) async fn run(self, out: &mut Output) -> Result<Exit> {
        let failed = |error| CliError::io("creating a temporary home", error);
        let folder = tempfile::tempdir().map_err(failed)?;
        let home = folder.path().join("home").display().to_string();
        for step in STEPS {
            if !out.is_json() {
                out.line("")?;
            }
            if !step.caption.is_empty() && !out.is_json() {
                out.line(&out.dim(&format!("# {}", translate(step.caption))))?;
            }
            self.run_step(step, &home, out).await?;
            out.flush()?;
        }
        if !out.is_json() {
            out.line("")?;
            out.say(NEXT_STEPS)?;
        }
        Ok(Exit::Done)
    }

    /// Prints a command and runs it.
    async fn run_step(&self, step: &DemoStep, home: &str, out: &mut Output) -> Result<()> {
        let global = ["--home", home, "--agent", "demo", "--user", "you"];
        let words = fill_placeholders(step.command, &global).await?;
        if out.is_json() {
            out.json(&json!({ "caption": step.caption, "command": words }))?;
        } else {
            let shown: Vec<String> = words.iter().map(|word| shell_quote(word)).collect();
            out.line(&out.bold(&format!("$ everlore {}", shown.join(" "))))?;
        }
        let cli = parse_command(&global, &words)?;
        let cx = CliContext::new(&cli.global, &cli.command)?;
        super::run(cli.command, &cx, out).await?;
        cx.close().await;
        Ok(())
    }
}

/// Replaces the placeholders of a command.
async fn fill_placeholders(command: &[&str], global: &[&str]) -> Result<Vec<String>> {
    let stats = parse_command(global, &["memory".to_owned(), "stats".to_owned()])?;
    let cx = CliContext::new(&stats.global, &stats.command)?;
    let mut words = Vec::new();
    for word in command {
        words.push(match *word {
            LAST_STORED => last_stored(&cx).await?.to_string(),
            LAST_CHANGE => last_change(&cx).await?.to_string(),
            word => word.to_owned(),
        });
    }
    cx.close().await;
    Ok(words)
}

fn parse_command(global: &[&str], words: &[String]) -> Result<Cli> {
    let words = words.iter().map(String::as_str);
    Cli::try_parse_from(["everlore"].into_iter().chain(global.iter().copied()).chain(words))
        .map_err(|error| CliError::new("usage", error.to_string(), "please report this as a bug"))
}

async fn last_stored(cx: &CliContext) -> Result<MemoryId> {
    let newest = ListQuery {
        filter: Default::default(),
        after: None,
        order: ListOrder::NewestFirst,
        limit: 1,
    };
    let found = cx.engine().await?.list(&cx.scope, &newest).await?;
    found.first().map(|memory| memory.id).ok_or_else(nothing_stored)
}

async fn last_change(cx: &CliContext) -> Result<u64> {
    let newest = JournalQuery { limit: Some(1), ..JournalQuery::default() };
    let found = cx.engine().await?.history(&cx.scope, &newest).await?;
    found.first().map(|entry| entry.seq).ok_or_else(nothing_stored)
}

fn nothing_stored() -> CliError {
    CliError::new("damaged", "the tour stored nothing", "please report this as a bug")
}
