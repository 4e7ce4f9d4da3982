//! The prompt of a conversation: made once when it begins, with what each turn recalls added at its end.

use std::{io, path::PathBuf};

use super::Engine;
use crate::{
    config::LanguageChoice,
    error::{Error, Result},
    files::{
        home::vault_folder,
        layers::LayerSnapshot,
        vault::{INDEX_FILE, VaultIndex, VaultIndexView},
    },
    prompt::{Prompt, PromptSources, TurnPrompt, guide},
    recall::{MemoryBlock, RecallRequest},
    sync::run_blocking,
    text::language::{Language, detect_language},
    types::Scope,
};

/// The files in a home's folder `prompts` that stand for the guide, by language; the last for any.
const GUIDE_FILES: [&str; 2] = ["guide_en.md", "guide_zh.md"];
const ANY_GUIDE_FILE: &str = "guide.md";

/// What a conversation begins with.
#[derive(Debug, Clone, Default)]
pub struct PromptRequest {
    /// The caller's own prompt, which comes last.
    pub base: String,
    /// The language of the conversation, if it is known; the layers tell it otherwise.
    pub language: Option<Language>,
}

impl Engine {
    /// The part of the prompt that stays the same for a conversation that begins now. Keep it and ask no more: what is
    /// saved meanwhile reaches the next conversation, and the provider's cache of the prompt holds (A8).
    ///
    /// Days of the log that no longer reach it are put away now.
    pub async fn begin_prompt(&self, scope: &Scope, request: &PromptRequest) -> Result<Prompt> {
        let (prompt, has_old_days) = self.build_prompt(scope, request).await?;
        if has_old_days {
            self.archive_old_days(scope).await;
        }
        Ok(prompt)
    }

    /// The prompt that a conversation would begin with. Nothing is changed.
    pub async fn preview_prompt(&self, scope: &Scope, request: &PromptRequest) -> Result<Prompt> {
        Ok(self.build_prompt(scope, request).await?.0)
    }

    /// The prompt, and whether the log has days that no longer reach it. All files are read in one go, so that it waits for
    /// another thread once.
    async fn build_prompt(&self, scope: &Scope, request: &PromptRequest) -> Result<(Prompt, bool)> {
        let base = request.base.clone();
        let settings = self.settings(scope.agent());
        if !settings.memory.enabled {
            return Ok((
                Prompt::assemble(&PromptSources { base, ..PromptSources::default() }),
                false,
            ));
        }
        let (engine, scope, language) = (self.clone(), scope.clone(), request.language);
        run_blocking(move || {
            let (layers, has_old_days) = engine.layers_for_prompt(&scope)?;
            let language = prompt_language(settings.general.language, language, &layers);
            let guide = settings.prompt.guide.then(|| engine.guide(language)).transpose()?;
            let index = match settings.prompt.index {
                true => engine.vault_index(&scope, language)?,
                false => None,
            };
            let sources = PromptSources { layers, guide, index, base };
            Ok((Prompt::assemble(&sources), has_old_days))
        })
        .await
    }

    /// The layers as a prompt shows them, and whether the log has days that it no longer does.
    fn layers_for_prompt(&self, scope: &Scope) -> Result<(LayerSnapshot, bool)> {
        if self.home.is_none() {
            return Ok((LayerSnapshot::default(), false));
        }
        let (layers, today) = (self.layers(scope)?, self.now().date());
        Ok((layers.snapshot(today)?, layers.has_old_days(today)))
    }

    /// The prompt of one turn: what was made at the beginning, then what is recalled for the message.
    pub async fn turn_prompt(
        &self,
        prompt: &Prompt,
        request: &RecallRequest,
        budget: usize,
    ) -> Result<(TurnPrompt, MemoryBlock)> {
        let block = self.context(request, budget).await?;
        Ok((prompt.for_turn(&block), block))
    }

    /// The guide as the home has it, or as it comes with the engine.
    fn guide(&self, language: Language) -> Result<String> {
        let own = GUIDE_FILES[usize::from(language == Language::Chinese)];
        self.prompt_file([own, ANY_GUIDE_FILE], guide(language))
    }

    /// The first of these files that the home has in its folder `prompts`, or what comes with the engine.
    pub(super) fn prompt_file(&self, names: [&str; 2], builtin: &str) -> Result<String> {
        let Some(home) = &self.home else { return Ok(builtin.to_owned()) };
        let files = names.map(|name| home.join("prompts").join(name));
        Ok(read_first_existing(&files)?.unwrap_or_else(|| builtin.to_owned()))
    }

    /// What a prompt shows of the vault's index; nothing if the scope has no vault.
    fn vault_index(&self, scope: &Scope, language: Language) -> Result<Option<VaultIndexView>> {
        let Some(home) = &self.home else { return Ok(None) };
        let text = read_first_existing(&[vault_folder(home, scope).join(INDEX_FILE)])?;
        Ok(text.map(|text| VaultIndex::view(&text, language)))
    }
}

fn prompt_language(
    set: LanguageChoice,
    asked: Option<Language>,
    layers: &LayerSnapshot,
) -> Language {
    match set {
        LanguageChoice::En => Language::English,
        LanguageChoice::Zh => Language::Chinese,
        LanguageChoice::Auto => asked.unwrap_or_else(|| {
            let known = [&layers.user, &layers.memory, &layers.soul];
            let said = known.into_iter().find(|view| !view.text.is_empty());
            said.map_or(Language::English, |view| detect_language(&view.text))
        }),
    }
}

/// The text of the first file there is.
fn read_first_existing(files: &[PathBuf]) -> Result<Option<String>> {
    for file in files {
        match std::fs::read_to_string(file) {
            Ok(text) => return Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(Error::Io { what: file.display().to_string(), source }),
        }
    }
    Ok(None)
}
