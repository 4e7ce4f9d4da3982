//! Words of wishes: how they are asked for, insisted on and complained about, and which of several wordings is a rule.

use std::sync::LazyLock;

use regex::Regex;

/// Words of a wish or a correction; other turns may mention the same thing for another reason.
pub(super) static WISH: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:please|prefer|always|never|don['’]?t|do not|stop|keep|use|answer|write|reply|respond|should|must|i like|i want|i need|remember|call me|show|give|put|start|skip|avoid|be (?:more |less )?(?:brief|concise|formal)|no more|first)\b|请|以后|别|不要|要|用|喜欢|偏好|回答|记住|应该|务必|叫我|称呼|先|少|直接|不许|一点|一些",
    )
});

/// Words of a correction.
pub(super) static CORRECTION: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:told you|i said|i asked|again|wrong|stop|not that|instead|no,|too (?:long|short|much|many|formal|verbose)|it['’]s \w+, (?:please|not)|how many times)|说过|告诉过|讲过|又|不是|不对|错了|别再|太长|太短|太啰嗦|怎么还|还在",
    )
});

/// Beginnings of a rule for the agent.
static RULE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^\W*(?:please |always |never |from now on,? |in future,? |just )*(?:please|always|never|don['’]?t|do not|stop|keep|use|answer|write|reply|respond|call me|show|give|put|start|skip|avoid|be|no|run|ask|explain|code first|remember)\b|^\W*(?:请|以后|今后|每次|务必|一律|都|[^，。]{0,6}(?:一律|都|要))?(?:请|别|不要|不许|先|用|使用|叫我|称呼|回答|给|少|直接|记得|记住|温度|单位)",
    )
});

/// Beginnings of a complaint.
static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^\W*(?:you (?:did|have|are|were|keep|still|always|never|forgot|\w+ed)\b|again\b|why\b|ugh\b|come on)|^\W*(?:又|怎么|你又|你怎么|你还|还在|为什么|太)|没(?:有)?先|又没",
    )
});

/// Words with which a wish is repeated, before the wish itself.
static REPEATING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^\W*(?:(?:i (?:already )?(?:told|asked) you(?: already| before)?(?: to\b)?|(?:like|as) i (?:already )?said(?: before)?|i (?:already )?said|i['’]ve told you|again|once more|no|actually|seriously|come on)\b[\s:：,，!！.。–-]*)+|^\W*(?:(?:我|都)?(?:已经|早就)?(?:跟你|和你|对你)?(?:说过|告诉过你|讲过|强调过)(?:了|多少次了?|很多次了?|好几次了?|多次了?|的)*|又来了|再说一遍|其实|不是|不对|太长了|太短了|太啰嗦了)[\s:：,，!！.。]*(?:要)?",
    )
});

/// Words with which a wish is repeated, after it.
static REPEATED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)[\s,，–-]*(?:\b(?:again|now|i told you(?: already| before| so)?|(?:as|like) i said|i said)|我说过的?|说过了|跟你说过了?)([.!。！]*)$",
    )
});

/// Complaints that hold a rule: "You committed without running the tests again." is none.
pub(super) fn is_rule(text: &str) -> bool {
    RULE.is_match(text) && !COMPLAINT.is_match(text)
}

/// Returns how well a wording serves as a rule; the higher, the better.
pub(super) fn rule_rank(text: &str) -> i32 {
    let plain = plain_wish(text);
    let is = |condition: bool, points: i32| if condition { points } else { 0 };
    is(RULE.is_match(&plain), 3)
        - is(COMPLAINT.is_match(&plain), 4)
        - is(CORRECTION.is_match(text), 1)
}

/// Returns a wish without the words with which it was repeated.
pub(crate) fn plain_wish(wish: &str) -> String {
    let plain = REPEATING.replace(wish.trim(), "");
    let plain = REPEATED.replace(&plain, "$1");
    // What only insists says nothing without it.
    let plain = if plain.trim().chars().count() < 3 { wish.into() } else { plain };
    let mut chars = plain.trim().chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", chars.as_str())
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_told_without_the_words_that_repeat_it() {
        for (said, wish) in [
            ("I told you: use metric units.", "Use metric units."),
            ("I told you to use metric units.", "Use metric units."),
            ("As I said, call me Sam.", "Call me Sam."),
            ("Code first please, I told you.", "Code first please."),
            ("Actually I live in Braga now.", "I live in Braga."),
            ("Never mind the gap.", "Never mind the gap."),
            ("Now and then use a table.", "Now and then use a table."),
            ("我说过，以后请用公制单位。", "以后请用公制单位。"),
            ("我说过要用简体中文回答", "用简体中文回答"),
            ("跟你说过不要直接推到 main", "不要直接推到 main"),
            ("太长了，回答短一点。", "回答短一点。"),
        ] {
            assert_eq!(plain_wish(said), wish);
        }
    }

    #[test]
    fn an_imperative_is_a_better_rule_than_a_complaint() {
        for (rule, complaint) in [
            (
                "Always run the tests before you commit.",
                "You committed without running the tests again.",
            ),
            ("Use tabs, not spaces.", "You used spaces again."),
            ("别讲基础知识，我都懂。", "又在讲基础知识了，别讲"),
            ("先给结论，再解释。", "又没先给结论。"),
        ] {
            assert!(rule_rank(rule) > rule_rank(complaint), "{rule} / {complaint}");
            assert!(is_rule(rule) && !is_rule(complaint), "{rule} / {complaint}");
        }
    }
}
