//! Routes, one file per noun, and their OpenAPI description.
//!
//! A route is a handler with `#[utoipa::path]`, named in its file's `routes` and in [`ApiDoc`]; a test compares both.
//! The routes of other protocols (MCP, the proxy, compatible systems) are merged into [`router`] beside these.

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

use axum::{
    Router,
    http::{StatusCode, header},
    middleware::{from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        Content, ObjectBuilder, Ref, ResponseBuilder, Type,
        path::{Operation, ParameterBuilder, ParameterIn},
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use crate::{
    App, Problem, auth::authenticate, compat, connections::check_reserved, docs_page,
    error_format::format_errors, host_guard::check_host_and_origin, mcp, problem::ProblemBody,
    sign_in, trace::trace_request, web_page,
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

#[derive(OpenApi)]
#[openapi(
    info(title = "Everlore", description = "Long-term memory for LLM agents", license(name = "Apache-2.0 OR MIT")),
    paths(
        memories::list, memories::save, memories::show, memories::edit, memories::delete,
        memories::archive, memories::restore, memories::weigh, memories::give_feedback, memories::forget, everything::remove,
        checks::verify,
        history::of_memory, history::list, history::undo, history::redo,
        recall::recall, recall::context,
        turns::observe, turns::observe_batch,
        prompt::preview,
        sessions::end, sessions::answered, sessions::injections, sessions::newest,
        layers::list, layers::show, layers::edit,
        tools::list, tools::call,
        fs::list, fs::tree, fs::read, fs::stat, fs::find, fs::grep, fs::inject, fs::status, fs::add, fs::remove,
        stats::stats, stats::activity, scopes::list,
        transfer::export, transfer::import,
        upkeep::upkeep,
        audit::audit, audit::fix,
        proposals::reflect, proposals::list, proposals::show, proposals::approve, proposals::reject, proposals::rollback,
        proposals::reopen,
        skills::list_skills, skills::show_skill, skills::update_skill, skills::remove_skill, skills::skill_history,
        skills::roll_back_skill, skills::retire_skill, skills::restore_skill, skills::report_skill,
        skills::list_workflows, skills::show_workflow, skills::remove_workflow, skills::workflow_history,
        skills::roll_back_workflow, skills::retire_workflow, skills::restore_workflow, skills::report_workflow,
        schedules::list, schedules::add, schedules::explain, schedules::remove,
        heartbeat::status, heartbeat::history, heartbeat::switch,
        profile::show, profile::set, profile::unset,
        trajectories::list, trajectories::show, trajectories::export,
        model_calls::count, model_calls::embed, model_calls::providers, model_calls::store,
        events::events,
        vault::list, vault::show, vault::write, vault::sync,
        capture::waiting, capture::extract, capture::list, capture::show, capture::restore, capture::reopen, capture::drop_held, capture::ledger,
        experiences::list, experiences::add, experiences::find, experiences::show, experiences::edit,
        experiences::delete, experiences::report,
        agents::list, agents::settings, agent_database::show, agent_database::change,
        settings::show, settings::replace, settings::merge, settings::reset,
        identity::me, api_keys::list, api_keys::add, api_keys::remove, sign_in::sign_in, requests::list,
        browsers::list, browsers::remove, browsers::sign_out, map::map,
        health::health, health::ready, health::metrics, health::snapshot,
    ),
    components(schemas(ProblemBody)),
    modifiers(&ApiModifier),
    security(("bearer" = [])),
)]
struct ApiDoc;

/// Adds what all routes share: operation ids, authentication, scope parameters and problems.
struct ApiModifier;

impl Modify for ApiModifier {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        api.components.get_or_insert_default().add_security_scheme("bearer", scheme);
        for (path, item) in &mut api.paths.paths {
            let operations =
                [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete];
            for operation in operations.into_iter().flatten() {
                complete_operation(path, operation);
            }
        }
    }
}

fn complete_operation(path: &str, operation: &mut Operation) {
    let tag = operation.tags.iter().flatten().next().cloned().unwrap_or_default();
    operation.operation_id = operation.operation_id.take().map(|name| format!("{tag}_{name}"));
    let problem = Content::new(Some(Ref::from_schema_name("Problem")));
    let problem = ResponseBuilder::new()
        .description("Problem document (RFC 9457)")
        .content("application/problem+json", problem);
    operation.responses.responses.insert("default".to_owned(), problem.build().into());
    // Where the path names the agent, the user does not matter; a sign-in is for all of them.
    if !path.starts_with("/v1/") || path.contains("{agent}") || path == "/v1/sign-in" {
        return;
    }
    let parameters = operation.parameters.get_or_insert_default();
    for (name, description) in
        [("agent", "Agent whose memory is meant"), ("user", "User whose memory is meant")]
    {
        let text = ObjectBuilder::new().schema_type(Type::String);
        let parameter = ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Query)
            .description(Some(format!("{description}; that of the key or the settings by default")))
            .schema(Some(text));
        parameters.push(parameter.build().into());
    }
}

/// Returns the OpenAPI 3.1 description of the API.
pub fn openapi() -> Value {
    let mut api = ApiDoc::openapi();
    compat::extend_openapi(&mut api);
    #[cfg(feature = "remote")]
    api.merge(crate::proxy::api_doc());
    let mut api = json!(api);
    #[cfg(feature = "remote")]
    crate::proxy::complete_openapi(&mut api);
    openapi_constraints::add_constraints(&mut api);
    api
}

/// Description of a server with all routes, as [`openapi`] builds it; a test keeps it up to date.
#[cfg(all(feature = "remote", feature = "mem0"))]
const DESCRIPTION: &str = include_str!("openapi.json");

/// Serves the description from its file: the code that builds it is three times as large, and only the tests need it.
#[cfg(all(feature = "remote", feature = "mem0"))]
async fn serve_openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], DESCRIPTION).into_response()
}

/// Serves the description, which is built once: it is large, and anyone may ask for it.
#[cfg(not(all(feature = "remote", feature = "mem0")))]
async fn serve_openapi() -> Response {
    static BUILT: std::sync::LazyLock<axum::body::Bytes> =
        std::sync::LazyLock::new(|| openapi().to_string().into());
    ([(header::CONTENT_TYPE, "application/json")], BUILT.clone()).into_response()
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

    use super::*;

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
    fn the_description_is_openapi_3_1() {
        let api = openapi();
        assert_eq!(api["openapi"], "3.1.0");
    }
}
