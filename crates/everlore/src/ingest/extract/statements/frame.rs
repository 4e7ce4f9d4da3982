//! Frames of a conversation in which most that sounds like a fact is none: role play, stories, translations, drafts of
//! letters, pasted text.

use std::sync::LazyLock;

use regex::Regex;

use crate::llm::{SentenceMode, SentenceScores};

/// Messages that begin a role play or a story, which lasts until somebody ends it.
static BEGINS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\brole-?play\b|\bpretend (?:to be|you|that you|i|we)\b|\bact as (?:an?|my|the)\b|\bplay(?:ing)? (?:the (?:role|part)|a game where)\b|\byou(?:'re| are) (?:now )?(?:an? |the |my )?(?:innkeeper|wizard|pirate|detective|interviewer|judge|shopkeeper|dungeon master|dm|gm|narrator|king|queen|captain)\b|\blet['’]?s play(?: a game)?\s*[:,–—-]+\s*(?:i|you|we)(?: am| are|['’]m|['’]re)\b|\bin character\b|\b(?:d&d|dnd|dungeons? (?:and|&) dragons)\b|角色扮演|扮演|来演|演一段|演一下|咱们演|我演|你演|假装你|跑团|剧本杀|我来当[^，。]{0,8}你来?当",
    )
});

/// Sentences that end it.
static ENDS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:out of character|ooc|end (?:of )?(?:the |this )?(?:scene|role-?play|game|story)|(?:stop|quit|leave|drop|finish) (?:the |this |our )?(?:role-?play(?:ing)?|game|act|character|story|scene|playing|pretending|acting)|break(?:ing)? character|back to (?:reality|real life|normal|being me|myself)|in reality|for real now|(?:now )?seriously now|now seriously|game(?:['’]s| is)? over|scene(?:['’]s| is)? over|enough (?:of )?(?:that|this|playing|pretending|games?|role-?play(?:ing)?)|(?:done|finished) (?:playing|pretending|acting|with (?:the |this )?(?:game|role-?play|scene|story))|(?:not|no longer) (?:playing|pretending|acting)(?: (?:any ?more|now))?|no more (?:games?|role-?play(?:ing)?|pretending|acting)|speaking as myself|this is (?:really )?me (?:now|speaking|talking))\b|出戏|[不别]演[了啦]|演完[了啦]|演够了|到此为止|说真的|说正经的|正经说|言归正传|回到现实|回归现实|现实中|现实里|[不别]玩[了啦]|玩够了|戏演完|(?:玩|演|游戏)(?:先|就)?到(?:这|此)|游戏(?:结束|停|先停)|停止(?:游戏|扮演|角色)|(?:结束|退出)(?:游戏|扮演|角色)|说回(?:正事|我自己|现实)|我本人",
    )
});

/// Tasks on a text that is given with them.
static TASK_ON_TEXT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:translate|translation of|proof-?read|rephrase|paraphrase|reword|rewrite|summari[sz]e (?:this|the following|below)|correct (?:this|the following|my (?:essay|text|letter)))\b|\b(?:write|draft|make up|tell)\b[^.\n]*\b(?:story|poem|song|scene|dialogue|novel|haiku|limerick|monologue|script|lyrics)\b|\b(?:the following|this|below) (?:text|passage|paragraph|letter|article|log|trace|error)\b|翻译|翻成|译成|润色|改写|校对|总结(?:下面|以下)|概括|写(?:一)?(?:个|篇|首|段)[^，。]*(?:故事|诗|小说|剧本|对话|作文|歌词|台词|文案)|编一?个|下面这(?:段|篇|句)|以下(?:内容|文字|文章|是)|(?:日志|报错|邮件|通知|公告)(?:如下|是这样|贴)",
    )
});

/// Sentences judged as lines of a role play among the last ones that make the next a line of it, too.
const ACTED_WINDOW: usize = 3;
const MIN_ACTED: usize = 2;

/// Fewest sentences of a message that make it a pasted text if most of them are judged so.
const MIN_PASTED: usize = 2;

/// Frame of the current session.
#[derive(Debug, Default)]
pub(super) struct SessionFrame {
    in_play: bool,
    /// Latest sentences, `true` if they were judged as acted.
    acted: Vec<bool>,
}

impl SessionFrame {
    /// Takes note of a message of a person before its sentences are judged: what begins a play makes all of it a part.
    pub(super) fn enter(&mut self, message: &str) {
        let last_end = ENDS.find_iter(message).last().map(|found| found.start());
        if beginnings(message).last().copied() > last_end {
            self.in_play = true;
        }
    }

    /// Takes note of a sentence before it is judged. Returns `true` if it ends a play, which it leaves behind.
    pub(super) fn ends_play(&mut self, words: &str) -> bool {
        let ends = self.is_play() && is_end(words);
        if ends {
            *self = Self::default();
        }
        self.in_play |= !beginnings(words).is_empty();
        ends
    }

    /// Takes note of a judged sentence.
    pub(super) fn add(&mut self, scores: &SentenceScores) {
        self.acted.push(scores.mode == SentenceMode::Acted);
    }

    /// Returns `true` if what is said now belongs to a play.
    pub(super) fn is_play(&self) -> bool {
        let recent = self.acted.iter().rev().take(ACTED_WINDOW);
        self.in_play || recent.filter(|acted| **acted).count() >= MIN_ACTED
    }
}

/// Returns `true` if a sentence ends a play and begins no other.
pub(super) fn is_end(words: &str) -> bool {
    ENDS.is_match(words) && beginnings(words).is_empty()
}

/// Returns where a text begins plays: the role play of "end of role play" is none.
fn beginnings(text: &str) -> Vec<usize> {
    let ends: Vec<_> = ENDS.find_iter(text).map(|found| found.range()).collect();
    let starts = BEGINS.find_iter(text).map(|found| found.start());
    starts.filter(|start| !ends.iter().any(|end| end.contains(start))).collect()
}

/// Returns `true` if a message sets a task on a text that it contains, or most of it is such a text.
pub(super) fn is_foreign_text(message: &str, scores: &[SentenceScores]) -> bool {
    let is_foreign = |scores: &&SentenceScores| {
        matches!(
            scores.mode,
            SentenceMode::Translation | SentenceMode::Pasted | SentenceMode::Acted
        )
    };
    let foreign = scores.iter().filter(is_foreign).count();
    TASK_ON_TEXT.is_match(message) || foreign >= MIN_PASTED && 2 * foreign >= scores.len()
}

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("valid")
}
