//! Passwords that a sentence names freely: before their label ("… is my password", …当密码), some words after it ("used
//! to be …, now it's …", 密码还是老样子 …), and passphrases of plain words.
//!
//! The farther a value stands from its label, the less it may look like a product's name. Every search reads a bounded
//! part of the text.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{
    bounded, has_char,
    labelled::is_typed,
    labelled_value::names_other_thing,
    shapes::{is_address, is_product_like},
};

/// Bytes of a sentence behind its label that are read.
const MAX_SENTENCE_BYTES: usize = 160;

/// Bytes before a label that are read.
const MAX_BEFORE_BYTES: usize = 110;

/// Bytes between a label, or a value, and the next value.
const MAX_GAP_BYTES: usize = 60;

/// Words between a value and the label behind it: "… is my old home wifi password".
const MAX_FILLERS: usize = 5;

/// End of a text right before a value: a verb says that it is one.
static STRONG_LEAD: LazyLock<Regex> = LazyLock::new(|| {
    let english = r"(?-u:\b)(?:is|was|be|it'?s|it’s|became|remains|stays)(?: now| still| just)?";
    lead(&format!("{english}|是|为|叫|[改换设变]成了?|改为|用的"))
});

/// End of a text right before a value: a direction, which other things have too.
static WEAK_LEAD: LazyLock<Regex> =
    LazyLock::new(|| lead(r"(?-u:\b)(?:to|from|now|with|try|use)|从|和|用|到"));

