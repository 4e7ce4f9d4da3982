//! Generated corpus of any size that is never held in memory: every memory is a function of the seed, its scope and its
//! position in the scope.
//!
//! A thousand scopes share the total unevenly, as users do. The classes large, middle and small grow with the total;
//! the fixed ones do not, and hold the same texts at every total, so that the cost of *other people's* memories can be
//! measured by itself.

use anyhow::Result;
use everlore::{Engine, Scope, Turn};
use serde::Serialize;

use crate::{
    random::SplitMix64,
    vocabulary::{GeneratedWord, Vocabulary, WordLanguage},
};

const SCOPES: usize = 1_000;
const MIDDLE_SCOPES: usize = 10;
const FIXED_1K_SCOPES: usize = 5;
const FIXED_80_SCOPES: usize = 10;
/// Concurrent sessions; their turns arrive mixed.
const OPEN_SESSIONS: usize = 64;
/// Topic words of a session.
const TOPIC_WORDS: u64 = 12;
/// Time of the first turn of every scope: 2024-01-01.
const EPOCH_SECONDS: i64 = 1_704_067_200;
/// Turns of one write of [`Corpus::observe`].
const OBSERVE_BATCH: u32 = 2_000;
const SPEAKERS: [&str; 4] = ["Alice", "assistant", "Bob", "小明"];

/// Size class of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ScopeClass {
    /// One scope with a tenth of everything.
    Large,
    /// Ten scopes with a hundredth each.
    Middle,
    /// Scopes that share the rest.
    Small,
    /// A thousand memories at every total.
    Fixed1k,
    /// Eighty memories at every total.
    Fixed80,
}

everlore::types::variant_names! { pub(crate) ScopeClass:
    Large = "large", Middle = "middle", Small = "small", Fixed1k = "fixed-1k", Fixed80 = "fixed-80",
}

/// Generated memory: a turn of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GeneratedMemory {
    /// Number in the stream, from 0.
    pub(crate) id: i64,
    pub(crate) scope: u32,
    pub(crate) session: u32,
    pub(crate) speaker: &'static str,
    pub(crate) at_seconds: i64,
    pub(crate) text: String,
}

/// Plan of a corpus: the seed and the size of each scope.
pub(crate) struct Corpus {
    seed: u64,
    vocabulary: Vocabulary,
    scopes: Vec<(ScopeClass, u32)>,
}

impl Corpus {
    /// Plans a corpus of `total` memories.
    pub(crate) fn new(total: u32, seed: u64) -> Self {
        Self { seed, vocabulary: Vocabulary::new(seed), scopes: plan(total) }
    }

    /// Returns the agent and the user of a scope.
    pub(crate) fn owner(scope: u32) -> (String, String) {
        (format!("agent-{}", scope % 7), format!("user-{scope}"))
    }

    /// Returns the number of memories of a scope.
    pub(crate) fn size(&self, scope: u32) -> u32 {
        self.scopes[scope as usize].1
    }

    /// Returns the scopes of a class.
    pub(crate) fn scopes_of(&self, class: ScopeClass) -> Vec<u32> {
        (0..SCOPES as u32).filter(|scope| self.scopes[*scope as usize].0 == class).collect()
    }

