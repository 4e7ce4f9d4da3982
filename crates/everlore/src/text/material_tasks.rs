//! Material tasks: messages that set a task on a text that comes with them ("Improve my text:", "What does this README
//! mean?", 帮我润色下面这段). The text is material: nobody says it of themselves.

use std::sync::LazyLock;

use regex::Regex;

/// Most characters of the words that set a task; longer ones tell something.
const MAX_HEAD_CHARS: usize = 120;

/// Most bytes before a colon that are read: more are too long for a task in any case.
const MAX_HEAD_BYTES: usize = 600;

/// Returns the place after the line that sets a task on the block of text below it.
pub(super) fn task_before_block(message: &str) -> Option<usize> {
    let mut start = 0;
    for line in message.split_inclusive('\n') {
        let end = start + line.len();
        let below = &message[end..];
        let head = last_sentence(line.trim());
        if !below.trim().is_empty() && is_block_task(head, below) {
            return Some(end);
        }
        start = end;
    }
    None
}

/// Returns a message up to the material of its task, which may stand on the same line ("Translate to German: …").
pub(crate) fn without_material(message: &str) -> &str {
    let block = task_before_block(message).unwrap_or(message.len());
    let mut colons = message[..block].match_indices([':', '：']);
    let is_task = |at: &usize| {
        let from = at.saturating_sub(MAX_HEAD_BYTES);
        let from = (from..=*at).find(|place| message.is_char_boundary(*place)).unwrap_or(*at);
        let line = message[from..*at].rsplit('\n').next().unwrap_or_default();
        is_colon_task(last_sentence(line.trim()))
    };
    let colon = colons.find_map(|(at, _)| Some(at).filter(is_task));
    &message[..colon.unwrap_or(block).min(block)]
}

/// A colon, a blank line or a word that points down says that the block belongs to the line.
fn is_block_task(head: &str, below: &str) -> bool {
    let is_cut_off = below.starts_with(['\n', '\r', '#', '>', '-', '*', '"', '“', '「']);
    match head.strip_suffix([':', '：']) {
        Some(head) => is_colon_task(head) || is_question(head),
        None => {
            let points = POINTER.is_match(head);
            (is_cut_off || points) && (is_colon_task(head) || is_question(head))
        }
    }
}

fn is_colon_task(head: &str) -> bool {
    let clause = head.rsplit(['，', ',']).next().unwrap_or(head);
    is_task(head) || is_task(clause)
}

/// Returns `true` for a word before a colon that sets a task on what follows or names the sort of text: `Summarize`,
/// `Lyrics`.
pub(super) fn is_task_label(word: &str) -> bool {
    TEXT_LABEL.is_match(word) || TEXT_TASK.is_match(word)
}

fn is_task(head: &str) -> bool {
    if TEXT_LABEL.is_match(head) {
        return true;
    }
    if head.chars().nth(MAX_HEAD_CHARS).is_some() {
        return false;
    }
    let has_text = TEXT_NOUN.is_match(head);
    (has_text || !OWN_SITUATION.is_match(head))
        && (TEXT_TASK.is_match(head) || has_text && TASK.is_match(head))
}

fn is_question(head: &str) -> bool {
    head.chars().nth(MAX_HEAD_CHARS).is_none() && TEXT_QUESTION.is_match(head)
}

/// Returns the last sentence of a line.
fn last_sentence(line: &str) -> &str {
    let body = line.trim_end_matches(['.', '!', '?', '。', '！', '？', ' ']);
    let start = SENTENCE_END.find_iter(body).last().map_or(0, |found| found.end());
    &line[start..]
}

static SENTENCE_END: LazyLock<Regex> = LazyLock::new(|| compile(r"[.!?]\s+|[。！？]\s*"));

/// Words before a task.
const LEAD: &str = r"(?i)^\W*(?:(?:hi|hey|hello|ok|okay|so|now|then|and|also|please|pls|kindly|just|can you|could you|would you|will you|help me(?: to)?|i need you to|i want you to|i['’]d like you to)[,! ]+)*";
const CHINESE_LEAD: &str = r"^\W*(?:你好|您好|请|麻烦|劳烦|能不能|能否|可不可以|可以|能|你|您|先|再|顺便|谢谢|[，,！! ])*(?:帮我|帮忙|帮|给我|替我|为我)?(?:(?:把|将|对|就|下面|以下|下列|这|我的|我写的)[^，。！？\n：:]{0,16}?)?";

