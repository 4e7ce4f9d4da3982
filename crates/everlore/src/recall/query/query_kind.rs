//! Query classification: the kind of answer a query is after, and the ranking strategy for it.
//!
//! Experience: earlier attempts and their outcomes. Preference: likes and wishes of the user. Code: names that must
//! match to the letter. Knowledge: facts and documents. General: everything else, ranked without preference.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use super::phrases::{PhraseMatcher, is_han, normalize};
use crate::types::Kind;

/// Kind of answer that a query is after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum QueryKind {
    /// Likes, wishes and habits of the user.
    Preference,
    /// A fact or a document.
    Knowledge,
    /// Earlier attempts at a problem.
    Experience,
    /// Code, configuration, an error message.
    Code,
    /// Anything else.
    General,
}

/// Ranking adjustments for a kind of query. Every factor is modest: it reorders near equals and hides nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RankingStrategy {
    /// Memory kinds that are boosted.
    pub kinds: &'static [Kind],
    /// Factor on the score of those kinds.
    pub kind_boost: f64,
    /// Factor on the half-life of recency.
    pub recency_scale: f64,
    /// `true` if words count before meaning.
    pub exact_terms: bool,
}

impl QueryKind {
    /// Returns the ranking adjustments for this kind of query.
    pub(crate) fn strategy(self) -> RankingStrategy {
        let (kinds, kind_boost, recency_scale): (&'static [Kind], _, _) = match self {
            // Tastes change slowly, and corrections state them as clearly as the profile does.
            Self::Preference => (&[Kind::User, Kind::Feedback], 1.2, 2.0),
            // Facts age least; a document that matches by its words needs little help.
            Self::Knowledge => (&[Kind::Knowledge, Kind::Reference], 1.15, 4.0),
            // A lesson stays useful, but tools move on.
            Self::Experience => (&[Kind::Experience, Kind::Feedback], 1.2, 1.0),
            // Code changes by the month; a relevant memory may be of any of these kinds, so the boost is small.
            Self::Code => (&[Kind::Project, Kind::Experience, Kind::Reference], 1.1, 0.5),
            // No adjustment.
            Self::General => (&[], 1.0, 1.0),
        };
        RankingStrategy { kinds, kind_boost, recency_scale, exact_terms: self == Self::Code }
    }
}

/// Classifies a query by the first kind, in this order, of which it contains a phrase. "How did we fix the compile
/// error" is after the experience although it mentions code.
pub(super) fn classify_query(query: &str) -> QueryKind {
    let plain = normalize(query);
    let text = PhraseMatcher::new(&plain);
    let has_any = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    if has_any(EXPERIENCE) {
        QueryKind::Experience
    } else if has_any(PREFERENCE) {
        QueryKind::Preference
    } else if looks_like_code(query) || has_any(CODE) {
        QueryKind::Code
    } else if asks_definition(&plain) || has_any(KNOWLEDGE) {
        QueryKind::Knowledge
    } else {
        QueryKind::General
    }
}

/// Returns `true` if a line is the message of a program that failed: `error[E0425]: …`, `ValueError: …`, `致命错误：…`.
pub(super) fn reports_failure(query: &str) -> bool {
    static FAILURE_LINE: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r"(?im)^\s*[\w.:/\\-]*(?:error|exception|fatal|traceback|panicked at|错误|異常|异常|錯誤)[^\s:：]*\s*(?:[:：]|\(most recent)";
        Regex::new(pattern).expect("a pattern of this file")
    });
    FAILURE_LINE.is_match(query)
}

/// Returns `true` for "What is photosynthesis": one bare word without a possessive.
fn asks_definition(plain: &str) -> bool {
    let thing = plain.strip_prefix("what is ").or_else(|| plain.strip_prefix("what are "));
    thing.is_some_and(|thing| !thing.contains([' ', '\'']))
}

/// Returns `true` if the query quotes code: back ticks, paths, calls, names in snake or camel case, file names.
fn looks_like_code(query: &str) -> bool {
    query.contains(['`', '{', '}'])
        || query.contains("::")
        || query.split_whitespace().any(is_code_word)
}