    /// Returns all memories in the order of their arrival.
    pub(crate) fn stream(&self) -> CorpusStream<'_> {
        CorpusStream::new(self)
    }

    /// Generates the memory at a position of a scope; positions beyond the size give more of the same kind.
    pub(crate) fn memory(&self, id: i64, scope: u32, position: u32) -> GeneratedMemory {
        let turns = self.session_turns(scope);
        let session = position / turns;
        let at_seconds =
            EPOCH_SECONDS + i64::from(session) * 86_400 + i64::from(position % turns) * 45;
        let speaker = SPEAKERS[((scope + position) % 4) as usize];
        GeneratedMemory {
            id,
            scope,
            session,
            speaker,
            at_seconds,
            text: join(&self.words(scope, position)),
        }
    }

    /// Stores the first `total` memories of a scope as turns of an engine's default scope.
    pub(crate) async fn observe(&self, engine: &Engine, scope: u32, total: u32) -> Result<()> {
        let turn = |position| {
            let memory = self.memory(i64::from(position), scope, position);
            let session = Some(format!("session-{}", memory.session));
            Turn { text: memory.text, session, ..Turn::default() }
        };
        for from in (0..total).step_by(OBSERVE_BATCH as usize) {
            let turns = (from..total.min(from + OBSERVE_BATCH)).map(turn).collect();
            engine.observe(&Scope::default(), turns).await?;
        }
        Ok(())
    }

    /// Generates query `number` of a scope: half of its words from one stored text, half from the whole vocabulary.
    pub(crate) fn query(&self, scope: u32, number: u32) -> String {
        let mut random =
            SplitMix64::from_keys(&[self.seed, 0x7175_6572, scope.into(), number.into()]);
        let position = random.below(self.size(scope).into()) as u32;
        let stored: Vec<_> =
            self.words(scope, position).into_iter().filter(|word| !word.is_stopword).collect();
        let language = stored.first().map_or(WordLanguage::English, |word| word.language);
        let wanted = self.query_words(language, &mut random);
        let first = random.below(stored.len().saturating_sub(wanted / 2).max(1) as u64) as usize;
        let mut words: Vec<_> = stored.into_iter().skip(first).take(wanted / 2).collect();
        while words.len() < wanted {
            let word = self.vocabulary.draw(language, &mut random);
            words.extend((!word.is_stopword).then_some(word));
        }
        join(&words)
    }

    /// Draws a word count for five to twelve terms: a Chinese word of two characters gives about three.
    fn query_words(&self, language: WordLanguage, random: &mut SplitMix64) -> usize {
        let terms = random.between(5, 12) as usize;
        if language == WordLanguage::Chinese { (terms / 2).max(3) } else { terms }
    }

    /// Returns the turns of each session of a scope, 10 to 30: the same for all sessions, so that a position tells its
    /// session.
    fn session_turns(&self, scope: u32) -> u32 {
        SplitMix64::from_keys(&[self.seed, 0x7365_7373, scope.into()]).between(10, 30) as u32
    }

    fn words(&self, scope: u32, position: u32) -> Vec<GeneratedWord> {
        let mut random =
            SplitMix64::from_keys(&[self.seed, 0x7465_7874, scope.into(), position.into()]);
        let session = position / self.session_turns(scope);
        let style = random.below(100);
        let length = 8 + random.below(53).min(random.below(53));
        (0..length)
            .map(|_| {
                let language = language_of_word(style, &mut random);
                if random.chance(20) {
                    let number = random.below(TOPIC_WORDS);
                    let keys = [self.seed, scope.into(), session.into(), number];
                    self.vocabulary.topic(language, &mut SplitMix64::from_keys(&keys))
                } else {
                    self.vocabulary.draw(language, &mut random)
                }
            })
            .collect()
    }
}

/// Stream of all memories, with the turns of concurrent sessions mixed.
pub(crate) struct CorpusStream<'a> {
    corpus: &'a Corpus,
    random: SplitMix64,
    /// Next position of each scope.
    next: Vec<u32>,
    /// Memories of each scope that no session has taken yet.
    left: Vec<u32>,
    left_total: u64,
    /// Scope and remaining turns of each open session.
    open: Vec<(u32, u32)>,
    id: i64,
}

impl<'a> CorpusStream<'a> {
    fn new(corpus: &'a Corpus) -> Self {
        let left: Vec<u32> = corpus.scopes.iter().map(|(_, size)| *size).collect();
        let left_total = left.iter().copied().map(u64::from).sum();
        let random = SplitMix64::from_keys(&[corpus.seed, 0x6f72_6465]);
        Self { corpus, random, next: vec![0; left.len()], left, left_total, open: vec![], id: 0 }
    }

    fn open_sessions(&mut self) {
        while self.open.len() < OPEN_SESSIONS && self.left_total > 0 {
            let mut drawn = self.random.below(self.left_total);
            let mut scope = 0;
            while drawn >= u64::from(self.left[scope]) {
                drawn -= u64::from(self.left[scope]);
                scope += 1;
            }
            let turns = self.corpus.session_turns(scope as u32).min(self.left[scope]);
            self.left[scope] -= turns;
            self.left_total -= u64::from(turns);
            self.open.push((scope as u32, turns));
        }
    }
}

impl Iterator for CorpusStream<'_> {
    type Item = GeneratedMemory;

    fn next(&mut self) -> Option<GeneratedMemory> {
        self.open_sessions();
        if self.open.is_empty() {
            return None;
        }
        let index = self.random.below(self.open.len() as u64) as usize;
        let scope = self.open[index].0;
        self.open[index].1 -= 1;
        if self.open[index].1 == 0 {
            self.open.swap_remove(index);
        }
        let position = self.next[scope as usize];
        self.next[scope as usize] += 1;
        self.id += 1;
        Some(self.corpus.memory(self.id - 1, scope, position))
    }
}

