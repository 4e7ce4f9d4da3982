//! Content of a turn: recognizes turns that tell nothing, whatever the query: filler, answers that know nothing, and
//! questions without information. English and Chinese.
//!
//! A turn tells nothing only if every sentence of it does, so the rules are narrow: they match a whole sentence, and a
//! name, a number or a contrast in it makes it informative.

use std::sync::LazyLock;

use regex::Regex;

use crate::{
    recall::query::{is_question, is_small_talk},
    text::{language::is_cjk, sentences::sentences, traditional::simplify},
};

/// Longest text, in characters, that is checked: one that tells nothing says little more.
pub(super) const MAX_CHARS: usize = 400;

/// Most words of an English question and most characters of a Chinese one that may tell nothing: a longer one describes
/// a situation.
const MAX_QUESTION_WORDS: usize = 14;
const MAX_QUESTION_CHARS: usize = 20;

/// Words before a name that only address a person; after "yes" and "ok" a name may be the answer.
#[rustfmt::skip]
const ADDRESSES: [&str; 16] = [
    "thanks", "thank you", "thanks again", "thanks so much", "thank you so much", "hi", "hello", "hey", "hey there", "bye", "goodbye",
    "cheers", "good morning", "good night", "good evening", "good afternoon",
];

/// Sort of an uninformative text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UninformativeTurn {
    /// Greeting, thanks, acknowledgement.
    Filler,
    /// Question that carries no fact.
    OpenQuestion,
    /// Answer that says that nothing is known.
    NoAnswer,
    /// Question that repeats the query.
    Question,
    /// Record of a tool call, of which an experience tells what matters.
    ToolCall,
}

/// Returns the sort of a text that tells nothing; `None` if any sentence of it is informative. `is_known` tells whether
/// the query has a word: a name that the query has is no news.
pub(super) fn classify_text(
    text: &str,
    is_known: impl Fn(&str) -> bool,
) -> Option<UninformativeTurn> {
    if text.chars().nth(MAX_CHARS).is_some() || text.trim().is_empty() {
        return None;
    }
    let sorts = sentences(text).map(|sentence| classify_sentence(sentence, &is_known));
    // The most specific sort names the whole.
    sorts.collect::<Option<Vec<_>>>()?.into_iter().max()
}

fn classify_sentence(
    sentence: &str,
    is_known: &impl Fn(&str) -> bool,
) -> Option<UninformativeTurn> {
    let rest = strip_filler(sentence);
    if rest.is_empty() {
        return Some(UninformativeTurn::Filler);
    }
    let plain = simplify(&rest.to_lowercase().replace('’', "'")).into_owned();
    if has_details(&rest, is_known) || CONTRAST.is_match(&plain) {
        return None;
    }
    if NO_ANSWER_EN.is_match(&plain) || NO_ANSWER_ZH.is_match(&plain) && !plain.contains('该') {
        return Some(UninformativeTurn::NoAnswer);
    }
    is_open_question(&plain).then_some(UninformativeTurn::OpenQuestion)
}

/// Returns a sentence without the clauses that are filler, such as "Thanks, …" and "…, sorry".
pub(super) fn strip_filler(sentence: &str) -> String {
    let sentence = sentence.trim();
    if is_filler(sentence) {
        return String::new();
    }
    let clauses = sentence.split_inclusive([',', '，', ';', '；']);
    let kept: Vec<&str> = clauses
        .filter(|clause| !is_filler(clause.trim_end_matches([',', '，', ';', '；'])))
        .collect();
    kept.concat().trim().trim_end_matches([',', '，']).to_owned()
}

fn is_filler(clause: &str) -> bool {
    let plain = clause.trim().trim_end_matches(['.', '!', '?', '。', '！', '？', '…', '~', '～']);
    let lower = simplify(&plain.to_lowercase().replace('’', "'")).into_owned();
    is_small_talk(plain)
        || FILLER_EN.is_match(&lower)
        || FILLER_ZH.is_match(&lower)
        || is_vocative(plain)
}

/// Returns `true` for thanks and greetings with the name of a person.
fn is_vocative(clause: &str) -> bool {
    let Some((before, name)) = clause.rsplit_once(' ') else { return false };
    let is_name = name.starts_with(char::is_uppercase) && name.chars().all(char::is_alphabetic);
    let before = before.trim_end_matches(',').to_lowercase();
    is_name && ADDRESSES.contains(&before.as_str())
}

fn is_open_question(plain: &str) -> bool {
    if plain.contains(is_cjk) { is_open_question_zh(plain) } else { is_open_question_en(plain) }
}

fn is_open_question_en(plain: &str) -> bool {
    let asks = is_question(plain) && OPEN_QUESTION_EN.is_match(plain) || ASKS_EN.is_match(plain);
    asks && !FACT_QUESTION_EN.is_match(plain)
        && plain.split_whitespace().count() <= MAX_QUESTION_WORDS
}

