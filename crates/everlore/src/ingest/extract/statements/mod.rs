//! Extraction without a chat model: statements are kept as they were said, word for word.
//!
//! 1. A message is cut into sentences, own words only (`cut.rs`).
//! 2. Each is judged by a classifier, given the conversation before it: worth keeping or not, its kind, and whether it
//!    is asserted at all. Role plays, translations and pasted texts (`frame.rs`) need more certainty. Without a
//!    classifier, sentences with a known pattern are kept (`../slots/`).
//! 3. Rules decide where they are exact: requests to remember (`requests.rs`), names, confirmed questions.
//!    What a short answer, a fragment or a correction leaves out is added before it is judged (`completion.rs`).
//! 4. A kept sentence becomes a draft, with the sentence before it where a word refers to it, the question that it
//!    answers (`front.rs`) and the dates that relative ones mean (`dates.rs`).
//! 5. A correction (`../correction.rs`) takes back the draft that it means, or names the stored statement later.

mod cut;
mod frame;
mod requests;
mod front;
mod completion;
mod tense;
mod dates;
mod filler;
mod sincerity;
mod decide;
mod message;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::{
    Draft, TurnText,
    correction::{Correction, DIRECT_LOG_ODDS, StatementTraits},
    judge::SentenceJudge,
};
use crate::{
    error::Result,
    text::{attribution::is_same_name, secrets::find_mask},
    types::Role,
};
use frame::{SessionFrame, is_end};

/// Messages between a direct correction and the statement that it means.
const MAX_MESSAGES_BACK: usize = 1;

/// Turns to extract from, with those before them.
#[derive(Debug, Clone, Copy)]
pub struct SessionTurns<'a> {
    /// Turns that were read before, in order.
    pub context: &'a [TurnText],
    /// Turns to extract from, in order.
    pub turns: &'a [TurnText],
}

/// Extracts the statements that people made or confirmed in these turns, in order. `zone` determines the day. Fails if
/// the judge fails.
pub fn extract_statements(
    session: SessionTurns<'_>,
    zone: &TimeZone,
    judge: Option<&dyn SentenceJudge>,
) -> Result<Vec<Draft>> {
    let mut extractor = StatementExtractor::new(zone, judge);
    session.context.iter().for_each(|turn| extractor.listen(turn));
    for turn in session.turns {
        extractor.read(turn)?;
    }
    Ok(extractor.into_drafts())
}

/// Extractor with the state of one session.
struct StatementExtractor<'a> {
    zone: &'a TimeZone,
    judge: Option<&'a dyn SentenceJudge>,
    /// Sentences and replies so far.
    history: Vec<String>,
    frame: SessionFrame,
    /// Reply that the next message may answer.
    reply: Option<TurnText>,
    /// Number of messages so far.
    messages: usize,
    statements: Vec<PendingStatement>,
}

/// Draft with what is needed to find it again.
struct PendingStatement {
    draft: Draft,
    message: usize,
    traits: StatementTraits,
}

impl PendingStatement {
    /// Takes back an earlier draft, with all that it took back itself.
    fn take_back(&mut self, earlier: Self) {
        let mut taken = earlier.draft;
        let draft = &mut self.draft;
        draft.earlier = std::mem::take(&mut taken.earlier);
        if !draft.is_withdrawal() {
            if draft.correction.is_some_and(|it| self.traits.stands_behind(&it, &earlier.traits)) {
                draft.put_behind(&taken.content, &taken.evidence, taken.category);
            }
            // What the taken draft would have corrected is still to be found, and now there is something to keep.
            let earlier = taken.correction.take();
            draft.correction = earlier.map(|it| Correction { is_tentative: false, ..it });
        }
        draft.earlier.push(taken);
    }
}

impl<'a> StatementExtractor<'a> {
    fn new(zone: &'a TimeZone, judge: Option<&'a dyn SentenceJudge>) -> Self {
        Self {
            zone,
            judge,
            history: Vec::new(),
            frame: SessionFrame::default(),
            reply: None,
            messages: 0,
            statements: Vec::new(),
        }
    }