/// Tasks that can only be meant for a text.
static TEXT_TASK: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"{LEAD}(?:translate|proof-?read|paraphrase|rephrase|reword|rewrite|polish|summari[sz]e|spell-?check|copy-?edit|tl;?dr|(?:explain|improve|shorten|edit|interpret|analy[sz]e) (?:this|these|the following|below|what follows)$|(?:write|draft|compose|make up|generate) (?:me )?an? (?:[\w-]+ ){{0,3}}(?:bio|biography|story|poem|song|scene|dialogue|letter|e-?mail|essay|speech|cv|resume|post|script|self-introduction|persona|profile))\b|{CHINESE_LEAD}(?:润色|翻译|译成|翻成|译为|校对|改写|缩写|扩写|续写|写一?[段篇个份封][^，。！？\n：:]{{0,8}}(?:介绍|简介|故事|小说|邮件|信|作文|文案|简历|发言稿|人物|剧本))|^\W*(?:你好|您好|[，,！! ])*(?:请|麻烦|能不能|能|可以|帮)[^，。！？\n：:]{{0,10}}(?:总结|概括|归纳)"
    ))
});

/// Task or sort of text that stands alone before a colon.
static TEXT_LABEL: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^\W*(?:(?:please|pls|now|the|my)[, ]+)?(?:draft|lyrics?|poem|song|verse|chorus|excerpt|passage|paragraph|abstract|transcript|snippet|essay|speech|script|monologue|blurb|caption|headline|shorten|condense|simplify|expand|continue|improve|critique|analy[sz]e|review|interpret|explain|reformat|format|convert|correct|grade|caption|narrate|recite|transcribe|outline|brainstorm|elaborate|clarify|compare)$|^\W*(?:草稿|歌词|诗|诗歌|选段|摘录|台词|剧本|原文|续写|扩写|缩写|改写|总结|润色|翻译|校对)$",
    )
});

/// Tasks that are meant for a text if they name one.
static TASK: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"{LEAD}(?:improve|edit|fix|correct|check|review|shorten|explain|analy[sz]e|read|format|reformat|convert|interpret|critique|evaluate|rate|assess|reply to|respond to|answer|comment on|look at|look over|go over|go through|make|turn|simplify)\b|{CHINESE_LEAD}(?:解释|总结|概括|归纳|分析|修改|检查|看看|看一下|看下|优化|改进|改一下|改改|改得|回复|读一下|点评|评价|解读|理解)"
    ))
});

/// Texts that a task can be about.
static TEXT_NOUN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:this|these|the following|the|below|my|our|his|her|their|attached|an?)\b[^:\n]{0,30}?\b(?:texts?|e-?mails?|messages?|paragraphs?|sentences?|passages?|letters?|essays?|articles?|posts?|tweets?|bio|cv|resume|résumé|abstract|readme|docs?|documents?|documentation|page|threads?|chats?|conversations?|transcripts?|notes|instructions|section|clause|contract|policy|poem|quote|comments?|reviews?|snippet|prompt|writing|draft|copy|speech|blurb|announcement|newsletter|report|manual|dialogue|interview|wording|log)\b|文字|文本|文章|邮件|内容|句子|这句|下面一?句|段话|段落|这段|一段|这篇|短信|消息|这封|简历|作文|文案|自我介绍|论文|摘要|聊天|对话|记录|通知|公告|合同|条款|说明|文档|README|帖子|评论|原文|稿|周报|日报|句话|这首|歌词|新闻|报道|英文|中文|日文|法语|英语",
    )
});

/// Questions about a text.
static TEXT_QUESTION: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^\W*(?:(?:hi|hey|so|and|please|ok|sorry)[,! ]+)*(?:what|how|is|are|does|do|can|could|would|should|any|why)\b[^?\n]{0,50}\b(?:this|these|the following|below)\b[^?\n]{0,20}?\b(?:texts?|e-?mails?|messages?|paragraphs?|sentences?|passages?|letters?|essays?|articles?|posts?|tweets?|bio|cv|resume|abstract|readme|docs?|documents?|documentation|page|threads?|chats?|conversations?|transcripts?|instructions|section|clause|contract|policy|poem|quote|comments?|reviews?|snippet|prompt|draft|speech|manual|file|following)\b[^?\n]{0,20}\?$|^\W*what (?:does|do) (?:the following|what follows) (?:mean|say)|(?:这|下面|以下|下列)[^？?\n]{0,10}(?:什么意思|啥意思|怎么样|怎么理解|讲了什么|说了什么|说的是什么|通顺吗|对吗|对不对|有没有问题)[？?]?$",
    )
});

