//! Corrections that say nothing without the statement that they correct: "scratch that, it's the 16th", 不对，是四年级.

use std::sync::LazyLock;

use regex::Regex;

/// Most words of a first clause that may have no subject though it does not begin with a pronoun: "the 16th at noon".
const MAX_FRAGMENT_WORDS: usize = 6;

/// Words of a correction before what it says.
static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:(?:oh|ok|okay|no|nope|nah|sorry|wait|hang on|hold on|hmm|um|uh|well|and|but|so|ah|oops|whoops|actually|correction|typo|rather|i mean|i (?:actually )?meant(?: to say)?|(?:scratch|strike|scrap|cancel|undo) that|my (?:bad|mistake)|i misspoke|that was a typo|(?:that's |that was )?wrong|(?:the )?other way (?:a)?round|(?:just|only) (?:kidding|joking)|i (?:got|said|had|mixed) (?:it|that|them|those) (?:wrong|backwards|up|the wrong way round)|make (?:that|it)|i take (?:that|it) back|forget (?:that )?(?:what )?(?:i (?:just )?said )?(?:that|it)?)(?:[\s,.:;!—–-]+|$))+",
    )
});

static CHINESE_OPENING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:(?:啊|哎呀?|诶|呃|哦|噢|嗯|哈哈|等等|等下|等一下|不对不对|不对|不是|我?(?:刚才|刚刚|之前)?(?:说|讲|打|写|记|搞|弄|看|算|睇|講|記)(?:[错錯]字?|反)(?:了|啦)?|反过来|我?[记記搞弄](?:岔|混)了|(?:开玩笑|逗你|骗你)的|哎不对|口误|更正(?:一下)?|纠正(?:一下)?|抱歉|不好意思|对不起|算了|忘了我刚才说的|当我没说)[，,。！!：:、…\s]*)+",
    )
});

/// Words for something said before at the beginning of a clause.
static PRONOUN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:it|that|this|those|these|they|he|she|them|him|both|neither|its|his|her|their)(?:'(?:s|re|d|ll|ve))?\b",
    )
});

/// Words that a clause with a subject of its own has.
static CLAUSE_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|we'll|our|you|your|is|are|was|were|am|isn't|aren't|wasn't|has|have|had|does|do|did|will|won't|would|can|can't|should|must|lives?|works?|likes?|loves?|hates?|wants?|needs?|moved|changed|starts?|ends?|goes|went|got|takes?|\w+'s|don't|doesn't|let's|please|show|tell|give|use|add|write|help|what|how|why|where|who|when|which)\b|\?$",
    )
});

/// Numbers, days, names, and Chinese values.
static VALUE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\d|^[A-Z][a-z]|(?i:\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow)\b)|[一-鿿]").expect("valid")
});

static MEANT: LazyLock<Regex> = LazyLock::new(|| compile(r"\bi (?:actually )?meant \w"));

/// Beginnings of Chinese clauses without a subject.
static CHINESE_FRAGMENT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:应该|其实|现在|已经|刚刚?|都|还是|又|原来|最后|后来)*(?:是|叫|住|在(?:[^，。]{1,8})(?:上班|工作|上学|住)?|改|换|挪|推|延|提前|搬|变|调|到|第|要|用|去|下?周|星期|礼拜|上午|下午|早上|晚上|中午|明天|后天|今天|下个?月|这个|那个|那是|这是|他|她|它|[0-9一二三四五六七八九十两百千])",
    )
});

/// Clauses that put one value in the place of another: "not the violin, the viola", 是腰果，不是核桃.
static CONTRAST: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:(?:it|that)'s |it is )?not (?:an? |the |on |at |in )?[\w'-]+(?: [\w'-]+)?[,;—-]+\s*(?:but |rather |it's |that's )?(?:(?:an? |the |on |at |in )?[\w'-]+ ?){1,4}$|^(?:(?:it|that)'s |it is )?(?:(?:an? |the |on |at |in )?[\w'-]+ ?){1,4}, not (?:an? |the |on |at |in )?[\w'-]+(?: [\w'-]+)?$|^不是[^，,。]{1,12}[，,]\s*(?:而)?是[^，,。]{1,16}$|^是[^，,。]{1,16}[，,]\s*(?:而)?不是[^，,。]{1,12}$",
    )
});

