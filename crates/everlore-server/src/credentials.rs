//! Credentials of a home: the owner's token, keys, and the browsers that stand for either.

use std::path::Path;

use axum::http::StatusCode;
use everlore::Error;
use jiff::Timestamp;

use crate::{
    KeyRole, Problem,
    auth::Caller,
    browsers::SignedInBrowsers,
    keys::{ApiKey, ApiKeys},
    token::{self, SecretDigest, constant_time_eq, digest_secret},
};

/// Owner's token, keys and signed-in browsers of a home.
pub(crate) struct Credentials {
    token: SecretDigest,
    keys: ApiKeys,
    pub(crate) browsers: SignedInBrowsers,
}

impl Credentials {
    /// Reads the token, or creates it.
    pub(crate) fn open(home: &Path) -> everlore::Result<Self> {
        Ok(Self {
            token: token::load_or_create(home)?,
            keys: ApiKeys::new(home),
            browsers: SignedInBrowsers::new(home),
        })
    }

    /// Returns the caller with this secret.
    pub(crate) fn find_caller(&self, secret: &str) -> Result<Option<Caller>, Problem> {
        self.find_by_digest(digest_secret(secret))
    }

    /// Returns the caller whose browser has this secret in its cookie: the bearer of the token or key that it stands for.
    pub(crate) fn find_by_cookie(&self, secret: &str) -> Result<Option<Caller>, Problem> {
        let browser = self.browsers.find(secret, Timestamp::now())?;
        let Some((browser, digest)) = browser.and_then(|it| it.credential().map(|of| (it, of)))
        else {
            return Ok(None);
        };
        let caller = self.find_by_digest(digest)?;
        Ok(caller.map(|caller| Caller { browser: Some(browser.id), ..caller }))
    }

    fn find_by_digest(&self, digest: SecretDigest) -> Result<Option<Caller>, Problem> {
        if constant_time_eq(&self.token, &digest) {
            return Ok(Some(Caller {
                name: "token".to_owned(),
                role: KeyRole::Admin,
                bound_scope: None,
                secret: digest,
                browser: None,
                permit: None,
            }));
        }
        let key = self.keys.find(&digest).map_err(|error| unreadable_keys(&error))?;
        Ok(key.map(|ApiKey { name, scope, role, .. }| Caller {
            name: format!("key:{name}"),
            role,
            bound_scope: Some(scope),
            secret: digest,
            browser: None,
            permit: None,
        }))
    }

    /// Returns the digest of the owner's token.
    pub(crate) fn token(&self) -> SecretDigest {
        self.token
    }

    /// Returns `true` for the owner's token.
    pub(crate) fn is_token(&self, secret: &str) -> bool {
        constant_time_eq(&self.token, &digest_secret(secret))
    }

    /// Returns `true` for the cookie of a browser that stands for the owner's token.
    pub(crate) fn is_owner_cookie(&self, secret: &str) -> bool {
        let found = self.find_by_cookie(secret);
        found.is_ok_and(|caller| caller.is_some_and(|caller| caller.bound_scope.is_none()))
    }

    /// Returns `true` if the caller's token or key is still accepted, and its browser still signed in.
    pub(crate) fn is_current(&self, caller: &Caller) -> bool {
        let is_accepted = constant_time_eq(&self.token, &caller.secret)
            || self.keys.find(&caller.secret).is_ok_and(|key| key.is_some());
        is_accepted && caller.browser.as_ref().is_none_or(|id| self.is_signed_in(id))
    }

    fn is_signed_in(&self, browser: &str) -> bool {
        let known = self.browsers.list(Timestamp::now());
        known.is_ok_and(|known| known.iter().any(|one| one.id == browser))
    }

    /// Returns a number that changes whenever the keys or the signed-in browsers do.
    pub(crate) fn keys_version(&self) -> u64 {
        self.keys.version().wrapping_add(self.browsers.version())
    }
}

/// Returns the problem of a damaged key file. The owner's token works without it; the cause is for the log.
fn unreadable_keys(error: &Error) -> Problem {
    tracing::error!(%error, "the keys cannot be read, so none is accepted");
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "keys_unreadable",
        "the server cannot read its keys",
        "the owner repairs or deletes server.keys.json in the home; the owner's token still works",
    )
}
