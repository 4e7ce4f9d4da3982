//! Side requests: what a host asks the model on its own account, beside the conversation: titles, summaries, topics,
//! suggestions, probes. They get no memories, and nobody said them: they are not
//! stored.

use std::sync::LazyLock;

use regex::Regex;

/// Place where a side request shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PromptPlace {
    /// Beginning of a block of the system prompt.
    System,
    /// Beginning of the last message, which the host writes in the user's name.
    User,
    /// The whole last message.
    WholeUser,
}

use PromptPlace::{System, User, WholeUser};

/// Prompts of side requests: the place, how they begin, and the host with the source of the wording.
#[rustfmt::skip]
const SIDE_PROMPTS: [(PromptPlace, &str, &str); 62] = [
    // Claude Code.
    (WholeUser, "quota", "Claude Code: quota probe of one token at its start; seen on the wire"),
    (WholeUser, "warmup", "Claude Code: warm-up of a subagent; seen on the wire"),
    (System, "Analyze if this message indicates a new conversation topic", "Claude Code: topic of the terminal title; seen on the wire"),
    (System, "Summarize this coding conversation in under 50 characters", "Claude Code: title; seen on the wire"),
    (System, "Generate a concise, sentence-case title", "Claude Code: title; seen on the wire. Qwen Code: session titles"),
    (User, "Please write a 5-10 word title for the following conversation", "Claude Code: title for /resume; seen on the wire"),
    (User, "Your task is to create a detailed summary of the conversation so far", "Claude Code: compaction; seen on the wire. Cline: src/core/prompts/contextManagement.ts"),
    (User, "CRITICAL: Respond with TEXT ONLY", "Claude Code: compaction; seen on the wire"),
    (System, "You are a helpful AI assistant tasked with summarizing conversations", "Claude Code: compaction. opencode: packages/opencode/src/agent/prompt/compaction.txt"),
    (User, "[SUGGESTION MODE:", "Claude Code: next prompt; seen on the wire. Qwen Code: packages/core/src/followup"),
    (System, "[SUGGESTION MODE:", "Claude Code: next prompt; seen on the wire"),
    (User, "Describe your most recent action in 3-5 words", "Claude Code: state of a subagent; seen on the wire"),
    (User, "The user stepped away and is coming back", "Claude Code: recap; seen on the wire"),
    (User, "You are now acting as the memory extraction subagent", "Claude Code: own memory; seen on the wire"),
    (User, "# Dream: Memory Consolidation", "Claude Code: own memory; seen on the wire"),
    (System, "Your task is to process Bash commands that an AI coding agent wants to run", "Claude Code: command prefix; seen on the wire"),
    (System, "Extract any file paths that this command reads or modifies", "Claude Code: files of a command; seen on the wire"),
    // Codex.
    (User, "You are performing a CONTEXT CHECKPOINT COMPACTION", "Codex: codex-rs/core/templates/compact/prompt.md"),
    (System, "You are performing a CONTEXT CHECKPOINT COMPACTION", "Codex: codex-rs/core/templates/compact/prompt.md"),
    (System, "## Memory Writing Agent", "Codex: codex-rs/core/templates/memories"),
    (User, "## Memory Writing Agent", "Codex: codex-rs/core/templates/memories"),
    // opencode.
    (System, "You are a title generator. You output ONLY", "opencode: packages/opencode/src/agent/prompt/title.txt"),
    (User, "Generate a title for this conversation:", "opencode: packages/opencode/src/session/prompt.ts"),
    (User, "Provide a detailed prompt for continuing our conversation above", "opencode: packages/opencode/src/session/compaction.ts"),
    (System, "Summarize what was done in this conversation", "opencode: packages/opencode/src/agent/prompt/summary.txt"),
    (System, "You are an anchored context summarization assistant for coding sessions", "opencode: packages/opencode/src/agent/prompt/compaction.txt"),
    // GitHub Copilot.
    (User, "Please write a brief title for the following request", "Copilot Chat: src/extension/prompts/node/panel/title.tsx"),
    // Gemini CLI and Qwen Code, which began as a copy of it.
    (User, "Analyze *only* the content and structure of your immediately preceding response", "Gemini CLI, Qwen Code: packages/core/src/utils/nextSpeakerChecker.ts"),
    (System, "You are the component that summarizes internal chat history", "Gemini CLI, Qwen Code: packages/core/src/core/prompts.ts"),
    (System, "You are a specialized system component responsible for distilling chat history", "Gemini CLI: packages/core/src/core/prompts.ts"),
    (User, "First, reason in your scratchpad. Then, generate the <state_snapshot>", "Gemini CLI, Qwen Code: packages/core/src/services/chatCompressionService.ts"),
    (User, "Summarize the user's primary intent or goal in this conversation in ONE sentence", "Gemini CLI: packages/core/src/services/sessionSummaryService.ts"),
    (System, "You are a sophisticated AI diagnostic agent specializing in identifying when a conversational AI is stuck", "Gemini CLI, Qwen Code: packages/core/src/services/loopDetectionService.ts"),
    (User, "Summarize the following tool output to be a maximum of", "Gemini CLI, Qwen Code: packages/core/src/utils/summarizer.ts"),
    (System, "You are an expert code-editing assistant specializing in debugging and correcting failed", "Gemini CLI: packages/core/src/utils/llm-edit-fixer.ts"),
    // Qwen Code.
    (System, "You are now acting as the managed memory extraction subagent", "Qwen Code: own memory; seen on the wire"),
    (User, "Managed memory has TWO directories", "Qwen Code: own memory; seen on the wire"),
    (System, "You are performing a managed memory dream", "Qwen Code: own memory, packages/core/src/memory"),
    (User, "You are performing a managed memory dream", "Qwen Code: own memory, packages/core/src/memory"),
    (System, "You are selecting memories that will be useful to an AI coding assistant", "Qwen Code: own memory, packages/core/src/memory"),
    (System, "You are reviewing this conversation to extract reusable skills", "Qwen Code: own skills, packages/core/src/memory"),
    (User, "Generate the session title now.", "Qwen Code: title, packages/core/src/services"),
    (User, "Generate the recap now.", "Qwen Code: recap, packages/core/src/services"),
    (System, "You are a security classifier for an AI coding agent", "Qwen Code: approval of tools, packages/core/src/permissions"),
    (System, "You are evaluating a hook in Qwen Code", "Qwen Code: hooks that ask a model, packages/core/src/hooks"),
    (System, "You are an assistant that rewrites raw coding-agent output", "Qwen Code: progress, packages/cli/src"),
    (System, "You are a general-purpose subagent working for a parent agent", "Qwen Code: subagents, packages/core/src/subagents"),
    (System, "You are a subagent spawned by a workflow orchestration script", "Qwen Code: subagents, packages/core/src/subagents"),
    (System, "You are a file search specialist agent", "Qwen Code: subagents, packages/core/src/subagents"),
    // aider.
    (System, "You are an expert software engineer that generates concise, one-line Git commit messages", "aider: aider/prompts.py"),
    (System, "*Briefly* summarize this partial conversation about programming", "aider: aider/prompts.py"),
    // crush.
    (System, "You will generate a short title based on the first message a user begins a conversation with", "crush: internal/agent/templates/title.md"),
    // Chat interfaces, in English and Chinese.
    (User, "### Task:\nGenerate a concise, 3-5 word title", "Open WebUI: backend/open_webui/config.py"),
    (User, "### Task:\nGenerate 1-3 broad tags", "Open WebUI: backend/open_webui/config.py"),
    (User, "### Task:\nSuggest 3-5 relevant follow-up", "Open WebUI: backend/open_webui/config.py"),
    (User, "### Task:\nAnalyze the chat history to determine the necessity of generating search queries", "Open WebUI: backend/open_webui/config.py"),
    (User, "Provide a concise, 5-word-or-less title for the conversation", "LibreChat: packages/api, title of a conversation"),
    (User, "使用四到五个字直接返回这句话的简要主题", "NextChat: app/locales/cn.ts"),
    (User, "简要总结一下对话内容，用作后续的上下文提示 prompt", "NextChat: app/locales/cn.ts"),
    (System, "简要总结一下对话内容，用作后续的上下文提示 prompt", "NextChat: app/locales/cn.ts"),
    (System, "你是一名擅长会话的助理，你需要将用户的会话总结为", "LobeChat: packages/prompts, title of a topic"),
    (System, "总结给出的会话，将其总结为", "Cherry Studio: src/renderer/src/config/prompts.ts"),
];