fn is_open_question_zh(plain: &str) -> bool {
    let asks = is_question(plain)
        || plain.ends_with("来着")
        || plain.contains('哪') && plain.ends_with('好');
    let gives = plain.replace("给我", "").contains('给');
    asks && !gives
        && !plain.contains(['，', ',', '；'])
        && plain.chars().count() <= MAX_QUESTION_CHARS
        && (OPEN_QUESTION_ZH.is_match(plain) && !plain.contains("怎么样"))
        && !FACT_QUESTION_ZH.is_match(plain)
}

/// Returns `true` if a sentence has a number, or a name that the query does not have.
fn has_details(sentence: &str, is_known: &impl Fn(&str) -> bool) -> bool {
    let words = sentence.split(|c: char| !c.is_alphanumeric() || is_cjk(c));
    let words = words.filter(|word| !word.is_empty());
    let is_number = |word: &str| word.contains(|c: char| c.is_numeric());
    let is_name = |word: &str| {
        word.starts_with(char::is_uppercase) && word.len() > 1 && !word.starts_with("I'")
    };
    // A Latin word in a Chinese sentence is a name, whatever its case.
    let foreign = |word: &str| sentence.contains(is_cjk) && word.len() > 1;
    let is_news = |word: &str| (is_name(word) || foreign(word)) && !is_known(word);
    // The first word has a capital, whatever it is.
    let is_first = |word: &str| !foreign(word) && word.as_ptr() == sentence.as_ptr();
    words.into_iter().any(|word| is_number(word) || is_news(word) && !is_first(word))
}

/// Contrasts: a known fact may follow. The only pattern here for texts that are not in lower case: patterns without case
/// compile in a fraction of the time, and every process compiles them.
pub(super) static CONTRAST: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?i)\b(?:but|however|though|although|except|only that)\b|但|不过|只是|只知道")
});

static FILLER_EN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:enjoy(?: (?:it|yourself|the [a-z]+|your [a-z]+))?|(?:i'll|i will) (?:keep|bear) (?:that|this|it) in mind|(?:i've |i have |i )?(?:just )?(?:noted|saved|stored|recorded|remembered) (?:that|this|it)(?: down)?|(?:i'll|i will) (?:remember|note|save) (?:that|this|it)(?: down)?|let me (?:think|see|check)(?: about (?:it|that|this))?|(?:i'll|i will)(?: have to)? (?:check|see|think about (?:it|that)|look into (?:it|that)|get back to you|let you know)|(?:please )?(?:just )?(?:let me know|tell me|feel free to ask|just ask)(?: if (?:you|there).*| whenever.*| anytime)?|(?:that's |that is |it's |so |i'm )?(?:great|good|nice|lovely|wonderful|glad|happy) to (?:hear|know|help)(?: that| it| you)?|(?:i'm )?glad i could help|you(?:'re| are) (?:very |most |always )?welcome|(?:i )?hope (?:that|this|it) helps|have (?:fun|a (?:great|good|nice|lovely) (?:time|trip|day|weekend|evening|one))|good luck|will do|on it|what a (?:great|good|lovely|nice) idea|how (?:can|may) i (?:help|assist)(?: you)?(?: today| with that)?|what can i do for you(?: today)?|(?:is there )?anything else(?: (?:i can|you).*)?)$",
    )
});

static FILLER_ZH: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:我?(?:已经|都|会|帮你|替你|帮您)*(?:记下来?|记住|记录下来?|保存)(?:了|的|啦|好了)?|让我(?:再)?(?:想想|想一想|想一下|看看|查查)(?:看)?|我(?:去|再|先)(?:看看|查查|查一下|想想|想一下)|(?:如果|要是)?(?:你|您)?有?(?:什么|任何|别的)?(?:需要|问题)?(?:的话)?(?:可以|请)?随时(?:都可以)?(?:告诉|找|问|联系|跟)我(?:说)?|祝(?:你|您|你们)?(?:玩得|一切|旅途|用餐|周末|工作|生活|今天)?(?:开心|愉快|顺利|好运|过得愉快|快乐)|还有(?:什么|别的|其他)(?:事|问题)?(?:我)?(?:可以|能|需要)(?:帮|为|帮助).{0,8}|(?:有什么|我能)(?:可以)?(?:帮|为)(?:你|您).{0,4}|很高兴(?:能)?(?:帮到?|认识)(?:你|您)|希望(?:能)?对?(?:你|您)?有(?:所)?帮助|谁知道呢?)(?:吗|呢|吧|哦|呀|啊)?$",
    )
});

