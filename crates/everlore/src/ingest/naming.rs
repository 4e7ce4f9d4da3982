//! Default titles, kinds and uris of memories.

use crate::{
    text::{filler::first_telling_sentence, sentences::ends_with_abbreviation},
    types::{Fingerprint, Kind, MemoryId, Scope},
};

/// Longest derived title: it fits a line of a list.
const MAX_TITLE_CHARS: usize = 60;

/// Longest readable part of a uri.
const MAX_SLUG_CHARS: usize = 48;

/// Digits of a chunk's digest in its uri: enough to tell the chunks of all documents apart.
const MAX_DIGEST_CHARS: usize = 12;

/// Derives a title: the first sentence of the text that is no greeting, up to the length of a line.
pub(super) fn title_of(content: &str) -> String {
    let sentence = first_telling_sentence(content).trim();
    let sentence = sentence.trim_start_matches(['#', '-', '*', '>', ' ']);
    let title = super::request::one_line(sentence);
    if title.chars().count() <= MAX_TITLE_CHARS {
        let bare = title.trim_end_matches(['.', '!', '?', '。', '！', '？']);
        return if ends_with_abbreviation(&title) { title } else { bare.to_owned() };
    }
    let end = title.char_indices().nth(MAX_TITLE_CHARS).map_or(title.len(), |(index, _)| index);
    // Cut at a word, unless the last word is most of the title, as in languages without spaces.
    let at_word = title[..end].rfind(' ').filter(|word| *word > end / 2).unwrap_or(end);
    format!("{}…", title[..at_word].trim_end())
}

/// Guesses the kind of a statement: a link is a reference, a rule is feedback for the agent, the first person is about
/// the user, anything else is knowledge.
pub(super) fn guess_kind(content: &str) -> Kind {
    let lower = content.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').collect();
    let starts = |starts: &[&str]| starts.iter().any(|start| lower.starts_with(start));
    if lower.contains("http://") || lower.contains("https://") {
        Kind::Reference
    } else if starts(RULE_STARTS) {
        Kind::Feedback
    } else if words.iter().any(|word| FIRST_PERSON.contains(word))
        || lower.contains('我')
        || is_of_family(&lower, &words)
    {
        Kind::User
    } else {
        Kind::Knowledge
    }
}

/// Beginnings of rules for the agent.
#[rustfmt::skip]
const RULE_STARTS: &[&str] = &[
    "always ", "never ", "don't ", "do not ", "please ", "keep your ", "keep replies", "keep answers", "keep responses", "reply in ", "answer in ", "answer me ",
    "reply to me ", "respond in ", "be brief", "be concise", "be direct", "when you answer", "when you reply", "when i ask", "when answering",
    "不要", "总是", "请", "别", "以后", "务必", "回答我", "回答时", "回答的时候", "回答要", "回答用", "回复我", "回复时", "回复要", "回复用", "跟我说话", "和我说话", "给我回复", "回我消息",
];

const FIRST_PERSON: [&str; 9] = ["i", "i'm", "i’m", "i've", "i’ve", "my", "me", "mine", "myself"];

/// Words for one's own people; in Chinese a statement that begins with one is about one's own.
#[rustfmt::skip]
const FAMILY: &[&str] = &[
    "wife", "husband", "son", "sons", "daughter", "daughters", "kid", "kids", "child", "children", "baby", "mum", "mom", "dad", "mother", "father", "parents",
    "sister", "brother", "grandma", "grandpa", "dog", "cat", "wedding", "married",
];
#[rustfmt::skip]
const CHINESE_FAMILY: &[&str] = &[
    "老婆", "妻子", "太太", "媳妇", "老公", "丈夫", "爱人", "女朋友", "男朋友", "女友", "男友", "儿子", "女儿", "闺女", "孩子", "宝宝", "爸", "妈", "父亲", "母亲", "父母", "爷爷", "奶奶",
    "外公", "外婆", "姥姥", "姥爷", "公公", "婆婆", "岳父", "岳母", "哥哥", "姐姐", "弟弟", "妹妹", "大宝", "二宝", "老大", "老二", "家里", "咱", "俺",
];
/// States of health that people have: "Jack has coeliac disease".
#[rustfmt::skip]
const HEALTH: &[&str] = &["is allergic to", "has coeliac", "has celiac", "is diabetic", "has diabetes", "is vegetarian", "is vegan", "has asthma"];

