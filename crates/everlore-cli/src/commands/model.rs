//! `everlore model`: local sentence encoders.

use std::path::PathBuf;

use clap::Subcommand;

use crate::{CliContext, Exit, Output, Result, messages::translate};

/// Use a local model, such as all-MiniLM-L6-v2, beside the built-in one
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Check a model, quantize it to eight bits and copy it into the home
    Add {
        /// A folder with config.json, model.safetensors, and vocab.txt or tokenizer.json
        path: PathBuf,
        /// Name of the model [default: the name of the folder]
        #[arg(long)]
        name: Option<String>,
    },
    /// Run a model on a few sentences and report if it works and how fast
    Check {
        /// The model [default: the active one]
        name: Option<String>,
    },
    /// Activate a model, or `builtin` alone
    Use {
        /// The model
        name: String,
        /// Use it to embed whole texts, instead of reranking the best candidates by token vectors
        #[arg(long)]
        pooled: bool,
    },
    /// List the models of the home
    List,
    /// Delete a model from the home
    Remove {
        /// The model
        name: String,
    },
}

#[cfg(not(feature = "local-model"))]
impl ModelCommand {
    /// Fails with a hint how to build local models in.
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
        CliError, cli_context,
        local_models::{ActiveModel, BUILTIN_MODEL, LocalModels, check_name},
        render::{format_bytes, new_table, render_table},
    };

    /// Triples of sentences: the first two mean the same, the third does not.
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

    /// Runs of the speed test; the fastest counts, since other processes only slow it down.
    const TIMED_RUNS: usize = 5;

    impl ModelCommand {
        /// Runs the command.
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
        if !path.is_dir() {
            let problem = if path.exists() { "is not a folder" } else { "does not exist" };
            return Err(CliError::invalid(
                format!("{} {problem}", path.display()),
                "name a folder with config.json, model.safetensors, and vocab.txt or tokenizer.json",
            ));
        }
        let folder_name = || {
            path.canonicalize().ok()?.file_name().map(|name| name.to_string_lossy().into_owned())
        };
        let name = name.or_else(folder_name).unwrap_or_default();
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
            out.say(&format!("added {name}: {} in {}", format_bytes(bytes), folder.display()))?;
            out.say(&format!(
                "test it with `everlore model check {name}`, activate it with `{next}`"
            ))?;
        }
        Ok(Exit::Done)
    }

    fn check_model(models: &LocalModels, name: Option<String>, out: &mut Output) -> Result<Exit> {
        let name = match name {
            Some(name) => name,
            None => models.active_model()?.map(|active| active.name).ok_or_else(|| {
                CliError::invalid(
                    "no local model is active",
                    "name one: everlore model check NAME; `everlore model list` shows all",
                )
            })?,
        };
        let model = LocalModel::open(models.added_model_folder(&name)?)?;
        let start = Instant::now();
        model.preload()?;
        let load = start.elapsed();
        let mut correct = 0;
        for [one, other, third] in SIMILARITY_TRIPLES {
            correct += usize::from(cosine(&model, one, other)? > cosine(&model, one, third)?);
        }
        let works = correct == SIMILARITY_TRIPLES.len();
        let (load_ms, text_ms) = (milliseconds(load), milliseconds(fastest_run(&model)?));
        if out.is_json() {
            out.json(&json!({
                "name": name, "model": model.id().to_string(), "works": works, "told_apart": correct,
                "of": SIMILARITY_TRIPLES.len(), "load_ms": load_ms, "text_ms": text_ms,
            }))?;
        } else {
            let result = if works { "works" } else { "does not work: its vectors have no meaning" };
            let triples = SIMILARITY_TRIPLES.len();
            out.say(&format!("{name} {result} ({correct} of {triples} comparisons correct)"))?;
            out.say(&format!("loaded in {load_ms:.0} ms; {text_ms:.1} ms for a text of 20 words"))?;
        }
        Ok(Exit::from_success(works))
    }

    fn cosine(model: &LocalModel, one: &str, other: &str) -> Result<f32> {
        let (one, other) = (model.vector(one)?, model.vector(other)?);
        Ok(one.iter().zip(&other).map(|(a, b)| a * b).sum())
    }

    fn fastest_run(model: &LocalModel) -> Result<Duration> {
        let mut best = Duration::MAX;
        for run in 0..TIMED_RUNS {
            // The model remembers the last text.
            let text = format!("{run} {}", "river ".repeat(19));
            let start = Instant::now();
            model.vector(&text)?;
            best = best.min(start.elapsed());
        }
        Ok(best)
    }

    /// Returns milliseconds to the microsecond: a tiny model takes less than a tenth of one.
    fn milliseconds(time: Duration) -> f64 {
        (time.as_secs_f64() * 1e6).round() / 1e3
    }

    fn activate_model(
        models: &LocalModels,
        name: &str,
        pooled: bool,
        out: &mut Output,
    ) -> Result<Exit> {
        let before = models.active_model()?;
        let active = match name {
            BUILTIN_MODEL => None,
            name => {
                LocalModel::open(models.added_model_folder(name)?)?;
                Some(ActiveModel { name: name.to_owned(), pooled })
            }
        };
        models.set_active_model(active.as_ref())?;
        let was_pooled = before.as_ref().is_some_and(|before| before.pooled);
        let next = match &active {
            _ if pooled && active.is_some() || was_pooled => Some("everlore embed switch"),
            Some(_) => Some("everlore embed rebuild"),
            None => None,
        };
        if out.is_json() {
            out.json(&json!({ "in_use": active, "next": next }))?;
        } else {
            out.say(&format!("{name} is active"))?;
            match next {
                Some("everlore embed switch") => out.say(
                    "compute the vectors again with `everlore embed switch`; until then recall finds memories by words only",
                )?,
                Some(next) => out.say(&format!(
                    "compute the token vectors with `{next}`; otherwise each recall computes missing ones and takes longer"
                ))?,
                None => {}
            }
        }
        Ok(Exit::Done)
    }

    fn list_models(models: &LocalModels, out: &mut Output) -> Result<Exit> {
        let active = models.active_model()?;
        let used_for = |name: &str| match &active {
            Some(model) if model.name == name && model.pooled => "embedding",
            Some(model) if model.name == name => "reranking",
            Some(model) if name == BUILTIN_MODEL && !model.pooled => "embedding",
            None if name == BUILTIN_MODEL => "embedding",
            _ => "",
        };
        let mut names = vec![BUILTIN_MODEL.to_owned()];
        names.extend(models.names()?);
        if out.is_json() {
            let row = |name: &String| json!({ "name": name, "used_for": used_for(name) });
            out.json(
                &json!({ "models": names.iter().map(row).collect::<Vec<_>>(), "in_use": active }),
            )?;
        } else {
            let mut rows = new_table(&["model", "used for"]);
            for name in &names {
                rows.add_row([name.as_str(), &translate(used_for(name))]);
            }
            out.text(&render_table(rows))?;
        }
        Ok(Exit::Done)
    }

    fn remove_model(models: &LocalModels, name: &str, out: &mut Output) -> Result<Exit> {
        let folder = models.added_model_folder(name)?;
        if models.active_model()?.is_some_and(|active| active.name == name) {
            return Err(CliError::invalid(
                format!("`{name}` is active"),
                "activate another one first: everlore model use builtin",
            ));
        }
        fs::remove_dir_all(&folder)
            .map_err(|error| CliError::io(folder.display().to_string(), error))?;
        out.answer_line(&json!({ "removed": name }), &format!("removed: {name}"))
    }
}
