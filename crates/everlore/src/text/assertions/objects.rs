//! Objects of a statement that somebody must have named: where one lives, what one is called, what one is allergic to.

use std::sync::LazyLock;

use regex::Regex;

/// Words after an English phrase that belong to its object.
const MAX_OBJECT_WORDS: usize = 4;

static ENGLISH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)\b(?:(?:lives?|lived|living|resides?|born|based|located|grew\s+up|works?|working|studies|studied)\s+(?:in|at|near|for)
        |(?:moved?|moving|moves|relocat\w+|travel\w*|flew|flying)\s+(?:to|from)|(?:comes?|came|is|was)\s+from
        |(?:named?|called|nicknamed)\s+(?:is\s+|was\s+)?|name\s+is|name\s+was|allergic\s+to|married\s+to|likes|loves|hates|speaks)
        \s+([^,.;:!?()\n]+)",
    )
    .expect("valid")
});

static CHINESE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:住在|搬到了?|搬去了?|来自|出生于|出生在|名叫|叫做|叫作|叫|名字是|姓|位于|就职于|任职于|喜欢|喜爱|讨厌|养了?)([\p{Han}\w]+)|对([\p{Han}\w]+?)过敏|在([\p{Han}\w]{1,8}?)(?:上班|工作|读书|上学)",
    )
    .expect("valid")
});

/// Objects of a statement.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedObjects {
    pub(crate) english: Vec<String>,
    pub(crate) chinese: Vec<String>,
}

/// Returns the objects that a statement names after words that call for a name.
pub(crate) fn named_objects(statement: &str) -> NamedObjects {
    let english = ENGLISH.captures_iter(statement).map(|found| {
        found[1].split_whitespace().take(MAX_OBJECT_WORDS).collect::<Vec<_>>().join(" ")
    });
    let chinese = CHINESE
        .captures_iter(statement)
        .filter_map(|found| found.iter().skip(1).flatten().next().map(|it| it.as_str().to_owned()));
    NamedObjects { english: english.collect(), chinese: chinese.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_such_words_is_an_object() {
        for (statement, object) in [
            ("The user lives in oslo.", "oslo"),
            ("The user moved to Lisbon in February 2026.", "Lisbon in February 2026"),
            ("The user's name is Zed", "Zed"),
            ("用户住在基多。", "基多"),
            ("用户的猫叫旺财。", "旺财"),
            ("用户对花生过敏。", "花生"),
            ("用户在腾讯上班。", "腾讯"),
        ] {
            let found = named_objects(statement);
            let all: Vec<String> = found.english.into_iter().chain(found.chinese).collect();
            assert_eq!(all, [object], "{statement}");
        }
        let none = named_objects("The office is on the third floor. 办公室在三楼。");
        assert!(none.english.is_empty() && none.chinese.is_empty(), "{none:?}");
    }
}
