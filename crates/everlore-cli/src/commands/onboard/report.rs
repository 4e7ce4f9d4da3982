//! Last words of the wizard: what was written, what to do next, and how to go on later.

use super::{OnboardChoices, model_probe};
use crate::{CliContext, Exit, Output, Result, commands::chat::UiMessages};

/// Prints what was written.
pub(super) fn print_written(
    cx: &CliContext,
    out: &mut Output,
    (changes, sections): (&[String], &[&str]),
    choices: &OnboardChoices,
    messages: UiMessages,
) -> Result<()> {
    let path = cx.settings.path.display();
    match (changes.is_empty(), sections.is_empty()) {
        (true, true) if choices.key.is_some() => {
            out.line(messages.choose("written: keys.toml", "已写入：keys.toml"))
        }
        (true, true) => out.line(messages.choose("nothing to change", "没有需要改的内容")),
        (false, _) => out.line(&format!("{}: {path}", messages.choose("written", "已写入"))),
        (true, false) => out.line(messages.choose("written: SOUL.md", "已写入：SOUL.md")),
    }
}

/// Prints a next step that works: a conversation with the model, or with memory alone.
pub(super) fn print_next(
    cx: &CliContext,
    choices: &OnboardChoices,
    out: &mut Output,
    messages: UiMessages,
) -> Result<()> {
    let config = model_probe::config_with_choices(cx, choices);
    let has_model = config.chat_model().is_some_and(|model| !model.model.is_empty());
    out.line(match (has_model, choices.is_silent) {
        (true, false) => messages.choose("next: everlore chat", "下一步：everlore chat"),
        (true, true) => messages.choose(
            "next: everlore chat --offline, and everlore chat once the model answers",
            "下一步：everlore chat --offline；模型能回答之后用 everlore chat",
        ),
        (false, _) => messages.choose(
            "next: everlore chat --offline, which answers from memory alone; a model: everlore onboard",
            "下一步：everlore chat --offline，只凭记忆回答；要用模型：everlore onboard",
        ),
    })
}

/// Prints that nothing changed, and the command that goes on with the answers.
pub(super) fn print_unchanged(
    out: &mut Output,
    messages: UiMessages,
    answers: &OnboardChoices,
) -> Result<Exit> {
    out.line(messages.choose("nothing was changed", "什么都没有改"))?;
    if let Some(command) = answers.command_line() {
        let label = messages.choose("to go on with your answers", "继续使用你的回答");
        out.line(&format!("{label}: {command}"))?;
    }
    Ok(Exit::Done)
}

/// Returns instructions for agents that `everlore connect` does not know.
pub(super) fn connect_help(messages: UiMessages) -> &'static str {
    messages.choose(
        "\
Coding agents: everlore connect --list, then everlore connect NAME
Any agent that can run commands can use it:
  before an answer   everlore context \"MESSAGE\"   prints relevant memories, or nothing
  after a message    everlore observe --session NAME --role user   stores each line of its input
  as tools           everlore tool list, everlore tool call NAME JSON
Sync the memory folder of a coding assistant: everlore vault init FOLDER
Import from another memory system: everlore import auto PATH --dry-run",
        "\
编程智能体：先 everlore connect --list，再 everlore connect 名称
任何能运行命令的智能体都可以使用：
  回答之前   everlore context \"消息\"   输出相关的记忆，没有则不输出
  消息之后   everlore observe --session 名称 --role user   保存输入的每一行
  作为工具   everlore tool list，everlore tool call 名称 JSON
编程助手的记忆文件夹可以保持同步：everlore vault init 文件夹
其他系统的记忆可以导入：everlore import auto 路径 --dry-run",
    )
}
