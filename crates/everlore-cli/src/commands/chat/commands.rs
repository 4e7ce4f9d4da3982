//! What can be asked for within a conversation: the lines that begin with a slash.

use everlore::{
    recall::BlockEntry,
    store::{Order, Page},
};

use super::talk::{Next, Talk, interrupted};
use crate::{
    chat_model,
    failure::Result,
    ids::short,
    words::{cut, title, visible},
};

/// The commands, as they are completed.
pub(super) const NAMES: [&str; 8] =
    ["/help", "/memory", "/why", "/model", "/compact", "/cost", "/clear", "/quit"];

/// How many memories are listed.
const LISTED: usize = 5;

/// The cells of a line that tells a memory.
const LINE_CELLS: usize = 76;

impl Talk<'_> {
    /// Does what a line after its slash asks for.
    pub(super) async fn command(&mut self, line: &str) -> Result<Next> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (name, rest) = (name.to_lowercase(), rest.trim());
        let done = match name.as_str() {
            "quit" | "exit" | "bye" => return Ok(Next::End),
            "help" | "?" => self.out.line(self.phrases.help()),
            "clear" => self.clear(),
            "memory" => self.memory(rest).await,
            "why" => self.why().await,
            "model" => self.model(rest),
            "compact" => self.compact().await,
            "cost" => self.cost(),
            _ => {
                let told = self.phrases.unknown_command(&format!("/{}", visible(&name)));
                self.out.note(&told);
                Ok(())
            }
        };
        if let Err(failure) = done {
            self.tell(failure)?;
        }
        Ok(Next::Line)
    }

    fn clear(&mut self) -> Result<()> {
        if let Some(talk) = self.partner.model() {
            talk.clear();
        }
        self.out.line(self.phrases.cleared())
    }

    /// How much is remembered and what came last, or what is remembered about something.
    async fn memory(&mut self, about: &str) -> Result<()> {
        let (engine, scope) = (self.cx.engine().await?, &self.cx.scope);
        let found = match about {
            "" => {
                let counts = engine.count(scope).await?;
                for (kind, status, number) in &counts.memories {
                    self.out.line(&format!("{number:>6} {kind} ({status})"))?;
                }
                let page = Page {
                    filter: Default::default(),
                    after: None,
                    order: Order::NewestFirst,
                    limit: LISTED,
                };
                engine.list(scope, &page).await?
            }
            about => {
                let request =
                    everlore::RecallRequest { limit: LISTED, ..engine.request(scope, about) };
                engine.recall(&request).await?.hits.into_iter().map(|hit| hit.memory).collect()
            }
        };
        for memory in &found {
            let (id, line) =
                (short(engine, scope, memory.id).await?, cut(&title(memory), LINE_CELLS));
            self.out.line(&format!("  {id} [{}] {line}", memory.kind))?;
        }
        if found.is_empty() {
            self.out.line(self.phrases.choose("nothing is stored", "没有记忆"))?;
        }
        Ok(())
    }

    /// What was recalled for the last message, and why.
    async fn why(&mut self) -> Result<()> {
        let Some(injected) = self.partner.injected().cloned() else {
            return self.out.line(self.phrases.no_model_here());
        };
        if injected.text.is_empty() {
            return self.out.line(self.phrases.nothing_injected(&injected));
        }
        let told = self.phrases.injected(&injected);
        self.out.line(&told)?;
        for entry in &injected.memories {
            self.entry(entry).await?;
        }
        Ok(())
    }

    async fn entry(&mut self, entry: &BlockEntry) -> Result<()> {
        let engine = self.cx.engine().await?;
        // What was forgotten meanwhile is only named.
        let line = match engine.get(&self.cx.scope, entry.id).await {
            Ok(memory) => {
                let id = short(engine, &self.cx.scope, entry.id).await?;
                format!("  {id} [{}] {}", memory.kind, cut(&title(&memory), LINE_CELLS))
            }
            Err(_) => format!("  {}", entry.uri),
        };
        let why = self.phrases.found_by(entry.score, &entry.terms);
        self.out.line(&line)?;
        let why = self.out.faint(&format!("    {}", visible(&why)));
        self.out.line(&why)
    }

    /// Who answers, or lets another model answer.
    fn model(&mut self, name: &str) -> Result<()> {
        if self.partner.model().is_none() {
            return self.out.line(self.phrases.no_model_here());
        }
        if !name.is_empty()
            && let Some(model) = chat_model::for_chat(self.cx, Some(name))?
        {
            self.use_model(model);
        }
        let name = self.partner.model().map(|talk| talk.model().name().to_owned());
        let told = self.phrases.model_now(&visible(&name.unwrap_or_default()));
        self.out.line(&told)
    }

    async fn compact(&mut self) -> Result<()> {
        let Some(talk) = self.partner.model() else {
            return self.out.line(self.phrases.no_model_here());
        };
        let done = talk.compact(interrupted()).await;
        let told = self.phrases.compacted(&done);
        self.out.line(&told)
    }

    fn cost(&mut self) -> Result<()> {
        let Some(talk) = self.partner.model() else {
            return self.out.line(self.phrases.no_model_here());
        };
        let told = self.phrases.cost(&talk.cost(), talk.size());
        self.out.line(&told)
    }
}
