//! Explicit requests to remember something: "remember that …", "don't forget …", 记住…, 别忘了…

use std::sync::LazyLock;

use regex::Regex;

/// Request at the beginning of a sentence; `v` is what to remember.
static LEADING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:(?:please|pls|plz|hey|ok|okay|oh|and|also|so|but|just|btw|fyi|now|good|can you|could you|would you|you should|i want you to|i need you to|i'd like you to)[ ,.:]+)*(?:(?:remember|don't forget|dont forget|do not forget|never forget|keep in mind|bear in mind|make a (?:mental )?note|take (?:a )?note|please note|memori[sz]e|commit (?:it |this )?to memory)\b|note(?: down)?(?: that\b|:)|(?:write|jot) (?:this|that|it) down\b|for the record\b)(?:[ ,]+(?:please|pls|for me|for (?:the future|later|next time|good)))*(?: (?:that|of this|of that|this))?\s*[:,—–-]*\s*(?P<v>\S+\s+\S+\s+\S.*)$",
    )
});

/// Words after "remember" that make it a reminiscence, an order for now or a question.
static NO_STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:when|how|what|where|who|why|which|if|whether|me\b|to\b|those days|the (?:time|days)|back|us\b|last time)\b",
    )
});

/// Request at the end of a sentence.
static TRAILING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?P<v>\S+\s+\S+\s+\S.*?)[,;.!—–-]+\s*(?:and |so |please |pls |just )*(?:remember|note|keep|save|store|memori[sz]e) (?:that|this|it)(?: in mind| down)?(?:,? (?:please|pls|for me|ok|okay))*[.!]*$",
    )
});

/// Request that refers to the sentence before it.
static BARE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:(?:please|pls|so|and|ok|just)[ ,]+)*(?:remember|note|keep|save|store|memori[sz]e|don't forget) (?:that|this|it)(?: in mind| down| somewhere)?(?:,? (?:please|pls|for me|ok|okay|for (?:the future|later|next time)))*[.!]*$|^(?:请|你|麻烦|帮我|这个|这点|一定|都|要|给我)*(?:记住|记一下|记下来?|记着点?|记好|别忘了?)(?:了|吧|哦|哈|啊|这个|这点)*[。！!]*$",
    )
});

static CHINESE_LEADING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:(?:请|麻烦你?|帮我|帮忙|替我|你帮我|你要|你得|你可得|你|您|一定要?|务必|千万|可要|给我|也|还有|另外|对了|再|好|行|嗯)[，, ]*)*(?:记住|记牢|记好|记一下|记一笔|记下来?|记个(?:事|备忘)|记着|记得|别忘了?|不要忘了?|别忘记|勿忘|备注一下|备忘|请注意)(?:了|点|啊|哈|哦|一下|这个|这点|这件事)*[：:，,！!、—\s]*(?P<v>.{3,})$",
    )
});

static CHINESE_TRAILING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?P<v>.{4,}?)[，,。；;\s]+(?:这个|这点|这条)?(?:请|你|您|麻烦)?(?:也|再|可)?(?:帮我|给我|替我)?(?:记住|记一下|记着点?|记下来?|记好|记牢|别忘了?)(?:了|哈|啊|哦|吧|一下)*[。！!～~]*$",
    )
});

/// Questions about what the assistant remembers.
static ASKS: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?:吗|么|没|来着|不)[？?]?$|^(?:do|did|does) you\b|[?？]$"));

/// Returns what a sentence asks to remember; `None` if it does not.
pub(super) fn requested(sentence: &str) -> Option<&str> {
    let sentence = sentence.trim();
    if ASKS.is_match(sentence) {
        return None;
    }
    let patterns = [&LEADING, &TRAILING, &CHINESE_LEADING, &CHINESE_TRAILING];
    let found = patterns.iter().find_map(|pattern| pattern.captures(sentence))?;
    let value = found.name("v")?.as_str().trim();
    (!NO_STATEMENT.is_match(value)).then_some(value)
}

/// Returns `true` for a request that refers to the sentence before it, such as "Remember that."
pub(super) fn refers_back(sentence: &str) -> bool {
    BARE.is_match(sentence.trim())
}

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){}", pattern.replace('\'', "['’]"))).expect("valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_recognized_in_both_languages() {
        for (sentence, value) in [
            ("Remember that Anna's birthday is on May 3.", "Anna's birthday is on May 3."),
            ("Don't forget Bob hates olives", "Bob hates olives"),
            ("don’t forget Bob hates olives", "Bob hates olives"),
            ("Keep in mind Sarah is pregnant", "Sarah is pregnant"),
            ("Please remember: no meetings on Fridays", "no meetings on Fridays"),
            ("Note that the key is under the mat.", "the key is under the mat."),
            ("the gate code changed, please remember that", "the gate code changed"),
            ("记住，我的车停在七号位。", "我的车停在七号位。"),
            ("别忘了鲍勃讨厌橄榄", "鲍勃讨厌橄榄"),
            ("帮我记一下：周五不开会", "周五不开会"),
            ("你也帮我记着点，以后别放虾仁", "以后别放虾仁"),
            ("记得小美对芒果过敏", "小美对芒果过敏"),
            ("备忘：安娜的生日是5月3号", "安娜的生日是5月3号"),
            ("安娜怀孕了，记一下", "安娜怀孕了"),
        ] {
            assert_eq!(requested(sentence), Some(value), "{sentence}");
        }
    }

    #[test]
    fn reminiscences_and_questions_are_no_requests() {
        for sentence in [
            "Do you remember that Anna lives here?",
            "Remember when we went to Rome and lost the keys?",
            "I don't remember where the key is.",
            "don't forget to add a semicolon",
            "你还记得我住哪吗",
            "我记得他以前住在上海",
            "记得吗",
        ] {
            assert_eq!(requested(sentence), None, "{sentence}");
        }
        assert!(refers_back("Please remember that.") && refers_back("帮我记一下"));
        assert!(!refers_back("Remember that Bob hates olives."));
    }
}
