//! Substance of a statement: does it name anything in particular, or does it only retell a conversation?

use std::sync::LazyLock;

use regex::Regex;

use super::terms::terms;

/// Returns `true` if a statement names nothing in particular: "the user likes some things".
pub(crate) fn is_vague(statement: &str) -> bool {
    terms(&without_generic_words(statement)).is_empty()
}

/// Returns a statement without words that occur in every statement or stand for anything at all.
pub(crate) fn without_generic_words(statement: &str) -> std::borrow::Cow<'_, str> {
    GENERIC_WORDS.replace_all(statement, " ")
}

/// Returns `true` if a statement retells the conversation: "the user asked about the weather".
pub(crate) fn retells_conversation(statement: &str) -> bool {
    ABOUT_CONVERSATION.is_match(statement)
}

/// Returns `true` if a statement speaks of something that it does not name: "It broke again.", 这个很好用。
pub(crate) fn has_dangling_subject(statement: &str) -> bool {
    let statement = statement.trim();
    let is_english =
        DANGLING_ENGLISH.is_match(statement) && !NAMES_SOMETHING.is_match(after_first(statement));
    let is_chinese = DANGLING_CHINESE.is_match(statement)
        && statement.chars().count() <= MAX_DANGLING_CHARS
        && !statement.contains(|c: char| c.is_ascii_alphanumeric() || "《「『“\"".contains(c));
    is_english || is_chinese
}

/// Longest Chinese statement whose subject must be in it; a longer one explains itself.
const MAX_DANGLING_CHARS: usize = 14;

/// Returns a statement without its first character: a capital there begins a sentence, not a name.
fn after_first(statement: &str) -> &str {
    let mut chars = statement.chars();
    chars.next();
    chars.as_str()
}

/// One short sentence, eight words at most, whose subject is a pronoun or "the thing".
static DANGLING_ENGLISH: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:(?:he|she|it|they)(?:'s|'re|’s|’re)?|(?:this|that|these|those)(?:\s+(?:is|was|are|were|will|has|had|does|did|should|can|could|works?|worked|broke|breaks|failed|fails|helped|happened)\b|'s|’s)|something(?:\s+(?:happened|changed|broke|failed|came|went|was|is)\b)|the (?:thing|things|stuff|one|ones|other one|same thing))(?:\s+[^\s.!?]+){1,7}[.!]?$|^something (?:happened|changed|broke|failed)[.!]?$",
    )
});

/// Name, figure, path or quotation: it tells what a pronoun means.
static NAMES_SOMETHING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"[A-Z\d`"“/\\]|\bI\b"#).expect("valid"));

static DANGLING_CHINESE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:(?:他|她|它)(?:们)?|(?:这|那)(?:个|些)?(?:很|是|不|太|有|要|会|能|可以|没|已|还|更|也|比|坏|挺|真)|(?:这|那)(?:件事|东西|玩意|个东西))[^。！？；]*[。！]?$",
    )
});

static ABOUT_CONVERSATION: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:the )?(?:user|person|human|assistant|agent|ai|model)\s+(?:(?:has|is|was)\s+)?(?:ask(?:s|ed|ing)|request(?:s|ed|ing)|want(?:s|ed) to know|inquir(?:es|ed)|would like to know|thank(?:s|ed)|greet(?:s|ed)|said (?:hello|hi|thanks)|answer(?:s|ed)|respond(?:s|ed)|explain(?:s|ed)|provid(?:es|ed)|suggest(?:s|ed)|offer(?:s|ed)|is (?:asking|chatting|talking|having a conversation))\b|^(?:this|the) (?:conversation|dialogue|chat|message|exchange)\b|^(?:no|nothing)\b.{0,40}\b(?:extract|remember|memor)|^(?:用户|助手|模型|AI)(?:正在|在)?(?:询问|问了?|请求|咨询|想知道|想了解|感谢|打招呼|回答了?|解释了?|提供了?|建议了?|表示感谢)|^(?:这段|本次|此次|该)(?:对话|聊天)|没有(?:可|需要|值得)(?:提取|记住)",
    )
});

/// Words that occur in every statement or stand for anything at all.
static GENERIC_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:the|user|user's|users|person|someone|likes?|loves?|enjoys?|prefers?|wants?|needs?|has|have|is|are|uses?|using|interested|interests?|things?|stuff|something|anything|everything|some|various|different|several|many|certain|general|good|great|nice|better|important|interesting|new|information|info|topics?|questions?|help|helping|working|work|works|project|projects|tasks?|issues?|problems?|it|this|that|these|those|in|on|with|about|of|to|a|an|and|be|being|do|does|doing|technology|solutions?|answers?)\b|用户|喜欢|偏好|想要|需要|一些|某些|各种|东西|事情|事物|内容|信息|问题|话题|帮助|很多|许多|不同的?|有趣的?|重要的?|好的?|新的?|项目|工作|任务|方面|感兴趣|有兴趣|对|的|是|有|和|在|用|做",
    )
});

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pronoun_without_a_name_is_told_from_a_statement_that_explains_itself() {
        for dangling in [
            "It broke again.",
            "He likes it a lot",
            "The thing is slow.",
            "That was great!",
            "They prefer the other one",
            "这个很好用。",
            "他喜欢那个",
            "那件事还没做完",
        ] {
            assert!(has_dangling_subject(dangling), "{dangling}");
        }
        for clear in [
            "It rains a lot in Bergen.",
            "That restaurant on the corner serves great ramen",
            "He lives in Oslo.",
            "The one in Lisbon has 3 rooms.",
            "It was decided last spring that the team moves to a shared office in the old harbour",
            "The deploy script is slow.",
            "I like it",
            "这个项目用 Rust 编写",
            "他住在奥斯陆的老城区，离港口很近，走路五分钟",
            "我喜欢喝茶",
        ] {
            assert!(!has_dangling_subject(clear), "{clear}");
        }
    }
}
