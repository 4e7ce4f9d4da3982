//! Settings: from the file of the home, then from the environment, with their problems.

use std::{
    io,
    path::{Path, PathBuf},
};

use everlore::{
    Config, Scope,
    engine::{Domain, Domains},
};

use crate::{Result, cli::GlobalArgs, home_store};
use everlore::internal::files::regular_file::{self, MAX_SETTINGS_BYTES};

/// Loaded settings.
pub(crate) struct Settings {
    /// Settings file, whether it exists or not.
    pub(crate) path: PathBuf,
    /// Values.
    pub(crate) config: Config,
    /// Domain vocabularies that the settings name.
    pub(crate) domains: Domains,
    /// Set if an option or a variable chose the database, which programs that agents start do not get.
    pub(crate) has_named_store: bool,
    /// Warnings, such as about unknown settings.
    pub(crate) warnings: Vec<String>,
    /// Values that cannot be used, each with a hint.
    pub(crate) problems: Vec<(String, String)>,
}

impl Settings {
    /// Returns a digest of all values; a server publishes it, so that clients can compare.
    #[cfg(feature = "server")]
    pub(crate) fn digest(&self) -> String {
        let digest = everlore::types::Fingerprint::of(&self.config.to_toml());
        digest.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Loads the settings and collects their problems.
    pub(crate) fn load(home: &Path, global: &GlobalArgs) -> Self {
        let named = global.config.clone().filter(|path| !path.as_os_str().is_empty());
        let path = named.clone().unwrap_or_else(|| home.join("config.toml"));
        let mut settings = Self {
            path,
            config: Config::default(),
            domains: Domains::default(),
            has_named_store: false,
            warnings: Vec::new(),
            problems: Vec::new(),
        };
        settings.apply_file(named.is_some());
        settings.apply_environment();
        settings.apply_store(global);
        settings.read_domains();
        let checked = settings.config.validate();
        settings.problems.extend(checked.iter().map(|problem| {
            (format!("the setting {problem}"), "change the value, or delete it to use the default; `everlore config show` lists all".to_owned())
        }));
        settings
    }

    fn apply_file(&mut self, required: bool) {
        let name = self.path.display().to_string();
        match regular_file::read_to_string(&self.path, MAX_SETTINGS_BYTES) {
            Ok(text) => self.apply_parsed(Config::parse(&text), &format!("{name}: ")),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !required => {}
            Err(error) => self.problems.push((
                format!("the settings cannot be read: {name}: {error}"),
                "check the path given by --config or EVERLORE_CONFIG".to_owned(),
            )),
        }
    }

    fn apply_environment(&mut self) {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let parsed = self.config.with_env(std::env::vars_os().filter_map(text));
        self.apply_parsed(parsed, "");
    }

    /// Takes the database of the options, else that of the settings; a path in the settings is relative to their file.
    fn apply_store(&mut self, global: &GlobalArgs) {
        let named = global.store.as_ref().map(|named| &named.0).filter(|url| !url.is_empty());
        let folder = match named {
            Some(_) => Path::new(""),
            None => self.path.parent().unwrap_or(Path::new("")),
        };
        self.has_named_store = named.is_some();
        let url = named.unwrap_or(&self.config.store.url).clone();
        match home_store::absolute(url, folder) {
            Ok(url) => self.config.store.url = url,
            Err(error) => self.problems.push((
                format!("the path of the database cannot be used: {error}"),
                "give another one with --store, EVERLORE_STORE or store.url".to_owned(),
            )),
        }
        let folder = self.path.parent().unwrap_or(Path::new(""));
        for named in &mut self.config.store.agents {
            match home_store::absolute(named.url.clone(), folder) {
                Ok(url) => named.url = url,
                Err(error) => self.problems.push((
                    format!(
                        "the path of the database of `{}` cannot be used: {error}",
                        named.agent
                    ),
                    "give another one in store.agents".to_owned(),
                )),
            }
        }
    }

    /// Reads the domain lists that the settings name, relative to the settings file.
    fn read_domains(&mut self) {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let mut lists = Vec::new();
        for name in &self.config.recall.domains {
            match read_domain(&folder.join(name)) {
                Ok(list) => lists.push(list),
                Err(problem) => self.problems.push(problem),
            }
        }
        self.domains = Domains::new(lists);
    }

    fn apply_parsed(
        &mut self,
        parsed: everlore::Result<(Config, Vec<everlore::config::ConfigWarning>)>,
        prefix: &str,
    ) {
        match parsed {
            Ok((config, warnings)) => {
                self.config = config;
                self.warnings.extend(warnings.iter().map(|warning| format!("{prefix}{warning}")));
            }
            Err(error) => {
                self.problems.push((format!("{prefix}{error}"), error.hint().to_owned()));
            }
        }
    }

    /// Returns the scope of the options, else that of the settings.
    pub(crate) fn scope(&self, global: &GlobalArgs) -> Result<Scope> {
        let named = |option: &Option<String>, default: &str| {
            option.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| default.to_owned())
        };
        let general = &self.config.general;
        let scope =
            Scope::new(&named(&global.agent, &general.agent), &named(&global.user, &general.user));
        Ok(scope?)
    }
}

/// Reads a domain list, named after its file unless it names itself. An error is a message with a hint.
pub(crate) fn read_domain(path: &Path) -> Result<Domain, (String, String)> {
    let shown = path.display();
    let text = regular_file::read_to_string(path, MAX_SETTINGS_BYTES).map_err(|error| {
        (format!("{shown}: the list cannot be read: {error}"), "check the path".to_owned())
    })?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Domain::parse(&text, &name)
        .map_err(|error| (format!("{shown}: {error}"), error.hint().to_owned()))
}