/// Returns `true` for a statement about the speaker's people that names them without "my" or 我.
fn is_of_family(lower: &str, words: &[&str]) -> bool {
    let is_ours = words.iter().any(|word| ["we", "we're", "we've", "our", "us"].contains(word));
    is_ours && words.iter().any(|word| FAMILY.contains(word))
        || HEALTH.iter().any(|state| lower.contains(state))
        || CHINESE_FAMILY.iter().any(|word| lower.starts_with(word))
}

/// Returns `agent://{agent}/{kind}/{category}/{slug}`, where the slug ends with a digest of the text, so that different
/// texts never share a uri by chance and equal ones always do. `attempt` varies a uri that is taken.
pub(super) fn memory_uri(
    scope: &Scope,
    kind: Kind,
    category: Option<&str>,
    name: &str,
    text: Fingerprint,
    attempt: u32,
) -> String {
    let category = category
        .map(slug)
        .filter(|category| !category.is_empty())
        .unwrap_or_else(|| "general".to_owned());
    let digest: String = text.as_bytes()[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    let retry = if attempt == 0 { String::new() } else { format!("-{attempt}") };
    let slug = slug(name);
    let separator = if slug.is_empty() { "" } else { "-" };
    format!("agent://{}/{kind}/{category}/{slug}{separator}{digest}{retry}", agent_slug(scope))
}

/// Returns `agent://{agent}/`, the prefix of every uri of a scope.
pub(crate) fn root_uri(scope: &Scope) -> String {
    format!("agent://{}/", agent_slug(scope))
}

/// Returns `agent://{agent}/session/daily/{date}`.
pub fn day_uri(scope: &Scope, date: jiff::civil::Date) -> String {
    format!("agent://{}/{}/daily/{date}", agent_slug(scope), Kind::Session)
}

/// Returns `agent://{agent}/turn/{session}/{id}`.
pub(super) fn turn_uri(scope: &Scope, session: Option<&str>, id: MemoryId) -> String {
    let session = session
        .map(slug)
        .filter(|session| !session.is_empty())
        .unwrap_or_else(|| "general".to_owned());
    format!("agent://{}/{}/{session}/{id}", agent_slug(scope), Kind::Turn)
}

/// Returns `agent://{agent}/knowledge/{file}/{slug}`, where the slug ends with the digest of the chunk.
pub(super) fn chunk_uri(scope: &Scope, file: &str, name: &str, digest: &str) -> String {
    let digest = digest.get(..MAX_DIGEST_CHARS).unwrap_or(digest);
    let slug = slug(name);
    let separator = if slug.is_empty() { "" } else { "-" };
    format!(
        "agent://{}/{}/{}/{slug}{separator}{digest}",
        agent_slug(scope),
        Kind::Knowledge,
        file_slug(file)
    )
}

/// Returns `agent://{agent}/knowledge/{file}/document-{digest}`, where the digest tells paths apart.
pub(super) fn document_uri(scope: &Scope, file: &str, path: &str) -> String {
    let digest = Fingerprint::of(path);
    let digest: String = digest.as_bytes()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "agent://{}/{}/{}/document-{digest}",
        agent_slug(scope),
        Kind::Knowledge,
        file_slug(file)
    )
}

/// Returns `agent://{agent}/knowledge/memories/{slug}`, where the slug ends with a digest that tells paths apart.
pub(super) fn note_uri(scope: &Scope, path: &str) -> String {
    let digest = Fingerprint::of(path);
    let digest: String = digest.as_bytes()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let slug = file_slug(path.trim_start_matches("/memories/"));
    format!("agent://{}/{}/memories/{slug}-{digest}", agent_slug(scope), Kind::Knowledge)
}

