//! What a command works with: the home folder, the settings, whose memory it is, and the engine.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

#[cfg(feature = "local-model")]
use everlore::llm::LocalModel;
use everlore::{
    Engine, Scope,
    config::LanguageChoice,
    files::{
        atomic_file::{create_private_folder, private_open_options},
        home::vault_folder,
        layers::Layers,
        memory_folder::{MemoryFolder, MemoryFolderLimits},
    },
    store::{SqliteStore, Store},
    text::language::Language,
};
use jiff::Zoned;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::{
    agent_settings, calibration, chat_model,
    cli::{CliCommand, GlobalArgs},
    embedder,
    error::{CliError, Result},
    local_models::LocalModels,
    rescue_log,
    settings::Settings,
    times,
};

/// All that the commands of checks get to know.
const CHECK_COMMAND_VARIABLES: [&str; 3] = ["PATH", "HOME", "LANG"];

/// The name of the database file in a home.
const DATABASE_FILE: &str = "everlore.db";

/// Everything a command needs to know.
pub(crate) struct CliContext {
    /// The folder that holds everything.
    pub(crate) home: PathBuf,
    /// The settings and what is wrong with them.
    pub(crate) settings: Settings,
    /// Whose memory it is.
    pub(crate) scope: Scope,
    read_only: bool,
    may_probe_embedder: bool,
    open_engine: OnceCell<OpenEngine>,
}

struct OpenEngine {
    engine: Engine,
    store: Arc<SqliteStore>,
    /// Where an empty database stands in for one that is not there yet.
    _temporary_home: Option<TempDir>,
}

impl CliContext {
    /// Reads the settings; nothing is opened yet.
    pub(crate) fn new(global: &GlobalArgs, command: &CliCommand) -> Result<Self> {
        let home = home_folder(global)?;
        let settings = Settings::load(&home, global);
        let lenient = command.settings_optional();
        if let Some((message, hint)) = settings.problems.first()
            && !lenient
        {
            return Err(CliError::invalid(message, hint));
        }
        let scope = match settings.scope(global) {
            Err(_) if lenient => Scope::default(),
            scope => scope?,
        };
        let (only_reads, may_ask) = (command.is_read_only(), command.may_probe_embedder());
        Ok(Self {
            home,
            settings,
            scope,
            read_only: only_reads,
            may_probe_embedder: may_ask,
            open_engine: OnceCell::new(),
        })
    }

    /// The database file.
    pub(crate) fn database_path(&self) -> PathBuf {
        self.home.join(DATABASE_FILE)
    }

    /// The folder of the tool `memory`: the vault of the scope.
    pub(crate) fn memory_folder(&self) -> MemoryFolder {
        MemoryFolder::new(vault_folder(&self.home, &self.scope), MemoryFolderLimits::default())
    }

    /// The engine, opened on first use.
    pub(crate) async fn engine(&self) -> Result<&Engine> {
        Ok(&self.open_once().await?.engine)
    }

    /// The engine with the model that reads conversations, if the settings name one.
    pub(crate) async fn capture_engine(&self) -> Result<Engine> {
        let engine = self.engine().await?.clone();
        Ok(match chat_model::for_memory(self)? {
            Some(model) => engine.with_chat_model(model),
            None => engine,
        })
    }

    /// The store below the engine, for its owner.
    pub(crate) async fn store(&self) -> Result<&SqliteStore> {
        Ok(&self.open_once().await?.store)
    }

    /// The layers of the agent and the user; they need no database.
    pub(crate) fn layers(&self) -> Layers {
        let config = self.agent_config();
        Layers::new(&self.home, &self.scope, &config.layers)
            .keeping_secrets(!config.memory.mask_secrets)
    }

    /// Makes what a home has from its first day. Memories can be kept without it, so a failure is left to the doctor.
    pub(crate) fn create_first_layers(&self, home: &Path) {
        let layers = Layers::new(home, &self.scope, &self.agent_config().layers);
        if let Err(error) = layers.create_default_soul(self.language(), &self.now()) {
            tracing::warn!(%error, "SOUL.md could not be made");
        }
    }

    /// The language of what is written before anything was said.
    pub(crate) fn language(&self) -> Language {
        let of_locale = || ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(locale_language);
        match self.agent_config().general.language {
            LanguageChoice::En => Language::English,
            LanguageChoice::Zh => Language::Chinese,
            LanguageChoice::Auto => of_locale().unwrap_or(Language::English),
        }
    }

    /// The time here and now.
    pub(crate) fn now(&self) -> Zoned {
        jiff::Timestamp::now().to_zoned(times::local_zone())
    }

    /// Lets go of the files, once all is written. Vectors that are being made get a little time.
    pub(crate) async fn close(&self) {
        if let Some(opened) = self.open_engine.get() {
            opened.engine.flush(self.settings.config.embedding.linger).await;
            opened.store.admin().close().await;
        }
    }

    /// What was left out because nothing can be written, if something was opened.
    pub(crate) fn read_only_note(&self) -> Option<String> {
        let opened =
            self.open_engine.get().filter(|opened| opened.store.admin().info().is_read_only)?;
        let place = opened.store.path().display();
        Some(format!("note: {place} can only be read from here; what is used is not noted"))
    }

