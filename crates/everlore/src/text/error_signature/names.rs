//! Names: quoted words of a message and the package a user calls their own.

use std::sync::LazyLock;

use regex::Regex;

/// Returns the quoted names, the dotted ones (`Contoso.Billing`) and the paths of a message in lower case, each once.
pub(super) fn quoted(message: &str) -> Vec<String> {
    let mut names = Vec::new();
    let patterns = [&QUOTED, &DOTTED, &PATH];
    for found in patterns.iter().flat_map(|pattern| pattern.captures_iter(message)) {
        let name = found[1].to_lowercase();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns whether `module` is a package of the project whose files `paths` lists: a folder or file on the way to one
/// of them bears its name.
pub(super) fn is_own_package(module: &str, paths: &[String]) -> bool {
    let top = module.split('.').next().unwrap_or(module);
    paths.iter().any(|path| {
        path.split('/').any(|part| part == top || part.strip_suffix(".py") == Some(top))
    })
}

/// Names of packages and types in capitals, where nothing quotes them.
static DOTTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[ (,])([A-Z]\w*(?:\.[A-Z]\w*)+)(?:$|[ ,;:.)])").expect("the pattern is valid")
});

/// Paths of at least two folders or files, where nothing quotes them.
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[ (:,])(/[\w.-]+(?:/[\w.-]+)+)(?:$|[ ,;:)])").expect("the pattern is valid")
});

static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"'([^'\s]{1,80})'").expect("the pattern is valid"));

#[cfg(test)]
mod tests {
    use super::{is_own_package, quoted};

    #[test]
    fn quoted_names_are_kept_once() {
        assert_eq!(quoted("no 'Yaml' and 'yaml' but 'two words' in 'b'"), ["yaml", "b"]);
        assert_eq!(
            quoted("Unable to find package Foo.Bar. in /var/log/a"),
            ["foo.bar", "/var/log/a"]
        );
    }

    #[test]
    fn an_own_package_is_a_folder_of_the_project() {
        let paths = ["/home/dana/shop/shop/scripts/backfill.py".to_owned()];
        assert!(is_own_package("shop.models", &paths));
        assert!(!is_own_package("yaml", &paths));
    }
}
