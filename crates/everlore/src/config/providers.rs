//! Providers of language models: protocol, address, and the variable that usually has the key.

/// Wire protocol of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatProtocol {
    /// OpenAI's chat completions, which many servers speak.
    Openai,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's contents.
    Gemini,
    /// Ollama's own protocol.
    Ollama,
}

/// Provider of language models by its name in the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatProvider {
    /// Name in the settings.
    pub name: &'static str,
    /// Wire protocol.
    pub protocol: ChatProtocol,
    /// Default address.
    pub base_url: &'static str,
    /// Variables that usually have its key, the preferred one first; empty for servers without a key.
    pub key_variables: &'static [&'static str],
    /// Command that starts it on this machine; empty for remote providers.
    pub start_command: &'static str,
}

use ChatProtocol::{Anthropic, Gemini, Ollama, Openai};

/// All named providers. Every other server with OpenAI's protocol is `other` with a `base_url`: it never gets a key that was
/// meant for OpenAI.
pub const CHAT_PROVIDERS: [ChatProvider; 13] = [
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
    local("other", Openai, "http://127.0.0.1:8080/v1", "its own command"),
];

/// Returns the provider of this name.
pub fn chat_provider(name: &str) -> Option<&'static ChatProvider> {
    CHAT_PROVIDERS.iter().find(|known| known.name == name.trim())
}

/// Returns all names with commas between, for messages.
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