/// Returns `agent://{agent}/{kind}/{slug}-{id}`: two records may have the same text.
pub(super) fn record_uri(scope: &Scope, kind: Kind, name: &str, id: MemoryId) -> String {
    let slug = slug(name);
    let separator = if slug.is_empty() { "" } else { "-" };
    format!("agent://{}/{kind}/{slug}{separator}{id}", agent_slug(scope))
}

fn file_slug(file: &str) -> String {
    Some(slug(file)).filter(|slug| !slug.is_empty()).unwrap_or_else(|| "general".to_owned())
}

fn agent_slug(scope: &Scope) -> String {
    scope.agent().replace(char::is_whitespace, "-")
}

/// Returns the letters and digits of a text, of any language, in lower case and joined by hyphens.
fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = String::new();
    for word in words {
        if slug.chars().count() + word.chars().count() > MAX_SLUG_CHARS {
            if slug.is_empty() {
                slug = word.chars().take(MAX_SLUG_CHARS).collect();
            }
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(word);
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_sentence_or_what_fits_a_line() {
        assert_eq!(title_of("Prefers tea. Never coffee."), "Prefers tea");
        assert_eq!(title_of("用户喜欢龙井茶。不喝咖啡。"), "用户喜欢龙井茶");
        assert_eq!(title_of("\n# Release plan\n- ship"), "Release plan");
        assert_eq!(title_of("Dr. Smith is my dentist. She is kind."), "Dr. Smith is my dentist");
        assert_eq!(title_of("I live in the U.S. with my cat."), "I live in the U.S. with my cat");
        assert_eq!(title_of("I live in the U.S."), "I live in the U.S.");
        assert_eq!(title_of("Hi! My name is Sam."), "My name is Sam");
        assert_eq!(title_of("你好！我叫张伟。我住在上海。"), "我叫张伟");
        let long = title_of(&"word ".repeat(40));
        assert!(long.ends_with('…') && long.chars().count() <= 61, "{long}");
        assert_eq!(title_of(&"长".repeat(100)).chars().count(), 61);
    }

    #[test]
    fn kinds_are_judged_by_plain_signs() {
        assert_eq!(guess_kind("I'm allergic to peanuts"), Kind::User);
        assert_eq!(guess_kind("我对花生过敏"), Kind::User);
        assert_eq!(guess_kind("Always answer in French"), Kind::Feedback);
        assert_eq!(guess_kind("不要自动格式化代码"), Kind::Feedback);
        assert_eq!(guess_kind("Docs live at https://example.com"), Kind::Reference);
        for text in [
            "We have two kids: Poppy is 9",
            "Jack has coeliac disease",
            "女儿叫周沐沐",
            "老公对海鲜过敏",
        ] {
            assert_eq!(guess_kind(text), Kind::User, "{text}");
        }
        for text in ["Keep replies in the language I write in", "回答我的时候先说结论"] {
            assert_eq!(guess_kind(text), Kind::Feedback, "{text}");
        }
        assert_eq!(guess_kind("We use PostgreSQL for the backend"), Kind::Knowledge);
        assert_eq!(guess_kind("The staging port is 8443"), Kind::Knowledge);
        assert_eq!(guess_kind("生产环境端口是 8443"), Kind::Knowledge);
    }

    #[test]
    fn uris_are_readable_and_tell_texts_apart() {
        let scope = Scope::new("my agent", "u").unwrap();
        let uri = |content: &str, attempt| {
            memory_uri(
                &scope,
                Kind::User,
                Some("Food & Drink"),
                "喜欢 Green Tea!",
                Fingerprint::of(content),
                attempt,
            )
        };
        assert!(
            uri("a", 0).starts_with("agent://my-agent/user/food-drink/喜欢-green-tea-"),
            "{}",
            uri("a", 0)
        );
        assert_eq!(uri("a", 0), uri("a", 0));
        assert_ne!(uri("a", 0), uri("b", 0));
        assert_ne!(uri("a", 0), uri("a", 1));
    }
}
