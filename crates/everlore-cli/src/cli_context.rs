//! Context of a command: the home folder, the settings, the scope, and the engine, which opens on first use.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

#[cfg(feature = "local-model")]
use everlore::llm::LocalModel;
use everlore::{
    Engine, EngineBuilder, Scope,
    config::LanguageChoice,
    engine::{Language, Layer, SharedFiles},
    internal::files::{
        atomic_file::{create_private_folder, private_open_options},
        home::vault_folder,
        layers::Layers,
    },
    store::{self, AgentStores, Store},
    tools::{MemoryFolder, MemoryFolderLimits},
};
use jiff::Zoned;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::{
    agent_settings, calibration, chat_model,
    cli::{CliCommand, GlobalArgs},
    commands::{CommandFuture, hook},
    embedder,
    error::{CliError, Exit, Result},
    home_store::{self, DATABASE_FILE, HomeStore},
    local_models::LocalModels,
    messages::{locale_language, parse_language},
    rescue_log, secret_files,
    settings::Settings,
    times,
};

/// Environment variables that check commands get.
const CHECK_COMMAND_VARIABLES: [&str; 3] = ["PATH", "HOME", "LANG"];

/// Context of a command.
pub(crate) struct CliContext {
    /// Home folder, which holds all data.
    pub(crate) home: PathBuf,
    /// Settings with their problems.
    pub(crate) settings: Settings,
    /// Database of the home.
    pub(crate) store: HomeStore,
    /// Agent and user whose memory is used.
    pub(crate) scope: Scope,
    /// Language of `--lang`.
    named_language: Option<Language>,
    read_only: bool,
    may_probe_embedder: bool,
    /// Set for commands that save what earlier saves could not store.
    replays_failed_saves: bool,
    open_engine: OnceCell<OpenEngine>,
}

struct OpenEngine {
    engine: Engine,
    /// Files that other servers share; `None` for a local home.
    shared_files: Option<Arc<SharedFiles>>,
    /// Notes that opening it gave: saves that failed earlier, agents in another place.
    opening_notes: Vec<String>,
    /// Folder of an empty database that stands in for a missing one.
    _temporary_home: Option<TempDir>,
}

