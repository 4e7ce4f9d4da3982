//! Denials: whether a clause says that something is not so.

use std::sync::LazyLock;

use regex::Regex;

/// Phrases with a word of denial that deny nothing.
static IDIOMS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)\b(?:don't|do\s+not|never)\s+forget\b|\bcan(?:'t|not)\s+wait\b|\bno\s+(?:problem|worries|doubt|wonder)\b
        |\bnot\s+only\b|\bwhy\s+not\b|^\s*no\s*$|^\s*no\b[,.!]|\bno\.\s*\d
        |(?:别|不要)忘|不错|不仅|不但|不只|不光|^不过[^敏]|不好意思|对不起|差不多|要不|没问题|没错|不客气|不得不|不如|特别|分别|别人|别的
        |区别|告别|级别|性别|识别|别名|别墅|个别|无论|不管|无线|非常|非洲|无锡|不断|不久|没想到|忍不住|离不开|少不了",
    )
    .expect("valid")
});

static DENIAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)\b(?:not|never|no|none|nobody|nothing|without|neither|nor|cannot)\b|n['’]t\b
        |[不没未勿别無无非]",
    )
    .expect("valid")
});

/// Words that say no in other ways, or that something is over: with them a denial and none may mean the same.
static IMPLICIT_DENIAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)\b(?:hates?|hated|dislikes?|avoid\w*|refuses?|unable|lacks?|fail(?:s|ed)?|allergic|intolerant|vegan|vegetarian
        |stop(?:s|ped)?|quit(?:s)?|gave\s+up|given\s+up|left|leaves?|leaving|moved|moving|sold|used\s+to|former(?:ly)?|ex
        |instead|rather|cancel\w*|changed?|switch\w*|again|rid|free|single|divorced|only|over|ended|banned|forbid\w*|skips?
        |un\w{4,}|in(?:correct|valid|active)|impossible|hardly|rarely|barely|too)\b
        |讨厌|反感|避免|拒绝|戒|停|离开|搬|卖|换|改|取消|放弃|辞|离职|离婚|曾|以前|过敏|忌|素|禁|仅|只|单身|结束|失|缺|反对|怕|恨|很少|太",
    )
    .expect("valid")
});

/// Returns `true` if a text denies something in so many words.
pub(crate) fn denies(text: &str) -> bool {
    DENIAL.is_match(&IDIOMS.replace_all(text, " "))
}

/// Returns `true` if one text denies what the other says: one has a denial, and the other nothing like one.
pub(crate) fn differ_in_denial(one: &str, other: &str) -> bool {
    match (denies(one), denies(other)) {
        (true, false) => !implies_denial(other, one),
        (false, true) => !implies_denial(one, other),
        _ => false,
    }
}

/// Returns `true` if a text has a word for the denial of the other; a word that stands in both is what is denied.
fn implies_denial(text: &str, denial: &str) -> bool {
    let denial = denial.to_lowercase();
    IMPLICIT_DENIAL.find_iter(text).any(|word| !denial.contains(&word.as_str().to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_on_one_side_only_is_a_difference() {
        for (said, statement) in [
            ("I am not allergic to nuts", "The user is allergic to nuts."),
            ("I'm allergic to nuts", "The user isn't allergic to nuts."),
            ("我对花生不过敏", "用户对花生过敏。"),
            ("我没结婚", "用户结婚了。"),
            ("我会开车", "用户不会开车。"),
        ] {
            assert!(differ_in_denial(said, statement), "{said}");
        }
    }

    #[test]
    fn other_words_for_a_denial_are_none() {
        for (said, statement) in [
            ("I can't stand olives", "The user hates olives."),
            ("I quit smoking", "The user does not smoke any more."),
            ("Don't forget that I live in Oslo", "The user lives in Oslo."),
            ("I moved away from Paris", "The user no longer lives in Paris."),
            ("我不吃肉", "用户吃素。"),
            ("我戒烟了", "用户不抽烟。"),
            ("别忘了我住在上海", "用户住在上海。"),
            ("我觉得这家店不错", "用户觉得这家店很好。"),
        ] {
            assert!(!differ_in_denial(said, statement), "{said}");
        }
    }
}
