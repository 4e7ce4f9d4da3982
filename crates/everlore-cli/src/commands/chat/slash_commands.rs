//! Slash commands of a conversation.

use everlore::{
    engine::MemoryBlockEntry,
    store::{ListOrder, ListQuery},
};

use super::{
    ChatRun,
    interactive::{ChatLoopState, wait_for_interrupt},
};
use crate::{
    Result, chat_model,
    ids::shorten_id,
    messages::translate,
    render::{memory_title, sanitize, truncate_width},
};

/// Command names, for completion.
pub(super) const COMMAND_NAMES: [&str; 8] =
    ["/help", "/memory", "/why", "/model", "/compact", "/cost", "/clear", "/quit"];

/// Most memories that are listed.
const MAX_LISTED: usize = 5;

/// Width of a memory's line.
const LINE_CELLS: usize = 76;

impl ChatRun<'_> {
    /// Runs the command of a line without its slash.
    pub(super) async fn run_command(&mut self, line: &str) -> Result<ChatLoopState> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (name, rest) = (name.to_lowercase(), rest.trim());
        let result = match name.as_str() {
            "quit" | "exit" | "bye" => return Ok(ChatLoopState::End),
            "help" | "?" => self.out.line(self.messages.help()),
            "clear" => self.clear_history(),
            "memory" => self.print_memories(rest).await,
            "why" => self.print_injected().await,
            "model" => self.switch_model(rest),
            "compact" => self.compact_history().await,
            "cost" => self.print_cost(),
            _ => {
                let note = self.messages.unknown_command(&format!("/{}", sanitize(&name)));
                self.out.note(&note);
                Ok(())
            }
        };
        if let Err(error) = result {
            self.report_error(error)?;
        }
        Ok(ChatLoopState::Continue)
    }

    fn clear_history(&mut self) -> Result<()> {
        if let Some(session) = self.responder.conversation() {
            session.clear();
        }
        self.out.line(self.messages.cleared())
    }

    /// Prints counts and the newest memories, or the memories recalled for a query.
    async fn print_memories(&mut self, query: &str) -> Result<()> {
        let (engine, scope) = (self.cx.engine().await?, &self.cx.scope);
        let memories = match query {
            "" => {
                let counts = engine.count(scope).await?;
                for (kind, status, number) in &counts.memories {
                    self.out
                        .line(&format!("{number:>6} {kind} ({})", translate(status.as_str())))?;
                }
                let page = ListQuery {
                    filter: Default::default(),
                    after: None,
                    order: ListOrder::NewestFirst,
                    limit: MAX_LISTED,
                };
                engine.list(scope, &page).await?
            }
            query => {
                let request = everlore::RecallRequest {
                    limit: MAX_LISTED,
                    ..engine.recall_request(scope, query)
                };
                engine.recall(&request).await?.hits.into_iter().map(|hit| hit.memory).collect()
            }
        };
        let ids: Vec<_> = memories.iter().map(|memory| memory.id).collect();
        for (memory, id) in memories.iter().zip(engine.shorten_ids(scope, &ids).await?) {
            let line = truncate_width(&memory_title(memory), LINE_CELLS);
            self.out.line(&format!("  {id} [{}] {line}", memory.kind))?;
        }
        if memories.is_empty() {
            self.out.line(self.messages.choose("nothing is stored", "没有记忆"))?;
        }
        Ok(())
    }

    /// Prints the memories injected for the last message, with their scores and matched words.
    async fn print_injected(&mut self) -> Result<()> {
        let Some(injected) = self.responder.injected().cloned() else {
            return self.out.line(self.messages.needs_model());
        };
        if injected.text.is_empty() {
            return self.out.line(self.messages.nothing_injected(&injected));
        }
        let summary = self.messages.injected(&injected);
        self.out.line(&summary)?;
        for entry in &injected.memories {
            self.print_entry(entry).await?;
        }
        Ok(())
    }

    async fn print_entry(&mut self, entry: &MemoryBlockEntry) -> Result<()> {
        let engine = self.cx.engine().await?;
        // Of a memory that was deleted meanwhile, only the uri is known.
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
        let reason = self.messages.found_by(entry.score, &entry.terms);
        self.out.line(&line)?;
        let reason = self.out.dim(&format!("    {}", sanitize(&reason)));
        self.out.line(&reason)
    }

    /// Prints the name of the model, or switches to another one.
    fn switch_model(&mut self, name: &str) -> Result<()> {
        if self.responder.conversation().is_none() {
            return self.out.line(self.messages.needs_model());
        }
        if !name.is_empty()
            && let Some(model) = chat_model::for_chat(self.cx, Some(name))?
        {
            self.use_model(model);
        }
        let name = self.responder.conversation().map(|session| session.model().name().to_owned());
        let line = self.messages.model_now(&sanitize(&name.unwrap_or_default()));
        self.out.line(&line)
    }

    async fn compact_history(&mut self) -> Result<()> {
        let Some(session) = self.responder.conversation() else {
            return self.out.line(self.messages.needs_model());
        };
        let report = session.compact(wait_for_interrupt()).await;
        let line = self.messages.compacted(&report);
        self.out.line(&line)
    }

    fn print_cost(&mut self) -> Result<()> {
        let Some(session) = self.responder.conversation() else {
            return self.out.line(self.messages.needs_model());
        };
        let (tokens, messages) = session.history_size();
        let line = self.messages.cost(&session.cost(), tokens, messages);
        self.out.line(&line)
    }
}