/// System prompts of hosts that are not listed: the model is to do nothing but name a conversation.
static TITLE_SYSTEM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)^(?:you\ are|you're|act\ as)\ (?:an?|the)\ (?:[\w-]+\ ){0,4}?(?:title|headline)s?[\ -](?:generat|writ|creat|mak|suggest|summari)\w*
        |^(?:your\ task\ is\ to\ |please\ )?(?:generate|create|write|provide)\ an?\ (?:[\w,-]+\ ){0,6}title\ (?:for|of|based\ on)\ (?:[\w'-]+\ ){0,4}
            (?:conversation|chat|dialog(?:ue)?|session|thread|messages?)\b
        |^你是(?:一个|一名|一位)?(?:专业的?|优秀的?|擅长)?(?:对话|会话|聊天|话题)?的?标题(?:生成|总结|提炼|撰写|命名)
        |^请?(?:根据|为|给|将|把|基于|用).{0,20}(?:对话|会话|聊天|消息).{0,20}(?:生成|起|取|写|拟|总结|提炼|概括).{0,16}(?:标题|题目)",
    )
    .expect("valid")
});

/// Last messages of the same kind: they name the conversation that they bring along.
static TITLE_MESSAGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)^(?:please\ )?(?:generate|create|write|provide|suggest)\ an?\ (?:[\w,-]+\ ){0,6}title\ (?:for|of|based\ on)\ the\ (?:following|above|below|preceding)
            \ (?:[\w'-]+\ ){0,2}(?:conversation|chat|dialog(?:ue)?|session|thread|messages?)\b
        |^请?你?(?:根据|为|给|将|把|基于|对)(?:以下|下面|下列|上述|以上|上面).{0,12}(?:对话|会话|聊天|消息).{0,20}
            (?:生成|起|取|写|拟|总结|提炼|概括).{0,16}(?:标题|题目)",
    )
    .expect("valid")
});