fn lead(words: &str) -> Regex {
    Regex::new(&format!(r#"(?i)(?:{words})[ \t:：,，]{{0,4}}["'“‘「`(]?$"#)).expect("valid")
}

/// Chinese words between 密码 and its value that announce one.
#[rustfmt::skip]
const ANNOUNCING: &[&str] = &[
    "是", "为", "成", "换", "改", "老样子", "一样", "不变", "没变", "照旧", "以前", "原来", "记一下", "记好", "记住", "发你", "给你", "告诉你", "仍", "还", "设的", "设了",
];

/// Chinese words between 密码 and a value that speak about the password instead.
#[rustfmt::skip]
const ABOUT: &[&str] = &[
    "存", "放在", "写在", "忘", "管理", "规则", "规定", "长度", "至少", "重置", "泄露", "错", "不对", "验证", "哈希", "加密", "算法", "页面", "接口", "字段",
    "函数", "文件", "版本", "课", "用户名", "账号", "帐号", "邮箱", "手机", "电话", "生成", "发到", "发给", "寄", "代码", "年", "位", "楼", "分钟", "小时",
];

/// Chinese words right behind a label that make it another word.
#[rustfmt::skip]
const OTHER_NOUNS: &[&str] = &[
    "学", "本", "锁", "框", "哈希", "算法", "加密", "管理", "字段", "保护", "强度", "长度", "规则", "策略", "输入", "的", "箱", "重置", "找回", "机", "登录", "登陆", "验证", "认证",
];

/// English words that may follow "… is the password": others make it another noun.
#[rustfmt::skip]
const AFTER_LABEL: &[&str] = &[
    "for", "to", "of", "on", "in", "at", "now", "and", "but", "so", "then", "there", "until", "since", "again", "if", "please", "i", "we", "you", "he", "she",
    "they", "that", "when", "everywhere", "here", "as", "from", "because", "or", "too", "instead", "today",
];

/// Words that no one puts into a passphrase, but everyone into a sentence about one.
#[rustfmt::skip]
const SENTENCE_WORDS: &[&str] = &[
    "the", "a", "an", "and", "or", "but", "too", "very", "not", "no", "my", "your", "our", "his", "her", "its", "their", "to", "in", "on", "at", "of", "for", "from",
    "with", "by", "as", "it", "that", "this", "which", "what", "when", "where", "if", "than", "then", "so", "be", "been", "was", "is", "are", "were", "has", "have",
    "had", "will", "would", "must", "should", "can", "cannot", "could", "may", "long", "longer", "short", "shorter", "weak", "strong", "random", "word", "words",
    "characters", "letters", "same", "different", "needed", "usually", "always", "never", "still", "only", "required", "optional", "missing", "wrong", "empty",
    "unknown", "secret", "safe", "hard", "easy", "stored", "saved", "kept", "written", "somewhere", "nowhere", "here", "there", "now", "please", "just", "also",
    "more", "most", "less", "four", "five", "six", "twelve", "set", "known", "use", "used", "hidden", "asked", "one", "something", "about", "like", "really",
];

/// Passphrase of three to eight small words that end their clause, or of any words in quotes.
static PASSPHRASE: LazyLock<Regex> = LazyLock::new(|| {
    let between = r"^(?: is| was|'s|’s|:|：| =)?[ \t:：]{1,4}";
    let bare = r"(?P<bare>[a-z]{2,12}(?:[ -][a-z]{2,12}){2,7})(?:$|[\n.,;!?)。，；！])";
    let quoted = r#"["'“‘「`](?P<quoted>[A-Za-z0-9]{2,14}(?: [A-Za-z0-9]{2,14}){1,9})["'”’」`]"#;
    Regex::new(&format!("{between}(?:{bare}|{quoted})")).expect("valid")
});

/// Value before a Chinese label: `…` 是我的登录密码, 用 `…` 当密码.
static BEFORE_CHINESE: LazyLock<Regex> = LazyLock::new(|| {
    let joins = "(?:这个|就|还|才)?(?:是|当作|当成|当|作为|做|作|设为|设成)";
    Regex::new(&format!("(?P<v>[!-~]{{6,64}}) ?{joins} ?[A-Za-z一-鿿-]{{0,12}} ?$")).expect("valid")
});

/// Returns the passwords around the label at `start..end`, in either direction.
pub(super) fn find_around(text: &str, start: usize, end: usize) -> Vec<Range<usize>> {
    let is_chinese = text[..end].ends_with(|c: char| !c.is_ascii());
    let rest = bounded(&text[end..], MAX_SENTENCE_BYTES);
    let is_other_noun = is_chinese && OTHER_NOUNS.iter().any(|noun| rest.starts_with(noun));
    let is_part =
        !is_chinese && rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "_-".contains(c));
    if is_other_noun || is_part {
        return Vec::new();
    }
    let mut found = values_after(text, end, is_chinese);
    found.extend(value_before(text, start, rest, is_chinese));
    found
}

/// Returns the words of a passphrase behind its label.
pub(super) fn find_phrase(text: &str, label_end: usize) -> Option<Range<usize>> {
    let rest = bounded(&text[label_end..], MAX_SENTENCE_BYTES);
    let captured = PASSPHRASE.captures(rest)?;
    let words = captured.name("quoted").or_else(|| {
        let bare = captured.name("bare")?;
        let mut words = bare.as_str().split([' ', '-']);
        let is_sentence = words.any(|word| SENTENCE_WORDS.contains(&word))
            || bare.as_str().split(' ').next().is_some_and(|first| first.ends_with("ed"));
        (!is_sentence).then_some(bare)
    })?;
    Some(label_end + words.start()..label_end + words.end())
}

/// Returns the values of a sentence behind its label, each announced by what stands before it.
fn values_after(text: &str, label_end: usize, is_chinese: bool) -> Vec<Range<usize>> {
    let rest = bounded(&text[label_end..], MAX_SENTENCE_BYTES);
    let rest = rest.split('\n').next().unwrap_or_default();
    let (mut found, mut from, mut at) = (Vec::new(), skip_question(rest), skip_question(rest));
    while let Some(token) = next_token(rest, at) {
        at = token.end;
        let gap = &rest[from..token.start];
        if gap.len() > MAX_GAP_BYTES || ends_sentence(gap) || names_other_thing(gap) {
            break;
        }
        let value = &rest[token.clone()];
        if is_announced(gap, value, &rest[token.end..], is_chinese) {
            from = token.end;
            found.push(label_end + token.start..label_end + token.end);
        }
    }
    found
}

/// Returns the length of a question mark right behind a label: "Netflix password? It's …".
fn skip_question(rest: &str) -> usize {
    let bare = rest.trim_start_matches([' ', '?', '？']);
    rest.len() - bare.len()
}

/// Returns the next run of printable ASCII, without the marks of the sentence around it.
fn next_token(rest: &str, from: usize) -> Option<Range<usize>> {
    let is_part =
        |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '`' | '(' | ')' | ',');
    let start = from + rest[from..].find(is_part)?;
    let len = rest[start..].find(|c: char| !is_part(c)).unwrap_or(rest.len() - start);
    let kept = rest[start..start + len].trim_end_matches(['.', ':', ';', '?', ']', '}']).len();
    Some(start..start + kept.max(1))
}

