//! `/api/v1/resources`: a file is uploaded first and added to the tree in a second request.

use std::{
    collections::{HashSet, VecDeque},
    sync::Mutex,
};

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use everlore::{
    Scope,
    engine::fs::{FsAddRequest, to_viking},
};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::envelope::{VikingResponse, VikingResult};
use crate::{
    App, JsonBody, Problem, Writer,
    body::{check_content_type, read_body},
    lock,
    offload::offload,
};

/// Pending uploads, and their bytes together: they are in RAM.
const MAX_UPLOADS: usize = 64;
const MAX_UPLOAD_BYTES: usize = 256 * 1024 * 1024;

/// Parts of a form that are looked at: clients send a file and a few fields.
const MAX_PARTS: usize = 32;

/// Longest boundary of a form (RFC 2046).
const MAX_BOUNDARY_BYTES: usize = 70;

/// Sessions that were created and have no turn yet.
const MAX_OPEN_SESSIONS: usize = 10_000;

/// State between two requests of a client.
#[derive(Default)]
pub(in crate::compat) struct VikingState {
    uploads: Mutex<VecDeque<PendingUpload>>,
    open_sessions: Mutex<HashSet<(Scope, String)>>,
}

/// Uploaded file that was not added yet.
struct PendingUpload {
    id: String,
    scope: Scope,
    name: String,
    bytes: Bytes,
}

impl VikingState {
    /// Adds an upload, and drops the oldest ones beyond the limits.
    fn add_upload(&self, scope: &Scope, name: String, bytes: Bytes) -> String {
        let id = format!("upload-{}", Uuid::now_v7());
        let mut files = lock(&self.uploads);
        files.push_back(PendingUpload { id: id.clone(), scope: scope.clone(), name, bytes });
        let size =
            |files: &VecDeque<PendingUpload>| files.iter().map(|it| it.bytes.len()).sum::<usize>();
        while files.len() > MAX_UPLOADS || size(&files) > MAX_UPLOAD_BYTES {
            files.pop_front();
        }
        id
    }

    /// Takes an upload; only its own scope gets it.
    fn take_upload(&self, scope: &Scope, id: &str) -> Option<(String, Bytes)> {
        let mut files = lock(&self.uploads);
        let at = files.iter().position(|file| file.id == id && file.scope == *scope)?;
        files.remove(at).map(|file| (file.name, file.bytes))
    }

    /// Remembers a session without turns.
    pub(super) fn open_session(&self, scope: &Scope, session: &str) {
        let mut open = lock(&self.open_sessions);
        if open.len() < MAX_OPEN_SESSIONS {
            open.insert((scope.clone(), session.to_owned()));
        }
    }

    pub(super) fn is_session_open(&self, scope: &Scope, session: &str) -> bool {
        lock(&self.open_sessions).contains(&(scope.clone(), session.to_owned()))
    }

    pub(super) fn close_session(&self, scope: &Scope, session: &str) -> bool {
        lock(&self.open_sessions).remove(&(scope.clone(), session.to_owned()))
    }
}

/// File of a multipart form.
pub(super) struct UploadedFile {
    name: String,
    bytes: Bytes,
}

impl FromRequest<App> for UploadedFile {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        check_content_type(request.headers(), "multipart/form-data")?;
        let boundary = boundary(request.headers())?;
        let bytes = read_body(request.into_body(), &app.options).await?;
        find_file_part(&bytes, &boundary).ok_or_else(|| {
            Problem::invalid("the form has no file", "send it as the part `file` with a filename")
        })
    }
}

/// Returns the line that separates the parts of a form.
fn boundary(headers: &HeaderMap) -> Result<String, Problem> {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let boundary = value.and_then(|value| value.split_once("boundary="));
    let boundary = boundary.map(|(_, rest)| rest.split(';').next().unwrap_or(rest));
    let boundary = boundary.unwrap_or_default().trim().trim_matches('"');
    if (1..=MAX_BOUNDARY_BYTES).contains(&boundary.len()) {
        return Ok(format!("--{boundary}"));
    }
    Err(Problem::invalid(
        "the boundary of the form is missing or too long",
        format!("send a boundary of 1 to {MAX_BOUNDARY_BYTES} characters, as RFC 2046 requires"),
    ))
}

/// Finds the part of a form that is a file.
fn find_file_part(bytes: &Bytes, boundary: &str) -> Option<UploadedFile> {
    let mut at = find_bytes(bytes, boundary.as_bytes(), 0)?;
    for _ in 0..MAX_PARTS {
        let head = at + boundary.len();
        let text = find_bytes(bytes, b"\r\n\r\n", head)? + 4;
        let end = find_bytes(bytes, format!("\r\n{boundary}").as_bytes(), text)?;
        let headers = String::from_utf8_lossy(&bytes[head..text]).into_owned();
        if let Some(name) = quoted_param(&headers, "filename=\"") {
            return Some(UploadedFile { name, bytes: bytes.slice(text..end) });
        }
        at = end + 2;
    }
    None
}

fn quoted_param(headers: &str, key: &str) -> Option<String> {
    let (_, rest) = headers.split_once(key)?;
    rest.split_once('"').map(|(name, _)| name.to_owned())
}

fn find_bytes(bytes: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let position = bytes.get(from..)?.windows(needle.len()).position(|window| window == needle)?;
    Some(from + position)
}

