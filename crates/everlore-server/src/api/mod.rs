//! Routes, one file per noun, and their OpenAPI description.
//!
//! A route is a handler with `utoipa::path`, named in its file's `routes` and in `api_doc`; a test compares both.
//! The routes of other protocols (MCP, the proxy, compatible systems) are merged into [`router`] beside these.

#[cfg(test)]
mod api_doc;
#[cfg(test)]
mod openapi_constraints;
pub(crate) mod health;
mod memories;
mod everything;
mod checks;
mod history;
mod recall;
mod turns;
mod sessions;
mod layers;
mod tools;
mod fs;
mod stats;
mod transfer;
mod upkeep;
mod audit;
mod proposals;
mod skills;
mod schedules;
mod heartbeat;
mod profile;
mod trajectories;
mod model_calls;
mod scopes;
mod events;
mod vault;
mod capture;
mod experiences;
mod agents;
mod agent_database;
mod settings;
mod identity;
mod api_keys;
mod browsers;
mod map;
mod prompt;
mod requests;

use std::sync::LazyLock;

use axum::{
    Router,
    body::Bytes,
    http::{StatusCode, header},
    middleware::{from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::Value;

use crate::{
    App, Problem, auth::authenticate, compat, connections::check_reserved, docs_page,
    error_format::format_errors, host_guard::check_host_and_origin, mcp, sign_in,
    trace::trace_request, web_page,
};

/// Builds the router of the whole server.
pub(crate) fn router(app: App) -> Router {
    let authorized = from_fn_with_state(app.clone(), authenticate);
    let authenticated = authenticated_routes().route_layer(authorized);
    let public = health::routes()
        .merge(docs_page::routes())
        .merge(web_page::routes())
        .merge(sign_in::routes())
        .route("/v1/openapi.json", get(serve_openapi));
    let routes = compat::add_routes(authenticated.merge(public), &app);
    #[cfg(feature = "remote")]
    let routes = routes.merge(crate::proxy::routes(&app));
    routes
        .fallback(async || unknown_route())
        .method_not_allowed_fallback(async || method_not_allowed())
        .layer(from_fn_with_state(app.clone(), check_reserved))
        .layer(from_fn_with_state(app.clone(), check_host_and_origin))
        .layer(from_fn(format_errors))
        .layer(from_fn_with_state(app.clone(), trace_request))
        .with_state(app)
}

/// Returns the routes that need a token or a key.
fn authenticated_routes() -> Router<App> {
    Router::new()
        .merge(memories::routes())
        .merge(everything::routes())
        .merge(checks::routes())
        .merge(history::routes())
        .merge(recall::routes())
        .merge(turns::routes())
        .merge(sessions::routes())
        .merge(layers::routes())
        .merge(tools::routes())
        .merge(fs::routes())
        .merge(stats::routes())
        .merge(transfer::routes())
        .merge(upkeep::routes())
        .merge(audit::routes())
        .merge(proposals::routes())
        .merge(skills::routes())
        .merge(schedules::routes())
        .merge(heartbeat::routes())
        .merge(profile::routes())
        .merge(trajectories::routes())
        .merge(model_calls::routes())
        .merge(scopes::routes())
        .merge(events::routes())
        .merge(vault::routes())
        .merge(capture::routes())
        .merge(experiences::routes())
        .merge(agents::routes())
        .merge(agent_database::routes())
        .merge(settings::routes())
        .merge(identity::routes())
        .merge(api_keys::routes())
        .merge(browsers::routes())
        .merge(map::routes())
        .merge(prompt::routes())
        .merge(requests::routes())
        .merge(health::authenticated_routes())
        .merge(mcp::routes())
}

/// Description of a server with all routes; a test keeps it up to date.
const DESCRIPTION: &str = include_str!("openapi.json");

/// Tags of the routes that a server has only with a feature of that name.
const FEATURE_TAGS: [(&str, bool); 2] =
    [("proxy", cfg!(feature = "remote")), ("mem0", cfg!(feature = "mem0"))];

/// Serves the description.
async fn serve_openapi() -> Response {
    static SERVED: LazyLock<Bytes> = LazyLock::new(|| {
        if FEATURE_TAGS.iter().all(|(_, is_on)| *is_on) {
            return Bytes::from_static(DESCRIPTION.as_bytes());
        }
        description_without_tags(&FEATURE_TAGS).into()
    });
    ([(header::CONTENT_TYPE, "application/json")], SERVED.clone()).into_response()
}

/// Returns the description without the routes whose feature is off.
fn description_without_tags(tags: &[(&str, bool)]) -> String {
    let mut api: Value = serde_json::from_str(DESCRIPTION).unwrap_or_default();
    let is_off = |tag: &Value| tags.iter().any(|(name, is_on)| tag == name && !is_on);
    if let Some(paths) = api["paths"].as_object_mut() {
        for item in paths.values_mut().filter_map(Value::as_object_mut) {
            item.retain(|_, operation| !is_off(&operation["tags"][0]));
        }
        paths.retain(|_, item| item.as_object().is_some_and(|item| !item.is_empty()));
    }
    api.to_string()
}

fn unknown_route() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "no_route",
        "there is nothing at this path",
        "see /docs for the routes",
    )
}

