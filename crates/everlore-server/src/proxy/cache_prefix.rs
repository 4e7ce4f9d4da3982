//! What a provider's cache can use of a request: the bytes before what memory adds, and how many of them are as before (A8).

use axum::http::{HeaderMap, HeaderValue};
use everlore::prompt::PrefixDigest;

use super::{inject::InjectionOutcome, request::ProxiedRequest, session::ProxySession};

/// The beginning of a request.
pub(super) struct CachePrefix {
    mark: PrefixDigest,
    /// Bytes of the turn before that are no longer there; none if there was no turn before.
    changed_bytes: Option<usize>,
}

impl CachePrefix {
    /// Compares the beginning with that of the turn before, and keeps it for the next one.
    pub(super) fn record(
        asked: &ProxiedRequest,
        identity: &ProxySession,
        added: &InjectionOutcome,
        body: &[u8],
    ) -> Option<Self> {
        let app = &identity.access.app;
        let key = format!("{}\n{}", identity.access.scope, identity.session);
        let mark = PrefixDigest::of(body.get(..asked.prefix_bytes()?)?);
        let before = app.proxy.prefixes.get(&key);
        let changed = before.map(|before| before.changed_bytes(body));
        app.proxy.prefixes.put(key, mark.clone());
        let added = if let InjectionOutcome::Block(block) = added { block.text.len() } else { 0 };
        app.metrics.record_prompt(mark.bytes(), changed.unwrap_or(0), added);
        tracing::debug!(prefix = mark.bytes(), changed, added, "passed on");
        Some(Self { mark, changed_bytes: changed })
    }

    /// Says it in figures.
    pub(super) fn write_headers(&self, headers: &mut HeaderMap) {
        headers.insert("x-everlore-prefix-bytes", HeaderValue::from(self.mark.bytes()));
        if let Ok(print) = HeaderValue::from_str(self.mark.fingerprint()) {
            headers.insert("x-everlore-prefix-fingerprint", print);
        }
        if let Some(changed) = self.changed_bytes {
            headers.insert("x-everlore-prefix-changed-bytes", HeaderValue::from(changed));
        }
    }
}
