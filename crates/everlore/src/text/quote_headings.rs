//! Quote headings: lines after which a message passes on what somebody else wrote, such as the result of a tool, a file,
//! an email or a page. What follows is quoted to the end of the message, or to the host's closing line.

use std::sync::LazyLock;

use regex::Regex;

use super::{dialogue::stamped_line, material_tasks::task_before_block};

/// Closing line of Gemini CLI after the files that a message refers to; the user's words go on after it.
const CLOSING_LINE: &str = "--- End of content ---";

/// Words of a heading whose text is the speaker's own.
#[rustfmt::skip]
const OWN_WORDS: [&str; 20] = [
    " is my ", " are my ", " is our ", " about me", " i wrote", " i said", " i posted", " i've written", " i always said",
    "是我的简历", "是我的资料", "是我的文章", "是我的内容", "关于我", "我写的", "我自己", " 我说", " 我想说", " 我跟你说", " 我在群里说",
];

/// Kind of a quote heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuoteSource {
    /// Result of a tool: the user's answers can stand in it.
    Tool,
    /// Pasted or attached text.
    Pasted,
    /// Material of a task: the line that sets it is the speaker's own.
    Material,
}

/// Quoted part of a message, from its heading on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeadedQuote<'t> {
    pub(super) before: &'t str,
    pub(super) quote: &'t str,
    pub(super) after: &'t str,
    pub(super) source: QuoteSource,
}

impl<'t> HeadedQuote<'t> {
    /// Finds the first quote heading of a message. Takes time linear in its length.
    pub(super) fn find(text: &'t str) -> Option<Self> {
        let tool = TOOL_HEADING.find(text).map(|found| found.start());
        let is_foreign = |heading: &str| {
            let heading = format!(" {} ", heading.trim().to_lowercase());
            !OWN_WORDS.iter().any(|own| heading.contains(own))
        };
        let pasted = PASTE_HEADING.find_iter(text).find(|found| is_foreign(found.as_str()));
        let places = [
            (tool, QuoteSource::Tool),
            (pasted.map(|found| found.start()), QuoteSource::Pasted),
            (stamped_line(text), QuoteSource::Pasted),
            (task_before_block(text), QuoteSource::Material),
        ];
        let places = places.into_iter().filter_map(|(place, source)| Some((place?, source)));
        let (start, source) = places.min_by_key(|(place, _)| *place)?;
        let (before, rest) = text.split_at(start);
        let end = rest.find(CLOSING_LINE).map_or(rest.len(), |end| end + CLOSING_LINE.len());
        let (quote, after) = rest.split_at(end);
        Some(Self { before: before.trim(), quote: quote.trim(), after: after.trim(), source })
    }
}

/// Heading of a tool's result at the start of a line. Sources: Cline and Roo Code (`[read_file for 'a.rs'] Result:`),
/// aider (`And got this output:`), prompts that follow ReAct.
static TOOL_HEADING: LazyLock<Regex> = LazyLock::new(|| {
    compile(&[
        r"\[[a-z][a-z0-9_.-]*(?: [^\]\n]*)?\] ?(?:(?:Result|Output|Error)\b:?|(?:执行|返回)?(?:结果|输出|返回|错误)[：:])",
        r"(?:tool|function|command|search) (?:results?|outputs?|response)(?: (?:of|for|from) [^:\n]+)?:",
        r"(?:the )?(?:results?|outputs?) (?:of|from) `[^`\n]+`[^:\n]{0,20}:",
        r"[a-z][a-z0-9_.-]+ (?:output|stdout|stderr):",
        r"And got this output:",
        r"(?:工具|函数|命令|搜索|执行|运行)(?:的)?(?:结果|输出|返回|返回值|返回结果|输出结果)(?:（[^）\n]+）)?[：:]",
        // A shell's prompt with a command and what it printed.
        r"(?:\$|PS [^>\n]+>|[a-z0-9_.-]+@[a-z0-9_.-]+:[^\n$#]*[$#]) (?:sudo )?[a-z][a-z0-9_./-]*(?:[ \t][^\n]*)?\n",
    ])
});

/// Heading of a file, a page, an email or other pasted text at the start of a line.
static PASTE_HEADING: LazyLock<Regex> = LazyLock::new(|| {
    let headings = PASTE_HEADINGS.map(|heading| {
        heading.replace("THINGS", THINGS).replace("材料", CHINESE_THINGS).replace("WORDS", WORDS)
    });
    compile(&headings.each_ref().map(String::as_str))
});

