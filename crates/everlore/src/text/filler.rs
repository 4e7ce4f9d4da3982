//! Filler sentences: greetings, thanks and nods at the beginning of a message, which tell nothing of its subject.

use super::sentences::sentences;

/// Most words of an English filler; a longer sentence says something.
const MAX_WORDS: usize = 7;

/// Most characters of a Chinese filler.
const MAX_CHARS: usize = 14;

/// Returns the first sentence of a text that is no filler; the first of all if there is no other.
pub(crate) fn first_telling_sentence(text: &str) -> &str {
    let telling = sentences(text).find(|sentence| !is_filler(sentence));
    telling.or_else(|| sentences(text).next()).unwrap_or_default()
}

/// Returns `true` for "Hi there!", "Thanks a lot.", 你好！
pub(crate) fn is_filler(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|w| !w.is_empty());
    let words: Vec<&str> = words.collect();
    words.len() <= MAX_WORDS
        && words.iter().all(|word| WORDS.contains(word) || is_chinese_filler(word))
}

fn is_chinese_filler(word: &str) -> bool {
    if word.chars().count() > MAX_CHARS || word.is_ascii() {
        return false;
    }
    let mut rest = word;
    while !rest.is_empty() {
        let longest = PHRASES.iter().filter(|phrase| rest.starts_with(**phrase));
        let Some(phrase) = longest.max_by_key(|phrase| phrase.len()) else { return false };
        rest = &rest[phrase.len()..];
    }
    true
}

/// Words that English fillers consist of.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "hi", "hello", "hey", "hiya", "yo", "there", "dear", "all", "everyone", "folks", "good", "morning", "afternoon", "evening", "thanks", "thank", "you", "thx", "so", "much", "very", "a", "lot", "again", "ok", "okay", "sure", "great", "cool", "nice", "perfect", "awesome", "well", "yes", "yeah", "yep", "no", "nope",
    "hmm", "hm", "um", "uh", "oh", "ah", "wow", "lol", "haha", "alright", "right", "got", "it", "noted", "understood", "sorry", "welcome", "bye", "please", "cheers", "to", "meet", "how", "are", "is", "going", "doing", "i'm", "fine", "too", "today", "of", "course", "sounds", "certainly", "absolutely", "glad", "happy", "help", "my", "friend", "what's", "up",
];

/// Phrases that Chinese fillers consist of.
#[rustfmt::skip]
const PHRASES: &[&str] = &[
    "你好", "您好", "大家好", "你们好", "嗨", "嘿", "哈喽", "哈啰", "喂", "在吗", "在不在", "早上好", "上午好", "下午好", "晚上好", "早安", "午安", "晚安", "早", "谢谢", "谢谢你", "谢谢您", "多谢", "感谢", "非常", "十分", "好的", "好", "好呀", "好吧", "嗯", "哦", "噢", "啊", "呀", "吧", "哈", "对", "是的", "没错", "行", "可以", "当然", "没问题", "没事",
    "不客气", "不好意思", "抱歉", "辛苦", "辛苦了", "再见", "拜拜", "收到", "明白", "明白了", "知道了", "了", "很高兴认识你", "很高兴", "请问", "麻烦你", "亲", "最近怎么样", "你怎么样", "吗", "呢", "啦", "哇",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_and_thanks_are_skipped_in_both_languages() {
        for (text, telling) in [
            ("Hi! My name is Sam. I sail.", "My name is Sam. "),
            ("Good morning everyone! How are you? The build is red.", "The build is red."),
            ("你好！我叫张伟。我住在上海。", "我叫张伟。"),
            ("嗨，在吗？谢谢！服务器又挂了", "服务器又挂了"),
            ("Hello!", "Hello!"),
            ("你好", "你好"),
            ("", ""),
        ] {
            assert_eq!(first_telling_sentence(text), telling);
        }
    }

    #[test]
    fn sentences_with_something_in_them_are_no_fillers() {
        for text in
            ["Hi Sam", "Thanks for the tea", "你好吃饭了", "好茶", "Good tea", "I am fine with red"]
        {
            assert!(!is_filler(text), "{text}");
        }
    }
}
