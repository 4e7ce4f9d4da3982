//! Offline sessions: answers that quote stored memories, with speaker and date, without a model.

use jiff::Zoned;
use serde::Serialize;

use super::{MonotonicClock, end_session, take_reminders};
use crate::{
    config::LanguageChoice,
    engine::{DueReminder, Engine, SessionEnd},
    error::Result,
    ingest::Turn,
    recall::{Hit, RecallRequest},
    sync::BoxFuture,
    text::{
        age::Age,
        language::{Language, detect_language},
    },
    types::{Kind, Memory, MemoryId, Role, Scope},
};

/// Hits fetched beyond those quoted: recall also finds earlier questions, which are no answers.
const EXTRA_HITS: usize = 10;

/// Session without a model.
pub struct OfflineSession {
    engine: Engine,
    scope: Scope,
    session: String,
    clock: MonotonicClock,
}

/// Stored memory that answers a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryQuote {
    /// Id of the memory.
    pub id: MemoryId,
    /// Uri of the memory.
    pub uri: String,
    /// Kind of the memory.
    pub kind: Kind,
    /// Text of the memory.
    pub text: String,
    /// Speaker, date and session in words.
    pub source: String,
    /// Score for the question, from 0 to 1.
    pub score: f64,
}

/// Answer to one message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfflineAnswer {
    /// Complete answer as markdown.
    pub text: String,
    /// Quoted memories, best first.
    pub quotes: Vec<MemoryQuote>,
    /// Reminders that are due.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reminders: Vec<DueReminder>,
}

impl OfflineSession {
    /// Creates a session of this name.
    pub fn new(engine: &Engine, scope: &Scope, session: &str) -> Self {
        let (engine, scope, session) = (engine.clone(), scope.clone(), session.to_owned());
        Self { engine, scope, session, clock: MonotonicClock::default() }
    }

    /// Stores a message and answers with stored memories. The answer is not stored: it contains nothing new.
    pub fn send<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, Result<OfflineAnswer>> {
        Box::pin(async move {
            let now = self.clock.next_instant(&self.engine);
            let enabled = self.engine.settings(self.scope.agent()).memory.enabled;
            // A question is no answer to itself, so recall runs first.
            let hits = if enabled {
                self.engine.recall(&self.request(text)).await.map(|recall| recall.hits)
            } else {
                Ok(Vec::new())
            };
            if enabled {
                self.engine.observe(&self.scope, vec![self.turn(text, &now)]).await?;
            }
            let (hits, language) = (hits?, self.language(text));
            let limit = self.engine.settings(self.scope.agent()).memory.inject.limit;
            let answers = hits.iter().filter(|hit| !is_question(hit)).take(limit);
            let quotes: Vec<MemoryQuote> = answers.map(|hit| quote(hit, &now, language)).collect();
            let reminders = take_reminders(&self.engine, &self.scope).await;
            let text = render_due(&reminders, language) + &render_quotes(&quotes, language);
            Ok(OfflineAnswer { text, quotes, reminders })
        })
    }

    /// Ends the session and logs a summary of it in the daily log. Returns `None` if no message was sent.
    pub async fn end(&self) -> Result<Option<SessionEnd>> {
        end_session(&self.engine, &self.scope, &self.session).await
    }

    fn turn(&self, text: &str, now: &Zoned) -> Turn {
        Turn {
            text: text.to_owned(),
            session: Some(self.session.clone()),
            role: Some(Role::User),
            time: Some(now.timestamp()),
            ..Turn::default()
        }
    }

    /// Builds a recall request without a score floor: the best hit may be an earlier question.
    fn request(&self, text: &str) -> RecallRequest {
        let request = self.engine.context_request(&self.scope, text);
        RecallRequest { limit: request.limit + EXTRA_HITS, min_probability: 0.0, ..request }
    }

    fn language(&self, text: &str) -> Language {
        match self.engine.settings(self.scope.agent()).general.language {
            LanguageChoice::Auto => detect_language(text),
            LanguageChoice::En => Language::English,
            LanguageChoice::Zh => Language::Chinese,
        }
    }
}

/// Renders reminders as lines before the answer; empty if there are none.
fn render_due(reminders: &[DueReminder], language: Language) -> String {
    let is_chinese = language == Language::Chinese;
    let title = if is_chinese { "提醒：" } else { "Reminder: " };
    let lines = reminders.iter().map(|it| format!("{title}{}\n\n", it.line(is_chinese)));
    lines.collect()
}

/// Returns `true` if the hit is a turn that only asks.
fn is_question(hit: &Hit) -> bool {
    let memory = &hit.memory;
    let asks = memory.content.trim_end().ends_with(['?', '？', '吗', '呢']);
    memory.kind == Kind::Turn && memory.source.role != Some(Role::Assistant) && asks
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

/// Formats the source, such as `you, 2026-03-02 (yesterday), conversation monday`.
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
    let session = memory.source.session.as_ref().map(|session| {
        if chinese { format!("会话 {session}") } else { format!("conversation {session}") }
    });
    let outdated = match (chinese, hit.held_until.is_some()) {
        (true, true) => "已有更新的说法",
        (true, false) => "可能已有更新的说法",
        (false, true) => "a newer memory says otherwise",
        (false, false) => "a newer memory may say otherwise",
    };
    let outdated = hit.newer.map(|_| outdated.to_owned());
    let parts: Vec<String> = [by, Some(when), session, outdated].into_iter().flatten().collect();
    parts.join(if chinese { "，" } else { ", " })
}

/// Returns `true` if the memory's name is the beginning of its text and adds nothing.
fn name_repeats_content(memory: &Memory) -> bool {
    memory.content.trim().starts_with(memory.name.trim_end_matches('…').trim_end())
}

fn render_quotes(quotes: &[MemoryQuote], language: Language) -> String {
    let chinese = language == Language::Chinese;
    if quotes.is_empty() {
        let none = if chinese {
            "没有找到与此有关的记忆。你的消息已保存。"
        } else {
            "Nothing is stored about that. Your message is saved."
        };
        return none.to_owned();
    }
    let opening = if chinese { "相关的记忆：" } else { "This is stored:" };
    let quoted = quotes.iter().map(|quote| {
        let lines = quote.text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>();
        format!("\n\n{}\n\n— {}", lines.join("\n"), quote.source)
    });
    opening.to_owned() + &quoted.collect::<String>()
}
