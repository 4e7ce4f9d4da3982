//! `everlore model`: sentence encoders from folders of the user's.

use std::path::PathBuf;

use clap::Subcommand;

use crate::{
    cli_context::CliContext,
    error::{Exit, Result},
    output::Output,
};

/// Use a local model, such as all-MiniLM-L6-v2, beside the built-in one
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Check a model, bring it into eight bits and copy it into the home
    Add {
        /// A folder with config.json, model.safetensors, and vocab.txt or tokenizer.json
        path: PathBuf,
        /// What to call it [default: the name of the folder]
        #[arg(long)]
        name: Option<String>,
    },
    /// Run a model on a few sentences and say whether it works and how fast
    Check {
        /// Which one [default: the one in use]
        name: Option<String>,
    },
    /// Take a model into use, or `builtin` alone
    Use {
        /// Which one
        name: String,
        /// Use it for the vectors of whole texts, instead of comparing the best candidates word by word
        #[arg(long)]
        pooled: bool,
    },
    /// List the models of the home
    List,
    /// Delete a model from the home
    Remove {
        /// Which one
        name: String,
    },
}

#[cfg(not(feature = "local-model"))]
impl ModelCommand {
    /// Says how to get a program that can.
    pub(crate) async fn run(self, _cx: &CliContext, _out: &mut Output) -> Result<Exit> {
        Err(crate::error::CliError::invalid(
            "this program was built without local models",
            "build it with them: cargo install --locked --path crates/everlore-cli --features local-model",
        ))
    }
}

#[cfg(feature = "local-model")]
mod runs {
    use std::{
        fs,
        path::Path,
        time::{Duration, Instant},
    };

    use everlore::llm::LocalModel;
    use serde_json::json;

    use super::*;
    use crate::{
        cli_context,
        error::CliError,
        local_models::{ActiveModel, BUILTIN_MODEL, LocalModels, check_name},
        render::{format_bytes, new_table, render_table},
    };

    /// Sentences of which the first two of each three mean the same and the third does not.
    const SIMILARITY_TRIPLES: [[&str; 3]; 3] = [
        [
            "The doctor gave me medicine.",
            "A physician prescribed a drug.",
            "The train leaves at noon.",
        ],
        [
            "My puppy learned to swim.",
            "The little dog can swim now.",
            "We raised the price of tickets.",
        ],
        [
            "How do I restart the server?",
            "The service must be started again.",
            "She paints with oil.",
        ],
    ];

    /// Runs by which the time of a text is told; the quickest counts, since others only add to it.
    const TIMED_RUNS: usize = 5;