impl CliContext {
    /// Loads the settings; opens nothing yet.
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
        Ok(Self {
            store: HomeStore::chosen(&home, &settings.config.store.url),
            home,
            settings,
            scope,
            named_language: global.lang.as_deref().and_then(parse_language),
            read_only: command.is_read_only(),
            may_probe_embedder: command.may_probe_embedder(),
            replays_failed_saves: !command.prints_own_notes(),
            open_engine: OnceCell::new(),
        })
    }

    /// Returns the folder of the tool `memory`: the vault of the scope.
    pub(crate) fn memory_folder(&self) -> MemoryFolder {
        MemoryFolder::new(vault_folder(&self.home, &self.scope), MemoryFolderLimits::default())
    }

    /// Returns the engine; opens it on first use.
    pub(crate) async fn engine(&self) -> Result<&Engine> {
        Ok(&self.open_once().await?.engine)
    }

    /// Runs a command that changes layers, agent settings, keys or calibration of a server database, so that other servers
    /// get the changes.
    pub(crate) async fn write_files(
        &self,
        command: CommandFuture<'_>,
        is_interactive: bool,
    ) -> Result<Exit> {
        match &self.open_once().await?.shared_files {
            Some(shared) if is_interactive => shared.write_after(command).await,
            Some(shared) => shared.write(command).await,
            None => command.await,
        }
    }

    /// Returns the engine with the model that extracts memories, if the settings name one.
    pub(crate) async fn capture_engine(&self) -> Result<Engine> {
        let engine = chat_model::with_summary_model(self, self.engine().await?.clone())?;
        Ok(match chat_model::for_memory(self)? {
            Some(model) => engine.with_chat_model(model),
            None => engine,
        })
    }

    /// Returns the layer files of the agent and the user, which need no database.
    pub(crate) fn layers(&self) -> Layers {
        let config = self.agent_config();
        Layers::new(&self.home, &self.scope, &config.layers)
            .keeping_secrets(!config.memory.mask_secrets)
    }

    /// Creates the default SOUL.md. Memories work without it, so an error is left to `everlore doctor`.
    pub(crate) fn create_first_layers(&self, home: &Path) {
        let layers = Layers::new(home, &self.scope, &self.agent_config().layers);
        if let Err(error) = layers.create_default_soul(self.language(), &self.now()) {
            tracing::warn!(%error, "SOUL.md could not be created");
        }
    }

    /// Returns the language of messages and generated texts: that of `--lang`, of the settings, or of the locale.
    pub(crate) fn language(&self) -> Language {
        match (self.named_language, self.agent_config().general.language) {
            (Some(named), _) => named,
            (None, LanguageChoice::En) => Language::English,
            (None, LanguageChoice::Zh) => Language::Chinese,
            (None, LanguageChoice::Auto) => locale_language().unwrap_or(Language::English),
        }
    }

    /// Returns the current time in the local zone.
    pub(crate) fn now(&self) -> Zoned {
        everlore::internal::system_now().to_zoned(times::local_zone())
    }

    /// Opens another database with the models of the settings, without files of a home; creates it where needed.
    pub(crate) async fn open_store(&self, chosen: &HomeStore) -> Result<Engine> {
        if let Some(database) = chosen.file() {
            prepare_database(database)
                .map_err(|error| CliError::io(database.display().to_string(), error))?;
        }
        let store = store::open(chosen.address()).await?;
        let engine = Engine::builder(Arc::clone(&store))
            .config(self.settings.config.clone())
            .domains(self.settings.domains.clone())
            .zone(times::local_zone());
        let engine = self.attach_models(engine, &*store).await?;
        #[cfg(feature = "local-model")]
        let engine = if self.uses_encoder() { engine.builtin_encoder() } else { engine };
        let engine = engine.build();
        engine.admin().renew_embeddings().await;
        Ok(engine)
    }

    /// Closes the store once all is written. Embeddings in flight get a little time (`embedding.linger`).
    pub(crate) async fn close(&self) {
        if let Some(opened) = self.open_engine.get() {
            opened.engine.flush(self.settings.config.embedding.linger).await;
            opened.engine.admin().close().await;
        }
    }

    /// Returns the note that usage is not recorded, if the opened store is read-only.
    pub(crate) fn read_only_note(&self) -> Option<String> {
        let is_read_only = self.open_engine.get()?.engine.admin().store_info().is_read_only;
        let name = match &self.store {
            HomeStore::File(path) => path.display().to_string(),
            HomeStore::Server(url) => url.to_string(),
        };
        is_read_only.then(|| format!("note: {name} is read-only here, so usage is not recorded"))
    }

    /// Returns the notes to print after the answer: about saves that failed earlier and are stored now, and about agents
    /// that are elsewhere than the settings say.
    pub(crate) fn opening_notes(&self) -> Vec<String> {
        self.open_engine.get().map(|opened| opened.opening_notes.clone()).unwrap_or_default()
    }

    /// Stores turns that wait in the hook spool for too long, and what earlier saves could not store.
    #[everlore::internal::boxed]
    pub(crate) async fn replay_failed_saves(engine: &Engine, home: &Path) -> Vec<String> {
        hook::replay_overdue(engine, home).await;
        rescue_log::replay(engine, home).await
    }

    /// Returns the notes to print before the answer: warnings about settings, lost input, a missing home.
    pub(crate) fn startup_notes(&self, command: &CliCommand) -> Vec<String> {
        if command.prints_own_notes() {
            return Vec::new();
        }
        let warnings = self.settings.warnings.iter().map(|warning| format!("warning: {warning}"));
        let empty_home = (self.read_only && self.store.is_missing())
            .then(|| format!("note: nothing is stored in {} yet", self.home.display()));
        warnings
            .chain(agent_settings::agent_notes(self))
            .chain(rescue_log::lost_input_note(&self.home))
            .chain(calibration::notes(&self.home))
            .chain(secret_files::tighten(&self.home))
            .chain(empty_home)
            .collect()
    }

    async fn open_once(&self) -> Result<&OpenEngine> {
        self.open_engine.get_or_try_init(|| self.open()).await
    }

    #[everlore::internal::boxed]
    async fn open(&self) -> Result<OpenEngine> {
        let failed = |error| CliError::io(self.home.display().to_string(), error);
        let is_empty = self.store.is_missing() && rescue_log::rescue_files(&self.home).is_empty();
        let temporary_home = if is_empty && self.read_only {
            Some(tempfile::tempdir().map_err(failed)?)
        } else {
            None
        };
        let home = temporary_home.as_ref().map_or(self.home.as_path(), TempDir::path);
        let chosen = match &temporary_home {
            Some(_) => HomeStore::File(home.join(DATABASE_FILE)),
            None => self.store.clone(),
        };
        create_private_folder(home).map_err(failed)?;
        if let Some(database) = chosen.file() {
            prepare_database(database).map_err(failed)?;
        }
        tracing::info!(store = %chosen, scope = %self.scope, "opening");
        let stores = AgentStores::open(store::open(chosen.address()).await?).await?;
        let store = Arc::clone(&stores) as Arc<dyn Store>;
        let engine = Engine::with_agent_stores(stores)
            .config(self.settings.config.clone())
            .domains(self.settings.domains.clone())
            .zone(times::local_zone())
            .check_environment(check_command_environment())
            .home(home);
        let shared_files = self.share_files(&chosen, &store, home).await?;
        let engine = match &shared_files {
            Some(shared) => engine.shared_files(Arc::clone(shared)),
            None => engine,
        };
        let engine = self.attach_models(engine, &*store).await?;
        #[cfg(feature = "local-model")]
        let engine = if self.uses_encoder() { engine.builtin_encoder() } else { engine };
        let tunings = calibration::read_tunings(&self.home).into_iter();
        let engine = tunings.fold(engine, |engine, (scope, tuning)| engine.tuning(scope, tuning));
        let engine = engine.build();
        engine.admin().renew_embeddings().await;
        let mut opening_notes = if self.replays_failed_saves && temporary_home.is_none() {
            Self::replay_failed_saves(&engine, home).await
        } else {
            Vec::new()
        };
        if temporary_home.is_none() && !engine.admin().store_info().is_read_only {
            let agents = &self.settings.config.store.agents;
            opening_notes
                .extend(engine.place_agents(agents).await?.iter().map(home_store::misplaced_note));
        }
        Ok(OpenEngine { engine, shared_files, opening_notes, _temporary_home: temporary_home })
    }

    /// Makes the copies of shared files current, if the database is on a server; creates the default SOUL.md.
    async fn share_files(
        &self,
        chosen: &HomeStore,
        store: &Arc<dyn Store>,
        home: &Path,
    ) -> Result<Option<Arc<SharedFiles>>> {
        if !chosen.is_server() {
            self.create_first_layers(home);
            return Ok(None);
        }
        let shared = Arc::new(SharedFiles::open(Arc::clone(store), home).await?);
        shared.spawn_refresh();
        if !self.layers().path(Layer::Soul, self.now().date()).exists() {
            let created = async {
                self.create_first_layers(home);
                Ok::<_, CliError>(())
            };
            shared.write(created).await?;
        }
        Ok(Some(shared))
    }

    /// Returns `true` if the settings allow the built-in encoder.
    #[cfg(feature = "local-model")]
    fn uses_encoder(&self) -> bool {
        let config = &self.settings.config;
        config.embedding.encoder && config.memory.long_term.vector_index
    }

    /// Returns the engine with the active local model, or with the embedder of the settings.
    async fn attach_models(
        &self,
        engine: EngineBuilder,
        store: &dyn Store,
    ) -> Result<EngineBuilder> {
        let models = LocalModels::new(&self.home);
        let active = models.active_model()?;
        #[cfg(feature = "local-model")]
        if let Some(active) = &active {
            let model = Arc::new(LocalModel::open(models.added_model_folder(&active.name)?)?);
            return match (active.pooled, self.settings.config.memory.long_term.vector_index) {
                (true, true) => Ok(engine.embedder(model)),
                (true, false) => Ok(engine),
                (false, _) => Ok(self.attach_embedder(engine, store).await?.reranker(model)),
            };
        }
        if let Some(active) = active {
            tracing::warn!(
                "this program was built without local models; `{}` is not used",
                active.name
            );
        }
        self.attach_embedder(engine, store).await
    }

    /// Returns the engine with the embedder of the settings, unless they switch vectors off.
    async fn attach_embedder(
        &self,
        engine: EngineBuilder,
        store: &dyn Store,
    ) -> Result<EngineBuilder> {
        let config = &self.settings.config;
        if !config.memory.long_term.vector_index {
            return Ok(engine);
        }
        embedder::attach_embedder(engine, store, &config.embedding, self.may_probe_embedder).await
    }
}

