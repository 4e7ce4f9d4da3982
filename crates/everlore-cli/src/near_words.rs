//! Words that people type for a command that has another name, in English and Chinese, and the command they mean.

/// Command, and other words for it.
struct NearWords {
    /// Words of the command after `everlore`.
    command: &'static str,
    words: &'static [&'static str],
}

/// Names that differ by this many letters at most are taken for a slip, if they are long enough.
const MAX_SLIPS: usize = 2;

/// Shortest sentence in Chinese, which has no blanks between words.
const MIN_SENTENCE_CHARS: usize = 5;

const NEAR_WORDS: &[NearWords] = &[
    NearWords {
        command: "search",
        words: &[
            "find", "query", "lookup", "look", "grep", "查找", "搜索", "查询", "搜", "找", "检索",
        ],
    },
    NearWords {
        command: "recall", words: &["ask", "question", "回忆", "回想", "问", "提问"]
    },
    NearWords {
        command: "remember",
        words: &[
            "save", "add", "note", "put", "write", "memorize", "memorise", "keep", "learn",
            "insert", "new", "create", "记住", "保存", "添加", "记", "记忆", "记录", "写入",
            "新增", "存",
        ],
    },
    NearWords {
        command: "list",
        words: &["ls", "all", "memories", "列表", "列出", "全部", "所有"],
    },
    NearWords {
        command: "show",
        words: &["cat", "view", "open", "read", "display", "get", "显示", "查看", "看"],
    },
    NearWords {
        command: "memory delete",
        words: &["delete", "rm", "remove", "del", "删除", "移除", "删"],
    },
    NearWords {
        command: "forget",
        words: &["erase", "purge", "wipe", "忘记", "遗忘", "忘掉", "清除"],
    },
    NearWords {
        command: "undo", words: &["revert", "rollback", "back", "撤销", "撤回", "撤消"]
    },
    NearWords { command: "redo", words: &["重做"] },
    NearWords { command: "context", words: &["inject", "block", "上下文"] },
    NearWords {
        command: "chat",
        words: &["talk", "say", "hi", "hello", "repl", "聊天", "对话", "交谈", "聊"],
    },
    NearWords {
        command: "serve --stop",
        words: &["stop", "down", "shutdown", "kill", "停止", "关闭"],
    },
    NearWords { command: "serve --status", words: &["status", "ps", "running", "状态"] },
    NearWords {
        command: "serve",
        words: &[
            "start",
            "server",
            "daemon",
            "run",
            "up",
            "web",
            "ui",
            "page",
            "http",
            "启动",
            "服务",
            "服务器",
            "网页",
        ],
    },
    NearWords {
        command: "connect",
        words: &["install", "link", "plugin", "attach", "连接", "接入", "安装"],
    },
    NearWords { command: "disconnect", words: &["uninstall", "unlink", "断开", "卸载"] },
    NearWords {
        command: "onboard",
        words: &[
            "init",
            "setup",
            "configure",
            "login",
            "wizard",
            "设置",
            "初始化",
            "配置",
            "向导",
            "登录",
        ],
    },
    NearWords { command: "config set", words: &["set"] },
    NearWords { command: "config show", words: &["settings", "preferences", "options"] },
    NearWords {
        command: "ingest",
        words: &["upload", "index", "load", "doc", "document", "文档", "文件", "上传"],
    },
    NearWords { command: "import", words: &["migrate", "导入", "迁移"] },
    NearWords {
        command: "memory export", words: &["export", "backup", "dump", "导出", "备份"]
    },
    NearWords {
        command: "memory edit",
        words: &["edit", "update", "change", "modify", "修改", "编辑", "更新"],
    },
    NearWords {
        command: "memory history", words: &["history", "log", "journal", "历史", "日志"]
    },
    NearWords { command: "memory stats", words: &["stats", "count", "统计"] },
    NearWords {
        command: "doctor",
        words: &["check", "diagnose", "repair", "fix", "检查", "诊断", "修复"],
    },
    NearWords { command: "--help", words: &["?", "man", "帮助", "命令"] },
    NearWords { command: "--version", words: &["version", "ver", "版本"] },
    NearWords { command: "completions", words: &["completion", "补全"] },
    NearWords { command: "demo", words: &["example", "tour", "try", "演示", "示例"] },
];

