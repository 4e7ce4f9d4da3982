//! Dialogue in a message: lines that each name their speaker (`Ben: I live in Oslo.`, `[10:32] Ben: …`, 小李：…), as people
//! paste them from a chat or as hosts send them for a group.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    attribution::is_role_name,
    language::is_cjk,
    material_tasks::is_task_label,
    speaker_words::{CHINESE_LABELS, CHINESE_TITLES, LABELS, SURNAMES},
    traditional::simplify,
};

/// Most words of a name.
const MAX_NAME_WORDS: usize = 3;

/// Words of the first and second person: a line with one is said by somebody, where `City: Oslo` is a field.
#[rustfmt::skip]
const PERSON_WORDS: [&str; 21] = [
    "i", "i'm", "i've", "i'll", "i'd", "im", "my", "me", "mine", "myself", "we", "we're", "we've", "our", "us", "you",
    "you're", "your", "yours", "let's", "lets",
];

/// Characters of a clause, which no Chinese name has.
const CLAUSE_CHARS: &str = "我你您他她它们的是了在有说想要请把被不没这那就都很也和与或吗呢吧";

/// Message whose lines all name their speaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dialogue<'t> {
    lines: Vec<NamedLine<'t>>,
}

/// Line with its speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NamedLine<'t> {
    name: &'t str,
    text: &'t str,
}

/// Speakers of a dialogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Speakers<'t> {
    /// One speaker, and what they say without their name.
    One {
        /// Name.
        name: &'t str,
        /// Text.
        text: String,
    },
    /// Several speakers: a transcript.
    Several,
}

impl<'t> Dialogue<'t> {
    /// Parses a message; `None` if a line names no speaker, or if the names may be those of fields.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let lines: Vec<NamedLine<'t>> = lines.map(NamedLine::parse).collect::<Option<_>>()?;
        let first = lines.first()?;
        let repeats = lines.iter().skip(2).any(|line| line.name == first.name);
        let is_said = repeats || lines.iter().any(|line| speaks_of_persons(line.text));
        // A field can have any name in lower case; a chat has several lines.
        let are_names = lines.len() > 1 || !is_lower_case(first.name) || is_role_name(first.name);
        (is_said && are_names).then_some(Self { lines })
    }

    /// Returns who speaks.
    pub(crate) fn speakers(&self) -> Speakers<'t> {
        let name = self.lines[0].name;
        if self.lines.iter().any(|line| line.name != name) {
            return Speakers::Several;
        }
        let texts: Vec<&str> = self.lines.iter().map(|line| line.text).collect();
        Speakers::One { name, text: texts.join("\n") }
    }
}

impl<'t> NamedLine<'t> {
    fn parse(line: &'t str) -> Option<Self> {
        let found = NAMED_LINE.captures(line)?;
        let (name, text) = (found.name("name")?.as_str().trim(), found.name("text")?.as_str());
        let text = text.trim();
        // After a colon without a blank an address or a time goes on.
        let is_spaced = found.name("colon")?.as_str() != ":";
        let is_name = is_role_name(name) || is_latin_name(name) || is_chinese_name(name);
        let is_name = is_name && !is_error_name(name);
        (is_name && (is_spaced || name.chars().all(is_cjk)) && !text.is_empty())
            .then_some(Self { name, text })
    }
}

/// Returns the place of the first line that is only a name and a time, with what they say below (`Tom 10:32 AM`, 张三 10:32),
/// as chats copy it.
pub(super) fn stamped_line(text: &str) -> Option<usize> {
    let mut stamps = STAMPED_LINE.captures_iter(text);
    stamps.find_map(|found| {
        let (whole, name) = (found.get(0)?, found.name("name")?.as_str().trim());
        let below = text[whole.end()..].trim_start().lines().next().unwrap_or_default();
        let is_name = is_latin_name(name) && !is_lower_case(name) || is_chinese_name(name);
        (is_name && !below.is_empty() && !STAMPED_LINE.is_match(below)).then(|| whole.start())
    })
}

static STAMPED_LINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?mi)^[ \t]*(?P<name>[^\s\d:：][^\d:：\n]{0,30}?)(?:[ \t]+APP)?[ \t,，—–-]+[\[(（]?(?:(?:today|yesterday|今天|昨天|上午|下午|晚上|\d[\d./年月日-]*)(?: at)?[ \t,]*){0,2}\d{1,2}:\d{2}(?::\d{2})?(?:[ \t]*[ap]\.?m\.?)?[\])）]?[ \t]*$",
    )
    .expect("valid")
});

