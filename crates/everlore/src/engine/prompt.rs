//! Prompt of a conversation: assembled once at the start; each turn appends what it recalls.

use std::{io, path::PathBuf};

use super::Engine;
use crate::files::regular_file::{self, MAX_SETTINGS_BYTES};
use crate::{
    config::LanguageChoice,
    error::{Error, Result},
    files::{
        home::vault_folder,
        layers::LayerSnapshot,
        skill_folder::SkillFile,
        vault::{INDEX_FILE, VaultIndex, VaultIndexView},
    },
    growth::skill::{IndexedSkill, SkillForm, SkillHead, skill_index},
    prompt::{Prompt, PromptSources, TurnPrompt, guide},
    recall::{MemoryBlock, RecallRequest},
    sync::{boxed, run_blocking},
    text::language::{Language, detect_language},
    types::Scope,
};

/// Files in a home's folder `prompts` that replace the guide, by language; [`ANY_GUIDE_FILE`] replaces it for any.
const GUIDE_FILES: [&str; 2] = ["guide_en.md", "guide_zh.md"];
const ANY_GUIDE_FILE: &str = "guide.md";

/// Request for the prompt of a new conversation.
#[derive(Debug, Clone, Default)]
pub struct PromptRequest {
    /// The caller's own prompt, placed last.
    pub base: String,
    /// Language of the conversation; `None` detects it from the layers.
    pub language: Option<Language>,
}

impl Engine {
    /// Returns the stable part of the prompt for a conversation that starts now. Call it once per conversation: later
    /// saves reach the next conversation, and the provider's prompt cache stays valid.
    ///
    /// Archives the days of the log that no longer reach the prompt. Fails if a layer, guide or index file cannot be
    /// read.
    pub async fn begin_prompt(&self, scope: &Scope, request: &PromptRequest) -> Result<Prompt> {
        let (prompt, has_old_days) = self.build_prompt(scope, request).await?;
        if has_old_days {
            self.archive_old_days(scope).await;
        }
        Ok(prompt)
    }

    /// Returns the prompt that a conversation would start with. Changes nothing. Fails if a file cannot be read.
    pub async fn preview_prompt(&self, scope: &Scope, request: &PromptRequest) -> Result<Prompt> {
        Ok(self.build_prompt(scope, request).await?.0)
    }

    /// Returns the prompt, and `true` if the log has days that no longer reach it. One blocking task reads all files,
    /// so that the caller waits for another thread once.
    #[boxed]
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
            let index =
                if settings.prompt.index { engine.vault_index(&scope, language)? } else { None };
            let skills = engine.skill_index(&scope, settings.prompt.skills_tokens, language)?;
            let sources = PromptSources { layers, guide, index, skills, base };
            Ok((Prompt::assemble(&sources), has_old_days))
        })
        .await
    }

    /// Returns the layers for a prompt, and `true` if the log has days that no longer reach it.
    fn layers_for_prompt(&self, scope: &Scope) -> Result<(LayerSnapshot, bool)> {
        if self.home.is_none() {
            return Ok((LayerSnapshot::default(), false));
        }
        let (layers, today) = (self.layers(scope)?, self.now().date());
        Ok((layers.snapshot(today)?, layers.has_old_days(today)))
    }

    /// Returns the prompt of one turn: the conversation's prompt, then the block recalled for the message within
    /// `budget` tokens. Fails if recall fails.
    pub async fn turn_prompt(
        &self,
        prompt: &Prompt,
        request: &RecallRequest,
        budget: usize,
    ) -> Result<(TurnPrompt, MemoryBlock)> {
        let block = self.context(request, budget).await?;
        Ok((prompt.for_turn(&block), block))
    }

    /// Returns the home's guide, or the built-in one.
    fn guide(&self, language: Language) -> Result<String> {
        let own = GUIDE_FILES[usize::from(language == Language::Chinese)];
        self.prompt_file([own, ANY_GUIDE_FILE], guide(language))
    }

    /// Returns the first of these files in the home's folder `prompts`, or the built-in text.
    pub(super) fn prompt_file(&self, names: [&str; 2], builtin: &str) -> Result<String> {
        let Some(home) = &self.home else { return Ok(builtin.to_owned()) };
        let files = names.map(|name| home.join("prompts").join(name));
        Ok(read_first_existing(&files)?.unwrap_or_else(|| builtin.to_owned()))
    }

    /// Returns the index of skills and workflows within a budget, from their files: a prompt is built without the store.
    fn skill_index(&self, scope: &Scope, budget: usize, language: Language) -> Result<String> {
        let folder = self.skill_folder(scope).filter(|folder| budget > 0 && !folder.is_empty());
        let Some(folder) = folder else { return Ok(String::new()) };
        let indexed = |file: &SkillFile| {
            let form = if file.is_workflow { SkillForm::Workflow } else { SkillForm::Skill };
            let head = SkillHead::parse(&file.text).filter(|head| head.name == file.name)?;
            Some(IndexedSkill { form, head })
        };
        let skills = folder.files()?.iter().filter_map(indexed).collect();
        Ok(skill_index(skills, budget, language))
    }

    /// Returns the prompt's view of the vault index; `None` if the scope has no vault.
    fn vault_index(&self, scope: &Scope, language: Language) -> Result<Option<VaultIndexView>> {
        let Some(home) = &self.home else { return Ok(None) };
        let text = read_first_existing(&[vault_folder(home, scope).join(INDEX_FILE)])?;
        Ok(text.map(|text| VaultIndex::view(&text, language)))
    }
}

fn prompt_language(
    set: LanguageChoice,
    requested: Option<Language>,
    layers: &LayerSnapshot,
) -> Language {
    match set {
        LanguageChoice::En => Language::English,
        LanguageChoice::Zh => Language::Chinese,
        LanguageChoice::Auto => requested.unwrap_or_else(|| {
            let known = [&layers.user, &layers.memory, &layers.soul];
            let first = known.into_iter().find(|view| !view.text.is_empty());
            first.map_or(Language::English, |view| detect_language(&view.text))
        }),
    }
}

/// Returns the text of the first file that exists.
fn read_first_existing(files: &[PathBuf]) -> Result<Option<String>> {
    for file in files {
        match regular_file::read_to_string(file, MAX_SETTINGS_BYTES) {
            Ok(text) => return Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(Error::Io { what: file.display().to_string(), source }),
        }
    }
    Ok(None)
}