    /// What the user should hear before the answer.
    pub(crate) fn startup_notes(&self, command: &CliCommand) -> Vec<String> {
        if command.prints_own_notes() {
            return Vec::new();
        }
        let warnings = self.settings.warnings.iter().map(|warning| format!("warning: {warning}"));
        let absent = (self.read_only && self.has_no_database())
            .then(|| format!("note: nothing is stored in {} yet", self.home.display()));
        warnings
            .chain(agent_settings::agent_notes(self))
            .chain(rescue_log::rescue_notes(&self.home))
            .chain(calibration::notes(&self.home))
            .chain(absent)
            .collect()
    }

    async fn open_once(&self) -> Result<&OpenEngine> {
        self.open_engine.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<OpenEngine> {
        let failed = |error| CliError::io(self.home.display().to_string(), error);
        let stand_in = match self.has_no_database() && self.read_only {
            true => Some(tempfile::tempdir().map_err(failed)?),
            false => None,
        };
        let home = stand_in.as_ref().map_or(self.home.as_path(), TempDir::path);
        let database = home.join(DATABASE_FILE);
        prepare_database(home, &database).map_err(failed)?;
        tracing::info!(database = %database.display(), scope = %self.scope, "opening");
        let store = Arc::new(SqliteStore::open(database).await?);
        let engine = Engine::builder(Arc::clone(&store) as Arc<dyn Store>)
            .config(self.settings.config.clone())
            .domains(self.settings.domains.clone())
            .zone(times::local_zone())
            .check_environment(check_command_environment())
            .home(home)
            .build();
        self.create_first_layers(home);
        let engine = self.attach_models(engine, &store).await?;
        let tunings = calibration::read_tunings(&self.home).into_iter();
        let engine = tunings
            .fold(engine, |engine, (scope, tuning)| engine.rebuild().tuning(scope, tuning).build());
        Ok(OpenEngine { engine, store, _temporary_home: stand_in })
    }

    /// The engine with the models of the settings and of the home.
    async fn attach_models(&self, engine: Engine, store: &Arc<SqliteStore>) -> Result<Engine> {
        let in_use = LocalModels::new(&self.home).active_model()?;
        let config = &self.settings.config;
        let vectors = config.memory.long_term.vector_index;
        #[cfg(feature = "local-model")]
        if let Some(in_use) = &in_use {
            let model = Arc::new(LocalModel::open(
                LocalModels::new(&self.home).added_model_folder(&in_use.name)?,
            )?);
            return match (in_use.pooled, vectors) {
                (true, true) => Ok(engine.rebuild().embedder(model).build()),
                (true, false) => Ok(engine),
                (false, true) => {
                    let engine = embedder::attach_embedder(
                        engine,
                        store,
                        &config.embedding,
                        self.may_probe_embedder,
                    );
                    Ok(engine.await?.rebuild().reranker(model).build())
                }
                (false, false) => Ok(engine.rebuild().reranker(model).build()),
            };
        }
        if let Some(in_use) = in_use {
            tracing::warn!(
                "this program was built without local models; `{}` is left out",
                in_use.name
            );
        }
        match vectors {
            true => {
                embedder::attach_embedder(engine, store, &config.embedding, self.may_probe_embedder)
                    .await
            }
            false => Ok(engine),
        }
    }

    /// Whether nothing was ever stored here.
    fn has_no_database(&self) -> bool {
        !self.database_path().exists()
    }
}

/// The variables that the commands of checks get.
fn check_command_environment() -> Vec<(OsString, OsString)> {
    let value = |name: &str| std::env::var_os(name).map(|value| (name.into(), value));
    CHECK_COMMAND_VARIABLES.into_iter().filter_map(value).collect()
}

/// The folder named by the option or the environment, or `.everlore` in the user's own.
fn home_folder(global: &GlobalArgs) -> Result<PathBuf> {
    let given = global.home.clone().filter(|home| !home.as_os_str().is_empty());
    given.or_else(|| std::env::home_dir().map(|own| own.join(".everlore"))).ok_or_else(|| {
        CliError::invalid(
            "your home folder is not known",
            "name a folder with --home or EVERLORE_HOME",
        )
    })
}

/// The language a variable of the environment asks for.
fn locale_language(variable: &str) -> Option<Language> {
    let value = std::env::var(variable).ok().filter(|value| !value.is_empty())?;
    Some(if value.starts_with("zh") { Language::Chinese } else { Language::English })
}

/// Makes the home for the user alone, where it is not there yet.
#[cfg(feature = "local-model")]
pub(crate) fn make_home(home: &Path) -> Result<()> {
    create_private_folder(home)
        .map(drop)
        .map_err(|error| CliError::io(home.display().to_string(), error))
}

/// Makes the folder and the file for the user alone; what exists is left as it is.
fn prepare_database(home: &Path, database: &Path) -> io::Result<()> {
    create_private_folder(home)?;
    match private_file().create_new(true).open(database) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !database.exists() => {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Opens a file for writing that, if new, only the user may read.
pub(crate) fn private_file() -> fs::OpenOptions {
    let mut options = private_open_options();
    options.write(true);
    options
}