pub(super) async fn upload(Writer(access): Writer, form: UploadedFile) -> VikingResult {
    let id = access.app.compat.viking.add_upload(&access.scope, form.name, form.bytes);
    VikingResponse::ok(json!({ "temp_file_id": id }))
}

/// Document to add.
#[derive(Deserialize)]
pub(super) struct AddResourceBody {
    temp_file_id: Option<String>,
    path: Option<String>,
    source_name: Option<String>,
    to: Option<String>,
    parent: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

pub(super) async fn add(
    Writer(access): Writer,
    JsonBody(resource, _): JsonBody<AddResourceBody>,
) -> VikingResult {
    let Some(id) = &resource.temp_file_id else {
        let title = resource.path.map(|_| "the server fetches no paths or addresses");
        return Err(Problem::invalid(
            title.unwrap_or("there is no file"),
            "upload the file to /api/v1/resources/temp_upload first; clients do so for files on their side",
        ));
    };
    let Some((sent, bytes)) = access.app.compat.viking.take_upload(&access.scope, id) else {
        return Err(Problem::from(everlore::Error::not_found("upload", id)));
    };
    if bytes.starts_with(b"PK\x03\x04") {
        return Err(Problem::invalid(
            "folders and archives are not supported",
            "add the files one by one",
        ));
    }
    let name = resource.source_name.unwrap_or(sent);
    let uri = target_uri(resource.to, resource.parent, &name);
    let request =
        FsAddRequest { uri, bytes: bytes.to_vec(), tags: resource.tags, ..FsAddRequest::default() };
    let engine = access.engine();
    // The request is small, and the document is not.
    let added = offload(&access.app, Box::pin(engine.fs_add(&access.scope, request))).await?;
    let uri = to_viking(&added.uri, &access.scope);
    let chunks = added.document.as_ref().map(|report| report.chunks);
    let note = added.document.and_then(|report| report.note);
    VikingResponse::ok(json!({
        "status": "success", "root_uri": uri, "uri": uri, "chunks": chunks,
        "warnings": note.into_iter().collect::<Vec<_>>(), "errors": [],
    }))
}

/// Returns the uri of a new document; a target without a file extension is its folder.
fn target_uri(to: Option<String>, parent: Option<String>, name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let name = name.replace('%', "%25");
    let has_extension = |uri: &str| uri.rsplit('/').next().is_some_and(|last| last.contains('.'));
    let inside = |folder: &str| format!("{}/{name}", folder.trim_end_matches('/'));
    match (to, parent) {
        (Some(to), _) if has_extension(&to) => to,
        (Some(to), _) => inside(&to),
        (None, Some(parent)) => inside(&parent),
        (None, None) => inside("viking://resources"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_form_is_found_byte_by_byte() {
        let form = "--X\r\nContent-Disposition: form-data; name=\"upload_mode\"\r\n\r\nlocal\r\n--X\r\nContent-Disposition: \
            form-data; name=\"file\"; filename=\"部署.md\"\r\n\r\n# 部署\r\n--Y\r\n\r\n--X--\r\n";
        let file = find_file_part(&Bytes::from(form), "--X").unwrap();
        assert_eq!(
            (file.name.as_str(), &file.bytes[..]),
            ("部署.md", "# 部署\r\n--Y\r\n".as_bytes())
        );
        for broken in ["", "--X", "--X\r\n\r\n", "--X\r\nfilename=\"a\r\n\r\nb\r\n--X--"] {
            assert!(find_file_part(&Bytes::from(broken), "--X").is_none(), "{broken:?}");
        }
    }

    #[test]
    fn a_form_takes_time_in_proportion_to_its_length() {
        // The longest boundary, and a body of lines that differ from it in the last byte only.
        let boundary = format!("--{}", "-".repeat(MAX_BOUNDARY_BYTES));
        let line = format!("{}x\r\n", &boundary[..boundary.len() - 1]);
        let took = [1, 8].map(|times| {
            let body = Bytes::from(line.repeat(times * 256 * 1024 / line.len()));
            let began = std::time::Instant::now();
            assert!(find_file_part(&body, &boundary).is_none());
            began.elapsed().as_secs_f64()
        });
        // Eight times the work, as much again for noise, and nothing that is all noise.
        assert!(took[1] < 16.0 * took[0] || took[1] < 0.15, "{took:?}");
    }

    #[test]
    fn a_file_goes_where_it_is_sent() {
        let to = |to: Option<&str>, parent: Option<&str>| {
            target_uri(to.map(str::to_owned), parent.map(str::to_owned), "a/部署.md")
        };
        assert_eq!(to(None, None), "viking://resources/部署.md");
        assert_eq!(to(Some("viking://resources/x/y.md"), None), "viking://resources/x/y.md");
        assert_eq!(to(Some("viking://resources/ops/"), None), "viking://resources/ops/部署.md");
        assert_eq!(to(None, Some("viking://resources/ops")), "viking://resources/ops/部署.md");
    }

    #[test]
    fn an_upload_is_for_its_own_scope_and_the_oldest_are_dropped_first() {
        let (state, scope) = (VikingState::default(), Scope::new("a", "u").unwrap());
        let id = state.add_upload(&scope, "a.md".into(), Bytes::from_static(b"x"));
        assert!(state.take_upload(&Scope::new("a", "v").unwrap(), &id).is_none());
        for _ in 0..MAX_UPLOADS {
            state.add_upload(&scope, "b.md".into(), Bytes::from_static(b"y"));
        }
        assert!(state.take_upload(&scope, &id).is_none());
    }
}