/// Line with a time before the name, or with marks around it, as chats and their exports write it.
static NAMED_LINE: LazyLock<Regex> = LazyLock::new(|| {
    let time = r"(?:[\[(（【]?\d[\d:./,年月日 -]*(?:[ap]\.?m\.?)?[\])）】]?[ \t]*(?:-[ \t]+)?)?";
    let name = r"(?P<name>[^\s:：*<>\[\](){}/\\@#|=][^:：*<>\[\](){}/\\@#|=\n]{0,40}?)";
    let after =
        r"[ \t]*(?:[(（\[]\d[\d: apm.]*[)）\]])?\*{0,2}(?P<colon>：|:\*{0,2}[ \t]+|:)\*{0,2}";
    Regex::new(&format!(r"(?i)^[ \t>*@-]*{time}[*@]{{0,2}}{name}{after}[ \t]*(?P<text>.+)$"))
        .expect("valid")
});

/// Returns `true` for one to three words of letters, none of which is the label of a note or a field.
fn is_latin_name(name: &str) -> bool {
    let words: Vec<&str> = name.split_whitespace().collect();
    let is_word = |word: &&str| {
        let letters = word.trim_end_matches('.').trim_end_matches(|c: char| c.is_ascii_digit());
        let is_letter =
            |c: char| c.is_alphabetic() && !is_cjk(c) || matches!(c, '\'' | '’' | '-' | '.' | '_');
        letters.starts_with(char::is_alphabetic)
            && letters.chars().all(is_letter)
            && !LABELS.contains(&letters.replace(['.', '-', '_'], "").to_lowercase().as_str())
    };
    let capitals = words.iter().filter(|word| !is_lower_case(word)).count();
    words.len() <= MAX_NAME_WORDS
        && words.iter().all(is_word)
        // "Fun fact" is none.
        && (capitals == words.len() || words.len() == 1)
        && !(words.len() == 1 && is_task_label(name))
}

/// Returns `true` for what programs print before their message: `ModuleNotFoundError:`, `error:`.
fn is_error_name(name: &str) -> bool {
    const WORDS: [&str; 7] =
        ["error", "fatal", "panic", "warning", "traceback", "exception", "err"];
    ["Error", "Exception", "Warning"].iter().any(|end| name.ends_with(end))
        || WORDS.contains(&name.to_lowercase().as_str())
}

fn is_lower_case(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_lowercase)
}

/// Returns `true` for a surname with a given name, a nickname such as 小李 or a person's title such as 李老师.
pub(crate) fn is_chinese_name(name: &str) -> bool {
    let name = simplify(name);
    let chars = name.chars().count();
    let is_plain = name.chars().all(is_cjk) && !name.contains(|c| CLAUSE_CHARS.contains(c));
    let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
    let is_nickname = matches!(first, "小" | "老" | "阿") && rest.chars().count() <= 2;
    let is_person = is_nickname
        || SURNAMES.contains(first) && chars <= 3
        || ["欧阳", "司马", "上官", "诸葛", "夏侯", "东方"].iter().any(|it| name.starts_with(it))
        || CHINESE_TITLES.iter().any(|title| name.ends_with(title));
    is_plain && (2..=6).contains(&chars) && is_person && !CHINESE_LABELS.contains(&&*name)
}

