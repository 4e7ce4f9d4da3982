//! Tables of the words that people type for commands and settings, in English and Chinese.

/// Command, and other words for it.
pub(crate) struct NearWords {
    /// Words of the command after `everlore`.
    pub(crate) command: &'static str,
    pub(crate) words: &'static [&'static str],
}

/// Command that erases everything of a user.
pub(crate) const FORGET_ALL: &str = "forget --all-of-user USER";

/// Stands for the key of a provider among the settings, which has a command of its own.
pub(crate) const API_KEY: &str = "api_key";

/// Settings, and words for them.
pub(crate) const SETTING_WORDS: &[(&str, &[&str])] = &[
    ("chat.model", &["model", "llm", "模型", "大模型"]),
    ("chat.provider", &["provider", "服务商", "提供商"]),
    ("general.language", &["language", "lang", "语言"]),
    ("general.user", &["username", "用户名"]),
    ("server.port", &["port", "端口"]),
    (API_KEY, &["key", "apikey", "api-key", "api_key", "密钥", "秘钥"]),
];

/// Words that ask for a setting to be changed.
pub(crate) const SETTING_VERBS: &[&str] = &[
    "set",
    "configure",
    "config",
    "change",
    "switch",
    "设置",
    "配置",
    "修改",
    "更换",
    "切换",
    "换",
];

/// Commands with subcommands, a word that one of them does not have, and the command that is meant.
pub(crate) const WORDS_BELOW: &[(&str, &str, &str)] = &[
    ("config", "list", "config show"),
    ("config", "ls", "config show"),
    ("embed", "list", "embed status"),
    ("embed", "show", "embed status"),
    ("layer", "check", "layer list"),
    ("layer", "ls", "layer list"),
    ("mcp", "install", "connect"),
    ("mcp", "add", "connect"),
    ("mcp", "list", "connect --list"),
    ("memory", "rm", "memory delete"),
    ("memory", "remove", "memory delete"),
    ("memory", "add", "remember"),
    ("schedule", "delete", "schedule rm"),
    ("schedule", "remove", "schedule rm"),
    ("schedule", "new", "schedule add"),
    ("session", "list", "trajectory list"),
    ("session", "show", "trajectory show"),
    ("skill", "delete", "skill rm"),
    ("skill", "remove", "skill rm"),
    ("store", "move", "store copy"),
    ("tool", "run", "tool call"),
    ("vault", "add", "vault init"),
    ("vault", "pull", "vault sync"),
    ("vault", "push", "vault sync"),
];

/// Chinese verbs that are written together with what they are about.
pub(crate) const JOINED_VERBS: &[&str] = &[
    "记住",
    "搜索",
    "查找",
    "查询",
    "忘记",
    "忘掉",
    "删除",
    "连接",
    "打开",
    "启动",
    "停止",
    "关闭",
    "导入",
    "导出",
    "显示",
    "查看",
    "列出",
    "备份",
    "恢复",
    "撤销",
    "清空",
    "清除",
    "重置",
    "保存",
    "看看",
    "记一下",
    "搜一下",
    "查一下",
    "找一下",
];

/// Polite words before a command in Chinese.
pub(crate) const POLITE_WORDS: &[&str] = &["请帮我", "帮我", "请"];

