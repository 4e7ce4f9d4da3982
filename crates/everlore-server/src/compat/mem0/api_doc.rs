//! OpenAPI description of mem0's routes, which only tests build.

use serde::Serialize;
use utoipa::{
    Modify, OpenApi, ToSchema,
    openapi::{
        Content, HttpMethod,
        HttpMethod::{Delete, Get, Post, Put},
        Ref, RefOr, ResponseBuilder,
        path::Parameter,
    },
};

use super::{add, change, memories, search, status};

/// Paths of older clients and of the open-source server that another route answers too: method, path, name, route,
/// a parameter that these clients do not know, and the summary.
#[rustfmt::skip]
const ALIASES: [(HttpMethod, [&str; 4], &str); 9] = [
    (Post, ["/v1/memories/", "add_v1", "/v3/memories/add/", ""], "Add memories at the path of older clients"),
    (Post, ["/memories", "add_open", "/v3/memories/add/", ""], "Add memories at the path of the open-source server"),
    (Post, ["/v1/memories/search/", "search_v1", "/v2/memories/search/", ""], "Search at the first version's path"),
    (Post, ["/v1/exports/get/", "get_export", "/v1/exports/", ""], "Fetch an export: hosted service only"),
    (Get, ["/memories/{id}", "show_open", "/v1/memories/{id}/", ""],
        "Show one memory at the path of the open-source server"),
    (Get, ["/memories/{id}/history", "history_open", "/v1/memories/{id}/history/", ""],
        "Show the history of a memory at the path of the open-source server"),
    (Put, ["/memories/{id}", "update_open", "/v1/memories/{id}/", ""],
        "Update a memory at the path of the open-source server"),
    (Delete, ["/memories/{id}", "delete_open", "/v1/memories/{id}/", "delete_linked"],
        "Delete a memory at the path of the open-source server"),
    (Delete, ["/memories", "delete_all_open", "/v1/memories/", "app_id"],
        "Delete all memories of some ids, at the path of the open-source server"),
];

/// Error as mem0's clients read it.
#[derive(Serialize, ToSchema)]
#[schema(as = Mem0Detail)]
pub(super) struct Mem0Detail {
    /// Error, and advice.
    detail: String,
}

#[derive(OpenApi)]
#[openapi(
    paths(
        status::ping, status::entities, status::event, status::events,
        status::make_export, status::summarize, status::profile,
        add::add, search::search, search::search_v2, search::search_open,
        memories::list, memories::list_v1, memories::list_v2, memories::list_open,
        memories::show, memories::history, change::update, change::delete, change::delete_all,
        change::reset, change::delete_entity, change::update_batch, change::delete_batch, change::feedback,
    ),
    components(schemas(Mem0Detail)),
    modifiers(&Mem0Modifier),
    security(("bearer" = [])),
)]
struct Mem0ApiDoc;

/// Adds the aliases, and what these routes share: operation ids and the shape of errors.
struct Mem0Modifier;

impl Modify for Mem0Modifier {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        for (method, [path, name, route, unknown], summary) in ALIASES {
            let Some(operation) = api.paths.get_path_operation(route, method.clone()) else {
                continue;
            };
            let mut alias = operation.clone();
            alias.operation_id = Some(name.to_owned());
            (alias.summary, alias.description) = (Some(summary.to_owned()), None);
            let is_known =
                |it: &RefOr<Parameter>| !matches!(it, RefOr::T(it) if it.name == unknown);
            alias.parameters.iter_mut().for_each(|all| all.retain(is_known));
            api.paths.add_path_operation(path, vec![method], alias);
        }
        for item in api.paths.paths.values_mut() {
            let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete];
            for operation in operations.into_iter().flatten() {
                operation.operation_id =
                    operation.operation_id.take().map(|name| format!("mem0_{name}"));
                let detail = Content::new(Some(Ref::from_schema_name("Mem0Detail")));
                let detail =
                    ResponseBuilder::new().description("Error").content("application/json", detail);
                operation.responses.responses.insert("default".to_owned(), detail.build().into());
            }
        }
    }
}

/// Returns the OpenAPI description of these routes.
pub(in crate::compat) fn openapi() -> utoipa::openapi::OpenApi {
    Mem0ApiDoc::openapi()
}
