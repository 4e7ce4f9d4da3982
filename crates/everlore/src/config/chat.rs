//! Settings of `[chat]`, and the model that the sections choose together.

use std::time::Duration;

use super::{
    Config, MemoryAgentConfig,
    memory_agent::SecretString,
    providers::{chat_provider, provider_names},
    validate::{InvalidSetting, check_range, settings},
};

settings! {
    /// Language model of `everlore chat`. Settings that are not given here are taken from `[memory_agent]`.
    pub struct ChatConfig in "chat" {
        /// Provider of the model, named as in `[memory_agent]`; empty for the same.
        pub provider: String = String::new();
        /// Model name as its provider spells it; empty for the same.
        pub model: String = String::new();
        /// Address of the provider; empty for the provider's own.
        pub base_url: String = String::new();
        /// Key for the provider. Better in the provider's variable, such as OPENAI_API_KEY. It is never shown.
        pub api_key: SecretString = SecretString::default();
        /// Command that prints the key, such as "pass show openai". It is run if no key is set.
        pub key_command: String = String::new();
        /// Longest silence of the model, before its answer and within it. From 1 second to 1 hour.
        #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
        // A reasoning model may be silent for a minute before it answers.
        pub timeout: Duration = Duration::from_secs(120);
        /// Sampling temperature. From -1 to 2; below 0 the provider decides.
        pub temperature: f64 = -1.0, in -1.0..=2.0;
        /// Most tokens of an answer. From 0 to 1000000; with 0 the provider decides.
        pub max_tokens: u32 = 0, in 0..=1_000_000;
    }
}

/// Language model that the settings choose.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSettings {
    /// Provider.
    pub provider: String,
    /// Model name.
    pub model: String,
    /// Address; empty for the provider's own.
    pub base_url: String,
    /// Key; empty if the settings have none.
    pub api_key: SecretString,
    /// Place for the key, as messages to the user name it.
    pub key_location: String,
    /// Command that prints the key; empty for none.
    pub key_command: String,
    /// Longest silence.
    pub timeout: Duration,
    /// Sampling temperature.
    pub temperature: Option<f32>,
    /// Most tokens of an answer.
    pub max_tokens: Option<u32>,
    /// Section of the settings that chose it.
    pub section: &'static str,
}

impl Config {
    /// Returns the model that captures memories; `None` unless `[memory_agent]` is enabled.
    pub fn memory_model(&self) -> Option<ModelSettings> {
        self.memory_agent.enabled.then(|| self.memory_agent.model_settings())
    }

    /// Returns the chat model: that of `[chat]`, or that of `[memory_agent]` if `[chat]` names none.
    pub fn chat_model(&self) -> Option<ModelSettings> {
        let chat = &self.chat;
        if chat.provider.trim().is_empty() && chat.model.trim().is_empty() {
            return self.memory_model().map(|settings| chat.apply_generation_limits(settings));
        }
        Some(chat.apply_over(self.memory_agent.model_settings()))
    }
}

impl Config {
    /// Returns the model that writes summaries; `None` if the settings name none of its own.
    pub fn summary_model(&self) -> Option<ModelSettings> {
        let summarize = &self.memory_agent.summarize;
        let model = summarize.model.trim();
        if model.is_empty() {
            return None;
        }
        let own = ChatConfig {
            provider: summarize.provider.clone(),
            model: model.to_owned(),
            base_url: summarize.base_url.clone(),
            ..ChatConfig::default()
        };
        let section = "memory_agent.summarize";
        let settings = own.apply_over(self.memory_agent.model_settings());
        let key_location = key_location(&settings.provider, "memory_agent");
        Some(ModelSettings { section, key_location, ..settings })
    }
}

impl MemoryAgentConfig {
    fn model_settings(&self) -> ModelSettings {
        ModelSettings {
            provider: self.provider.trim().to_owned(),
            model: self.model.trim().to_owned(),
            base_url: self.base_url.trim().to_owned(),
            api_key: self.api_key.clone(),
            key_location: key_location(&self.provider, "memory_agent"),
            key_command: self.key_command.clone(),
            timeout: self.timeout,
            temperature: None,
            max_tokens: None,
            section: "memory_agent",
        }
    }
}

impl ChatConfig {
    /// Overlays these settings on another section's. Address and key belong to a provider, so another provider starts
    /// without them.
    fn apply_over(&self, mut base: ModelSettings) -> ModelSettings {
        let provider = self.provider.trim();
        if !provider.is_empty() && provider != base.provider {
            base.provider = provider.to_owned();
            (base.base_url, base.key_command) = (String::new(), String::new());
            base.api_key = SecretString::default();
        }
        let own_or = |own: &str, other: String| match own.trim() {
            "" => other,
            own => own.to_owned(),
        };
        base.section = "chat";
        base.key_location = key_location(&base.provider, "chat");
        base.model = own_or(&self.model, base.model);
        base.base_url = own_or(&self.base_url, base.base_url);
        base.key_command = own_or(&self.key_command, base.key_command);
        if !self.api_key.reveal().is_empty() {
            base.api_key = self.api_key.clone();
        }
        self.apply_generation_limits(base)
    }

