//! User interface texts of `everlore chat`, in English and Chinese.

use everlore::{
    chat::{ChatSessionCost, CompactionReport, InjectedContext, ReplyOutcome},
    engine::{Language, SessionEnd},
};

use crate::render::pluralize;

/// Declares messages as a name, the English text and the Chinese text; those with parameters are formats.
macro_rules! messages {
    ($($name:ident($($arg:ident: $type:ty),*) = $english:literal, $chinese:literal;)*) => {
        impl UiMessages {
            $(messages! { @ $name($($arg: $type),*) $english, $chinese })*
        }
    };
    (@ $name:ident() $english:literal, $chinese:literal) => {
        pub(super) fn $name(self) -> &'static str {
            self.choose($english, $chinese)
        }
    };
    (@ $name:ident($($arg:ident: $type:ty),+) $english:literal, $chinese:literal) => {
        pub(super) fn $name(self, $($arg: $type),+) -> String {
            if self.chinese { format!($chinese) } else { format!($english) }
        }
    };
}

messages! {
    memory_only() = "memory only, without a model", "只凭记忆回答";
    help() =
        "\
/help          this list
/memory [ASK]  stored memories, or the memories about something
/why           memories recalled for the last message, and why
/model [NAME]  show or switch the model
/compact       summarize all but the latest exchange
/cost          tokens of this conversation
/clear         clear this conversation; memory stays
/quit          end (also Ctrl+D, or Ctrl+C twice)

A line that ends with \\ continues on the next. Ctrl+C interrupts an answer. Write // for a message that begins with /.",
        "\
/help          显示这份列表
/memory [问题] 已保存的记忆，或与某事有关的记忆
/why           上一条消息用到的记忆及原因
/model [名称]  显示或切换模型
/compact       把最近一轮之前的内容压缩成摘要
/cost          本次对话用了多少 token
/clear         清空本次对话，记忆保留
/quit          结束（也可以按 Ctrl+D，或按两次 Ctrl+C）

行末加 \\ 可以换行继续输入。Ctrl+C 打断回答。以 / 开头的消息请写成 //。";
    reminder(line: &str) = "reminder: {line}", "提醒：{line}";
    cleared() = "the conversation is cleared; memory stays", "对话已清空，记忆保留";
    interrupt_again_to_quit() = "Ctrl+C again ends the conversation", "再按一次 Ctrl+C 结束对话";
    interrupted() =
        "interrupted; the answer so far is stored. Ctrl+C again ends the conversation",
        "已打断，已有的回答已保存。再按一次 Ctrl+C 结束对话";
    needs_model() = "this conversation has no model", "这次对话没有模型参与";
    summarizing() =
        "summarizing the conversation… (Ctrl+C skips the model)",
        "正在总结对话……（Ctrl+C 跳过模型）";
    extracting() =
        "extracting memories from the conversation… (Ctrl+C leaves that for later)",
        "正在从对话中提取记忆……（Ctrl+C 留到以后）";
    no_model() = "no model is set up", "还没有设置模型";
    ask_setup() = "set one up now with `everlore onboard`?", "现在用 `everlore onboard` 设置吗？";
    waiting() = "waiting for the model", "正在等待模型";
    no_answer() = "(the model did not answer)", "（模型没有回答）";
    welcome(name: &str, session: &str) =
        "{name} · conversation {session} · /help lists the commands, Ctrl+D ends",
        "{name} · 会话 {session} · 输入 /help 查看命令，Ctrl+D 结束";
    unknown_command(command: &str) =
        "there is no command {command}; /help lists them",
        "没有命令 {command}；输入 /help 查看";
    extraction_failed(error: &str) =
        "no memories were extracted yet; this is retried later: {error}",
        "还没有提取记忆，稍后会重试：{error}";
    model_now(name: &str) =
        "{name} answers",
        "由 {name} 回答";
}

/// User interface texts of one language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UiMessages {
    chinese: bool,
}

impl UiMessages {
    /// Returns the texts of a language; every language but Chinese gets English.
    pub(crate) fn for_language(language: Language) -> Self {
        Self { chinese: language == Language::Chinese }
    }

    /// Returns `true` for Chinese.
    pub(crate) fn is_chinese(self) -> bool {
        self.chinese
    }