/// Things that people paste.
const THINGS: &str = "(?:e-?mails?|letter|articles?|web ?(?:page|site)|blog post|post|documents?|files?|attachments?|transcript|logs?|output|cv|resume|comments?|reviews?|excerpt|passage|paragraph|thread|newsletter)";

/// The same in Chinese.
const CHINESE_THINGS: &str = "(?:邮件|网页|文章|文件|文档|附件|页面|聊天记录|对话记录|日志|简历|新闻|报道|帖子|评论|短信|原文|摘录|资料)";

/// Up to two words before a thing.
const WORDS: &str = "(?:[a-z'-]+ )?(?:[a-z'-]+ )?";

/// Headings of pasted text, with names of the patterns above.
const PASTE_HEADINGS: [&str; 24] = [
    r"--- Content from referenced files ---",
    r"Content from @[^\n]+:",
    r"-{3,} ?(?:Forwarded message|Original message|原始邮件|转发的?邮件) ?-{3,}",
    r"On [^\n]+ wrote:[ \t]*$",
    // Heads of a mail. A journey has a from, a to and a date as well.
    r"(?:fwd?|forwarded|forwarding)\b(?: [^\n:]{0,40})?:",
    r"from:[^\n]*@",
    r"from:[^\n]*\n(?:[ \t]*(?:to|date):[^\n]*\n){0,2}[ \t]*(?:sent|subject|cc|reply-to|message-id):",
    r"subject:[^\n]*\n(?:[ \t]*(?:to|date|cc|sent):[^\n]*\n){0,3}[ \t]*from:",
    "(?:发件人|寄件人|收件人)[：:]",
    "转发(?:的|自|一[封条个])?[^\\n：:。，我]{0,12}[：:]",
    // Somebody else, on a line above what they wrote.
    r"[^\n:.!?]*\b(?:wrote|writes|posted|texted|messaged|emailed|replied|commented|tweeted|said|says)\b[^\n:]{0,40}:[ \t]*$",
    "[^\\n：:。]*(?:写道|发来|发的|发消息|留言|回复|群里说|微信里说|微信上说|邮件里说|[他她们]说|老板说|同事说|客户说|朋友说)[^\\n：:。]{0,12}[：:][ \\t]*$",
    r"\[(?:attachments?|attached files?|file|document|web ?page|email|pasted (?:text|content)|附件|文件|文档|网页|邮件|粘贴)(?:[ \t]*[:：#][^\]\n]*\]|\][ \t]*$)",
    r"【[^】\n]*(?:内容|原文|全文|正文|附件|文件|文档|网页|邮件|日志|搜索结果|输出)[^】\n]*】",
    // A file's name alone on its line.
    r"[^\s:：]+[^\s:：.]\.[a-z][a-z0-9]{0,5}:[ \t]*$",
    r"[^\n:.!?]*\b(?:this|these|the following|the attached|below) THINGS(?: (?:below|from|by|of) [^\n:]+)?:",
    r"(?:here|below|the following) (?:is|are|comes) WORDSTHINGS\b[^\n:]*:",
    r"[^\n:.!?]*\b(?:got|received|found|saw) WORDSTHINGS\b[^\n:]*:",
    r"(?:the )?contents? (?:of|from) (?:WORDSTHINGS\b[^\n:]*|[`'\x22@/~][^\n]+?|[^\n:]+\.[a-z][a-z0-9]{0,5}[`'\x22]?):",
    r"THINGS (?:contents?|text|body):",
    "[^\\n：:。！？]*(?:这|下面|以下|下列)(?:的|[封篇段条份个些张])?材料(?:的?(?:内容|全文|正文))?[：:]",
    "(?:以下|下面|这)(?:就)?(?:是|为)[^\\n：:。]*(?:材料|内容)(?:的?(?:内容|原文|全文|正文))?[^\\n：:。]{0,4}[：:]",
    "[^\\n：:。]*(?:收到|看到|读到)了?(?:一?[封篇段条份个张])?[^\\n：:。]*材料[^\\n：:。]{0,6}[：:]",
    "(?:材料|粘贴|剪贴板|引用|选中)的?(?:内容|原文|全文|正文|文本)(?:如下|为)?[：:]",
];

