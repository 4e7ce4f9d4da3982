//! Things on this machine that a statement names and that can be looked up without running anything: absolute paths,
//! `file:` addresses, addresses of the machine itself, and programs in a command that the statement says to run.

use std::sync::LazyLock;

use regex::Regex;

/// Most things of one statement that are looked up.
const MAX_THINGS: usize = 8;

/// Thing on this machine that a statement names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NamedThing {
    /// Absolute path, or one below the home folder that begins with `~/`.
    Path(String),
    /// Program.
    Program(String),
    /// Address of this machine itself, and its port.
    Loopback(String, u16),
}

/// Address of this machine. Others are never looked up.
static LOOPBACK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:https?://)?(?:localhost|127\.0\.0\.1):(\d{2,5})\b").expect("valid")
});

/// Words that say that an address is that of another machine.
static OTHER_MACHINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:remote|containers?|docker|production|staging|vm|ssh|cluster|ci|tunnel)\b|远程|容器|生产环境|集群|隧道")
        .expect("valid")
});

/// Path between blanks, quotes or brackets; not a part of an address, which has a colon or a slash before it.
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?:^|[\s`"'(（「“‘：，])((?:file://)?(?:~/|/(?:home|Users|opt|srv|mnt|data|root|work|Volumes)/)[\w.@+%/-]+)"#,
    )
    .expect("valid")
});

/// Command between backquotes.
static COMMAND: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"`([a-z][a-z0-9._-]*)(?: [^`\n]+)`").expect("valid"));

/// Words that say that something is run.
static RUNS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:run|runs|running|execute|executes|command|commands|invoke|type)\b|运行|执行|命令|输入")
        .expect("valid")
});

/// Words that say that something is on another machine.
static ELSEWHERE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:servers?|remote|containers?|docker|production|staging|vm|ssh|cluster|ci)\b|服务器|远程|容器|生产环境|集群")
        .expect("valid")
});

/// Words that begin a line of code or that a shell understands by itself.
#[rustfmt::skip]
const NO_PROGRAMS: [&str; 32] = [
    "let", "const", "var", "fn", "pub", "use", "import", "from", "def", "class", "return", "if", "for", "while", "select",
    "insert", "update", "delete", "create", "cd", "export", "source", "alias", "set", "unset", "eval", "exec", "type", "read",
    "function", "struct", "impl",
];

/// Returns the things that a statement names.
pub(crate) fn named_things(statement: &str) -> Vec<NamedThing> {
    let addresses = LOOPBACK.captures_iter(statement).filter_map(|found| {
        let port = found[1].parse().ok()?;
        Some(NamedThing::Loopback(found[0].to_owned(), port))
    });
    let is_here = !OTHER_MACHINE.is_match(statement);
    let addresses: Vec<NamedThing> = addresses.filter(|_| is_here).take(MAX_THINGS).collect();
    if ELSEWHERE.is_match(statement) {
        return addresses;
    }
    let paths = PATH.captures_iter(statement).filter_map(|found| {
        let path = found.get(1)?.as_str();
        let path = path.strip_prefix("file://").unwrap_or(path);
        Some(NamedThing::Path(path.trim_end_matches(['.', ',']).to_owned()))
    });
    let commands = COMMAND.captures_iter(statement).filter_map(|found| {
        let program = found.get(1)?.as_str();
        let is_program = !NO_PROGRAMS.contains(&program) && RUNS.is_match(statement);
        is_program.then(|| NamedThing::Program(program.to_owned()))
    });
    addresses.into_iter().chain(paths).chain(commands).take(MAX_THINGS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_programs_are_told_from_addresses_and_code() {
        let path = |path: &str| NamedThing::Path(path.to_owned());
        let program = |name: &str| NamedThing::Program(name.to_owned());
        let cases = [
            ("The notes are in /home/sam/notes.md.", vec![path("/home/sam/notes.md")]),
            ("配置文件在 ~/proj/config.toml，别改", vec![path("~/proj/config.toml")]),
            ("See file:///opt/tool/readme for more", vec![path("/opt/tool/readme")]),
            ("To build, run `just build`", vec![program("just")]),
            ("部署时执行 `fly deploy`", vec![program("fly")]),
            ("The API is at https://example.org/home/v1/users", vec![]),
            ("On the server the logs are in /opt/payments/app.log", vec![]),
            ("GET /v1/users returns a list", vec![]),
            (
                "The board is at http://localhost:39999/board",
                vec![NamedThing::Loopback("http://localhost:39999".to_owned(), 39_999)],
            ),
            (
                "看板的服务器在 127.0.0.1:8080",
                vec![NamedThing::Loopback("127.0.0.1:8080".to_owned(), 8_080)],
            ),
            ("In the container the API is at http://localhost:8080", vec![]),
            ("The API is at http://mylocalhost.example:8080", vec![]),
            ("Write `let x = 1` and run it", vec![]),
            ("The crate has `pub fn main`", vec![]),
        ];
        for (statement, expected) in cases {
            assert_eq!(named_things(statement), expected, "{statement}");
        }
    }
}
