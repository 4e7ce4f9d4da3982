//! Past prompts of a session: the memories that each contained, and the turn that it answered.

use std::collections::HashMap;

use serde::Serialize;

use super::super::{Engine, SCAN_PAGE};
use crate::{
    error::Result,
    store::{InjectedTier, UsageLines, UsageRecord, UsageSelection},
    types::{Fingerprint, Memory, MemoryId, Role, Scope, Timestamp},
};

/// Most turns of a session that are compared with its prompts: those of a year of work.
const MAX_TURNS: usize = 20_000;

/// Lines of the usage log that are read for each prompt: more than a prompt has memories.
const MAX_PROMPT_LINES: usize = 40;

/// Memories of one prompt of a session, as the usage log keeps them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PastPrompt {
    /// Number of the prompt within its session, counted from 1.
    pub number: u32,
    /// Time at which it was built.
    #[cfg_attr(feature = "schema", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
    /// Turn whose text the prompt was built for; `None` if no stored turn has that text.
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub turn: Option<MemoryId>,
    /// Memories, in the order of the prompt.
    pub memories: Vec<PastPromptMemory>,
}

/// Memory of a past prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PastPromptMemory {
    /// Id; the memory may have been changed or deleted since.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub id: MemoryId,
    /// Part that the prompt contained: line, overview or full; `held_out` if it was left out as a control.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub shown: InjectedTier,
    /// Verdict: `true` if the answer used the memory; `None` as long as no answer was compared.
    pub used: Option<bool>,
}

/// Prompt of any session, by the number of memories that it contained.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LoggedPrompt {
    /// Session.
    pub session: String,
    /// Number of the prompt within its session, counted from 1.
    pub number: u32,
    /// Time at which it was built.
    #[cfg_attr(feature = "schema", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
    /// Memories in it.
    pub told: u32,
    /// Memories that were compared with the answer.
    pub judged: u32,
    /// Memories that the answer used.
    pub used: u32,
}

impl LoggedPrompt {
    fn new(line: &UsageRecord) -> Self {
        let (session, number, at) = (line.session.clone(), line.turn, line.at);
        Self { session, number, at, told: 0, judged: 0, used: 0 }
    }

    fn count(&mut self, line: &UsageRecord) {
        if line.injected.shown != InjectedTier::HeldOut {
            self.told += 1;
            self.judged += u32::from(line.used.is_some());
            self.used += u32::from(line.used == Some(true));
        }
    }
}

impl Engine {
    /// Returns the prompts of a session that contained memories, oldest first. Texts of prompts are not kept: what a
    /// memory says now may differ from what it said then. Fails if the store fails.
    pub async fn past_prompts(&self, scope: &Scope, session: &str) -> Result<Vec<PastPrompt>> {
        self.flush_usage().await;
        let session = &*self.stored_session(scope, session);
        let lines = self.store.usage().of_session(scope, session, UsageLines::All).await?;
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let turns = self.turns_by_text(scope, session).await?;
        Ok(group_by_prompt(lines, &turns))
    }

    /// Returns the newest prompts of all sessions that contained memories, newest first. Fails if the store fails.
    pub async fn newest_prompts(&self, scope: &Scope, limit: usize) -> Result<Vec<LoggedPrompt>> {
        self.flush_usage().await;
        let lines = limit.saturating_mul(MAX_PROMPT_LINES);
        let mut prompts: Vec<LoggedPrompt> = Vec::new();
        for line in self.store.usage().of_scope(scope, UsageSelection::Newest(lines)).await? {
            let is_same = |it: &LoggedPrompt| it.session == line.session && it.number == line.turn;
            let at = match prompts.iter().position(is_same) {
                Some(at) => at,
                None if prompts.len() == limit => continue,
                None => {
                    prompts.push(LoggedPrompt::new(&line));
                    prompts.len() - 1
                }
            };
            prompts[at].count(&line);
        }
        Ok(prompts)
    }

