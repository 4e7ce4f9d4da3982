//! Routes of other memory systems on the same engine, each behind a cargo feature.
//!
//! A compatible system is a folder with its routes and its shape of errors; the rest of the server reaches it only
//! through this module. Its handlers call the engine as `api` does and never the store.

#[cfg(feature = "mem0")]
mod mem0;
#[cfg(feature = "openviking")]
mod openviking;

use axum::{Router, extract::MatchedPath, http::Uri, response::Response};

use crate::App;

/// State that clients of other systems rely on between two requests; lost when the server ends.
#[cfg(any(feature = "mem0", feature = "openviking"))]
pub(crate) struct CompatState {
    /// Lists of mem0 that were paged through.
    #[cfg(feature = "mem0")]
    mem0_lists: crate::fifo_cache::FifoCache<mem0::CachedList>,
    /// Uploads and sessions of OpenViking.
    #[cfg(feature = "openviking")]
    viking: openviking::VikingState,
}

#[cfg(any(feature = "mem0", feature = "openviking"))]
impl Default for CompatState {
    fn default() -> Self {
        Self {
            #[cfg(feature = "mem0")]
            mem0_lists: crate::fifo_cache::FifoCache::with_capacity(mem0::MAX_CACHED_LISTS),
            #[cfg(feature = "openviking")]
            viking: openviking::VikingState::default(),
        }
    }
}

/// Adds the routes of all systems that are compiled in; each authenticates its own clients.
pub(crate) fn add_routes(router: Router<App>, app: &App) -> Router<App> {
    // Without any of them nothing else uses it.
    let _ = app;
    #[cfg(feature = "mem0")]
    let router = router.merge(mem0::router(app));
    #[cfg(feature = "openviking")]
    let router = router.merge(openviking::router(app));
    router
}

/// Adds the routes of mem0 to the description; OpenViking's are described by that system.
#[cfg(test)]
pub(crate) fn extend_openapi(api: &mut utoipa::openapi::OpenApi) {
    let _ = &api;
    #[cfg(feature = "mem0")]
    api.merge(mem0::openapi());
}

/// Returns the function that writes errors of a route in the shape of its system; `None` for every other route.
///
/// An unknown path counts as OpenViking's by its prefix; mem0 has no prefix of its own, so only its routes count.
pub(crate) fn error_formatter(
    route: Option<&MatchedPath>,
    uri: &Uri,
) -> Option<fn(Response) -> Response> {
    let _ = (route, uri);
    #[cfg(feature = "openviking")]
    if openviking::is_viking_route(route.map_or(uri.path(), MatchedPath::as_str)) {
        return Some(openviking::to_error_envelope);
    }
    #[cfg(feature = "mem0")]
    if route.is_some_and(|route| mem0::is_mem0_route(route.as_str())) {
        return Some(mem0::to_detail_response);
    }
    None
}
