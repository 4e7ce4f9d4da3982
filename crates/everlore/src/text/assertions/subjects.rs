//! Whom a clause is about: the speaker, or somebody else that they speak of.

use std::sync::LazyLock;

use regex::Regex;

/// People that a speaker is related to.
const ENGLISH_RELATIONS: &str = r"(?:brother|sister|sibling|wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|father|mom|mum|dad|parent|son|daughter|kid|child(?:ren)?|baby|cousin|uncle|aunt|nephew|niece|grand\w+|friend|buddy|mate|neighbou?r|roommate|flatmate|colleague|coworker|co-worker|boss|manager|landlord|landlady|teacher|student|client|customer|doctor|family|cat|dog|in-laws?|ex)(?:s|'s|’s)?";

const CHINESE_RELATIONS: &str = "(?:爸|妈|父|母|哥|弟|姐|妹|老婆|妻|丈夫|老公|媳妇|太太|先生|儿子|女儿|孩子|宝宝|朋友|女友|男友|对象|同事|老板|上司|领导|经理|室友|舍友|邻居|房东|同学|老师|学生|客户|医生|爷爷|奶奶|外公|外婆|姥姥|姥爷|叔|姨|舅|姑|伯|表[哥弟姐妹]|堂[哥弟姐妹]|侄|岳|公公|婆婆|家人|猫|狗|前任)";

static ENGLISH_RELATION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&format!(r"(?i)\b{ENGLISH_RELATIONS}\b")).expect("valid"));

static CHINESE_RELATION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(CHINESE_RELATIONS).expect("valid"));

/// Words of the first person that are about the speaker, not about what is theirs.
static FIRST_PERSON: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:i|i'm|im|i’m|i've|i'd|i'll|me|we|we're|we've|us|myself|mine|ourselves)\b")
        .expect("valid")
});

/// Clause that begins with somebody else.
static ENGLISH_OTHER: LazyLock<Regex> = LazyLock::new(|| {
    let relation = ENGLISH_RELATIONS;
    Regex::new(&format!(
        r"(?i)^(?:(?:and|but|so|well|also|since|because|as|that|yes|no|oh)\W+)*(?:(?:my|our|the|a|his|her|their)\s+(?:[\w-]+\s+){{0,2}}?{relation}\b|(?:he|she|they|he's|she's|they're)\b|(?-i:[A-Z][a-z]+)(?:'s\s+\w+)?\s+(?:lives|works|likes|loves|hates|prefers|wants|speaks|studies|owns|plays|drinks|eats|enjoys)\b)"
    ))
    .expect("valid")
});

static CHINESE_OTHER: LazyLock<Regex> = LazyLock::new(|| {
    let relation = CHINESE_RELATIONS;
    Regex::new(&format!(
        "^(?:我|咱|俺|咱们|我们)?(?:的|家|有一?个|有位|最好的|一个|那个|这个|大|小|二|三|老|亲|前|女|男|好){{0,3}}{relation}|^(?:他|她)(?:们)?|^(?:老|小|阿)[\u{4e00}-\u{9fff}](?:住|在|叫|是|有|喜欢|对|去|来|做|养)"
    ))
    .expect("valid")
});

/// Statement whose subject is the user: "The user lives …", 用户住在…, but not "The user's brother …" nor 用户的弟弟….
static ABOUT_USER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)^\W*(?:the\s+user\s|user\s|用户[^的：:])").expect("valid"));

/// Returns `true` if a statement says something of the user alone.
pub(crate) fn is_about_user(statement: &str) -> bool {
    ABOUT_USER.is_match(statement) && !names_relation(statement)
}

/// Returns `true` if a clause speaks of somebody else, and not of its speaker.
pub(crate) fn is_about_others(clause: &str) -> bool {
    let clause = clause.trim();
    let starts_chinese = CHINESE_OTHER.find(clause);
    if let Some(other) = starts_chinese {
        let rest = &clause[other.end()..];
        return !rest.contains(['我', '咱']) && !rest.starts_with(['和', '跟', '与']);
    }
    ENGLISH_OTHER.is_match(clause) && !FIRST_PERSON.is_match(clause)
}

fn names_relation(text: &str) -> bool {
    ENGLISH_RELATION.is_match(text) || CHINESE_RELATION.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speaker_is_told_from_those_they_speak_of() {
        for clause in [
            "My brother lives in Oslo.",
            "my best friend lives in Oslo",
            "He lives in Oslo.",
            "Anna works at Nokia.",
            "我弟弟住在奥斯陆",
            "我有个朋友住在奥斯陆",
            "他住在奥斯陆",
            "小李住在杭州",
        ] {
            assert!(is_about_others(clause), "{clause}");
        }
        for clause in [
            "I live in Oslo",
            "My wife and I live in Oslo",
            "My name is Zed",
            "Moved to Lisbon last month",
            "Always answer in Chinese",
            "我住在上海",
            "住在上海",
            "我和老婆住在上海",
            "小时候住在上海",
            "Tea is great",
        ] {
            assert!(!is_about_others(clause), "{clause}");
        }
    }

    #[test]
    fn statements_about_relatives_are_not_about_the_user_alone() {
        for statement in ["The user lives in Oslo.", "用户住在奥斯陆。"] {
            assert!(is_about_user(statement), "{statement}");
        }
        for statement in [
            "The user's brother lives in Oslo.",
            "The user has a brother in Oslo.",
            "用户的弟弟住在奥斯陆。",
            "Ben lives in Oslo.",
        ] {
            assert!(!is_about_user(statement), "{statement}");
        }
    }
}
