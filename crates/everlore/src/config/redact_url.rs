//! Addresses of databases without their passwords.

/// Stand-in of a password.
pub(crate) const HIDDEN_PASSWORD: &str = "***";

/// Returns an address without its password; one without `://` has none. A password that should have been escaped may
/// contain anything but ends at the last `@`.
pub(crate) fn redact_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (login, place) = rest.rsplit_once('@').unwrap_or(("", rest));
    let login = match login.split_once(':') {
        Some((user, _)) => format!("{user}:{HIDDEN_PASSWORD}@"),
        None if login.is_empty() => String::new(),
        None => format!("{login}@"),
    };
    let (base, query) = place.split_once('?').unwrap_or((place, ""));
    let shown = |pair: &str| match pair.split_once('=') {
        Some((key, _)) if key.to_ascii_lowercase().contains("pass") => {
            format!("{key}={HIDDEN_PASSWORD}")
        }
        _ => pair.to_owned(),
    };
    let pairs: Vec<String> = query.split('&').map(shown).collect();
    let separator = if query.is_empty() { "" } else { "?" };
    format!("{scheme}://{login}{base}{separator}{}", pairs.join("&"))
}
