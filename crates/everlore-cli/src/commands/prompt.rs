//! `everlore prompt`: the complete prompt of a model.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use everlore::{
    MemoryBlock,
    engine::{Prompt, PromptPart, PromptRequest, TurnPrompt},
    internal::text::language::detect_language,
};
use serde::Serialize;

use crate::{CliContext, CliError, Exit, Output, Result, messages::translate, render};

/// Show the complete prompt of a model
#[derive(Debug, Subcommand)]
pub(crate) enum PromptCommand {
    Show(PromptShowArgs),
}

impl PromptCommand {
    /// Runs the command.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match self {
            Self::Show(args) => args.run(cx, out).await,
        }
    }
}

/// Print exactly what a model would get in a conversation that begins now
///
/// First the parts that stay the same for the whole conversation: who the agent is, who the user is, its notes, the
/// latest days, how to use the memory, the index of the vault, and your own prompt. Then, with a message, the memories
/// recalled for it. The characters and tokens of each part go to standard error.
#[derive(Debug, Args)]
pub(crate) struct PromptShowArgs {
    /// A message of the user; without it, only the stable parts are printed
    message: Vec<String>,
    /// Your own prompt, which comes last
    #[arg(long, value_name = "TEXT", default_value = "", conflicts_with = "base_file")]
    base: String,
    /// A file with your own prompt
    #[arg(long, value_name = "FILE")]
    base_file: Option<PathBuf>,
    /// The most tokens of recalled memories [default: from the settings]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

/// Prompt for programs.
#[derive(Serialize)]
struct PromptView<'a> {
    text: &'a str,
    parts: &'a [PromptPart],
    block: &'a MemoryBlock,
    chars: usize,
    tokens: usize,
    stable_bytes: usize,
    stable_fingerprint: &'a str,
    turn_bytes: usize,
}

impl PromptShowArgs {
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let engine = cx.engine().await?;
        let message = self.message.join(" ");
        let language = (!message.trim().is_empty()).then(|| detect_language(&message));
        let base = match &self.base_file {
            Some(file) => std::fs::read_to_string(file)
                .map_err(|error| CliError::io(file.display().to_string(), error))?,
            None => self.base,
        };
        let prompt = engine.preview_prompt(&cx.scope, &PromptRequest { base, language }).await?;
        let default = engine.settings(cx.scope.agent()).memory.inject.token_budget;
        let budget = self.budget.unwrap_or(default);
        let (turn, block) = match language {
            Some(_) => {
                let request = engine.context_request(&cx.scope, message);
                engine.turn_prompt(&prompt, &request, budget).await?
            }
            None => (prompt.for_turn(&MemoryBlock::default()), MemoryBlock::default()),
        };
        print_prompt(&prompt, &turn, &block, out)
    }
}

fn print_prompt(
    prompt: &Prompt,
    turn: &TurnPrompt,
    block: &MemoryBlock,
    out: &mut Output,
) -> Result<Exit> {
    let (chars, tokens) = (turn.text.chars().count(), prompt.tokens() + block.tokens);
    if out.is_json() {
        out.json(&PromptView {
            text: &turn.text,
            parts: &prompt.parts,
            block,
            chars,
            tokens,
            stable_bytes: turn.stable_bytes,
            stable_fingerprint: &turn.stable_fingerprint,
            turn_bytes: turn.turn_bytes,
        })?;
        return Ok(Exit::from_found(!turn.text.is_empty()));
    }
    if !turn.text.is_empty() {
        out.line(&turn.text)?;
    }
    out.note(&render_sizes(prompt, block, chars, tokens));
    Ok(Exit::from_found(!turn.text.is_empty()))
}

/// Renders the size of each part.
fn render_sizes(prompt: &Prompt, block: &MemoryBlock, chars: usize, tokens: usize) -> String {
    let mut rows: Vec<_> = prompt.parts.iter().map(part_row).collect();
    if !block.text.is_empty() {
        let memories = render::pluralize(block.entries.len(), "memory", "memories");
        let memories = format!("{memories}, recalled for the message");
        let block_chars = block.text.chars().count().to_string();
        let (name, memories) =
            (translate("recalled").into_owned(), translate(&memories).into_owned());
        rows.push([name, block_chars, block.tokens.to_string(), memories]);
    }
    rows.push([
        translate("all").into_owned(),
        chars.to_string(),
        tokens.to_string(),
        String::new(),
    ]);
    let mut table = render::new_table(&["part", "characters", "tokens", ""]);
    table.add_rows(rows);
    render::render_table(table)
}

fn part_row(part: &PromptPart) -> [String; 4] {
    let cut = match part.cut_chars {
        0 => String::new(),
        cut => translate(&format!("{cut} characters of the file are left out")).into_owned(),
    };
    [
        translate(part.name.as_str()).into_owned(),
        part.chars.to_string(),
        part.tokens.to_string(),
        cut,
    ]
}