/// Compiles headings. Word ends are those of ASCII: the words are, and it is faster.
fn compile(headings: &[&str]) -> Regex {
    let pattern = format!(r"(?im)^[ \t]*(?:{})", headings.join("|"));
    Regex::new(&pattern.replace(r"\b", r"(?-u:\b)")).expect("valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_pasted_text_are_found_in_both_languages() {
        for heading in [
            "--- Content from referenced files ---\nContent from @cv.txt:\n",
            "[Attachment: cv.txt]\n",
            "[File]\n",
            "Contents of /tmp/cv.md:\n\n",
            "Contents of the file cv.md: ",
            "$ cat cv.md\n",
            "ana@box:~/src$ cat cv.md\n",
            "curl output: ",
            "The output of `cat cv.md`: ",
            "cv.md:\n",
            "Here is an email I got:\n\n",
            "I got this email from my boss:\n",
            "以下是我老板发来的邮件：\n",
            "Summarize the following article: ",
            "---------- Forwarded message ---------\n",
            "On Mon, Mar 2, 2026, Zed <zed@x.example> wrote:\n",
            "附件内容：\n",
            "文件内容如下：\n",
            "【网页内容】",
            "帮我总结这封邮件：",
            "以下是网页的内容：",
            "我收到一封邮件：",
            "[附件：简历.txt]\n",
            "[read_file 笔记.md] 结果：",
        ] {
            for (own, text) in [("", "My name is Zed."), ("Look. 看\n", "我叫张三，我住在北京。")]
            {
                let message = format!("{own}{heading}{text}");
                let found = HeadedQuote::find(&message).unwrap_or_else(|| panic!("{message}"));
                assert_eq!(found.before, own.trim(), "{message}");
                assert!(found.quote.ends_with(text), "{message}");
            }
        }
    }

    #[test]
    fn mail_heads_and_chats_are_found_in_both_languages() {
        for heading in [
            "Forwarded email:\nFrom: Eve\n",
            "Fwd: budget\n",
            "From: Eve <eve@evil.example>\n",
            "From: Eve\nSent: Monday\nTo: me\nSubject: Hi\n\n",
            "Subject: Hi\nFrom: Eve\n\n",
            "Here's what Tom wrote on Slack:\n",
            "My boss said in the chat:\n",
            "Tom 10:32 AM\n",
            "转发邮件：\n发件人：夏娃\n",
            "发件人：夏娃\n主题：预算\n",
            "小王在群里说：\n",
            "小王在微信里跟我说，他回复：\n",
            "同事发来的消息：\n",
            "小李 10:32\n",
        ] {
            let message = format!("Look. 看\n{heading}I use Windows. 我是律师。");
            let found = HeadedQuote::find(&message).unwrap_or_else(|| panic!("{message}"));
            assert_eq!(found.before, "Look. 看", "{message}");
        }
        let found =
            HeadedQuote::find("Please improve my text:\n\nI'm a marine biologist.").unwrap();
        assert_eq!(
            (found.before, found.quote),
            ("Please improve my text:", "I'm a marine biologist.")
        );
    }

    #[test]
    fn words_after_the_hosts_closing_line_are_own() {
        let message = "See @cv.txt\n--- Content from referenced files ---\nMy name is Zed.\n--- End of content ---\nI live in Oslo.";
        let found = HeadedQuote::find(message).unwrap();
        assert_eq!((found.before, found.after), ("See @cv.txt", "I live in Oslo."));
    }

    #[test]
    fn own_words_have_no_quote_heading() {
        for message in [
            "Here is my profile: I live in Oslo.",
            "Here is my CV:\nI live in Oslo.",
            "I got my results: I passed.",
            "I got an email from Ben. He lives in Oslo.",
            "About me: I live in Oslo.",
            "The file is missing: I live in Oslo and work from home.",
            "$ 500 is my budget\nI live in Oslo",
            "My plan: I move to Oslo in May.",
            "Two things: I live in Oslo and I like tea.",
            "Please remember:\n\nI'm a marine biologist.",
            "Here is my situation:\nI'm a nurse.",
            "About me:\n- I'm a nurse\n- I live in Oslo",
            "From: Lisbon\nTo: Porto\nDate: 5 May\nI travel alone.",
            "As I said:\nI'm a nurse.",
            "Here is what I wrote in my application:\nI'm a nurse.",
            "我的情况是：\n我住在上海。",
            "我跟你说：\n我住在上海。",
            "我想说的是：\n我住在上海。",
            "[file] is the wrong tag, I live in Oslo",
            "以下是我的情况：我住在上海。",
            "下面是我的简历内容：我住在上海。",
            "我住在上海：浦东。",
            "我收到邮件了，我住在上海。",
        ] {
            assert_eq!(HeadedQuote::find(message), None, "{message}");
        }
    }
}
