//! Answers from memory alone: what is stored about a question, quoted with who said it and when.

use jiff::Zoned;
use serde::Serialize;

use super::{MonotonicClock, end_session};
use crate::{
    config::LanguageChoice,
    engine::{Engine, SessionEnd},
    error::Result,
    ingest::Turn,
    recall::{Hit, RecallRequest},
    text::{
        age::Age,
        language::{Language, detect_language},
    },
    types::{Kind, Memory, MemoryId, Role, Scope},
};

/// Hits that are looked at beside those that are quoted: earlier questions are found as well and are no answers.
const EXTRA_HITS: usize = 10;

/// A conversation without a model.
pub struct OfflineSession {
    engine: Engine,
    scope: Scope,
    session: String,
    clock: MonotonicClock,
}

/// Something stored that answers a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryQuote {
    /// The memory.
    pub id: MemoryId,
    /// Its uri.
    pub uri: String,
    /// What sort of memory it is.
    pub kind: Kind,
    /// What it says.
    pub text: String,
    /// Who said it, when and where, in words.
    pub source: String,
    /// Its worth for the question, from 0 to 1.
    pub score: f64,
}

/// The answer to one message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfflineAnswer {
    /// All of it in words, as markdown.
    pub text: String,
    /// What is quoted, the best first.
    pub quotes: Vec<MemoryQuote>,
}

impl OfflineSession {
    /// A conversation of this name.
    pub fn new(engine: &Engine, scope: &Scope, session: &str) -> Self {
        let (engine, scope, session) = (engine.clone(), scope.clone(), session.to_owned());
        Self { engine, scope, session, clock: MonotonicClock::default() }
    }

    /// Stores a message and answers with what is stored about it. The answer itself is not stored: it is nothing new.
    pub async fn send(&mut self, text: &str) -> Result<OfflineAnswer> {
        let now = self.clock.next_instant(&self.engine);
        let remembers = self.engine.settings(self.scope.agent()).memory.enabled;
        // A question is no answer to itself, so memory is asked first.
        let hits = match remembers {
            true => self.engine.recall(&self.request(text)).await.map(|found| found.hits),
            false => Ok(Vec::new()),
        };
        if remembers {
            self.engine.observe(&self.scope, vec![self.turn(text, &now)]).await?;
        }
        let (hits, language) = (hits?, self.language(text));
        let limit = self.engine.settings(self.scope.agent()).memory.inject.limit;
        let answers = hits.iter().filter(|hit| !is_question(hit)).take(limit);
        let quotes: Vec<MemoryQuote> = answers.map(|hit| quote(hit, &now, language)).collect();
        Ok(OfflineAnswer { text: render_quotes(&quotes, language), quotes })
    }

    /// Ends it: what it was about goes into the log of the day. Nothing if nothing was said.
    pub async fn end(&self) -> Result<Option<SessionEnd>> {
        end_session(&self.engine, &self.scope, &self.session).await
    }

    fn turn(&self, text: &str, now: &Zoned) -> Turn {
        Turn {
            text: text.to_owned(),
            session: Some(self.session.clone()),
            speaker: None,
            role: Some(Role::User),
            time: Some(now.timestamp()),
        }
    }

    /// Hits that are far behind the best are kept: that one may be an earlier question.
    fn request(&self, text: &str) -> RecallRequest {
        let request = self.engine.context_request(&self.scope, text);
        RecallRequest { limit: request.limit + EXTRA_HITS, floor: 0.0, ..request }
    }

    fn language(&self, text: &str) -> Language {
        match self.engine.settings(self.scope.agent()).general.language {
            LanguageChoice::Auto => detect_language(text),
            LanguageChoice::En => Language::English,
            LanguageChoice::Zh => Language::Chinese,
        }
    }
}

/// Whether a turn only asks.
fn is_question(hit: &Hit) -> bool {
    let memory = &hit.memory;
    let asked = memory.content.trim_end().ends_with(['?', '？', '吗', '呢']);
    memory.kind == Kind::Turn && memory.source.role != Some(Role::Assistant) && asked
}

fn quote(hit: &Hit, now: &Zoned, language: Language) -> MemoryQuote {
    let memory = &hit.memory;
    MemoryQuote {
        id: memory.id,
        uri: memory.uri.clone(),
        kind: memory.kind,
        text: memory.content.trim().to_owned(),
        source: source_line(hit, now, language),
        score: hit.score,
    }
}

/// `you, 2026-03-02 (yesterday), conversation monday`.
fn source_line(hit: &Hit, now: &Zoned, language: Language) -> String {
    let (memory, chinese) = (&hit.memory, language == Language::Chinese);
    let Age { day, days } = Age::new(memory.at, now);
    let by = match (&memory.source.speaker, memory.source.role) {
        (Some(speaker), _) => Some(speaker.clone()),
        (None, Some(Role::User)) => Some(if chinese { "你" } else { "you" }.to_owned()),
        (None, Some(Role::Assistant)) => {
            Some(if chinese { "助手" } else { "assistant" }.to_owned())
        }
        _ if memory.kind == Kind::Turn || name_repeats_content(memory) => None,
        _ => Some(memory.name.clone()),
    };
    let age = match (days, chinese) {
        (0, false) => "today".to_owned(),
        (0, true) => "今天".to_owned(),
        (1, false) => "yesterday".to_owned(),
        (1, true) => "昨天".to_owned(),
        (days, false) => format!("{days} days ago"),
        (days, true) => format!("{days} 天前"),
    };
    let when = if chinese { format!("{day}（{age}）") } else { format!("{day} ({age})") };
    let session = memory.source.session.as_ref().map(|session| match chinese {
        false => format!("conversation {session}"),
        true => format!("会话 {session}"),
    });
    let outdated = hit.newer.map(|_| match chinese {
        false => "a newer memory says otherwise".to_owned(),
        true => "已有更新的说法".to_owned(),
    });
    let parts: Vec<String> = [by, Some(when), session, outdated].into_iter().flatten().collect();
    parts.join(if chinese { "，" } else { ", " })
}

/// Whether a memory is called by the beginning of what it says, which tells nothing more.
fn name_repeats_content(memory: &Memory) -> bool {
    memory.content.trim().starts_with(memory.name.trim_end_matches('…').trim_end())
}

fn render_quotes(quotes: &[MemoryQuote], language: Language) -> String {
    let chinese = language == Language::Chinese;
    if quotes.is_empty() {
        return match chinese {
            false => "Nothing is stored about that. What you said is kept.".to_owned(),
            true => "没有存过与此有关的内容。你说的话已经记下。".to_owned(),
        };
    }
    let opening = if chinese { "记忆中有这些：" } else { "This is stored:" };
    let quoted = quotes.iter().map(|quote| {
        let lines = quote.text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>();
        format!("\n\n{}\n\n— {}", lines.join("\n"), quote.source)
    });
    opening.to_owned() + &quoted.collect::<String>()
}
