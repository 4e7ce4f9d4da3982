//! Who serves language models: how each is spoken to, where it is, and which variable usually holds its key.

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatProtocol {
    /// OpenAI's chat completions, which many servers speak.
    Openai,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's contents.
    Gemini,
    /// Ollama's own.
    Ollama,
}

/// A provider of language models by the name that the settings give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatProvider {
    /// The name in the settings.
    pub name: &'static str,
    /// How it is spoken to.
    pub protocol: ChatProtocol,
    /// Where it is unless the settings say otherwise.
    pub base_url: &'static str,
    /// The variables that usually hold its key, the first one first; none for servers that ask for no key.
    pub key_variables: &'static [&'static str],
    /// How one that runs on this machine is started; empty for the others.
    pub start_command: &'static str,
}

use ChatProtocol::{Anthropic, Gemini, Ollama, Openai};

/// All providers that have a name. Every other server that speaks OpenAI's protocol is `openai` with a `base_url`.
pub const CHAT_PROVIDERS: [ChatProvider; 12] = [
    hosted("openai", Openai, "https://api.openai.com/v1", &["OPENAI_API_KEY"]),
    hosted("anthropic", Anthropic, "https://api.anthropic.com", &["ANTHROPIC_API_KEY"]),
    hosted(
        "gemini",
        Gemini,
        "https://generativelanguage.googleapis.com/v1beta",
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    ),
    local("ollama", Ollama, "http://127.0.0.1:11434", "`ollama serve`"),
    hosted("deepseek", Openai, "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"]),
    hosted(
        "qwen",
        Openai,
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        &["DASHSCOPE_API_KEY", "QWEN_API_KEY"],
    ),
    hosted("moonshot", Openai, "https://api.moonshot.cn/v1", &["MOONSHOT_API_KEY"]),
    hosted("zhipu", Openai, "https://open.bigmodel.cn/api/paas/v4", &["ZHIPUAI_API_KEY"]),
    hosted("openrouter", Openai, "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"]),
    hosted("mistral", Openai, "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"]),
    local("vllm", Openai, "http://127.0.0.1:8000/v1", "`vllm serve MODEL`"),
    local("lmstudio", Openai, "http://127.0.0.1:1234/v1", "`lms server start`"),
];

/// The provider of this name.
pub fn chat_provider(name: &str) -> Option<&'static ChatProvider> {
    CHAT_PROVIDERS.iter().find(|known| known.name == name.trim())
}

/// All names with commas between, to say what can be chosen.
pub(super) fn provider_names() -> String {
    CHAT_PROVIDERS.map(|known| known.name).join(", ")
}

const fn hosted(
    name: &'static str,
    protocol: ChatProtocol,
    base_url: &'static str,
    key_variables: &'static [&'static str],
) -> ChatProvider {
    ChatProvider { name, protocol, base_url, key_variables, start_command: "" }
}

const fn local(
    name: &'static str,
    protocol: ChatProtocol,
    base_url: &'static str,
    start: &'static str,
) -> ChatProvider {
    ChatProvider { name, protocol, base_url, key_variables: &[], start_command: start }
}
