//! The settings of the home: from their file, then from the environment, with what is wrong with them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use everlore::{
    Config, Scope,
    recall::{Domain, Domains},
};

use crate::{cli::GlobalArgs, error::Result};

/// The settings in force, and where they come from.
pub(crate) struct Settings {
    /// The file they are read from, whether it exists or not.
    pub(crate) path: PathBuf,
    /// The values.
    pub(crate) config: Config,
    /// The words of a trade that they name.
    pub(crate) domains: Domains,
    /// Settings that do not exist.
    pub(crate) warnings: Vec<String>,
    /// Values that cannot be used, each with what to do.
    pub(crate) problems: Vec<(String, String)>,
}

impl Settings {
    /// A digest of all values, by which a server tells with which it was started.
    #[cfg(feature = "server")]
    pub(crate) fn digest(&self) -> String {
        let digest = everlore::types::Fingerprint::of(&self.config.to_toml());
        digest.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads them; what is wrong with them is kept to be told.
    pub(crate) fn load(home: &Path, global: &GlobalArgs) -> Self {
        let given = global.config.clone().filter(|path| !path.as_os_str().is_empty());
        let path = given.clone().unwrap_or_else(|| home.join("config.toml"));
        let mut settings = Self {
            path,
            config: Config::default(),
            domains: Domains::default(),
            warnings: Vec::new(),
            problems: Vec::new(),
        };
        settings.apply_file(given.is_some());
        settings.apply_environment();
        settings.read_domains();
        let checked = settings.config.validate();
        settings.problems.extend(checked.iter().map(|problem| {
            (format!("the setting {problem}"), "change the value, or delete it to use the default; `everlore config show` lists all".to_owned())
        }));
        settings
    }

    fn apply_file(&mut self, required: bool) {
        let name = self.path.display().to_string();
        match fs::read_to_string(&self.path) {
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
        let laid = self.config.with_env(std::env::vars_os().filter_map(text));
        self.apply_parsed(laid, "");
    }

    /// Reads the lists that the settings name, from the folder of the settings.
    fn read_domains(&mut self) {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let mut lists = Vec::new();
        for name in &self.config.recall.domains {
            match read_domain(&folder.join(name)) {
                Ok(list) => lists.push(list),
                Err(told) => self.problems.push(told),
            }
        }
        self.domains = Domains::new(lists);
    }

    fn apply_parsed(
        &mut self,
        laid: everlore::Result<(Config, Vec<everlore::config::ConfigWarning>)>,
        place: &str,
    ) {
        match laid {
            Ok((config, warnings)) => {
                self.config = config;
                self.warnings.extend(warnings.iter().map(|warning| format!("{place}{warning}")));
            }
            Err(error) => {
                self.problems.push((format!("{place}{error}"), error.hint().to_owned()));
            }
        }
    }

    /// Whose memory is meant.
    pub(crate) fn scope(&self, global: &GlobalArgs) -> Result<Scope> {
        let named = |given: &Option<String>, default: &str| {
            given.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| default.to_owned())
        };
        let general = &self.config.general;
        let scope =
            Scope::new(&named(&global.agent, &general.agent), &named(&global.user, &general.user));
        Ok(scope?)
    }
}

/// Reads a list with the words of a trade; it is called by its file unless it has a name. Otherwise, what is wrong with it and
/// what to do.
pub(crate) fn read_domain(path: &Path) -> Result<Domain, (String, String)> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        (format!("{shown}: the list cannot be read: {error}"), "check the path".to_owned())
    })?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Domain::parse(&text, &name)
        .map_err(|error| (format!("{shown}: {error}"), error.hint().to_owned()))
}
