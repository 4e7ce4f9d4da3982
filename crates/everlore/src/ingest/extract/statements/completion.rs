//! Sentences with what their speaker left out, as the classifier can judge them: the subject ("PMP 考过了" is the
//! speaker's), the question of a short answer, or a correction without the words that only tell that it is one.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::ingest::extract::fragments::stated;

/// Chinese sentences about plans, habits and what was reached, without the subject that they all share: the speaker.
static SUBJECTLESS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:终于|刚刚?|已经|最近|上周|上个?月|昨天|今天|今年|明年|下周|下个?月|这周|这个?月|周末|国庆|春节|五一|元旦|中秋|暑假|寒假|圣诞|过年|月底|年底)*(?:打算|准备|计划|决定)[^，。]{2,}|^(?:今年|明年|下半年)?的?目标是.{2,}|^[\w +#-]{0,16}(?:考过|考上|考下|拿到|拿下|评上|升上|入职|通过)[^，。]{0,12}了|^(?:已经|终于)?戒(?:了)?[烟酒糖咖奶辣][^，。]{0,8}|^每(?:天|晚|周|月|年|个)[^，。]{0,10}(?:吃|喝|跑|去|上|做|练|学|打|游|睡|起|走|读|写)",
    )
});

/// Signs that somebody else is meant, or that nothing is stated.
static NOT_OF_SPEAKER: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"[我你您他她它咱俺们谁吗呢？?]|什么|怎么|多少|几点|请|麻烦|帮|记得|不要|[爸妈哥姐弟妹]|老公|老婆|孩子|儿子|女儿|公司|项目|领导|老板|同事|大家|客户|政府|法院|国家",
    )
});

/// Deaths of somebody named, which only those close to them tell of.
static DEATH: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?-i:[A-Z][a-z]+) (?:sadly |just )?(?:died|passed away|was put (?:down|to sleep))(?: (?:today|yesterday|last \w+|this \w+|on \w+day|in the night|peacefully|in my arms|at the vet'?s?))+[.!]*$",
    )
});

/// Questions that a yes or no answers, with what they ask.
static ENGLISH_QUESTION: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:(?:so|and|ok|okay)[ ,]+)?(?P<aux>do|are|have|can) you (?:ever )?(?P<rest>[^,?]{3,60})\?$",
    )
});

static CHINESE_QUESTION: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:那|所以|请问)?[，,]?[你您](?P<adv>平时|现在|还|也|能|会)?(?P<rest>[^，。？?你您]{2,12}?)吗[？?]$",
    )
});

static ENGLISH_ANSWER: LazyLock<Regex> =
    LazyLock::new(|| compile(r"^(?P<word>yes|yeah|yep|yup|no|nope|nah|not at all|never)\b[^?]*$"));

/// Returns a sentence with what its speaker left out; `None` if nothing is known to be missing. `question` is the one
/// that it may answer.
pub(super) fn completed(
    sentence: &str,
    is_open_correction: bool,
    question: Option<&str>,
) -> Option<String> {
    if is_open_correction {
        return Some(stated(sentence).to_owned());
    }
    let answered = question.and_then(|question| answered(question, sentence.trim()));
    answered.or_else(|| with_subject(sentence.trim()))
}

/// Returns a sentence with the subject that it leaves out.
fn with_subject(sentence: &str) -> Option<String> {
    if DEATH.is_match(sentence) {
        return Some(format!("Our {sentence}"));
    }
    let is_own = SUBJECTLESS.is_match(sentence) && !NOT_OF_SPEAKER.is_match(sentence);
    is_own.then(|| format!("我{sentence}"))
}

/// Returns the statement that a short answer to a question makes.
fn answered(question: &str, answer: &str) -> Option<String> {
    let question = question.trim();
    // A bare "no" is as often not meant.
    if answer.split_whitespace().count() < 2 && answer.is_ascii() {
        return None;
    }
    if let Some(found) = ENGLISH_QUESTION.captures(question) {
        return answered_in_english(&found, answer);
    }
    let found = CHINESE_QUESTION.captures(question)?;
    let rest = found.name("rest")?.as_str();
    let first = answer.split(['，', ',', '。', '！', '!']).next().unwrap_or_default();
    let denied = first.strip_prefix(['不', '没']).filter(|word| !word.is_empty());
    let verb = denied.unwrap_or(first);
    let echoes = !verb.is_empty() && verb.chars().count() <= 3 && rest.starts_with(verb);
    let negation = denied.map_or("", |_| &first[..'不'.len_utf8()]);
    echoes.then(|| format!("我{negation}{rest}。"))
}

fn answered_in_english(question: &Captures<'_>, answer: &str) -> Option<String> {
    let word = ENGLISH_ANSWER.captures(answer)?.name("word")?.as_str().to_lowercase();
    let rest = question.name("rest")?.as_str().trim();
    let is_yes = word.starts_with('y');
    let start = match (question.name("aux")?.as_str().to_lowercase().as_str(), is_yes) {
        ("do", true) => "I",
        ("do", false) => "I don't",
        ("are", true) => "I am",
        ("are", false) => "I am not",
        ("can", true) => "I can",
        ("can", false) => "I can't",
        (_, true) => "I have",
        (_, false) => "I have not",
    };
    Some(format!("{start} {rest}."))
}

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){}", pattern.replace('\'', "['’]"))).expect("valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_speaker_leaves_out_is_added() {
        for (sentence, whole) in [
            ("PMP 考过了！", "我PMP 考过了！"),
            ("拿到永久居民了！", "我拿到永久居民了！"),
            ("戒烟三年了。", "我戒烟三年了。"),
            ("每天早上八点吃药。", "我每天早上八点吃药。"),
            ("国庆打算去云南。", "我国庆打算去云南。"),
            ("今年的目标是考过 PMP。", "我今年的目标是考过 PMP。"),
            ("Biscuit died last week.", "Our Biscuit died last week."),
        ] {
            assert_eq!(completed(sentence, false, None).as_deref(), Some(whole));
        }
        for sentence in [
            "我国庆打算去云南。",
            "我妈考过了",
            "公司打算裁员",
            "国庆打算去哪？",
            "考过了吗",
            "Elvis died in 1977.",
            "明天下雨",
        ] {
            assert_eq!(completed(sentence, false, None), None, "{sentence}");
        }
        let correction = "Wait, I misspoke, I have four kids.";
        assert_eq!(completed(correction, true, None).as_deref(), Some("I have four kids."));
    }

    #[test]
    fn an_answer_is_read_with_its_question() {
        let read = |question, answer| completed(answer, false, Some(question));
        for (question, answer, whole) in [
            ("你吃辣吗？", "不吃，一点都不行。", "我不吃辣。"),
            ("你养猫吗？", "养，两只", "我养猫。"),
            ("Do you eat spicy food?", "No, not at all.", "I don't eat spicy food."),
            ("Are you vegetarian?", "Yes, for years", "I am vegetarian."),
        ] {
            assert_eq!(read(question, answer).as_deref(), Some(whole));
        }
        assert_eq!(read("你吃辣吗？", "随便吧"), None);
        assert_eq!(read("Which size?", "No idea"), None);
        assert_eq!(read("Do you have any stomach trouble?", "no"), None);
    }
}