/// Returns `true` if a sentence ends within a gap, unless the next one says what the value is now.
fn ends_sentence(gap: &str) -> bool {
    let end = gap.rfind(['。', '！', '？', ';', '；']);
    let end = end.or_else(|| gap.rfind(". ").or_else(|| gap.rfind("? ")));
    end.is_some_and(|end| {
        let next = gap[end..].trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        !["now", "it's", "it’s", "it is", "its", "就是", "现在"]
            .iter()
            .any(|it| next.starts_with(it))
    })
}

fn is_announced(gap: &str, value: &str, after: &str, is_chinese: bool) -> bool {
    if is_address(value) || is_code(gap, value) {
        return false;
    }
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    let is_typed = is_typed(value) && !is_number || is_chinese && is_date_and_letters(value);
    if !is_typed && !is_number {
        return false;
    }
    let (strong, weak) = (STRONG_LEAD.is_match(gap), WEAK_LEAD.is_match(gap));
    let is_code = is_number && (4..=10).contains(&value.len()) && ends_clause(after);
    let is_long_code = is_code && value.len() >= 6;
    let is_direct = strong && (is_typed || is_code && (is_chinese || value.len() >= 6));
    let is_turned = weak && is_typed && !is_product_like(value);
    let is_loose = || {
        is_chinese
            && announces(gap)
            && (is_typed && (!is_product_like(value) || ends_clause(after)) || is_long_code)
    };
    is_direct || is_turned || is_loose()
}

/// Returns `true` in code and data, where a quotation ends before the value or the value is an identifier.
fn is_code(gap: &str, value: &str) -> bool {
    let is_identifier =
        value.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '='));
    let leaves_quotes = gap.find('"').is_some_and(|quote| quote + 1 < gap.len());
    is_identifier || leaves_quotes || has_char(value, |c| "{}()[]<>\"".contains(*c))
}

/// Returns `true` for a birthday with letters behind it, a common password: `19900307wx`.
fn is_date_and_letters(value: &str) -> bool {
    let letters = value.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = value.len() - letters.len();
    (6..=8).contains(&digits)
        && (1..=8).contains(&letters.len())
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns `true` for Chinese words that lead from 密码 to its value.
fn announces(gap: &str) -> bool {
    ANNOUNCING.iter().any(|word| gap.contains(word)) && !ABOUT.iter().any(|word| gap.contains(word))
}

/// Returns `true` if nothing goes on with a value: 882317 了, and not 2024 年.
fn ends_clause(after: &str) -> bool {
    let after = after.trim_start_matches([' ', '\t']);
    let next = after.chars().next();
    next.is_none_or(|c| "。，！；、？,.!;?\n\r)）”\"」'了啊吧呢哦哈呀嘛".contains(c))
}

/// Returns the value that a sentence names before its label.
fn value_before(text: &str, start: usize, rest: &str, is_chinese: bool) -> Option<Range<usize>> {
    let mut from = start.saturating_sub(MAX_BEFORE_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = &text[from..start];
    let value = if is_chinese {
        BEFORE_CHINESE.captures(before)?.name("v")?.as_str()
    } else {
        let next: String = rest
            .trim_start_matches([' ', '*', '"', '\''])
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .collect();
        let goes_on = !next.is_empty() && !AFTER_LABEL.contains(&&*next.to_ascii_lowercase());
        english_value_before(before).filter(|_| !goes_on)?
    };
    let value = value.trim_matches(['"', '\'', '`', ',', '(', ')']);
    let is_number = value.len() >= 6 && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_secret =
        (is_typed(value) || is_number && is_chinese) && !is_address(value) && !is_code("", value);
    let at = value.as_ptr() as usize - text.as_ptr() as usize;
    is_secret.then_some(at..at + value.len())
}

/// Returns the word before "is my …", "as the …" and the like.
fn english_value_before(before: &str) -> Option<&str> {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let mut words = line.trim_end_matches([' ', '*', '"', '\'']).rsplit(' ');
    for _ in 0..=MAX_FILLERS {
        let word = words.next()?;
        if ["is", "was", "as"].iter().any(|verb| word.eq_ignore_ascii_case(verb)) {
            return words.next();
        }
        if has_char(word, |c| !c.is_alphanumeric() && !matches!(c, '\'' | '’' | '-')) {
            return None;
        }
    }
    None
}