/// Returns the command that another word means.
pub(crate) fn meant_by(word: &str) -> Option<&'static str> {
    let word = word.trim_start_matches('/').to_lowercase();
    NEAR_WORDS.iter().find(|near| near.words.contains(&word.as_str())).map(|near| near.command)
}

/// Returns the name that a slip of the finger meant, the nearest first.
pub(crate) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed =
        |name: &str| if name.chars().count().min(word.chars().count()) < 5 { 1 } else { MAX_SLIPS };
    let near = names.into_iter().map(|name| (slips(word, name), name));
    near.filter(|(slips, name)| *slips <= allowed(name)).min().map(|(_, name)| name)
}

/// Returns `true` for what is said rather than commanded: several words, or some Chinese characters.
pub(crate) fn is_sentence(text: &str) -> bool {
    let is_chinese = |c: char| ('\u{3400}'..='\u{9fff}').contains(&c);
    text.trim().contains(char::is_whitespace)
        || text.contains(is_chinese) && text.chars().count() >= MIN_SENTENCE_CHARS
}

/// Returns `true` if a sentence asks.
pub(crate) fn is_question(text: &str) -> bool {
    const FIRST_WORDS: [&str; 13] = [
        "what", "who", "when", "where", "why", "how", "which", "do", "does", "did", "is", "are",
        "can",
    ];
    const ASKING: [&str; 8] = ["什么", "谁", "哪", "吗", "怎么", "多少", "几", "为何"];
    let text = text.trim().to_lowercase();
    let first = text.split_whitespace().next().unwrap_or_default();
    text.ends_with(['?', '？'])
        || FIRST_WORDS.contains(&first)
        || ASKING.iter().any(|word| text.contains(word))
}

/// Counts the letters that were left out, added, replaced or swapped with the next one.
fn slips(typed: &str, name: &str) -> usize {
    let (typed, name): (Vec<char>, Vec<char>) =
        (typed.to_lowercase().chars().collect(), name.chars().collect());
    let mut rows = vec![(0..=name.len()).collect::<Vec<usize>>()];
    for (i, a) in typed.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in name.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(a != b);
            let mut best = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && typed[i - 1] == *b && name[j - 1] == *a {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[typed.len()][name.len()]
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn other_words_lead_to_commands_that_exist() {
        let root = Cli::command();
        for NearWords { command, words } in NEAR_WORDS {
            let mut parent = &root;
            for word in command.split(' ').filter(|word| !word.starts_with("--")) {
                parent = parent.find_subcommand(word).unwrap_or_else(|| panic!("{command}"));
            }
            for word in *words {
                assert!(root.find_subcommand(word).is_none(), "{word} is a command itself");
                assert_eq!(meant_by(word), Some(*command), "{word} is listed twice");
            }
        }
    }

    #[test]
    fn a_slip_is_told_from_another_word() {
        let names = ["remember", "recall", "list", "serve"];
        assert_eq!(nearest("remeber", names), Some("remember"));
        assert_eq!(nearest("recal", names), Some("recall"));
        assert_eq!(nearest("lsit", names), Some("list"));
        assert_eq!(nearest("search", names), None);
        assert_eq!(nearest("查找", names), None);
    }

    #[test]
    fn sentences_and_questions_are_known_in_both_languages() {
        assert!(is_sentence("I like tea") && !is_question("I like tea"));
        assert!(is_sentence("我喜欢喝绿茶") && !is_question("我喜欢喝绿茶"));
        assert!(is_question("What tea do I like?") && is_question("我喜欢喝什么茶"));
        assert!(!is_sentence("find") && !is_sentence("查找"));
    }
}