    /// Takes note of a turn that was read before.
    fn listen(&mut self, turn: &TurnText) {
        match turn.role {
            Role::Assistant => self.hear_reply(turn),
            Role::User => {
                self.frame.enter(&turn.text);
                let cut = cut::CutMessage::new(&turn.text);
                for part in 0..cut.parts.len() {
                    self.leave_play(cut.words(part));
                    self.hear_words(cut.words(part));
                }
                self.reply = None;
            }
            Role::System | Role::Tool => {}
        }
    }

    fn read(&mut self, turn: &TurnText) -> Result<()> {
        match turn.role {
            Role::Assistant => self.hear_reply(turn),
            Role::User => {
                self.messages += 1;
                let reply = self.reply.take();
                self.read_message(turn, reply.as_ref())?;
            }
            Role::System | Role::Tool => {}
        }
        Ok(())
    }

    /// Takes note of a sentence, unless it makes what follows look like something else: a masked secret like pasted text,
    /// the end of a game like a part of it.
    fn hear_words(&mut self, words: &str) {
        if find_mask(words).is_none() && !is_end(words) {
            self.history.push(words.to_owned());
        }
    }

    /// Forgets the lines of a play where a sentence ends it: what follows is to be judged without them. Returns `true`
    /// if it does.
    fn leave_play(&mut self, words: &str) -> bool {
        let ends = self.frame.ends_play(words);
        if ends {
            self.history.clear();
        }
        ends
    }

    fn hear_reply(&mut self, turn: &TurnText) {
        self.history.push(turn.text.clone());
        self.reply = Some(turn.clone());
    }

    /// Adds a draft. A correction takes back the draft that it means.
    fn propose(&mut self, draft: Draft) -> Result<()> {
        let traits = self.traits_of(&draft)?;
        let mut statement = PendingStatement { draft, message: self.messages, traits };
        if statement.draft.correction.is_some()
            && let Some(target) = self.corrected_by(&statement)
        {
            let taken = self.statements.remove(target);
            statement.take_back(taken);
            statement.traits = self.traits_of(&statement.draft)?;
        }
        self.statements.push(statement);
        Ok(())
    }

    fn traits_of(&self, draft: &Draft) -> Result<StatementTraits> {
        let vector = match self.judge {
            Some(judge) => judge.text_vector(&draft.content)?,
            None => Vec::new(),
        };
        let traits = StatementTraits::new(&draft.content, draft.category, vector);
        Ok(traits.with_slot(draft.slot.clone()))
    }

    /// Returns the draft that a correction means: of the same speaker, the likeliest, or the one directly before it.
    fn corrected_by(&self, statement: &PendingStatement) -> Option<usize> {
        let correction = statement.draft.correction?;
        let speaker = |draft: &Draft| draft.speaker.clone().unwrap_or_default();
        let own = |(_, earlier): &(usize, &PendingStatement)| {
            is_same_name(&speaker(&earlier.draft), &speaker(&statement.draft))
                && statement.traits.may_mean(&correction, &earlier.traits)
                && !earlier.draft.correction.is_some_and(|it| it.is_withdrawal)
        };
        let traits = &statement.traits;
        let candidates = || self.statements.iter().enumerate().filter(own);
        let all = candidates().map(|(index, earlier)| (index, &earlier.traits)).collect();
        let likeliest = traits.likeliest(&correction, all);
        let directly_before = || {
            let (index, last) = candidates().next_back()?;
            let is_near = statement.message - last.message <= MAX_MESSAGES_BACK;
            let odds = traits.means_log_odds(&correction, &last.traits, true);
            let is_meant = odds > DIRECT_LOG_ODDS || correction.is_withdrawal;
            (correction.is_direct && is_near && is_meant).then_some(index)
        };
        likeliest.or_else(directly_before)
    }

    fn into_drafts(self) -> Vec<Draft> {
        let mut seen = HashSet::new();
        let drafts = self.statements.into_iter().map(|statement| statement.draft);
        drafts.filter(|draft| seen.insert((draft.speaker.clone(), plain(&draft.content)))).collect()
    }
}

/// Returns the letters and digits of a text in lower case.
fn plain(text: &str) -> String {
    text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}