/// Words for commands, in English and Chinese.
pub(crate) const NEAR_WORDS: &[NearWords] = &[
    NearWords {
        command: "search",
        words: &[
            "find",
            "query",
            "lookup",
            "look",
            "grep",
            "查找",
            "搜索",
            "查询",
            "搜",
            "找",
            "检索",
            "搜一下",
            "查一下",
            "找一下",
        ],
    },
    NearWords {
        command: "recall", words: &["ask", "question", "回忆", "回想", "问", "提问"]
    },
    NearWords {
        command: "remember",
        words: &[
            "save",
            "add",
            "note",
            "put",
            "write",
            "memorize",
            "memorise",
            "keep",
            "learn",
            "insert",
            "new",
            "create",
            "记住",
            "保存",
            "添加",
            "记",
            "记忆",
            "记录",
            "写入",
            "记一下",
            "新增",
            "存",
        ],
    },
    NearWords {
        command: "list",
        words: &[
            "ls",
            "all",
            "memories",
            "列表",
            "列出",
            "全部",
            "所有",
            "查看记忆",
            "所有记忆",
            "全部记忆",
            "列出记忆",
            "我的记忆",
            "看看记忆",
            "显示记忆",
        ],
    },
    NearWords {
        command: "show",
        words: &["cat", "view", "open", "read", "display", "print", "get", "显示", "查看", "看"],
    },
    NearWords {
        command: "memory delete",
        words: &["delete", "rm", "remove", "del", "删除", "移除", "删"],
    },
    NearWords {
        command: "forget", words: &["erase", "purge", "wipe", "忘记", "遗忘", "忘掉"]
    },
    NearWords {
        command: FORGET_ALL,
        words: &["clear", "reset", "清空", "清除", "重置", "清空记忆", "清除记忆"],
    },
    NearWords {
        command: "memory restore", words: &["restore", "recover", "恢复", "还原", "找回"]
    },
    NearWords {
        command: "schedule add",
        words: &[
            "remind",
            "reminder",
            "alarm",
            "todo",
            "提醒",
            "提醒我",
            "闹钟",
            "待办",
            "添加提醒",
            "新建提醒",
            "设置提醒",
            "加提醒",
        ],
    },
    NearWords {
        command: "memory import FILE", words: &["恢复备份", "还原备份", "导入备份"]
    },
    NearWords { command: "schedule list", words: &["reminders", "todos", "提醒列表"] },
    NearWords { command: "scopes", words: &["users", "user", "accounts", "用户", "账号"] },
    NearWords { command: "profile", words: &["whoami", "me", "画像", "我是谁"] },
    NearWords { command: "list --tag TAG", words: &["tag", "tags", "label", "labels", "标签"] },
    NearWords { command: "vault sync", words: &["sync", "同步"] },
    NearWords { command: "skill list", words: &["技能"] },
    NearWords {
        command: "trajectory list",
        words: &["sessions", "conversations", "trajectories", "chats", "会话"],
    },
    NearWords {
        command: "upkeep",
        words: &["cleanup", "dedupe", "dedup", "merge", "整理", "去重"],
    },
    NearWords {
        command: "store copy --to URL", words: &["copy", "move", "复制", "mv", "搬家"]
    },
    NearWords {
        command: "undo", words: &["revert", "rollback", "back", "撤销", "撤回", "撤消"]
    },
    NearWords { command: "redo", words: &["重做"] },
    NearWords { command: "context", words: &["inject", "block", "上下文"] },
    NearWords {
        command: "chat",
        words: &[
            "talk", "say", "hi", "hello", "hey", "repl", "聊天", "对话", "交谈", "聊", "你好",
            "您好", "嗨", "在吗",
        ],
    },
    NearWords {
        command: "serve --stop",
        words: &[
            "stop", "down", "shutdown", "kill", "quit", "exit", "停止", "关闭", "退出", "关掉",
        ],
    },
    NearWords {
        command: "serve --status",
        words: &["status", "ps", "running", "状态", "服务状态", "服务器状态"],
    },
    NearWords {
        command: "serve --open",
        words: &["dashboard", "browser", "gui", "打开", "打开网页", "界面", "浏览器"],
    },
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
            "登陆",
        ],
    },
    NearWords { command: "config set", words: &["set"] },
    NearWords { command: "config show", words: &["settings", "preferences", "options", "选项"] },
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
        command: "memory history",
        words: &["history", "log", "logs", "journal", "历史", "日志", "历史记录"],
    },
    NearWords { command: "memory stats", words: &["stats", "count", "统计"] },
    NearWords {
        command: "doctor",
        words: &["check", "diagnose", "repair", "fix", "检查", "诊断", "修复"],
    },
    NearWords {
        command: "--help",
        words: &["?", "man", "docs", "commands", "帮助", "怎么用", "命令"],
    },
    NearWords { command: "--version", words: &["version", "ver", "upgrade", "版本", "升级"] },
    NearWords { command: "completions", words: &["completion", "补全"] },
    NearWords { command: "demo", words: &["example", "tour", "try", "演示", "示例"] },
];
