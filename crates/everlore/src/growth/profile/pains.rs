//! Complaints: words of trouble in both languages, and what a complaint is about.

use std::sync::LazyLock;

use regex::Regex;

use crate::growth::reflection::Topic;

/// Words by which a statement tells of a trouble.
const PAIN_WORDS: &[&str] = &[
    "struggle with",
    "struggling with",
    "keeps failing",
    "keep failing",
    "keep breaking",
    "keep crashing",
    "keeps timing out",
    "keep timing out",
    "keeps freezing",
    "failing again",
    "broke again",
    "broken again",
    "crashed again",
    "such a pain",
    "driving me crazy",
    "driving me nuts",
    "drives me nuts",
    "drives me mad",
    "sick of",
    "fed up",
    "can't stand",
    "so painful",
    "keeps breaking",
    "keeps crashing",
    "annoys me",
    "annoying",
    "drives me crazy",
    "i hate when",
    "i hate that",
    "takes forever",
    "waste of time",
    "frustrat",
    "pain in the",
    "always breaks",
    "受不了",
    "卡死",
    "又崩",
    "又挂了",
    "老是报错",
    "总是报错",
    "又报错",
    "老是卡",
    "总是卡",
    "真烦",
    "气死",
    "抓狂",
    "太卡",
    "心累",
    "老是出",
    "总是出",
    "总是失败",
    "老是失败",
    "又失败",
    "烦死",
    "太麻烦",
    "太慢",
    "好烦",
    "很烦",
    "头疼",
    "折磨",
    "崩溃",
];

/// Returns `true` if a text complains about something.
pub(crate) fn is_complaint(text: &str) -> bool {
    let lower = text.to_lowercase();
    PAIN_WORDS.iter().any(|word| lower.contains(word)) || COMING_BACK.is_match(&lower)
}

/// Returns `true` if a text complains about something that it names: "so annoying" alone does not.
pub(super) fn is_pain(text: &str) -> bool {
    is_complaint(text) && !about(text).is_empty()
}

/// Returns what a complaint is about, without the words of complaining: the things that it names, and the kind of trouble.
pub(crate) fn pain_topic(text: &str) -> Topic {
    let (lower, about_text) = (text.to_lowercase(), about_words(text));
    if Topic::of(&about_text).is_empty() {
        return Topic::default();
    }
    let kinds = TROUBLES.iter().filter(|(words, _)| words.is_match(&lower)).map(|(_, kind)| *kind);
    Topic::of(&kinds.fold(about_text, |text, kind| format!("{text} {kind}")))
}

fn about(text: &str) -> Topic {
    Topic::of(&about_words(text))
}

fn about_words(text: &str) -> String {
    let lower = text.to_lowercase();
    let about = PAIN_WORDS.iter().fold(lower, |text, word| text.replace(word, " "));
    let about =
        TROUBLES.iter().fold(about, |text, (words, _)| words.replace_all(&text, " ").into());
    COMPLAINING.replace_all(&about, " ").into_owned()
}

/// Troubles that come back.
static COMING_BACK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\bkeeps? (?:\w+ ){0,2}?(?:dropping|disconnecting|failing|crashing|breaking|freezing|hanging|losing|stalling|resetting|restarting|cutting out|jamming|leaking|throwing|logging|going down|rebooting|overheating|glitching|lagging|flickering|timing out)\b|\b(?:dropped|disconnected|froze|died|is down|went down|crashed|hung|got stuck|is stuck|jammed|cut out)\b[^.!?]{0,30}\b(?:again|every)\b|\b(?:drops|disconnects|crashes|freezes|fails|hangs|jams|breaks)\b[^.!?]{0,30}\b(?:every|all the time|constantly|again|several times|always)\b|\b(?:so|too|painfully|unbearably) slow\b|(?:又|老是?|总是?|一直|经常|天天)(?:断|掉|坏|卡|崩|死机|闪退|连不上|打不开|失灵|报错|没反应)",
    )
    .expect("valid")
});

/// Kinds of trouble, each with a word that stands for it.
static TROUBLES: LazyLock<[(Regex, &'static str); 4]> = LazyLock::new(|| {
    let compile = |words: &str| Regex::new(words).expect("valid");
    [
        (
            compile(
                r"\b(?:drop\w*|disconnect\w*|offline|cut(?:s|ting)? out|connection)\b|掉线|断线|断开|断了|断网|连不上",
            ),
            "troubledrop",
        ),
        (compile(r"\b(?:slow\w*|lag\w*|forever|wait\w*)\b|慢|转圈|(?:要|得|又)等"), "troubleslow"),
        (
            compile(r"\b(?:crash\w*|freez\w*|froze|hang\w*|hung)\b|崩溃|又崩|崩了|卡死|死机|闪退"),
            "troublecrash",
        ),
        (compile(r"\b(?:fail\w*|errors?|break\w*|broken?)\b|报错|失败|坏了|出错"), "troublefail"),
    ]
});

/// Words of complaining that tell nothing of what about.
static COMPLAINING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:so|this|that|these|thing|stuff|it|its|is|was|again|today|ugh|god|argh|seriously|ing|ed|times?|day|every|all|over|now|yet|very|really|another|annoying|frustrating|the|a|an|on|in|of|at|and|me|for|has|have|been)\b|今天|这个|那个|东西|真的|实在|好|太|又|啊|呀|都|第[一二三四五六七八九十]次|每次|每天|死了|老是|总是|要",
    )
    .expect("valid")
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_without_a_matter_is_no_pain() {
        for text in [
            "So annoying",
            "This is so frustrating!",
            "Ugh, it keeps failing again",
            "好烦啊",
            "太慢了",
            "烦死了",
        ] {
            assert!(!is_pain(text), "{text}");
        }
        for text in [
            "The VPN keeps dropping.",
            "打开报表都要等五分钟，太慢了",
            "Our deploys to staging keep failing, it drives me crazy",
            "打印机又卡纸了，烦死了",
        ] {
            assert!(is_pain(text), "{text}");
        }
        for text in ["She keeps smiling.", "I keep my notes in Notion.", "我喜欢慢跑。"] {
            assert!(!is_pain(text), "{text}");
        }
    }

    #[test]
    fn the_same_complaint_in_other_words_is_one_and_another_trouble_is_another() {
        let is_same = |one: &str, other: &str| pain_topic(one).is_same(&pain_topic(other));
        for (one, other) in [
            ("The VPN keeps dropping.", "VPN dropped again, so annoying"),
            ("The VPN keeps dropping.", "The VPN disconnects every hour, drives me crazy."),
            ("Excel is too slow with big files", "Excel takes forever again"),
            ("打印机老是卡纸，烦死了", "打印机又卡纸了"),
            ("VPN 又断了，烦死了", "VPN 老是掉线"),
        ] {
            assert!(is_same(one, other), "{one} / {other}");
        }
        for (one, other) in [
            ("The VPN keeps dropping.", "The Wi-Fi keeps dropping."),
            ("Excel crashed again", "Excel is too slow"),
            ("The printer keeps breaking", "The staging deploy keeps failing on Fridays"),
            ("打印机老是坏", "病历系统老是卡死"),
        ] {
            assert!(!is_same(one, other), "{one} / {other}");
        }
    }
}