fn is_code_word(word: &str) -> bool {
    let name = word.trim_matches(|c: char| {
        matches!(c, ',' | '.' | '?' | '!' | '"' | '\'' | ':' | ';' | '。' | '？' | '，')
    });
    name.contains("()") || is_snake_case(name) || is_camel_case(name) || is_file_name(name)
}

fn is_snake_case(name: &str) -> bool {
    let letters = |part: &str| part.chars().any(|c| c.is_ascii_alphabetic());
    name.split_once('_').is_some_and(|(head, tail)| letters(head) && letters(tail))
}

/// Returns `true` for `readFile`: small letters at the start, then a capital. `McDonald` and `iPhone` are names, not
/// code.
fn is_camel_case(name: &str) -> bool {
    let small = name.chars().take_while(char::is_ascii_lowercase).count();
    // Brands begin with at most one small letter ("iPhone", "eBay").
    small >= 2 && name[small..].starts_with(|c: char| c.is_ascii_uppercase())
}

fn is_file_name(name: &str) -> bool {
    let is_stem = |stem: &str| !stem.is_empty() && !stem.contains(is_han);
    name.rsplit_once('.')
        .is_some_and(|(stem, ending)| is_stem(stem) && FILE_ENDINGS.contains(&ending))
}

#[rustfmt::skip]
const FILE_ENDINGS: &[&str] = &[
    "rs", "py", "js", "ts", "tsx", "jsx", "go", "java", "c", "h", "cpp", "hpp", "cs", "rb", "php", "swift", "kt", "sh",
    "sql", "json", "yaml", "yml", "toml", "xml", "html", "css", "vue", "svelte", "lock", "ini", "conf", "log",
];

#[rustfmt::skip]
const EXPERIENCE: &[&str] = &[
    "how did we", "how did i", "how have we", "how did you fix", "how did you solve", "what worked", "what did not work",
    "what went wrong", "lesson", "lessons", "lessons learned", "last time we", "last time i", "did we try", "have we tried",
    "we tried", "ran into", "run into", "workaround", "root cause", "postmortem", "post-mortem", "past experience",
    "solved before", "fixed before", "seen this before", "similar problem", "similar issue", "what happened when",
    "怎么解决的", "怎么修", "怎么处理的", "如何解决的", "上次是怎么", "上次怎么", "之前怎么", "以前怎么", "当时怎么", "踩过的坑",
    "踩坑", "经验", "教训", "复盘", "遇到过", "试过", "解决过", "类似的问题", "类似问题", "根本原因", "哪里出了问题",
];

#[rustfmt::skip]
const PREFERENCE: &[&str] = &[
    "prefer", "preferred", "preference", "preferences", "favorite", "favorites", "do i like", "do i love", "i like", "i love",
    "i enjoy", "do i enjoy", "do i hate", "i hate", "i dislike", "do i dislike", "my taste", "my style", "my usual", "i usually",
    "do i usually", "my habit", "my habits", "my hobby", "my hobbies", "my routine", "recommend me", "recommend", "suggest",
    "recommendation", "recommendations", "suggestions", "should i get", "should i buy", "should i watch", "should i read",
    "should i eat", "for me to", "suit me", "suits me", "allergic", "allergies", "my diet", "way i want",
    "喜欢", "偏好", "喜好", "爱好", "最爱", "爱吃", "爱喝", "爱看", "讨厌", "不爱", "口味", "习惯", "推荐", "建议我", "适合我", "合我",
    "过敏", "忌口", "我想要的", "我通常", "我平时", "我一般",
];

#[rustfmt::skip]
const CODE: &[&str] = &[
    "code", "codebase", "function", "struct", "variable", "bug", "bugs", "stack trace", "traceback",
    "compile", "compiler", "compiles", "build error", "error message", "segfault", "null pointer", "api", "endpoint",
    "sdk", "cli", "regex", "sql query", "unit test", "unit tests", "test fails", "failing test", "refactor", 
    "pull request", "merge conflict", "git", "docker", "dockerfile", "kubernetes", "npm", "config file",
    "config path", "environment variable", "env var", "repo", "repository", "deploy", "deployment", 
    "in rust", "unhandled exception", "cargo build", "cargo test", "pip install", "python", "javascript", "typescript", "golang", "java", "c++", "dependency", "dependencies", "package version",
    "代码", "函数", "方法名", "变量", "报错", "编译", "接口", "脚本", "仓库", "分支", "部署", "配置文件", "环境变量", "单元测试",
    "测试用例", "重构", "提交记录", "依赖", "数据库表", "堆栈", "异常信息", "类名", "参数名", "调试", "源码", "前端", "后端",
];