/// Returns the environment of check commands.
fn check_command_environment() -> Vec<(OsString, OsString)> {
    let value = |name: &str| std::env::var_os(name).map(|value| (name.into(), value));
    CHECK_COMMAND_VARIABLES.into_iter().filter_map(value).collect()
}

/// Returns the home: `--home` or `EVERLORE_HOME`, else `~/.everlore`.
fn home_folder(global: &GlobalArgs) -> Result<PathBuf> {
    const HINT: &str = "name a folder with --home or EVERLORE_HOME";
    let named = global.home.clone().filter(|home| !home.as_os_str().is_empty());
    let home = named.or_else(|| std::env::home_dir().map(|home| home.join(".everlore")));
    let home = home.ok_or_else(|| CliError::invalid("your home folder is not known", HINT))?;
    if home.exists() && !home.is_dir() {
        return Err(CliError::invalid(format!("{} is not a folder", home.display()), HINT));
    }
    Ok(home)
}

/// Creates the home, readable by the user only, unless it exists.
#[cfg(feature = "local-model")]
pub(crate) fn make_home(home: &Path) -> Result<()> {
    create_private_folder(home)
        .map(drop)
        .map_err(|error| CliError::io(home.display().to_string(), error))
}

/// Creates the file, readable by the user only; an existing one stays as it is.
fn prepare_database(database: &Path) -> io::Result<()> {
    match private_file().create_new(true).open(database) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !database.exists() => {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Returns options that open a file for writing; a new one is readable by the user only.
pub(crate) fn private_file() -> fs::OpenOptions {
    let mut options = private_open_options();
    options.write(true);
    options
}
