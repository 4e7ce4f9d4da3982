//! Browsers that are signed in to the web page: each has a secret of its own in a cookie, which expires and can be
//! revoked. It stands for the owner's token or for a key, and ends with it.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::http::{HeaderMap, header};
use everlore::{
    Error, Result,
    internal::files::{
        atomic_file::lock,
        regular_file::{self, MAX_SETTINGS_BYTES},
    },
};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    lock as lock_mutex,
    token::{
        SecretDigest, constant_time_eq, digest_secret, generate_secret, hex, refuse_exposed,
        write_private,
    },
};

/// Header that the page sends with its cookie. Another site's page cannot send it without asking this server first,
/// which allows no site.
const PAGE_HEADER: &str = "x-everlore-page";

/// Time for which a browser stays signed in.
const LIFETIME: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Most browsers that are signed in; a new one ends the oldest.
const MAX_BROWSERS: usize = 50;

/// Longest description of a browser that is kept.
const MAX_PROGRAM_CHARS: usize = 200;

/// Signed-in browser without its secret, of which only a digest is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SignedInBrowser {
    /// Name for people and in routes; no secret.
    pub(crate) id: String,
    /// Program as it names itself.
    pub(crate) program: String,
    /// Time of the sign-in.
    pub(crate) created_at: Timestamp,
    /// Time at which the sign-in ends.
    pub(crate) expires_at: Timestamp,
    /// Digest of the cookie's secret.
    digest: String,
    /// Digest of the token or key that the browser stands for.
    credential: String,
}

impl SignedInBrowser {
    /// Returns the digest of the token or key that the browser stands for.
    pub(crate) fn credential(&self) -> Option<SecretDigest> {
        let byte =
            |at: usize| u8::from_str_radix(self.credential.get(at * 2..at * 2 + 2)?, 16).ok();
        let mut digest = SecretDigest::default();
        for (at, target) in digest.iter_mut().enumerate() {
            *target = byte(at)?;
        }
        Some(digest)
    }
}

/// Signed-in browsers of a home. They outlive the server: a restart signs nobody out.
pub(crate) struct SignedInBrowsers {
    path: PathBuf,
    /// Browsers as last read or written; this process is the only writer of the file.
    cached: Mutex<Option<Arc<Vec<SignedInBrowser>>>>,
    /// Number of changes since the start.
    changes: AtomicU64,
}

impl SignedInBrowsers {
    /// Names the file of a home; nothing is read yet.
    pub(crate) fn new(home: &Path) -> Self {
        Self {
            path: home.join("server.browsers.json"),
            cached: Mutex::default(),
            changes: AtomicU64::default(),
        }
    }

    /// Signs a browser in for a token or key, and returns the secret of its cookie.
    pub(crate) fn add(
        &self,
        credential: &SecretDigest,
        program: &str,
        now: Timestamp,
    ) -> Result<(SignedInBrowser, String)> {
        let secret = generate_secret()?;
        let digest = hex(&digest_secret(&secret));
        let browser = SignedInBrowser {
            id: digest[..12].to_owned(),
            program: program.chars().take(MAX_PROGRAM_CHARS).collect(),
            created_at: now,
            expires_at: now.checked_add(LIFETIME).unwrap_or(now),
            digest,
            credential: hex(credential),
        };
        self.update(now, |browsers| {
            browsers.push(browser.clone());
            let surplus = browsers.len().saturating_sub(MAX_BROWSERS);
            browsers.drain(..surplus);
        })?;
        Ok((browser, secret))
    }

    /// Returns the browsers that are signed in, the newest last.
    pub(crate) fn list(&self, now: Timestamp) -> Result<Vec<SignedInBrowser>> {
        let known = self.load_cached()?;
        Ok(known.iter().filter(|browser| browser.expires_at > now).cloned().collect())
    }

    /// Returns the browser whose cookie has this secret.
    pub(crate) fn find(&self, secret: &str, now: Timestamp) -> Result<Option<SignedInBrowser>> {
        let digest = hex(&digest_secret(secret));
        let is_own = |browser: &&SignedInBrowser| {
            constant_time_eq(browser.digest.as_bytes(), digest.as_bytes())
        };
        Ok(self.list(now)?.iter().find(is_own).cloned())
    }

    /// Returns a number that changes with the browsers.
    pub(crate) fn version(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Signs a browser out; `false` if there is none with this id.
    pub(crate) fn remove(&self, id: &str, now: Timestamp) -> Result<bool> {
        let mut is_known = false;
        self.update(now, |browsers| {
            is_known = browsers.iter().any(|browser| browser.id == id);
            browsers.retain(|browser| browser.id != id);
        })?;
        Ok(is_known)
    }

    fn update(&self, now: Timestamp, change: impl FnOnce(&mut Vec<SignedInBrowser>)) -> Result<()> {
        let failed = |error| Error::io(self.path.display().to_string(), error);
        let _lock = lock(&self.path.with_extension("lock")).map_err(failed)?;
        let mut browsers = self.list(now)?;
        change(&mut browsers);
        let bytes = serde_json::to_vec_pretty(&browsers).map_err(|error| failed(error.into()))?;
        write_private(&self.path, &bytes).map_err(failed)?;
        *lock_mutex(&self.cached) = Some(Arc::new(browsers));
        self.changes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn load_cached(&self) -> Result<Arc<Vec<SignedInBrowser>>> {
        let mut cached = lock_mutex(&self.cached);
        if let Some(known) = &*cached {
            return Ok(Arc::clone(known));
        }
        let read = Arc::new(self.load()?);
        *cached = Some(Arc::clone(&read));
        Ok(read)
    }

    /// Reads the file. A damaged one signs everybody out, and nothing else is lost with it.
    fn load(&self) -> Result<Vec<SignedInBrowser>> {
        refuse_exposed(&self.path)?;
        match regular_file::read(&self.path, MAX_SETTINGS_BYTES) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                tracing::warn!(path = %self.path.display(), %error, "the signed-in browsers cannot be read; all must sign in again");
                Vec::new()
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Error::io(self.path.display().to_string(), error)),
        }
    }
}