    /// Returns the text of this language.
    pub(crate) fn choose<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        if self.chinese { chinese } else { english }
    }

    pub(super) fn extracted(self, changed: usize) -> String {
        if self.chinese {
            format!("记住了 {changed} 条；用 `everlore list` 查看")
        } else {
            let memories = pluralize(changed, "memory", "memories");
            format!("remembered: {memories}; `everlore list` shows them")
        }
    }

    pub(super) fn nothing_injected(self, injected: &InjectedContext) -> &'static str {
        if injected.first_round {
            self.choose(
                "the settings inject nothing into the first message (memory.inject.first_round_empty)",
                "设置规定第一条消息不加入记忆（memory.inject.first_round_empty）",
            )
        } else {
            self.choose(
                "nothing was recalled for the last message: no memory was relevant enough",
                "上一条消息没有加入任何记忆：没有足够相关的记忆",
            )
        }
    }

    pub(super) fn injected(self, injected: &InjectedContext) -> String {
        let (memories, items, tokens) =
            (injected.memories.len(), injected.short_term, injected.tokens);
        let summary = match (injected.summary, self.chinese) {
            (true, false) => ", a summary of the conversation",
            (true, true) => "，对话摘要",
            _ => "",
        };
        if self.chinese {
            format!("{memories} 条记忆，{items} 条短期记忆{summary}，{tokens} 个 token")
        } else {
            let memories = pluralize(memories, "memory", "memories");
            let items = pluralize(items, "short-term item", "short-term items");
            format!("{memories}, {items}{summary}, {tokens} tokens")
        }
    }

    pub(super) fn found_by(self, score: f64, terms: &[String]) -> String {
        let words = terms.join(self.choose(", ", "、"));
        match (self.chinese, words.is_empty()) {
            (false, false) => format!("score {score:.2}, by the words: {words}"),
            (false, true) => format!("score {score:.2}, by meaning"),
            (true, false) => format!("得分 {score:.2}，匹配的词：{words}"),
            (true, true) => format!("得分 {score:.2}，按语义匹配"),
        }
    }

    pub(super) fn cost(self, cost: &ChatSessionCost, tokens: usize, messages: usize) -> String {
        let (answered, summaries) = (cost.answered, cost.summaries);
        let summary_tokens = summaries.read + summaries.written;
        if self.chinese {
            format!(
                "{} 次回答：读入 {} 个 token（其中缓存 {}），写出 {}；回忆 {}；摘要 {summary_tokens}\n\
                 下一条消息会再次发送 {messages} 条消息，共 {tokens} 个 token",
                cost.answers, answered.read, answered.cached, answered.written, cost.injected
            )
        } else {
            format!(
                "{}: {} tokens read ({} from the cache), {} written; {} recalled; {summary_tokens} for summaries\n\
                 the next message sends {tokens} tokens in {messages} messages again",
                pluralize(cost.answers, "answer", "answers"),
                answered.read,
                answered.cached,
                answered.written,
                cost.injected
            )
        }
    }

    /// Says that the model is asked without tools.
    pub(super) fn without_tools(self, model: &str) -> String {
        if self.chinese {
            format!("{model} 不支持工具：以下回答不使用工具，只用已召回的记忆")
        } else {
            format!("{model} cannot call tools: it answers without them, from what is recalled")
        }
    }

    pub(super) fn compacted(self, report: &CompactionReport) -> String {
        if report.exchanges == 0 {
            return self
                .choose("there is nothing to summarize yet", "还没有可以压缩的内容")
                .to_owned();
        }
        let by = match (report.by_model, self.chinese) {
            (true, false) => "by the model",
            (true, true) => "由模型完成",
            (false, false) => "by its own sentences",
            (false, true) => "摘取原句",
        };
        let failed = report.failed.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
        let CompactionReport { exchanges, before, after, .. } = report;
        if self.chinese {
            format!("已压缩 {exchanges} 轮对话，{by}{failed}：{before} 个 token 减为 {after}")
        } else {
            let exchanges = pluralize(*exchanges, "exchange", "exchanges");
            format!("summarized {exchanges} {by}{failed}: {before} tokens are now {after}")
        }
    }

    /// Returns a note about the outcome of an answer; `None` if it is complete.
    pub(super) fn ended(self, outcome: &ReplyOutcome) -> Option<String> {
        let text = match outcome {
            ReplyOutcome::Done => return None,
            ReplyOutcome::Interrupted => self.interrupted().to_owned(),
            ReplyOutcome::Length => self
                .choose("the answer reached its token limit", "回答达到了 token 上限")
                .to_owned(),
            ReplyOutcome::Refused => {
                self.choose("the provider stopped the answer", "服务商中止了回答").to_owned()
            }
            ReplyOutcome::TooManyRounds => self
                .choose("stopped: the model kept calling tools", "已停止：模型不断调用工具")
                .to_owned(),
            ReplyOutcome::Failed(error) => {
                if self.chinese {
                    format!("回答中断：{error}\n提示：{}", error.hint())
                } else {
                    format!("the answer was interrupted: {error}\nhint: {}", error.hint())
                }
            }
            _ => return None,
        };
        Some(text)
    }

    pub(super) fn logged(self, ended: &SessionEnd) -> String {
        let turns = ended.turns;
        match (&ended.log, self.chinese) {
            (Some(log), false) if log.change.is_some() => {
                let turns = pluralize(turns, "turn", "turns");
                format!("logged: {turns} in {}", log.layer.path.display())
            }
            (Some(log), true) if log.change.is_some() => {
                format!("已记入日志：{turns} 条，{}", log.layer.path.display())
            }
            (Some(_), false) => "it is in the log already".to_owned(),
            (Some(_), true) => "日志里已经有了".to_owned(),
            (None, false) => {
                "stored; the daily log is full, or nothing was worth a line".to_owned()
            }
            (None, true) => "已保存；当天的日志已满，或没有值得记的内容".to_owned(),
        }
    }
}
