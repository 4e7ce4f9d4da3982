//! OpenAPI description of the API, built from routes and types. Only tests build it: they write `openapi.json`, which the server
//! serves. The code that builds it would be three times as large as the file.

use serde_json::{Value, json};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        Content, ObjectBuilder, Ref, ResponseBuilder, Type,
        path::{Operation, ParameterBuilder, ParameterIn},
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use super::{
    agent_database, agents, api_keys, audit, browsers, capture, checks, events, everything,
    experiences, fs, health, heartbeat, history, identity, layers, map, memories, model_calls,
    openapi_constraints, profile, prompt, proposals, recall, requests, schedules, scopes, sessions,
    settings, skills, stats, tools, trajectories, transfer, turns, upkeep, vault,
};
use crate::{compat, problem::ProblemBody, sign_in};

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
        profile::show, profile::set, profile::unset, profile::reject, profile::restore,
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
pub(super) struct ApiDoc;

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
pub(super) fn openapi() -> Value {
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
