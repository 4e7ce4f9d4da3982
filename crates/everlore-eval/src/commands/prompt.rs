//! `prompt`: time to assemble a full prompt, and to scan a vault for one, beside a plain read of the same files.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use everlore::{
    Engine, RecallRequest, Scope,
    engine::{Layer, Prompt, PromptRequest},
    internal::files::{
        home::vault_folder,
        layers::Layers,
        vault::{INDEX_FILE, MAX_PROMPT_FILES, list},
    },
    llm::BuiltinEmbedder,
    store,
};

use crate::{
    corpus::{Corpus, ScopeClass},
    table::{number, render},
    timing::{SampleStats, process_cpu_seconds},
};

/// Samples of each part.
const ROUNDS: u32 = 100;

/// Total of the corpus per memory of the user: the largest scope has a tenth.
const CORPUS_SHARE: u32 = 10;

/// Time the assembly of a full prompt: layers at their budgets, an index, and memories recalled for a message
#[derive(clap::Args)]
pub(crate) struct PromptArgs {
    /// Memories of the user
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    memories: u32,
    /// Files of the vault
    #[arg(long, value_name = "COUNT", default_value_t = 1_000)]
    files: usize,
}

/// Runs the command.
pub(crate) fn run(args: &PromptArgs) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    println!("{}", runtime.block_on(measure_parts(args))?);
    Ok(())
}

/// Engine with every part of a prompt, and the corpus of the user's messages.
struct PromptFixture {
    engine: Engine,
    home: tempfile::TempDir,
    corpus: Corpus,
    scope: u32,
}

async fn measure_parts(args: &PromptArgs) -> Result<String> {
    let fixture = PromptFixture::new(args).await?;
    let (stable, vault) = (fixture.begin().await?, fixture.vault());
    let (text, recalled) = fixture.turn(&stable, 0).await?;
    let head = format!(
        "{} memories, {} files in the vault; a prompt of {} characters, {} tokens",
        args.memories,
        args.files,
        text.chars().count(),
        stable.tokens() + recalled
    );
    let mut rows = TimingRows::default();
    rows.measure("start of a conversation: layers, guide, index", async |_| {
        Ok(fixture.begin().await?.parts.len())
    })
    .await?;
    rows.measure("each turn: recall and packing", async |round| {
        Ok(fixture.turn(&stable, round).await?.1)
    })
    .await?;
    rows.measure("the whole prompt", async |round| {
        Ok(fixture.turn(&fixture.begin().await?, round).await?.1)
    })
    .await?;
    rows.measure("plain read of the layers and the index", async |_| fixture.read_files()).await?;
    rows.measure("scan of the vault's files for a prompt", async |_| {
        Ok(list(&vault, Some(MAX_PROMPT_FILES))?.entries.len())
    })
    .await?;
    rows.measure("plain read of the vault's files", async |_| read_all(&vault)).await?;
    let table = render(&["prompt", "p50 ms", "p95 ms", "processor, mean ms"], &rows.0);
    Ok(format!("{head}\n\n{table}"))
}

/// Rows of the table.
#[derive(Default)]
struct TimingRows(Vec<Vec<String>>);

impl TimingRows {
    /// Times `work`. Processor time does not grow while other programs run; wall time does.
    async fn measure(
        &mut self,
        name: &str,
        work: impl AsyncFn(u32) -> Result<usize>,
    ) -> Result<()> {
        let (mut samples, before) = (Vec::new(), process_cpu_seconds());
        for round in 0..ROUNDS {
            let start = Instant::now();
            std::hint::black_box(work(round).await?);
            samples.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let spent = process_cpu_seconds().zip(before).map(|(after, before)| after - before);
        let spent = spent.map_or("–".to_owned(), |spent| number(spent * 1e3 / f64::from(ROUNDS)));
        let stats = SampleStats::from_samples(samples);
        self.0.push(vec![name.to_owned(), number(stats.p50), number(stats.p95), spent]);
        Ok(())
    }
}

impl PromptFixture {
    async fn new(args: &PromptArgs) -> Result<Self> {
        let home = tempfile::tempdir()?;
        let corpus = Corpus::new(args.memories * CORPUS_SHARE, 1);
        let scope =
            *corpus.scopes_of(ScopeClass::Large).first().context("there is no large scope")?;
        let store = store::open(home.path().join("everlore.db")).await?;
        let engine = Engine::builder(store)
            .embedder(Arc::new(BuiltinEmbedder::new()))
            .home(home.path())
            .build();
        let fixture = Self { engine, home, corpus, scope };
        fixture.corpus.observe(&fixture.engine, scope, args.memories).await?;
        fixture.write_layers()?;
        fixture.write_vault(args.files)?;
        Ok(fixture)
    }

