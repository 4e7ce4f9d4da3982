//! Words by which people and programs tell failures, and people tell that they are solved.

use std::sync::LazyLock;

use regex::Regex;

/// Returns `true` if a message says that a problem is solved.
pub(super) fn says_solved(text: &str) -> bool {
    SOLVED.is_match(text) && !UNSOLVED.is_match(text)
}

/// Divides a message that says that a problem is solved into the failure and the cause or cure; `None` if it denies it.
pub(super) fn told_cure(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let (error, cure) = match CAUSE.find(text) {
        Some(cause) if cause.start() > 0 => text.split_at(cause.start()),
        _ => (text, text),
    };
    // An error may say "not" of itself: could not resolve.
    (SOLVED.is_match(text) && !UNSOLVED.is_match(cure)).then_some((error, cure))
}

/// Words that programs and people call a failure by.
pub(super) static ERROR_WORD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\berror|\bfail(?:ed|ure|s)?\b|\bfatal\b|exception|panick?ed|traceback|denied|refused|timed out|timeout|not found|cannot|can't|couldn't|unable to|\bwarn(?:ing)?\b|错误|失败|报错|异常|致命|拒绝|找不到|无法|超时|不了|不够|不足|已满",
    )
});

/// Returns `true` if a text calls something a failure, by a word for failures or by the name or message of one:
/// `ModuleNotFoundError`, "no space left", 报 database is locked.
pub(super) fn shows_failure(text: &str) -> bool {
    ERROR_WORD.is_match(text) || PRINTED.is_match(text)
}

/// Names of failures, and messages that say one without a word for it.
static PRINTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"[a-z]{2}(?:Error|Exception)\b|(?i:\bno module named\b|\bno space left\b|\bno such (?:file|host|table|column|image)\b|\bis locked\b|\b(?:already|address) in use\b|\bout of memory\b|\bOOMKilled\b|\bsegmentation fault\b|\bconnection reset\b|\bundefined reference\b|\bis not defined\b|\bdoes not exist\b)|报(?:了|的是|出)?\s*[“"'`A-Za-z]|提示\s*[：:]?\s*[“"'`A-Za-z]|被占用|被锁|没有权限|权限不够"#,
    )
});

/// Words by which a person says that a problem is solved.
pub(super) static SOLVED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:that|this|it|which|now it|everything)(?:'s| is| has| all)? (?:just |now |finally |all )?(?:worked|works|fixed|solved|helped|passes|passed|builds|did it|did the trick|fixes it|solves it)\b|\b(?:works|working|fixed|solved|passes|green) (?:now|again)\b|\b(?:fixed|solved|resolved) (?:it|that|by)\b|\b(?:finally|just|i|we) (?:finally |just )?(?:fixed|solved|resolved|sorted out|figured out) (?:the|my|our|this|that)\b|\b(?:tests?|build|suite)(?: is| are)? (?:pass(?:es|ed)?|green|succeed(?:s|ed)?)\b|\bproblem (?:is )?solved\b|就好了|好了|解决了|搞定|可以了|修好|能用了|通过了|成功了|没问题了|(?:可以|能)(?:正常)?(?:启动|运行|访问|编译|登录|连接|连上|安装|构建|用)了|跑起来了|恢复正常",
    )
});

/// Words of an aside, or a thing of one's own that is solved: only words of the failure make it an answer.
pub(super) static OTHER_THING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:by the way|btw|on another note|unrelated|off topic|in other news)\b|\b(?:my|our|his|her|their|the) (?:\w+ ){1,2}(?:is|are|was|were|got|has been)(?: finally| all| just)? (?:fixed|solved|repaired|working|back)\b|\b(?:fixed|solved|resolved|sorted out|figured out) (?:the|my|our)\b|顺便|对了|另外|题外话|话说|(?:我的|我家|他的|她的|家里的?)[^，。,.]{1,8}(?:修好|好了|搞定|解决)",
    )
});

/// Words between a failure and its cause or cure.
static CAUSE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?: thing| issue| problem| error)?: (?:it|the|turns|turned|we|i|my|our|[A-Z_]{4,} )|\b(?:it )?turn(?:s|ed) out\b|\bthe (?:root )?cause was\b|\bbecause\b|\bcaused by\b|\bit was\b|原来|果然|是因为|后来发现|最后发现|结果发现|发现是",
    )
});

/// Words that deny it.
static UNSOLVED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:not|never|didn't|did not|doesn't|does not|isn't|still|hasn't|won't|if|whether|would)\b|\?|？|没好|没解决|没有解决|还是|仍然|不行|吗|如果|要是",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}