fn method_not_allowed() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "no_method",
        "this path does not support this method",
        "see /docs for its methods",
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;
    use utoipa::OpenApi;

    use super::{
        api_doc::{ApiDoc, openapi},
        *,
    };

    #[cfg(all(feature = "remote", feature = "mem0"))]
    #[test]
    fn the_description_is_what_it_was() {
        insta::assert_json_snapshot!(openapi());
    }

    #[cfg(all(feature = "remote", feature = "mem0"))]
    #[test]
    fn the_description_that_is_served_is_up_to_date() {
        let built = openapi().to_string();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/api/openapi.json");
            std::fs::write(file, built).unwrap();
            return;
        }
        let advice = "run `UPDATE_DOCS=1 cargo test -p everlore-server api` and commit the result";
        assert!(built == DESCRIPTION, "src/api/openapi.json is out of date: {advice}");
    }

    #[test]
    fn every_route_is_described_and_every_description_is_routed() {
        let sources = [
            include_str!("memories.rs"),
            include_str!("everything.rs"),
            include_str!("checks.rs"),
            include_str!("history.rs"),
            include_str!("recall.rs"),
            include_str!("turns.rs"),
            include_str!("sessions.rs"),
            include_str!("layers.rs"),
            include_str!("tools.rs"),
            include_str!("fs.rs"),
            include_str!("stats.rs"),
            include_str!("scopes.rs"),
            include_str!("transfer.rs"),
            include_str!("upkeep.rs"),
            include_str!("audit.rs"),
            include_str!("proposals.rs"),
            include_str!("skills.rs"),
            include_str!("schedules.rs"),
            include_str!("heartbeat.rs"),
            include_str!("profile.rs"),
            include_str!("trajectories.rs"),
            include_str!("model_calls.rs"),
            include_str!("events.rs"),
            include_str!("vault.rs"),
            include_str!("capture.rs"),
            include_str!("experiences.rs"),
            include_str!("agents.rs"),
            include_str!("agent_database.rs"),
            include_str!("settings.rs"),
            include_str!("health.rs"),
            include_str!("identity.rs"),
            include_str!("api_keys.rs"),
            include_str!("browsers.rs"),
            include_str!("map.rs"),
            include_str!("prompt.rs"),
            include_str!("requests.rs"),
            include_str!("../sign_in.rs"),
            #[cfg(feature = "remote")]
            include_str!("../proxy/routes.rs"),
        ];
        let routed: BTreeSet<String> = sources
            .iter()
            .flat_map(|source| source.split(".route(").skip(1))
            .map(|rest| rest.split('"').nth(1).unwrap().replace("{*", "{"))
            .collect();
        let mut api = ApiDoc::openapi();
        #[cfg(feature = "remote")]
        api.merge(crate::proxy::api_doc());
        let described: BTreeSet<String> = api.paths.paths.keys().cloned().collect();
        assert_eq!(routed, described);
    }

    #[test]
    fn names_for_programs_are_told_apart() {
        let api = openapi();
        let items = api["paths"].as_object().unwrap().values();
        let names: Vec<&str> = items
            .flat_map(|item| item.as_object().unwrap().values())
            .map(|operation| operation["operationId"].as_str().unwrap())
            .collect();
        let different: BTreeSet<&&str> = names.iter().collect();
        assert_eq!(names.len(), different.len(), "{names:?}");
    }

    #[test]
    fn a_server_without_a_feature_describes_no_route_of_it() {
        let without = description_without_tags(&[("proxy", false), ("mem0", false)]);
        let api: Value = serde_json::from_str(&without).unwrap();
        let described: BTreeSet<&str> =
            api["paths"].as_object().unwrap().keys().map(String::as_str).collect();
        let own = json!(ApiDoc::openapi());
        let own: BTreeSet<&str> =
            own["paths"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(described, own);
    }

    #[test]
    fn the_description_is_openapi_3_1() {
        let api = openapi();
        assert_eq!(api["openapi"], "3.1.0");
    }
}