/// Assigns each scope its class and size; the small scopes share what the other classes leave.
fn plan(total: u32) -> Vec<(ScopeClass, u32)> {
    let mut scopes = vec![(ScopeClass::Large, total / 10)];
    scopes.extend([(ScopeClass::Middle, total / 100); MIDDLE_SCOPES]);
    scopes.extend([(ScopeClass::Fixed1k, 1_000.min(total / 100)); FIXED_1K_SCOPES]);
    scopes.extend([(ScopeClass::Fixed80, 80.min(total / 1_000)); FIXED_80_SCOPES]);
    let taken: u32 = scopes.iter().map(|(_, size)| size).sum();
    let (small, rest) = ((SCOPES - scopes.len()) as u32, total - taken);
    scopes.extend(
        (0..small).map(|i| (ScopeClass::Small, rest / small + u32::from(i < rest % small))),
    );
    scopes
}

/// Draws the language of a word: half of the memories are English, 35% Chinese, the rest mixes both with identifiers.
fn language_of_word(style: u64, random: &mut SplitMix64) -> WordLanguage {
    let [english, chinese] = match style {
        0..50 => [97, 0],
        50..85 => [0, 99],
        _ => [40, 40],
    };
    match random.below(100) {
        drawn if drawn < english => WordLanguage::English,
        drawn if drawn < english + chinese => WordLanguage::Chinese,
        _ => WordLanguage::Code,
    }
}

/// Joins words by blanks, Chinese ones by nothing, with a comma after every 13th.
fn join(words: &[GeneratedWord]) -> String {
    let mut text = String::new();
    for (index, word) in words.iter().enumerate() {
        let chinese = word.language == WordLanguage::Chinese;
        let touching = index > 0 && chinese && words[index - 1].language == WordLanguage::Chinese;
        match index {
            0 => {}
            _ if index % 13 == 0 => text.push_str(if touching { "，" } else { ", " }),
            _ if touching => {}
            _ => text.push(' '),
        }
        text.push_str(&word.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(total: u32, class: ScopeClass) -> Vec<u32> {
        let corpus = Corpus::new(total, 1);
        corpus.scopes_of(class).into_iter().map(|scope| corpus.size(scope)).collect()
    }

    #[test]
    fn growing_classes_grow_with_the_total_and_fixed_ones_do_not() {
        assert_eq!(sizes(100_000, ScopeClass::Large), [10_000]);
        assert_eq!(sizes(1_000_000, ScopeClass::Large), [100_000]);
        assert_eq!(sizes(1_000_000, ScopeClass::Middle), [10_000; 10]);
        assert_eq!(sizes(100_000, ScopeClass::Fixed1k), sizes(1_000_000, ScopeClass::Fixed1k));
        assert_eq!(sizes(100_000, ScopeClass::Fixed80), [80; 10]);
        assert!(sizes(100_000, ScopeClass::Small).iter().all(|size| (70..90).contains(size)));
        assert!(sizes(1_000_000, ScopeClass::Small).iter().all(|size| (700..900).contains(size)));
    }

    #[test]
    fn the_stream_gives_every_memory_once_and_the_same_each_time() {
        let corpus = Corpus::new(3_000, 1);
        let all: Vec<_> = corpus.stream().collect();
        assert_eq!(all.len(), 3_000);
        assert_eq!(all.iter().filter(|memory| memory.scope == 0).count(), 300);
        assert!(corpus.stream().eq(all.iter().cloned()));
    }

    #[test]
    fn a_fixed_scope_holds_the_same_texts_at_every_total() {
        let scope = Corpus::new(100_000, 1).scopes_of(ScopeClass::Fixed80)[0];
        let text = |total| Corpus::new(total, 1).memory(0, scope, 5).text;
        assert_eq!(text(100_000), text(1_000_000));
    }

    #[test]
    fn queries_have_five_words_or_more_and_repeat() {
        let corpus = Corpus::new(100_000, 1);
        for number in 0..50 {
            let query = corpus.query(0, number);
            assert!(query.chars().count() >= 4, "{query}");
            assert_eq!(query, corpus.query(0, number));
        }
    }
}