/// Words that point to what comes below.
static POINTER: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?i)\b(?:the following|below)\b|下面|以下|下列|如下"));

/// Matters of the user's own, which are no text.
static OWN_SITUATION: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:situation|circumstances|background|case|problem|set-?up|status|preferences|needs|goals?|plans?|question|day|week)\b|情况|处境|问题|背景|现状|需求|偏好|近况|计划",
    )
});

fn compile(pattern: &str) -> Regex {
    Regex::new(&pattern.replace(r"\b", r"(?-u:\b)")).expect("valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_below_a_task_is_material() {
        for head in [
            "Please improve my text:\n\n",
            "What does this README mean?\n\n",
            "Hi there! Could you proofread the following paragraph:\n",
            "Explain this chat:\n",
            "Is this email too harsh?\n\n",
            "Summarise the conversation below\n",
            "Reply to this message:\n",
            "What does the following mean?\n\n",
            "Can you make this paragraph sound friendlier?\n\n",
            "帮我润色下面这段：\n",
            "请把以下内容翻译成英文\n",
            "帮我看看这封邮件：\n\n",
            "这段话什么意思？\n\n",
            "帮我总结一下：\n",
            "总结一下这段聊天：\n",
            "麻烦解释下面的条款：\n",
            "你好，能帮我校对吗？这是一段自我介绍，帮我改一下这段文字：\n",
        ] {
            let message = format!("{head}I'm a pilot. 我是律师。");
            let end = head.find('\n').unwrap() + 1;
            assert_eq!(task_before_block(&message), Some(end), "{message}");
        }
    }

    #[test]
    fn a_text_on_the_line_of_its_task_is_material() {
        for (message, own) in [
            ("Translate to German: I am a pilot.", "Translate to German"),
            (
                "I'm a nurse. Proofread this sentence: I am a pilot.",
                "I'm a nurse. Proofread this sentence",
            ),
            ("把下面这段翻译成英文：我是一名律师", "把下面这段翻译成英文"),
            ("帮我润色：我是一名律师", "帮我润色"),
            ("Write a short bio: I'm a chef.", "Write a short bio"),
            ("Summarize: I am a lawyer.", "Summarize"),
            ("Draft: I am a lawyer.", "Draft"),
            ("Lyrics: I was born in a small town.", "Lyrics"),
            ("歌词：我是一只小鸟", "歌词"),
        ] {
            assert_eq!(without_material(message), own);
        }
    }

    #[test]
    fn own_words_are_no_material() {
        for message in [
            "Please remember:\n\nI'm a marine biologist.",
            "Here is my situation:\nI'm a nurse.",
            "About me:\n- I'm a nurse",
            "Summarize my situation:\nI'm a nurse and work nights.",
            "What does this mean for me?\n\nI'm a nurse.",
            "Can you help me?\n\nI'm a nurse.",
            "Fix this:\nI use Windows and the login fails.",
            "I translate for a living.\n\nI live in Oslo.",
            "Question: I'm a nurse, may I work nights?",
            "Can you recommend a book?\n\nI like crime novels.",
            "Check my calendar.\n\nI'm in Oslo on Friday.",
            "我的情况是：\n我是护士",
            "帮我分析一下我的情况：\n我是护士",
            "请记住：\n我对花生过敏",
            "我在一家翻译公司上班。\n\n我住在上海。",
            "我是做翻译的：\n主要做法律文件",
            "关于我：\n- 我是护士",
            "帮我想想怎么办？\n\n我是护士。",
            "情况有点复杂，我总结一下：\n我是护士",
            "总结如下：\n我是护士",
        ] {
            assert_eq!(task_before_block(message), None, "{message}");
            assert_eq!(without_material(message), message);
        }
    }

    #[test]
    fn long_texts_take_linear_time() {
        for part in ["translate this text: ", "please ", "帮我", "把这段", ":", "a\n", "Is this "]
        {
            let _ = without_material(&part.repeat(20_000));
        }
    }
}
