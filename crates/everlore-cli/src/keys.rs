//! File `keys.toml` of a home: API keys by provider, readable by the user only, so that the settings file has no
//! secrets.

use std::{io, path::Path};

use everlore::{
    config::{CHAT_PROVIDERS, SecretString, chat_provider},
    internal::files::atomic_file::{TempFile, WriteOptions, create_private_folder, lock},
};
use toml::Table;

use crate::{CliError, Result};
use everlore::internal::files::regular_file::{self, MAX_SETTINGS_BYTES};

/// Name of the file in a home.
pub(crate) const KEYS_FILE: &str = "keys.toml";

/// Returns the key of a provider, if the file has one.
pub(crate) fn read_key(home: &Path, provider: &str) -> Result<Option<SecretString>> {
    let keys = read_key_table(home)?;
    let key = keys.get(provider).and_then(|key| key.as_str()).map(str::trim);
    Ok(key.filter(|key| !key.is_empty()).map(SecretString::new))
}

/// Saves the key of a provider; `None` removes it. The file is replaced atomically.
pub(crate) fn write_key(home: &Path, provider: &str, key: Option<&SecretString>) -> Result<()> {
    check_provider(provider)?;
    let failed = |error| CliError::io(home.join(KEYS_FILE).display().to_string(), error);
    create_private_folder(home).map_err(failed)?;
    let _lock = lock(&home.join(".keys.lock")).map_err(failed)?;
    let mut keys = read_key_table(home)?;
    match key {
        Some(key) => keys.insert(provider.to_owned(), key.reveal().trim().into()),
        None => keys.remove(provider),
    };
    let options = WriteOptions { durable: true, private: true, permissions: None };
    let temporary = home.join(format!(".{KEYS_FILE}.part"));
    // A file left by a process that died may be readable by others.
    everlore::internal::files::atomic_file::remove_if_exists(&temporary).map_err(failed)?;
    TempFile::write(temporary, keys.to_string().as_bytes(), options)
        .and_then(|written| written.persist(&home.join(KEYS_FILE)))
        .map_err(failed)
}

/// Rejects an unknown provider.
pub(crate) fn check_provider(provider: &str) -> Result<()> {
    if chat_provider(provider).is_some() {
        return Ok(());
    }
    let names = CHAT_PROVIDERS.map(|known| known.name).join(", ");
    Err(CliError::invalid(
        format!("there is no provider `{provider}`"),
        format!(
            "name one of {names}; for another that speaks OpenAI's protocol use openai and base_url"
        ),
    ))
}

/// Reads the file. Errors do not quote its text, which holds keys.
fn read_key_table(home: &Path) -> Result<Table> {
    let path = home.join(KEYS_FILE);
    let text = match regular_file::read_to_string(&path, MAX_SETTINGS_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Table::new()),
        text => text.map_err(|error| CliError::io(path.display().to_string(), error))?,
    };
    text.parse().map_err(|_| {
        CliError::invalid(
            format!("{} is not valid TOML", path.display()),
            "write a line such as openai = \"…\" for each provider, or delete the file and run `everlore config key PROVIDER`",
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn keys_are_saved_by_provider_for_the_user_alone_and_removed() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().join("home");
        let reveal = |name: &str| {
            read_key(&home, name).unwrap().map(|key| key.reveal().to_owned()).unwrap_or_default()
        };
        assert_eq!(reveal("openai"), "");
        write_key(&home, "openai", Some(&SecretString::new(" sk-\"1\" "))).unwrap();
        write_key(&home, "anthropic", Some(&SecretString::new("sk-2"))).unwrap();
        assert_eq!((reveal("openai"), reveal("anthropic")), ("sk-\"1\"".into(), "sk-2".into()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(home.join(KEYS_FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        write_key(&home, "openai", None).unwrap();
        assert_eq!((reveal("openai"), reveal("anthropic")), (String::new(), "sk-2".into()));
        assert!(write_key(&home, "opnai", Some(&SecretString::new("sk-3"))).is_err());
    }

    #[test]
    fn a_file_that_cannot_be_parsed_is_reported_without_its_keys() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(KEYS_FILE), "openai = sk-very-secret").unwrap();
        let error = format!("{:?}", read_key(home.path(), "openai").unwrap_err());
        assert!(error.contains("not valid TOML") && !error.contains("very-secret"), "{error}");
    }
}