    /// Writes every layer at its budget, in both languages.
    fn write_layers(&self) -> Result<()> {
        let layers = self.layers();
        for (path, layer) in self.layer_files() {
            let lines = (0..)
                .map(|line| format!("- note {line}: 喜欢简短的回答, and prefers short answers\n"));
            let mut text = "## Notes 笔记\n\n".to_owned();
            for line in lines {
                if text.chars().count() + line.chars().count() > layers.budget(layer) {
                    break;
                }
                text += &line;
            }
            fs::create_dir_all(path.parent().context("a layer is in a folder")?)?;
            fs::write(path, text)?;
        }
        Ok(())
    }

    fn write_vault(&self, files: usize) -> Result<()> {
        let vault = self.vault();
        fs::create_dir_all(&vault)?;
        for number in 0..files {
            fs::write(vault.join(format!("user_note_{number}.md")), page(number))?;
        }
        let line = |number| {
            format!(
                "- [Note {number}](user_note_{number}.md) — what note {number} is about, 第 {number} 件事\n"
            )
        };
        Ok(fs::write(vault.join(INDEX_FILE), (0..files).map(line).collect::<String>())?)
    }

    fn layers(&self) -> Layers {
        Layers::new(self.home.path(), &Scope::default(), &self.engine.config().layers)
    }

    fn layer_files(&self) -> Vec<(PathBuf, Layer)> {
        let (layers, today) = (self.layers(), self.engine.now().date());
        let days = [Some(today), today.yesterday().ok()].into_iter().flatten();
        let daily = days.map(|day| (layers.path(Layer::Daily, day), Layer::Daily));
        let other = [Layer::Soul, Layer::User, Layer::Memory];
        other.map(|layer| (layers.path(layer, today), layer)).into_iter().chain(daily).collect()
    }

    fn vault(&self) -> PathBuf {
        vault_folder(self.home.path(), &Scope::default())
    }

    async fn begin(&self) -> Result<Prompt> {
        let request = PromptRequest { base: "You are a helpful assistant.".into(), language: None };
        Ok(self.engine.begin_prompt(&Scope::default(), &request).await?)
    }

    /// Renders a turn without the confidence gate, so that the block is never empty.
    async fn turn(&self, stable: &Prompt, round: u32) -> Result<(String, usize)> {
        let query = self.corpus.query(self.scope, round);
        let request = self.engine.context_request(&Scope::default(), query);
        let request = RecallRequest { min_confidence: 0.0, min_probability: 0.0, ..request };
        let budget = self.engine.config().memory.inject.token_budget;
        let (turn, block) = self.engine.turn_prompt(stable, &request, budget).await?;
        ensure!(!block.entries.is_empty(), "nothing was recalled");
        Ok((turn.text, block.tokens))
    }

    /// Reads the files of a prompt and nothing else.
    fn read_files(&self) -> Result<usize> {
        let index = self.vault().join(INDEX_FILE);
        let files = self.layer_files().into_iter().map(|(path, _)| path).chain([index]);
        files.map(|path: PathBuf| read(&path)).sum()
    }
}

fn read(path: &Path) -> Result<usize> {
    Ok(fs::read(path)?.len())
}

/// Renders a memory of the usual size: a sentence or two, the reason, and its application.
fn page(number: usize) -> String {
    format!(
        "---\nname: Note {number}\ndescription: What note {number} is about, in one line\ntype: user\n---\n\nThe user told \
         fact number {number}. 用户说过的第 {number} 件事。\n\n**Why:** it came up in meeting {}.\n**How to apply:** \
         whenever topic {} is discussed.\n",
        number % 97,
        number % 31
    )
}

fn read_all(folder: &Path) -> Result<usize> {
    fs::read_dir(folder)?.map(|entry| read(&entry?.path())).sum()
}