/// Interjections before a contrast.
static INTERJECTIONS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:(?:oh|no|sorry|wait|hmm|well|and|ah|oops|actually|i mean|啊|哎呀?|诶|呃|哦|噢|嗯|抱歉|不好意思|对不起|等等|等下)[\s,.:;!—–，。！-]+)+",
    )
});

static CHINESE_QUESTION: LazyLock<Regex> =
    LazyLock::new(|| compile(r"[吗呢？?]$|什么|怎么|为什么|哪|帮我|给我|请"));

/// Returns `true` if a sentence only puts one value in the place of another.
pub(super) fn is_contrast(sentence: &str) -> bool {
    CONTRAST.is_match(after(&INTERJECTIONS, trimmed(sentence)))
}

/// Returns the words of a correction behind those that only tell that it is one.
pub(super) fn stated(sentence: &str) -> &str {
    let sentence = sentence.trim();
    after(if has_cjk(sentence) { &CHINESE_OPENING } else { &OPENING }, sentence)
}

/// Returns `true` if a correction has no subject of its own.
pub(super) fn lacks_subject(sentence: &str) -> bool {
    is_contrast(sentence) || is_fragment(sentence)
}

/// Returns `true` if a correction has no subject of its own, contrasts of two values aside.
pub(super) fn is_fragment(sentence: &str) -> bool {
    let sentence = trimmed(sentence);
    if has_cjk(sentence) {
        let rest = after(&CHINESE_OPENING, sentence);
        let first = first_clause(rest);
        return CHINESE_FRAGMENT.is_match(first) && !CHINESE_QUESTION.is_match(rest);
    }
    let rest = after(&OPENING, sentence);
    let first = first_clause(rest);
    let is_fragment = || {
        let words = first.split_whitespace().count();
        (1..=MAX_FRAGMENT_WORDS).contains(&words) && !CLAUSE_WORDS.is_match(first)
    };
    (PRONOUN.is_match(rest) || rest.len() < sentence.len() && is_fragment()) && !rest.ends_with('?')
}

/// Returns `true` if a short correction names a value: "I meant Bonn", "no wait, 16", "scratch that, Tuesday".
pub(super) fn has_value(sentence: &str) -> bool {
    VALUE.is_match(after(&OPENING, sentence.trim())) || MEANT.is_match(sentence)
}

fn trimmed(sentence: &str) -> &str {
    sentence.trim().trim_end_matches(['.', '!', '。', '！', '~', '～'])
}

fn has_cjk(text: &str) -> bool {
    text.chars().any(crate::text::language::is_cjk)
}

fn after<'s>(opening: &Regex, sentence: &'s str) -> &'s str {
    let end = opening.find(sentence).map_or(0, |found| found.end());
    &sentence[end..]
}

fn first_clause(text: &str) -> &str {
    text.split([',', '，', ';', '；', '—', '。']).next().unwrap_or_default().trim()
}

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){}", pattern.replace('\'', "['’]"))).expect("valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_without_a_subject_are_told_from_whole_statements() {
        for sentence in [
            "Scratch that, it's the 16th.",
            "Sorry, I meant 16 December",
            "no wait, the 21st, the 14th is the theory refresher",
            "Wait, that's my cousin.",
            "Forget that I said that, it was my brother",
            "Make that three, the baby came in May",
            "Actually it's physics this year",
            "they moved it to Thursday",
            "说错了，是5月13号",
            "不对，是四年级，我记岔了",
            "不对，现在住朝阳区了",
            "改到四点了",
            "等下，那是我表妹",
            "打错字了，是王林。",
            "Sorry, not the violin, the viola.",
            "It's the 16th, not the 14th",
            "不好意思，是腰果，不是核桃。",
            "不是小提琴，是中提琴。",
        ] {
            assert!(lacks_subject(sentence), "{sentence}");
        }
        for sentence in [
            "Actually no, I live in Potsdam",
            "scratch that, my sister is Clara",
            "actually the demo is on May 12",
            "Sorry, what time is it?",
            "no wait, show me the code",
            "I never sent that mail in the end",
            "Scratch that.",
            "说错了，演示改到5月12号了",
            "不对，我住在北京",
            "不对，帮我改一下",
            "改到几点了？",
        ] {
            assert!(!lacks_subject(sentence), "{sentence}");
        }
    }
}