    /// Returns the times and ids of what users said in a session, by the digest of the text.
    async fn turns_by_text(&self, scope: &Scope, session: &str) -> Result<TurnsByText> {
        let (mut turns, mut after, mut count) = (TurnsByText::new(), None, 0);
        while count < MAX_TURNS {
            let page = self.store.uris().turns(scope, session, after, SCAN_PAGE).await?;
            for turn in page.iter().filter(|turn| is_by_user(turn)) {
                let same = turns.entry(Fingerprint::of(&turn.content)).or_default();
                same.push((turn.at, turn.id));
            }
            count += page.len();
            after = page.last().map(|turn| turn.id);
            if page.len() < SCAN_PAGE {
                break;
            }
        }
        Ok(turns)
    }
}

/// Times and ids of turns by the digest of their text.
type TurnsByText = HashMap<Fingerprint, Vec<(Timestamp, MemoryId)>>;

fn is_by_user(turn: &Memory) -> bool {
    turn.source.role.is_none_or(|role| role == Role::User)
}

fn group_by_prompt(lines: Vec<UsageRecord>, turns: &TurnsByText) -> Vec<PastPrompt> {
    let mut prompts: Vec<PastPrompt> = Vec::new();
    for line in lines {
        if prompts.last().is_none_or(|prompt| prompt.number != line.turn) {
            let turn = nearest_turn(turns, &line);
            prompts.push(PastPrompt { number: line.turn, at: line.at, turn, memories: Vec::new() });
        }
        let UsageRecord { injected, used, .. } = line;
        let memory = PastPromptMemory { id: injected.id, shown: injected.shown, used };
        if let Some(prompt) = prompts.last_mut() {
            prompt.memories.push(memory);
        }
    }
    prompts
}

/// Returns the turn with the text of a prompt's message; of several, that which was said closest to the prompt.
fn nearest_turn(turns: &TurnsByText, line: &UsageRecord) -> Option<MemoryId> {
    let distance = |at: Timestamp| at.as_millisecond().abs_diff(line.at.as_millisecond());
    let same = turns.get(&line.query)?;
    same.iter().min_by_key(|(at, _)| distance(*at)).map(|(_, id)| *id)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        ingest::{RememberRequest, Turn},
        store::RamStore,
    };

    #[tokio::test]
    async fn a_past_prompt_names_its_memories_and_the_turn_that_it_answered() {
        let engine = Engine::new(Arc::new(RamStore::default()));
        let (scope, other) = (Scope::default(), Scope::new("default", "li").unwrap());
        for text in ["I am allergic to peanuts", "我喜欢喝龙井茶"] {
            engine.remember(&scope, RememberRequest::new(text)).await.unwrap();
        }
        for (session, message) in [("s", "Which allergy do I have?"), ("s", "我喜欢喝什么茶？")]
        {
            let turn =
                Turn { text: message.into(), session: Some(session.into()), ..Turn::default() };
            engine.observe(&scope, vec![turn]).await.unwrap();
            let request = engine.recall_request(&scope, message);
            let block = engine.inject(&request, 500, session).await.unwrap();
            assert!(!block.entries.is_empty(), "{message}");
        }
        let prompts = engine.past_prompts(&scope, "s").await.unwrap();
        assert_eq!(prompts.iter().map(|prompt| prompt.number).collect::<Vec<_>>(), [1, 2]);
        for (prompt, message) in
            prompts.iter().zip(["Which allergy do I have?", "我喜欢喝什么茶？"])
        {
            let turn = engine.get(&scope, prompt.turn.unwrap()).await.unwrap();
            assert_eq!(turn.content, message);
            assert!(!prompt.memories.is_empty());
        }
        let newest = engine.newest_prompts(&scope, 9).await.unwrap();
        let told: Vec<_> = newest.iter().map(|it| (&*it.session, it.number, it.judged)).collect();
        assert_eq!(told, [("s", 2, 0), ("s", 1, 0)]);
        assert_eq!(newest[1].told as usize, prompts[0].memories.len());
        assert_eq!(engine.newest_prompts(&scope, 1).await.unwrap(), newest[..1]);
        assert_eq!(engine.newest_prompts(&other, 9).await.unwrap(), []);
        assert_eq!(engine.past_prompts(&other, "s").await.unwrap(), []);
        assert_eq!(engine.past_prompts(&scope, "t").await.unwrap(), []);
    }
}