/// Returns `true` if a text speaks in the first person or to the second.
fn speaks_of_persons(text: &str) -> bool {
    text.contains(['我', '咱', '俺', '你', '您']) || {
        let lower = text.to_lowercase().replace('’', "'");
        let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
        words.any(|word| PERSON_WORDS.contains(&word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speakers(text: &str) -> Option<Speakers<'_>> {
        Dialogue::parse(text).map(|dialogue| dialogue.speakers())
    }

    #[test]
    fn a_line_with_a_name_is_that_persons() {
        for (message, speaker, said) in [
            ("Ben: I live in Oslo.", "Ben", "I live in Oslo."),
            ("[10:32] Ben: I live in Oslo.", "Ben", "I live in Oslo."),
            ("10:32 Ben: I live in Oslo.", "Ben", "I live in Oslo."),
            ("12/31/23, 10:32 AM - Ben Lee: I live in Oslo.", "Ben Lee", "I live in Oslo."),
            ("**Ben:** I live in Oslo.", "Ben", "I live in Oslo."),
            ("Dr. Lee (10:32): My clinic moved.", "Dr. Lee", "My clinic moved."),
            ("Ben: I live in Oslo.\nBen: My dog is Rex.", "Ben", "I live in Oslo.\nMy dog is Rex."),
            ("Assistant: My name is Zed.", "Assistant", "My name is Zed."),
            ("user: I live in Oslo.", "user", "I live in Oslo."),
            ("小李：我住在杭州", "小李", "我住在杭州"),
            ("[10:32] 张三丰: 我住在杭州", "张三丰", "我住在杭州"),
            ("陳大文：我住在九龍", "陳大文", "我住在九龍"),
            ("王老师:我对花生过敏。", "王老师", "我对花生过敏。"),
            ("妈妈：你爸住院了，我在医院。", "妈妈", "你爸住院了，我在医院。"),
            ("助手：我叫张三。", "助手", "我叫张三。"),
            ("Ben：我住在奥斯陆。", "Ben", "我住在奥斯陆。"),
        ] {
            let one = Speakers::One { name: speaker, text: said.to_owned() };
            assert_eq!(speakers(message), Some(one), "{message}");
        }
    }

    #[test]
    fn several_names_are_a_transcript() {
        for message in [
            "Ben: I live in Oslo.\nAna: And I live in Lisbon.",
            "[10:32] Ben: I live in Oslo.\n\n[10:33] Ana: Nice.",
            "User: I live in Oslo.\nAssistant: Noted.",
            "ben: i live in oslo\nana: me too",
            "小李：我住在杭州\n小王：我住在上海",
            "用户：我对花生过敏。\n助手：好的。",
            "Ben: Oslo is great\nAna: Agreed\nBen: Lisbon too",
        ] {
            assert_eq!(speakers(message), Some(Speakers::Several), "{message}");
        }
    }

    #[test]
    fn notes_fields_times_and_addresses_name_nobody() {
        for message in [
            "Note: I live in Oslo.",
            "Update: we moved to Oslo.",
            "Re: my move to Oslo",
            "PS: I live in Oslo.",
            "P.S.: I live in Oslo.",
            "TODO: call my mother",
            "FYI: I moved to Oslo.",
            "Fun fact: I live in Oslo.",
            "Correction: I live in Bergen.",
            "My name: Ben. I live in Oslo.",
            "https://example.com/me is my page",
            "http://my.example",
            "10:30 I get up, my bus leaves at 10:45",
            "Meet me at 10:30 in Oslo",
            "city: I live in Oslo",
            "Name: Ben\nCity: Oslo\nJob: I am a nurse",
            "Rent: 1450\nCar: Volvo",
            "Ben: Oslo",
            "Two things: I live in Oslo and I like tea.",
            "Summarize: I grew up on a farm in Iowa and later became a lawyer.",
            "Rewrite: I grew up on a farm.",
            "Draft: I grew up on a farm.",
            "Paraphrase: I grew up on a farm.",
            "Lyrics: I was born in a small town.",
            "Shorten: I grew up on a farm.",
            "Proofread: I grew up on a farm.",
            "Excerpt: I grew up on a farm.",
            "I told Ben: I live in Oslo.",
            "Ben: I live in Oslo.\nWhat do you think of my plan?",
            "注意：我对花生过敏。",
            "更新：我搬到杭州了。",
            "备注：我住在杭州",
            "待办：给我妈打电话",
            "地址：杭州\n电话：123",
            "他说：我住在杭州",
            "我的情况：我住在杭州",
            "项目：我负责后端",
            "记住：我住在杭州",
            "时间：我八点到",
        ] {
            assert_eq!(speakers(message), None, "{message}");
        }
    }

    #[test]
    fn a_line_of_a_name_and_a_time_begins_what_they_say() {
        for (message, at) in [
            ("Tom 10:32 AM\nI use Windows.", 0),
            ("Look:\nTom Lee  10:32\nI use Windows.", 6),
            ("Ana Today at 9:05 PM\nI'm a nurse.", 0),
            ("小李 10:32\n我是护士", 0),
            ("张三 2026/3/2 10:32:11\n我是护士", 0),
        ] {
            assert_eq!(stamped_line(message), Some(at), "{message}");
        }
        for message in [
            "Lunch 12:30\nI take my pills then.",
            "Breakfast 8:00\nLunch 12:30\nDinner 19:00",
            "I get up at 6:30\nI'm a baker.",
            "Meet me at 10:30\nI'm in Oslo.",
            "Tom 10:32",
            "会议 10:30\n我要参加",
            "时间 10:30\n我是护士",
        ] {
            assert_eq!(stamped_line(message), None, "{message}");
        }
    }

    #[test]
    fn long_texts_take_linear_time() {
        for part in ["Ben: I live in Oslo.\n", "Ben: ", "小李：", "[10:32] ", "a"] {
            let _ = Dialogue::parse(&part.repeat(100_000));
        }
    }
}