/// Returns `true` if the host makes a request on its own account: by the blocks of its system prompt, by its last
/// message, or because an answer of one token can say nothing.
pub fn is_side_request(system: &[String], last_message: &str, max_tokens: Option<u64>) -> bool {
    let last = last_message.trim();
    let shows = |(place, start, _): &(PromptPlace, &str, &str)| match place {
        System => system.iter().any(|block| block.trim_start().starts_with(start)),
        User => last.starts_with(start),
        WholeUser => last.eq_ignore_ascii_case(start),
    };
    max_tokens == Some(1)
        || SIDE_PROMPTS.iter().any(shows)
        || system.iter().any(|block| TITLE_SYSTEM.is_match(block.trim_start()))
        || TITLE_MESSAGE.is_match(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_recognized_and_names_its_source() {
        for (place, start, source) in SIDE_PROMPTS {
            let (system, last) = match place {
                System => (vec!["You are an agent.".to_owned(), format!("{start} …")], "hi"),
                User | WholeUser => (Vec::new(), start),
            };
            assert!(is_side_request(&system, last, None), "{start}");
            assert!(source.contains(':'), "{source}");
        }
        assert!(is_side_request(&[], "hi", Some(1)));
    }

    #[test]
    fn titles_for_conversations_are_recognized_whoever_asks() {
        for system in [
            "You are a conversation title generator. Reply with the title only.",
            "You are an expert chat title-generation assistant.",
            "Generate a short title for the conversation below.",
            "你是一个对话标题生成器。",
            "请根据用户的对话内容生成一个标题，不超过十个字",
        ] {
            assert!(is_side_request(&[system.to_owned()], "hi 你好", None), "{system}");
        }
        for last in [
            "请为以下对话生成一个简短的标题",
            "根据下面的聊天记录，起一个标题：\n用户：你好",
            "Please write a concise title for the following conversation:\n\nUser: hi",
        ] {
            assert!(is_side_request(&[], last, None), "{last}");
        }
    }

    #[test]
    fn conversations_about_such_things_are_conversations() {
        let talks = [
            "Can you write a title for this conversation?",
            "What is our quota for the API?",
            "帮我总结一下对话内容",
            "给我的博客文章起一个标题",
            "Write a short title for my blog post about the following topic",
            "请为以下产品写一个简短的介绍",
            "Explain what [SUGGESTION MODE: …] does",
            "hi",
        ];
        let system =
            ["You are Claude Code. Summaries begin with: Summarize this coding conversation"
                .to_owned()];
        for talk in talks {
            assert!(!is_side_request(&system, talk, Some(4_096)), "{talk}");
        }
    }
}
