//! Prompts that a person picks as slash commands: recall, remember, reflect; in English or Chinese.

use everlore::{engine::Language, internal::text::language::detect_language};
use rmcp::{
    ErrorData,
    model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role},
};
use serde_json::{Map, Value, json};

use super::McpContext;

/// Lists the prompts, always in the same order.
pub(super) fn list() -> Vec<Prompt> {
    let query = argument("query", "What to recall, in your own words", true);
    let text = argument("text", "What to remember, in your own words", true);
    let language = argument("language", "en or zh; en by default", false);
    vec![
        prompt("recall", "Recall", "Answer a question from memory", query),
        prompt("remember", "Remember", "Save something to memory", text),
        prompt(
            "reflect",
            "Reflect",
            "Look back on this session and save what will matter later",
            language,
        ),
    ]
}

fn prompt(name: &str, title: &str, about: &str, argument: PromptArgument) -> Prompt {
    Prompt::new(name, Some(about), Some(vec![argument])).with_title(title)
}

fn argument(name: &str, about: &str, required: bool) -> PromptArgument {
    PromptArgument::new(name).with_description(about).with_required(required)
}

/// Returns a prompt with its arguments filled in.
pub(super) async fn get(
    context: &McpContext,
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<GetPromptResult, ErrorData> {
    let text = match name {
        "recall" => recall(context, required_argument(arguments, "query")?).await,
        "remember" => remember(required_argument(arguments, "text")?),
        "reflect" => reflect(arguments)?.to_owned(),
        _ => {
            let name: String = name.chars().take(100).collect();
            let message =
                format!("there is no prompt `{name}`; the prompts are recall, remember, reflect");
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

fn required_argument<'a>(
    arguments: &'a Map<String, Value>,
    name: &str,
) -> Result<&'a str, ErrorData> {
    let text = arguments.get(name).and_then(Value::as_str).map(str::trim);
    text.filter(|text| !text.is_empty()).ok_or_else(|| {
        ErrorData::invalid_params(format!("the argument `{name}` is missing: give a text"), None)
    })
}

/// Renders the question together with the recalled memories, so that the model need not recall them again.
async fn recall(context: &McpContext, query: &str) -> String {
    let memories = context.call_tool("memory_recall", json!({ "query": query })).await.text;
    match detect_language(query) {
        Language::Chinese => format!(
            "{query}\n\n根据长期记忆回答上面的问题。下面是找到的内容；不够时用 memory_timeline 和 memory_get 查看更多。说明每一点来自哪一天；记忆里没有的就直说。\n\n{memories}"
        ),
        _ => format!(
            "{query}\n\nAnswer this from long-term memory. The recalled memories follow; look further with memory_timeline and memory_get if they are not enough. Name the day of each point, and say so if memory has no answer.\n\n{memories}"
        ),
    }
}

fn remember(text: &str) -> String {
    match detect_language(text) {
        Language::Chinese => format!(
            "请记住：{text}\n\n先用 memory_recall 看是否已有相关记忆：有就用 memory_update 改正，没有就用 memory_save 保存。一条记忆只说一件事，用完整的句子和具体日期。完成后告诉我保存了什么。"
        ),
        _ => format!(
            "Remember this: {text}\n\nLook with memory_recall first: if a memory says something about it, put it right with memory_update, else save it with memory_save. One thing per memory, in whole sentences with real dates. Then tell me what you saved."
        ),
    }
}

fn reflect(arguments: &Map<String, Value>) -> Result<&'static str, ErrorData> {
    match arguments.get("language").and_then(Value::as_str).unwrap_or("en") {
        "en" | "" => Ok(
            "Look back on this session. What did I tell you about myself, correct, prefer or decide that will still matter in a month and that no file tells? What was hard to find out? For each: recall whether it is known, update what changed, save what is new, one thing per memory, with the reason and real dates. Save nothing that is only true today. Then list what you saved and what you left out, in a line each.",
        ),
        "zh" => Ok(
            "回顾这次会话。关于我自己、我的纠正、偏好或决定，有哪些一个月后仍然重要、而任何文件里都没有？有什么是好不容易才弄清楚的？对每一点：先查是否已知，变了的就更新，新的就保存；一条记忆只说一件事，写明原因和具体日期。只在今天有用的不要保存。最后逐行列出保存了什么、略去了什么。",
        ),
        other => {
            let language: String = other.chars().take(20).collect();
            let message = format!("the argument `language` is `{language}`: use en or zh");
            Err(ErrorData::invalid_params(message, None))
        }
    }
}