/// Cookie of this server's page. Cookies of one machine are shared by all its ports, so the name has the port.
pub(crate) struct PageCookie {
    name: String,
    /// Set with TLS: the browser then never sends the cookie in the clear.
    is_secure: bool,
}

impl PageCookie {
    /// Names the cookie of the server at this port.
    pub(crate) fn new(port: u16, is_secure: bool) -> Self {
        Self { name: format!("everlore_{port}"), is_secure }
    }

    /// Returns the header that signs a browser in. No script can read the cookie, and no other site's page can make a
    /// browser send it.
    pub(crate) fn sign_in(&self, secret: &str) -> String {
        self.header(secret, LIFETIME.as_secs())
    }

    /// Returns the header that removes the cookie.
    pub(crate) fn sign_out(&self) -> String {
        self.header("", 0)
    }

    fn header(&self, value: &str, max_age: i64) -> String {
        let (name, secure) = (&self.name, if self.is_secure { "; Secure" } else { "" });
        format!("{name}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Strict{secure}")
    }

    /// Returns the secret in the cookie of a request that the page made; `None` if the page's header is missing.
    pub(crate) fn secret<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        headers.get(PAGE_HEADER)?;
        let sent = headers.get_all(header::COOKIE).iter().filter_map(|pairs| pairs.to_str().ok());
        sent.flat_map(|pairs| pairs.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(name, _)| *name == self.name)
            .map(|(_, secret)| secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: SecretDigest = [7; 32];

    fn now() -> Timestamp {
        "2026-03-02T10:00:00Z".parse().unwrap()
    }

    fn browsers() -> (tempfile::TempDir, SignedInBrowsers) {
        let home = tempfile::tempdir().unwrap();
        let browsers = SignedInBrowsers::new(home.path());
        (home, browsers)
    }

    #[test]
    fn a_browser_stays_signed_in_until_it_is_revoked_or_expires() {
        let (home, browsers) = browsers();
        let (first, secret) = browsers.add(&OWNER, "Firefox 浏览器", now()).unwrap();
        let (second, other) = browsers.add(&OWNER, "Chromium", now()).unwrap();
        assert_eq!(browsers.find(&secret, now()).unwrap(), Some(first.clone()));
        assert_eq!(first.credential(), Some(OWNER));
        // Another process, such as this server after a restart, knows them too.
        let restarted = SignedInBrowsers::new(home.path());
        assert_eq!(restarted.find(&other, now()).unwrap(), Some(second.clone()));
        assert!(restarted.remove(&first.id, now()).unwrap());
        assert!(!restarted.remove(&first.id, now()).unwrap());
        assert_eq!(restarted.find(&secret, now()).unwrap(), None);
        let later = now() + LIFETIME;
        assert_eq!(restarted.find(&other, later).unwrap(), None);
        assert_eq!(restarted.list(now()).unwrap(), [second]);
    }

    #[test]
    fn only_digests_are_stored_and_the_oldest_of_too_many_is_signed_out() {
        let (home, browsers) = browsers();
        let (_, oldest) = browsers.add(&OWNER, "a", now()).unwrap();
        for _ in 0..MAX_BROWSERS {
            browsers.add(&OWNER, "b", now()).unwrap();
        }
        assert_eq!(browsers.list(now()).unwrap().len(), MAX_BROWSERS);
        assert_eq!(browsers.find(&oldest, now()).unwrap(), None);
        let (_, secret) = browsers.add(&OWNER, "c", now()).unwrap();
        let written = std::fs::read_to_string(home.path().join("server.browsers.json")).unwrap();
        assert!(!written.contains(&secret));
    }

    #[test]
    fn a_damaged_file_signs_everybody_out_and_can_be_written_again() {
        let (home, browsers) = browsers();
        std::fs::write(home.path().join("server.browsers.json"), "{").unwrap();
        assert_eq!(browsers.list(now()).unwrap(), []);
        let (_, secret) = browsers.add(&OWNER, "a", now()).unwrap();
        assert!(SignedInBrowsers::new(home.path()).find(&secret, now()).unwrap().is_some());
    }

    #[test]
    fn a_cookie_counts_only_with_the_header_of_the_page_and_for_its_port() {
        let mut headers = HeaderMap::new();
        headers
            .insert(header::COOKIE, "a=b; everlore_6636=evl_1; everlore_7=evl_2".parse().unwrap());
        let cookie = |port| PageCookie::new(port, false);
        assert_eq!(cookie(6636).secret(&headers), None);
        headers.insert(PAGE_HEADER, "1".parse().unwrap());
        assert_eq!(cookie(6636).secret(&headers), Some("evl_1"));
        assert_eq!(cookie(7).secret(&headers), Some("evl_2"));
        assert_eq!(cookie(8).secret(&headers), None);
        assert!(
            PageCookie::new(1, true)
                .sign_in("evl_3")
                .ends_with("HttpOnly; SameSite=Strict; Secure")
        );
    }
}