/// Whole sentences in which somebody knows nothing, alone or about an indirect question. "How to" and "what to" tell
/// something about the speaker.
static NO_ANSWER_EN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:well |hmm |honestly |actually |sorry |and |so )*(?:(?:(?:i'm|i am|we're|we are) )?not (?:really |quite |entirely |exactly |too |so |at all )*(?:sure|certain)|(?:i|we) (?:really |honestly |actually |just |also )*(?:do not|don't|did not|didn't|can't|cannot|can not|couldn't|could not) (?:really |quite |even |actually |exactly |seem to )*(?:know|remember|recall|tell|say)|(?:i|we)(?: have|'ve)? (?:completely |totally |just )?(?:forgot|forgotten|forget)|(?:(?:i|we)(?: have|'ve)? )?(?:got )?(?:absolutely |really )?no (?:idea|clue)|(?:i|we) (?:don't|do not) have (?:any|the (?:faintest|slightest|foggiest)|a) (?:idea|clue)|beats me|who knows|i wonder|(?:i )?wish i knew|hard to (?:say|tell)|your guess is as good as mine)(?: (?:that|it|this|about (?:that|it|this)))?(?: (?:about )?(?:(?:where|what|when|who|whom|whose|which|why|how (?:much|many|long|old|far|often)) (?:(?:[^t,]|t[^o,]|to[^ ,])[^,]*)|(?:if|whether) [^,]+))?(?: (?:either|anymore|any more|right now|yet|though|at the moment|again|now|exactly|for sure|sorry))*[.!?…]*$",
    )
});

static NO_ANSWER_ZH: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:我们?|咱们?)?(?:也|还|真的?|都|实在|暂时|目前|现在|好像|有点|确实|其实)*(?:不(?:太|是很|大|怎么|是太|是特别)?(?:知道|清楚|确定|记得|了解|肯定)|忘(?:记)?(?:了|掉了)|想不起来?|记不(?:得|清|起来?)楚?|说不(?:准|好|清)楚?|没有?(?:印象|头绪)|搞不清楚?|拿不准)(?:了|啦|呢|哦|呀)?(?:[^，,。]{0,20}(?:哪|什么|谁|几|多少|怎么|为什么|啥|是否|有没有|是不是|会不会|何时)[^，,。]{0,12})?[。！？.!?…]*$",
    )
});

/// Beginnings of questions that only ask.
static OPEN_QUESTION_EN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:so |and |well |hey |hi |please |by the way |also )*(?:what|what's|where|where's|when|when's|who|who's|whose|whom|which|why|how|how's|any (?:idea|clue|luck|news|thoughts)|(?:do|did) you (?:happen to )?know (?:where|what|when|who|whose|which|why|how|if|whether|the)|do you (?:have any idea|remember (?:where|what|who|which)|recall (?:where|what|who|which))|(?:can|could|would|will) you (?:please |maybe )?(?:tell|remind) me|have you (?:seen|found)|has any(?:one|body) (?:seen|found)|did (?:you|anyone|anybody) (?:see|find)|is there (?:anything|something)|are there any|may i ask)\b",
    )
});

/// Requests to be told something that are no question in form.
static ASKS_EN: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"^(?:please )?(?:tell|remind) me (?:where|what|when|who|whose|which|why)\b")
});

/// Questions that tell a fact: a reminder, a tag, a reason, a relative clause, somebody's own circumstances.
static FACT_QUESTION_EN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:did|have|had|haven't|didn't) (?:i|we) (?:ever |already )?(?:tell|told|mention|mentioned|say|said|show|shown)\b|\bremember (?:that|when|how|my|our|i|we)\b|, |\b(?:because|since|given|now that|after|before|while|so that|as i|when i|when we|if i|if we|that i|that we|that my|who is|who has)\b|\b(?:for|with|near|at|from) (?:my|our|his|her|their)\b",
    )
});

static OPEN_QUESTION_ZH: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"哪|什么|谁|几|多少|怎么|为啥|啥|何时|多久|多大|^那.{1,8}呢[？?]?$|(?:看到|看见|见过|找到|见到).*(?:吗|没有?)[？?]?$",
    )
});

static FACT_QUESTION_ZH: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"说过|告诉过|提到过|讲过|记得我|因为|自从|的时候|以后|之后|对吧|是吧|不是吗|没错吧|如果|要是",
    )
});

/// Compiles the patterns, so that the first answer does not wait for them.
pub(super) fn compile_patterns() {
    for pattern in [
        &CONTRAST,
        &FILLER_EN,
        &FILLER_ZH,
        &NO_ANSWER_EN,
        &NO_ANSWER_ZH,
        &OPEN_QUESTION_EN,
        &ASKS_EN,
        &FACT_QUESTION_EN,
        &OPEN_QUESTION_ZH,
        &FACT_QUESTION_ZH,
    ] {
        LazyLock::force(pattern);
    }
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("valid")
}