#[rustfmt::skip]
const KNOWLEDGE: &[&str] = &[
    "what is a", "what is an", "what is meant by", "what does it mean", "explain", "definition", "define", "meaning of",
    "how does", "how to", "why does", "difference between", "documentation", "docs", "manual", "guide", "specification",
    "policy", "according to", "overview of", "where can i find", "which document",
    "什么是", "解释", "定义", "含义", "什么意思", "为什么", "如何", "怎么用", "怎样", "原理", "区别", "文档", "手册", "说明书", "规范", "知识",
    "介绍一下", "规定", "政策",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_failed_programs_are_told_from_talk_about_them() {
        for text in [
            "cargo build\nerror[E0425]: cannot find value `x`",
            "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: no",
            "fatal: not a git repository",
            "错误：使用 `cc` 链接失败",
            "java.lang.NullPointerException: x is null",
        ] {
            assert!(reports_failure(text), "{text}");
        }
        for text in [
            "I get an error when I build: why?",
            "怎么处理错误？",
            "No exception: everyone pays",
            "hi",
        ] {
            assert!(!reports_failure(text), "{text}");
        }
    }

    #[test]
    fn queries_are_told_apart_by_what_they_are_after() {
        let cases = [
            (
                QueryKind::Preference,
                [
                    "What's my favourite restaurant?",
                    "which editor do I prefer",
                    "Recommend a book for me",
                ],
            ),
            (QueryKind::Preference, ["我喜欢喝什么茶", "推荐一部电影", "我的口味是什么"]),
            (
                QueryKind::Experience,
                [
                    "How did we fix the compile error?",
                    "what went wrong in the last release",
                    "have we tried Redis",
                ],
            ),
            (
                QueryKind::Experience,
                ["上次是怎么解决内存泄漏的", "部署踩过的坑", "有没有遇到过类似的问题"],
            ),
            (
                QueryKind::Code,
                [
                    "where is parse_date defined",
                    "why does `main.rs` not compile",
                    "the readFile function",
                ],
            ),
            (QueryKind::Code, ["这个接口的参数", "编译失败了", "config.toml 在哪"]),
            (
                QueryKind::Knowledge,
                [
                    "What is photosynthesis?",
                    "explain the holiday policy",
                    "difference between tea and coffee",
                ],
            ),
            (QueryKind::Knowledge, ["什么是光合作用", "请假规定", "量子力学的原理"]),
            (
                QueryKind::General,
                [
                    "Where did Caroline go yesterday?",
                    "What is Caroline's identity?",
                    "When was the pottery class?",
                ],
            ),
            (QueryKind::General, ["昨天谁来了", "她去了哪里", "北京之行"]),
        ];
        for (aim, queries) in cases {
            for query in queries {
                assert_eq!(classify_query(query), aim, "{query}");
            }
        }
    }

    #[test]
    fn names_of_people_and_brands_are_no_code() {
        for query in ["iPhone", "McDonald", "eBay", "Caroline", "e.g. tea", "Mr. Smith"] {
            assert_eq!(classify_query(query), QueryKind::General, "{query}");
        }
    }

    #[test]
    fn no_strategy_leans_by_more_than_a_fifth() {
        for aim in [
            QueryKind::Preference,
            QueryKind::Knowledge,
            QueryKind::Experience,
            QueryKind::Code,
            QueryKind::General,
        ] {
            let strategy = aim.strategy();
            assert!((1.0..=1.2).contains(&strategy.kind_boost), "{aim:?}");
            assert!(strategy.recency_scale > 0.0, "{aim:?}");
        }
    }
}