    fn apply_generation_limits(&self, base: ModelSettings) -> ModelSettings {
        ModelSettings {
            timeout: self.timeout,
            temperature: (self.temperature >= 0.0).then_some(self.temperature as f32),
            max_tokens: (self.max_tokens > 0).then_some(self.max_tokens),
            ..base
        }
    }

    pub(super) fn validate(&self) -> Vec<InvalidSetting> {
        let checks = [
            (!self.provider.trim().is_empty())
                .then(|| validate_provider("chat.provider", &self.provider))
                .flatten(),
            self.validate_model(),
            self.api_key.validate("chat.api_key"),
            check_range("chat.timeout", self.timeout.as_secs_f64(), 1.0..=3_600.0),
        ];
        checks.into_iter().flatten().chain(self.out_of_range()).collect()
    }

    fn validate_model(&self) -> Option<InvalidSetting> {
        let missing = !self.provider.trim().is_empty() && self.model.trim().is_empty();
        missing.then(|| InvalidSetting::new("chat.model", "must be set when `provider` is"))
    }
}

/// Returns a problem if no provider has this name.
pub(super) fn validate_provider(key: &'static str, name: &str) -> Option<InvalidSetting> {
    let known = chat_provider(name).is_some();
    (!known).then(|| {
        InvalidSetting::new(key, format!("is \"{name}\", but must be one of {}", provider_names()))
    })
}

/// Returns the place for a provider's key.
fn key_location(provider: &str, section: &str) -> String {
    let variable = chat_provider(provider).and_then(|known| known.key_variables.first());
    match variable {
        Some(variable) => format!("the variable {variable}, or api_key of [{section}]"),
        None => format!("api_key of [{section}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Config {
        let (config, warnings) = Config::parse(text).unwrap();
        assert_eq!((config.validate(), warnings), (vec![], vec![]), "{text}");
        config
    }

    const AGENT: &str = "[memory_agent]\nenabled = true\nmodel = \"small\"\nbase_url = \"http://here/v1\"\napi_key = \"sk-1\"\n";

    #[test]
    fn without_settings_there_is_no_model() {
        let config = Config::default();
        assert_eq!((config.chat_model(), config.memory_model()), (None, None));
    }

    #[test]
    fn the_model_that_talks_is_that_of_the_memory_agent_unless_chat_names_one() {
        let model = read(AGENT).chat_model().unwrap();
        assert_eq!((model.model.as_str(), model.section), ("small", "memory_agent"));
        let model = read(&format!("{AGENT}[chat]\nmodel = \"large\"\n")).chat_model().unwrap();
        assert_eq!((model.model.as_str(), model.section), ("large", "chat"));
        assert_eq!((model.base_url.as_str(), model.api_key.reveal()), ("http://here/v1", "sk-1"));
    }

    #[test]
    fn the_model_of_summaries_is_a_setting_of_its_own() {
        assert_eq!(read(AGENT).summary_model(), None);
        let summarize = "[memory_agent.summarize]\nmodel = \"tiny\"\n";
        let model = read(&format!("{AGENT}{summarize}")).summary_model().unwrap();
        assert_eq!((model.model.as_str(), model.section), ("tiny", "memory_agent.summarize"));
        assert_eq!((model.base_url.as_str(), model.api_key.reveal()), ("http://here/v1", "sk-1"));
        let other = format!("{AGENT}{summarize}provider = \"ollama\"\n");
        let model = read(&other).summary_model().unwrap();
        assert_eq!((model.provider.as_str(), model.api_key.reveal()), ("ollama", ""));
        let (config, _) = Config::parse(&format!("{summarize}provider = \"nobody\"\n")).unwrap();
        assert_eq!(config.validate()[0].key, "memory_agent.summarize.provider");
    }

    #[test]
    fn a_key_is_not_handed_to_another_provider() {
        let chat = "[chat]\nprovider = \"anthropic\"\nmodel = \"claude\"\n";
        let model = read(&format!("{AGENT}{chat}")).chat_model().unwrap();
        assert_eq!((model.base_url.as_str(), model.api_key.reveal()), ("", ""));
        assert_eq!(model.key_location, "the variable ANTHROPIC_API_KEY, or api_key of [chat]");
    }

    #[test]
    fn limits_of_an_answer_are_set_only_where_they_are_given() {
        let model = read(AGENT).chat_model().unwrap();
        assert_eq!((model.temperature, model.max_tokens), (None, None));
        let tuned =
            format!("{AGENT}[chat]\ntemperature = 0.0\nmax_tokens = 500\ntimeout = \"5s\"\n");
        let model = read(&tuned).chat_model().unwrap();
        assert_eq!((model.temperature, model.max_tokens), (Some(0.0), Some(500)));
        assert_eq!(model.timeout, Duration::from_secs(5));
        assert_eq!(read(&tuned).memory_model().unwrap().timeout, Duration::from_secs(60));
    }

    #[test]
    fn a_provider_that_nobody_knows_is_told_with_the_names_of_those_there_are() {
        let (config, _) = Config::parse("[chat]\nprovider = \"opnai\"\n").unwrap();
        let messages: Vec<String> = config.validate().iter().map(ToString::to_string).collect();
        assert!(
            messages[0]
                .contains("`chat.provider` is \"opnai\", but must be one of openai, anthropic")
        );
        assert!(messages[1].contains("`chat.model` must be set"), "{messages:?}");
    }
}
