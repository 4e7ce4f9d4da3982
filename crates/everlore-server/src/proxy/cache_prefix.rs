//! Cacheable prefix of a request: the bytes before the injected block, and how many of them a provider can reuse.

use axum::http::{HeaderMap, HeaderValue};
use everlore::internal::prompt::PrefixDigest;

use super::{inject::InjectionOutcome, request::ProxiedRequest, session::ProxySession};

/// Prefix of a request.
pub(super) struct CachePrefix {
    prefix: PrefixDigest,
    /// Bytes of the previous request's prefix that changed; `None` on the first turn.
    changed_bytes: Option<usize>,
}

impl CachePrefix {
    /// Compares the prefix with that of the previous turn, and remembers it for the next one.
    pub(super) fn record(
        request: &ProxiedRequest,
        session: &ProxySession,
        injection: &InjectionOutcome,
        body: &[u8],
    ) -> Option<Self> {
        let app = &session.access.app;
        let key = format!("{}\n{}", session.access.scope, session.session);
        let prefix = PrefixDigest::of(body.get(..request.prefix_bytes()?)?);
        let previous = app.proxy.prefixes.get(&key);
        let changed_bytes = previous.map(|previous| previous.changed_bytes(body));
        app.proxy.prefixes.put(key, prefix.clone());
        let injected =
            if let InjectionOutcome::Block(block) = injection { block.text.len() } else { 0 };
        app.metrics.record_prompt(prefix.bytes(), changed_bytes.unwrap_or(0), injected);
        tracing::debug!(prefix = prefix.bytes(), changed_bytes, injected, "relayed");
        Some(Self { prefix, changed_bytes })
    }

    /// Reports the sizes in response headers.
    pub(super) fn write_headers(&self, headers: &mut HeaderMap) {
        headers.insert("x-everlore-prefix-bytes", HeaderValue::from(self.prefix.bytes()));
        if let Ok(fingerprint) = HeaderValue::from_str(self.prefix.fingerprint()) {
            headers.insert("x-everlore-prefix-fingerprint", fingerprint);
        }
        if let Some(changed_bytes) = self.changed_bytes {
            headers.insert("x-everlore-prefix-changed-bytes", HeaderValue::from(changed_bytes));
        }
    }
}