    impl ModelCommand {
        /// Looks after the models of the home.
        pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
            let models = LocalModels::new(&cx.home);
            match self {
                Self::Add { path, name } => add_model(cx, &models, &path, name, out),
                Self::Check { name } => check_model(&models, name, out),
                Self::Use { name, pooled } => activate_model(&models, &name, pooled, out),
                Self::List => list_models(&models, out),
                Self::Remove { name } => remove_model(&models, &name, out),
            }
        }
    }

    fn add_model(
        cx: &CliContext,
        models: &LocalModels,
        path: &Path,
        name: Option<String>,
        out: &mut Output,
    ) -> Result<Exit> {
        let named = || {
            path.canonicalize().ok()?.file_name().map(|name| name.to_string_lossy().into_owned())
        };
        let name = name.or_else(named).unwrap_or_default();
        check_name(&name)?;
        let folder = models.model_folder(&name);
        if folder.exists() {
            return Err(CliError::invalid(
                format!("there is a model `{name}` already"),
                "give another name with --name, or remove it first with `everlore model remove`",
            ));
        }
        let model = LocalModel::read(path)?;
        cli_context::make_home(&cx.home)?;
        let bytes = model.save_quantized(&folder)?;
        let next = format!("everlore model use {name}");
        if out.is_json() {
            let id = model.id().to_string();
            out.json(
                &json!({ "name": name, "model": id, "bytes": bytes, "path": folder, "next": next }),
            )?;
        } else {
            out.line(&format!("added {name}: {} in {}", format_bytes(bytes), folder.display()))?;
            out.line(&format!(
                "try it with `everlore model check {name}`, take it into use with `{next}`"
            ))?;
        }
        Ok(Exit::Done)
    }

    fn check_model(models: &LocalModels, name: Option<String>, out: &mut Output) -> Result<Exit> {
        let name = match name {
            Some(name) => name,
            None => models.active_model()?.map(|in_use| in_use.name).ok_or_else(|| {
                CliError::invalid(
                    "no local model is in use",
                    "name one: everlore model check NAME; `everlore model list` shows all",
                )
            })?,
        };
        let model = LocalModel::open(models.added_model_folder(&name)?)?;
        let start = Instant::now();
        model.preload()?;
        let load = start.elapsed();
        let mut told = 0;
        for [one, other, third] in SIMILARITY_TRIPLES {
            told += usize::from(cosine(&model, one, other)? > cosine(&model, one, third)?);
        }
        let each = fastest_run(&model)?;
        let well = told == SIMILARITY_TRIPLES.len();
        let (load_ms, text_ms) = (milliseconds(load), milliseconds(each));
        if out.is_json() {
            out.json(&json!({
                "name": name, "model": model.id().to_string(), "works": well, "told_apart": told,
                "of": SIMILARITY_TRIPLES.len(), "load_ms": load_ms, "text_ms": text_ms,
            }))?;
        } else {
            let verdict = if well { "works" } else { "does not work: its vectors say nothing" };
            out.line(&format!(
                "{name} {verdict} ({told} of {} told apart)",
                SIMILARITY_TRIPLES.len()
            ))?;
            out.line(&format!("read in {load_ms:.0} ms; {text_ms:.1} ms for a text of 20 words"))?;
        }
        Ok(Exit::from_success(well))
    }

    fn cosine(model: &LocalModel, one: &str, other: &str) -> Result<f32> {
        let (one, other) = (model.vector(one)?, model.vector(other)?);
        Ok(one.iter().zip(&other).map(|(a, b)| a * b).sum())
    }

    fn fastest_run(model: &LocalModel) -> Result<Duration> {
        let mut best = Duration::MAX;
        for _ in 0..TIMED_RUNS {
            let start = Instant::now();
            model.vector(&"river ".repeat(20))?;
            best = best.min(start.elapsed());
        }
        Ok(best)
    }

    fn milliseconds(time: Duration) -> f64 {
        (time.as_secs_f64() * 1e4).round() / 10.0
    }

    fn activate_model(
        models: &LocalModels,
        name: &str,
        pooled: bool,
        out: &mut Output,
    ) -> Result<Exit> {
        let before = models.active_model()?;
        let chosen = match name {
            BUILTIN_MODEL => None,
            name => {
                LocalModel::open(models.added_model_folder(name)?)?;
                Some(ActiveModel { name: name.to_owned(), pooled })
            }
        };
        models.set_active_model(chosen.as_ref())?;
        let was_pooled = before.as_ref().is_some_and(|before| before.pooled);
        let next = match &chosen {
            _ if pooled && chosen.is_some() || was_pooled => Some("everlore embed switch"),
            Some(_) => Some("everlore embed rebuild"),
            None => None,
        };
        if out.is_json() {
            out.json(&json!({ "in_use": chosen, "next": next }))?;
        } else {
            out.line(&format!("{name} is in use"))?;
            match next {
                Some("everlore embed switch") => out.line(
                    "make the vectors anew with `everlore embed switch`; until then memories are found by their words",
                )?,
                Some(next) => out.line(&format!(
                    "let it read what is stored with `{next}`, or it reads as questions come, which then take longer"
                ))?,
                None => {}
            }
        }
        Ok(Exit::Done)
    }

    fn list_models(models: &LocalModels, out: &mut Output) -> Result<Exit> {
        let in_use = models.active_model()?;
        let used = |name: &str| match &in_use {
            Some(chosen) if chosen.name == name && chosen.pooled => "vectors of texts",
            Some(chosen) if chosen.name == name => "words of the best candidates",
            Some(chosen) if name == BUILTIN_MODEL && !chosen.pooled => "vectors of texts",
            None if name == BUILTIN_MODEL => "vectors of texts",
            _ => "",
        };
        let mut names = vec![BUILTIN_MODEL.to_owned()];
        names.extend(models.names()?);
        if out.is_json() {
            let row = |name: &String| json!({ "name": name, "used_for": used(name) });
            out.json(
                &json!({ "models": names.iter().map(row).collect::<Vec<_>>(), "in_use": in_use }),
            )?;
        } else {
            let mut rows = new_table(&["model", "used for"]);
            for name in &names {
                rows.add_row([name, used(name)]);
            }
            out.text(&render_table(rows))?;
        }
        Ok(Exit::Done)
    }

    fn remove_model(models: &LocalModels, name: &str, out: &mut Output) -> Result<Exit> {
        let folder = models.added_model_folder(name)?;
        if models.active_model()?.is_some_and(|in_use| in_use.name == name) {
            return Err(CliError::invalid(
                format!("`{name}` is in use"),
                "take another one into use first: everlore model use builtin",
            ));
        }
        fs::remove_dir_all(&folder)
            .map_err(|error| CliError::io(folder.display().to_string(), error))?;
        if out.is_json() {
            out.json(&json!({ "removed": name }))?;
        } else {
            out.line(&format!("{name} is removed"))?;
        }
        Ok(Exit::Done)
    }
}
