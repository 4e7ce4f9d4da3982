//! Browsers that sign in to the page: cookies instead of the owner's token, and `serve --open`.

use serde_json::json;

use super::{ApiResponse, TestServer, access::key};
use crate::home::TestHome;

/// Header without which a cookie does not count.
const PAGE: (&str, &str) = ("x-everlore-page", "1");

/// Signs a browser in with a token or key, and returns its cookie.
fn sign_in(server: &TestServer, secret: &str) -> String {
    let body = json!({ "secret": secret });
    let answer = server.request_with_headers(&[], "POST", "/v1/sign-in", Some(body));
    answer.json(200);
    let cookie = answer.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(!answer.text.contains("evl_"), "scripts see no secret: {}", answer.text);
    cookie.split(';').next().unwrap().to_owned()
}

fn ask(server: &TestServer, cookie: &str, path: &str) -> ApiResponse {
    server.request_with_headers(&[("cookie", cookie), PAGE], "GET", path, None)
}

#[test]
fn a_cookie_opens_what_its_token_opens_and_only_for_the_page_of_this_server() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let cookie = sign_in(&server, &server.token);
    assert_eq!(ask(&server, &cookie, "/v1/me").json(200)["owner"], true);
    let without = server.request_with_headers(&[("cookie", &cookie)], "GET", "/v1/me", None);
    assert_eq!(without.problem_code(401), "unauthorized");
    let foreign = [("cookie", cookie.as_str()), PAGE, ("origin", "http://localhost:3000")];
    let refused = server.request_with_headers(&foreign, "POST", "/v1/memories", Some(json!({})));
    assert_eq!(refused.problem_code(403), "foreign_origin");
    let secret = cookie.split_once('=').unwrap().1;
    assert_eq!(server.request_as(secret, "GET", "/v1/me", None).status, 401, "it is no token");
    assert_eq!(ask(&server, "everlore_1=evl_0", "/v1/me").status, 401);
    let guess =
        server.request_with_headers(&[], "POST", "/v1/sign-in", Some(json!({ "secret": "evl_0" })));
    assert_eq!(guess.problem_code(401), "unauthorized");
}

#[test]
fn a_browser_stays_signed_in_over_a_restart_until_it_is_signed_out() {
    let home = TestHome::new();
    let mut server = TestServer::start(&home, &[]);
    let cookie = sign_in(&server, &server.token);
    let other = sign_in(&server, &server.token);
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let server = TestServer::start(&home, &[]);
    // This server has another port, and the name of its cookie has it too.
    let port = server.url.rsplit(':').next().unwrap();
    let renamed = |cookie: &str| format!("everlore_{port}={}", cookie.split_once('=').unwrap().1);
    let (cookie, other) = (renamed(&cookie), renamed(&other));
    let browsers = ask(&server, &cookie, "/v1/browsers").json(200)["browsers"].clone();
    let listed: Vec<bool> =
        browsers.as_array().unwrap().iter().map(|one| one["current"] == true).collect();
    assert_eq!(listed, [false, true], "the newest first: {browsers}");
    let path = format!("/v1/browsers/{}", browsers[0]["id"].as_str().unwrap());
    let delete = |cookie: &str| {
        server.request_with_headers(&[("cookie", cookie), PAGE], "DELETE", &path, None)
    };
    delete(&cookie).json(200);
    assert_eq!(delete(&cookie).problem_code(404), "not_found");
    assert_eq!(ask(&server, &other, "/v1/me").status, 401);
    let headers = [("cookie", cookie.as_str()), PAGE];
    let out = server.request_with_headers(&headers, "POST", "/v1/sign-out", Some(json!({})));
    out.json(200);
    assert!(out.headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(ask(&server, &cookie, "/v1/me").status, 401);
}

#[test]
fn a_cookie_of_a_key_has_its_scope_and_role_and_ends_with_it() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let reader = key(&home, "reader", "read", ["助手", "王"]);
    let cookie = sign_in(&server, &reader);
    let me = ask(&server, &cookie, "/v1/me").json(200);
    assert_eq!(
        (&me["agent"], &me["role"], &me["owner"]),
        (&json!("助手"), &json!("read"), &json!(false))
    );
    assert_eq!(ask(&server, &cookie, "/v1/stats?user=li").problem_code(403), "scope");
    assert_eq!(ask(&server, &cookie, "/v1/browsers").problem_code(403), "role");
    assert_eq!(home.run(&["serve", "key", "remove", "reader"]).code, 0);
    assert_eq!(ask(&server, &cookie, "/v1/me").status, 401);
}

#[cfg(target_os = "linux")]
#[test]
fn serve_opens_the_page_and_goes_on_where_it_cannot() {
    use std::{fs, io::BufRead, io::BufReader, os::unix::fs::PermissionsExt, process::Stdio};

    let home = TestHome::new();
    let folder = home.sibling("bin");
    fs::create_dir_all(&folder).unwrap();
    let (opener, opened) = (folder.join("xdg-open"), folder.join("opened"));
    fs::write(
        &opener,
        format!("#!/bin/sh\necho \"$1\" > {0}.new && mv {0}.new {0}\n", opened.display()),
    )
    .unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let start = |path: String| {
        let mut command = home.command(&["serve", "--port", "0", "--open"]);
        command.env("PATH", path).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut child = start(format!("{}:/usr/bin:/bin", folder.display()));
    let link = crate::schedule::until_some(|| fs::read_to_string(&opened).ok());
    assert!(link.contains("/#sign-in=evl_"), "{link}");
    child.kill().unwrap();
    child.wait().unwrap();
    // Without such a program the server runs, and says so.
    let mut child = start("/nowhere".to_owned());
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let note = lines.find(|line| line.contains("the page could not be opened")).unwrap();
    assert!(note.contains("`xdg-open` cannot be started"), "{note}");
    assert!(child.try_wait().unwrap().is_none(), "it serves on");
    child.kill().unwrap();
    child.wait().unwrap();
}
