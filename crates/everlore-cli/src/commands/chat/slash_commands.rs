//! What can be asked for within a conversation: the lines that begin with a slash.

use everlore::{
    recall::MemoryBlockEntry,
    store::{ListOrder, ListQuery},
};

use super::interactive::{ChatLoopState, InteractiveChat, wait_for_interrupt};
use crate::{
    chat_model,
    error::Result,
    ids::shorten_id,
    render::{memory_title, sanitize, truncate_width},
};

/// The commands, as they are completed.
pub(super) const COMMAND_NAMES: [&str; 8] =
    ["/help", "/memory", "/why", "/model", "/compact", "/cost", "/clear", "/quit"];

/// How many memories are listed.
const MAX_LISTED: usize = 5;

/// The cells of a line that tells a memory.
const LINE_CELLS: usize = 76;

impl InteractiveChat<'_> {
    /// Does what a line after its slash asks for.
    pub(super) async fn run_command(&mut self, line: &str) -> Result<ChatLoopState> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (name, rest) = (name.to_lowercase(), rest.trim());
        let done = match name.as_str() {
            "quit" | "exit" | "bye" => return Ok(ChatLoopState::End),
            "help" | "?" => self.out.line(self.messages.help()),
            "clear" => self.clear_history(),
            "memory" => self.print_memories(rest).await,
            "why" => self.print_injected().await,
            "model" => self.switch_model(rest),
            "compact" => self.compact_history().await,
            "cost" => self.print_cost(),
            _ => {
                let told = self.messages.unknown_command(&format!("/{}", sanitize(&name)));
                self.out.note(&told);
                Ok(())
            }
        };
        if let Err(failure) = done {
            self.report_error(failure)?;
        }
        Ok(ChatLoopState::Continue)
    }

    fn clear_history(&mut self) -> Result<()> {
        if let Some(talk) = self.responder.conversation() {
            talk.clear();
        }
        self.out.line(self.messages.cleared())
    }

    /// How much is remembered and what came last, or what is remembered about something.
    async fn print_memories(&mut self, about: &str) -> Result<()> {
        let (engine, scope) = (self.cx.engine().await?, &self.cx.scope);
        let found = match about {
            "" => {
                let counts = engine.count(scope).await?;
                for (kind, status, number) in &counts.memories {
                    self.out.line(&format!("{number:>6} {kind} ({status})"))?;
                }
                let page = ListQuery {
                    filter: Default::default(),
                    after: None,
                    order: ListOrder::NewestFirst,
                    limit: MAX_LISTED,
                };
                engine.list(scope, &page).await?
            }
            about => {
                let request =
                    everlore::RecallRequest { limit: MAX_LISTED, ..engine.request(scope, about) };
                engine.recall(&request).await?.hits.into_iter().map(|hit| hit.memory).collect()
            }
        };
        for memory in &found {
            let (id, line) = (
                shorten_id(engine, scope, memory.id).await?,
                truncate_width(&memory_title(memory), LINE_CELLS),
            );
            self.out.line(&format!("  {id} [{}] {line}", memory.kind))?;
        }
        if found.is_empty() {
            self.out.line(self.messages.choose("nothing is stored", "没有记忆"))?;
        }
        Ok(())
    }

    /// What was recalled for the last message, and why.
    async fn print_injected(&mut self) -> Result<()> {
        let Some(injected) = self.responder.injected().cloned() else {
            return self.out.line(self.messages.needs_model());
        };
        if injected.text.is_empty() {
            return self.out.line(self.messages.nothing_injected(&injected));
        }
        let told = self.messages.injected(&injected);
        self.out.line(&told)?;
        for entry in &injected.memories {
            self.print_entry(entry).await?;
        }
        Ok(())
    }

    async fn print_entry(&mut self, entry: &MemoryBlockEntry) -> Result<()> {
        let engine = self.cx.engine().await?;
        // What was forgotten meanwhile is only named.
        let line = match engine.get(&self.cx.scope, entry.id).await {
            Ok(memory) => {
                let id = shorten_id(engine, &self.cx.scope, entry.id).await?;
                format!(
                    "  {id} [{}] {}",
                    memory.kind,
                    truncate_width(&memory_title(&memory), LINE_CELLS)
                )
            }
            Err(_) => format!("  {}", entry.uri),
        };
        let why = self.messages.found_by(entry.score, &entry.terms);
        self.out.line(&line)?;
        let why = self.out.dim(&format!("    {}", sanitize(&why)));
        self.out.line(&why)
    }

    /// Who answers, or lets another model answer.
    fn switch_model(&mut self, name: &str) -> Result<()> {
        if self.responder.conversation().is_none() {
            return self.out.line(self.messages.needs_model());
        }
        if !name.is_empty()
            && let Some(model) = chat_model::for_chat(self.cx, Some(name))?
        {
            self.use_model(model);
        }
        let name = self.responder.conversation().map(|talk| talk.model().name().to_owned());
        let told = self.messages.model_now(&sanitize(&name.unwrap_or_default()));
        self.out.line(&told)
    }

    async fn compact_history(&mut self) -> Result<()> {
        let Some(talk) = self.responder.conversation() else {
            return self.out.line(self.messages.needs_model());
        };
        let done = talk.compact(wait_for_interrupt()).await;
        let told = self.messages.compacted(&done);
        self.out.line(&told)
    }

    fn print_cost(&mut self) -> Result<()> {
        let Some(talk) = self.responder.conversation() else {
            return self.out.line(self.messages.needs_model());
        };
        let told = self.messages.cost(&talk.cost(), talk.history_size());
        self.out.line(&told)
    }
}
