//! The file `keys.toml` of a home: keys by provider, for the user alone, so that the settings can be shown to others.

use std::{fs, io, path::Path};

use everlore::{
    config::{CHAT_PROVIDERS, Secret, chat_provider},
    files::disk::{Manner, Temporary, lock, make_private_folder},
};
use toml::Table;

use crate::failure::{Failure, Result};

/// The file in a home.
pub(crate) const FILE: &str = "keys.toml";

/// The key of a provider, if the file has one.
pub(crate) fn read(home: &Path, provider: &str) -> Result<Option<Secret>> {
    let keys = table(home)?;
    let key = keys.get(provider).and_then(|key| key.as_str()).map(str::trim);
    Ok(key.filter(|key| !key.is_empty()).map(Secret::new))
}

/// Keeps the key of a provider, or with none forgets it. The file is there as a whole or not at all.
pub(crate) fn write(home: &Path, provider: &str, key: Option<&Secret>) -> Result<()> {
    known(provider)?;
    let failed = |error| Failure::io(home.join(FILE).display().to_string(), error);
    make_private_folder(home).map_err(failed)?;
    let _lock = lock(&home.join(".keys.lock")).map_err(failed)?;
    let mut keys = table(home)?;
    match key {
        Some(key) => keys.insert(provider.to_owned(), key.reveal().trim().into()),
        None => keys.remove(provider),
    };
    let manner = Manner { durable: true, private: true, permissions: None };
    let part = home.join(format!(".{FILE}.part"));
    // What was left by a process that died may be readable by others.
    everlore::files::disk::remove(&part).map_err(failed)?;
    Temporary::written(part, keys.to_string().as_bytes(), manner)
        .and_then(|written| written.replace(&home.join(FILE)))
        .map_err(failed)
}

/// Refuses a provider that nobody knows.
pub(crate) fn known(provider: &str) -> Result<()> {
    if chat_provider(provider).is_some() {
        return Ok(());
    }
    let names = CHAT_PROVIDERS.map(|known| known.name).join(", ");
    Err(Failure::invalid(
        format!("no provider is called `{provider}`"),
        format!(
            "name one of {names}; for another that speaks OpenAI's protocol use openai and base_url"
        ),
    ))
}

/// What went wrong is told without the text, which holds keys.
fn table(home: &Path) -> Result<Table> {
    let path = home.join(FILE);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Table::new()),
        text => text.map_err(|error| Failure::io(path.display().to_string(), error))?,
    };
    text.parse().map_err(|_| {
        Failure::invalid(
            format!("{} is not valid TOML", path.display()),
            "write a line such as openai = \"…\" for each provider, or delete the file and run `everlore config key PROVIDER`",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_kept_by_provider_for_the_user_alone_and_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().join("home");
        let reveal = |name: &str| {
            read(&home, name).unwrap().map(|key| key.reveal().to_owned()).unwrap_or_default()
        };
        assert_eq!(reveal("openai"), "");
        write(&home, "openai", Some(&Secret::new(" sk-\"1\" "))).unwrap();
        write(&home, "anthropic", Some(&Secret::new("sk-2"))).unwrap();
        assert_eq!((reveal("openai"), reveal("anthropic")), ("sk-\"1\"".into(), "sk-2".into()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(home.join(FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        write(&home, "openai", None).unwrap();
        assert_eq!((reveal("openai"), reveal("anthropic")), (String::new(), "sk-2".into()));
        assert!(write(&home, "opnai", Some(&Secret::new("sk-3"))).is_err());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told_without_its_keys() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(FILE), "openai = sk-very-secret").unwrap();
        let failure = format!("{:?}", read(home.path(), "openai").unwrap_err());
        assert!(
            failure.contains("not valid TOML") && !failure.contains("very-secret"),
            "{failure}"
        );
    }
}
