//! Codes: the identifiers that programs give their failures.

use std::sync::LazyLock;

use regex::Regex;

use super::errno;

/// Register that a code belongs to. Codes of one register name failures; two different ones are two failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum CodeKind {
    /// Rust compiler (`E0382`).
    Rustc,
    /// TypeScript compiler (`TS2307`).
    TypeScript,
    /// System and npm names (`ECONNREFUSED`), also from numbers.
    Errno,
    /// Five characters of the SQL standard (`23505`).
    SqlState,
    /// MySQL server and client numbers.
    MySql,
    /// HTTP status.
    Http,
    /// Exception class, without its package.
    Exception,
    /// Node's own codes (`ERR_REQUIRE_ESM`), Visual C++ (`LNK2019`), Oracle (`ORA-00001`), .NET (`CS0246`), curl exits.
    Named,
    /// Exit status of a process; too common to decide anything.
    Exit,
}

/// A code with its register.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ErrorCode {
    /// Register of the code.
    pub(crate) kind: CodeKind,
    /// Code in its usual spelling.
    pub(crate) value: String,
}

/// Returns the codes of a log, those of the decisive message first, each once.
pub(super) fn extract(messages: &[String], kernel: &str) -> Vec<ErrorCode> {
    let mut codes = Vec::new();
    for line in std::iter::once(kernel).chain(messages.iter().map(String::as_str)) {
        read_line(line, &mut codes);
    }
    codes
}

fn read_line(line: &str, codes: &mut Vec<ErrorCode>) {
    for (kind, pattern) in PATTERNS.iter() {
        for found in pattern.captures_iter(line) {
            let value = found.iter().skip(1).flatten().next().map_or("", |group| group.as_str());
            if let Some(value) = canonical(*kind, value) {
                push(codes, ErrorCode { kind: *kind, value });
            }
        }
    }
}

fn push(codes: &mut Vec<ErrorCode>, code: ErrorCode) {
    if !codes.contains(&code) {
        codes.push(code);
    }
}

fn canonical(kind: CodeKind, value: &str) -> Option<String> {
    match kind {
        CodeKind::Errno if value.starts_with(WINDOWS_PREFIX) => {
            let number = value.trim_start_matches(WINDOWS_PREFIX).trim();
            errno::windows_name(number.parse().ok()?).map(str::to_owned)
        }
        CodeKind::Errno if value.chars().all(|sign| sign.is_ascii_digit()) => {
            errno::name(value.parse().ok()?).map(str::to_owned)
        }
        CodeKind::Errno => errno::is_name(value).then(|| value.to_owned()),
        CodeKind::Exception => {
            let class = value.rsplit(['.', '$']).next().unwrap_or(value);
            (!matches!(class, "Error" | "Exception" | "RuntimeException")).then(|| class.to_owned())
        }
        CodeKind::Http => {
            let status: u16 = value.parse().ok()?;
            (300..600).contains(&status).then(|| value.to_owned())
        }
        CodeKind::Named if value.starts_with("0x") => Some(value.to_lowercase()),
        // Visual Basic numbers its failures.
        CodeKind::Named
            if value.trim_start_matches('-').chars().all(|sign| sign.is_ascii_digit()) =>
        {
            Some(format!("runtime {value}"))
        }
        CodeKind::Named => (!is_standard(value)).then(|| value.to_owned()),
        CodeKind::Rustc | CodeKind::TypeScript => Some(value.to_uppercase()),
        _ => Some(value.to_owned()),
    }
}

/// Returns `true` for letters and digits that name a standard, an algorithm or a part, not a failure: SHA256, RFC2616.
fn is_standard(value: &str) -> bool {
    const PREFIXES: [&str; 25] = [
        "SHA", "UTF", "ISO", "RFC", "AES", "RSA", "HTTP", "MD", "GCC", "PID", "TLS", "IPV", "ARM",
        "RTX", "GTX", "USB", "AMD", "WIN", "COM", "JDK", "PG", "TS", "KB", "GB", "ID",
    ];
    let prefix = value.trim_end_matches(|sign: char| sign.is_ascii_digit());
    PREFIXES.contains(&prefix)
}

/// Word before a number of the Windows interface.
const WINDOWS_PREFIX: &str = "WinError";

/// Phrases of HTTP status lines; a number counts as a status only beside one of these or a word that says so.
const REASONS: &str = "bad request|unauthorized|payment required|forbidden|not found|method not allowed|proxy authentication required|request timeout|conflict|gone|payload too large|request entity too large|content too large|unsupported media type|unprocessable (?:entity|content)|too many requests|request header fields too large|uri too long|request-uri too (?:long|large)|length required|precondition failed|not acceptable|range not satisfiable|expectation failed|misdirected request|failed dependency|upgrade required|insufficient storage|internal server error|not implemented|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|client error|server error|moved permanently|temporary redirect";

static PATTERNS: LazyLock<Vec<(CodeKind, Regex)>> = LazyLock::new(|| {
    let http = format!(
        r"(?i)\bHTTP/[\d.]+'? (\d{{3}})\b|\bhttp(?:error)?(?: status)?(?: code)?[ :=]{{1,3}}(\d{{3}})\b|\bstatus(?:[ _-]?code)?[ :=('\[]{{1,4}}(\d{{3}})\b|\berror(?: code)?:? (\d{{3}})(?: -|[ ,.]|$)|\b(\d{{3}}):? (?:{REASONS})|\bresponse (?:code )?(\d{{3}})\b|(?:状态码|返回|报了?|响应)(?:是|为)?:? ?(\d{{3}})(?:\D|$)|\b(\d{{3}}) ?(?:错误|状态)|\b(?:got|get|gets|getting|gives|giving|me|a|an|with|answers|returns|returned|says|gave|responds|replied|throws) (?:an? |me )?(?:http )?([45]\d\d)(?:\D|$)"
    );
    [
        (CodeKind::Rustc, r"(?i)\b(E0\d{3})\b"),
        (CodeKind::TypeScript, r"\b(?i:(TS\d{4,5}))\b"),
        (CodeKind::Errno, r"\b(E[A-Z][A-Z0-9_]{2,}|E[34]\d\d|E2BIG|[A-Z]+(?:_[A-Z]+)*_CERT(?:_[A-Z]+)*|CERT_HAS_EXPIRED|UNABLE_TO_VERIFY_LEAF_SIGNATURE)\b"),
        (CodeKind::Errno, r"(?:\[Errno |\(os error |errno(?:=|: ?-?)|\bfailed \()(\d+)"),
        (CodeKind::Errno, r"\[(WinError \d+)"),
        (CodeKind::SqlState, r"(?i:sqlstate)\S{0,3}[ :=]*\[?(\w{5})\b|\bcode: '(\d[\dA-Z]{4})'|^ERROR: +(\d{2}[\dA-Z]{3}):"),
        (CodeKind::MySql, r"\bERROR (\d{4}) \(|\bError \((1\d{3}|2\d{3})\b|Error (1\d{3})(?::| \()|errors?\.\w*Error: \((1\d{3}|2\d{3}),|Error\) \((1\d{3}|2\d{3}),|^(1\d{3}|2\d{3}) \(\w{5}\)|(?i:mysql|mariadb)[^\d\n]{0,24}?(?:报了?|错误|错误码|error|error code)[ :：#]{0,2}(1\d{3})(?:\D|$)"),
        (CodeKind::Http, http.as_str()),
        (CodeKind::Exception, r"(?:^|[ (:;,])(?:[\w]+\.)*([A-Z]\w*(?:Error|Exception|Violation|Interrupt|Overflow))\b"),
        (CodeKind::Named, r"\b(ERR_[A-Z_0-9]+|LNK\d{4}|ORA-\d{5}|CS\d{4}|MSB\d{4}|C[12]\d{3}|curl: \(\d+\)|SQLITE_[A-Z]+|PLS-\d+|RUSTSEC-\d+-\d+)(?:\b|$|\s)"),
        (CodeKind::Named, r"(?:^|[\s(\[':;,>])([A-Z]{2,6}\d{3,5})(?:$|[\s)\]':;,.])"),
        (CodeKind::Named, r"\b(0x(?:8[0-9a-fA-F]{7}|[cC]0[0-9a-fA-F]{6}|0000[0-9a-fA-F]{4}))\b"),
        (CodeKind::Named, r"(?i:run-?time error|运行时错误|实时错误|laufzeitfehler|erreur d'exécution|実行時エラー|error en tiempo de ejecución) '(-?\d+)'"),
        (CodeKind::Named, r"\bcode ?[=:] ?'?([A-Z]+(?:_[A-Z]+)+)\b"),
        (CodeKind::Exception, r"\b([a-z]+(?:_[a-z]+)*_exception)\b"),
        (CodeKind::Exit, r"(?i)\bexit(?:ed)?(?: with)?(?: status| code)[: ]+'?(\d+)|退出(?:代码|码|状态)[: ]*(\d+)"),
    ]
    .map(|(kind, pattern)| (kind, Regex::new(pattern).expect("the pattern is valid")))
    .to_vec()
});

#[cfg(test)]
mod tests {
    use super::{CodeKind, extract};

    fn codes(text: &str) -> Vec<(CodeKind, String)> {
        extract(&[], text).into_iter().map(|code| (code.kind, code.value)).collect()
    }

    fn has(text: &str, kind: CodeKind, value: &str) -> bool {
        codes(text).contains(&(kind, value.to_owned()))
    }

    #[test]
    fn each_register_is_read() {
        assert!(has("error[E0382]: borrow of moved value", CodeKind::Rustc, "E0382"));
        assert!(has("a.ts(3,1): error TS2307: Cannot find module", CodeKind::TypeScript, "TS2307"));
        assert!(has("connect ECONNREFUSED 127.0.0.1:5432", CodeKind::Errno, "ECONNREFUSED"));
        assert!(has("violates foreign key (SQLSTATE 23503)", CodeKind::SqlState, "23503"));
        assert!(has("ERROR 1062 (23000): Duplicate entry", CodeKind::MySql, "1062"));
        assert!(has("MySQL 登录被拒绝，报 1045 错误", CodeKind::MySql, "1045"));
        assert!(has("MySQL 报1045，密码不对", CodeKind::MySql, "1045"));
        assert!(codes("MySQL took 1045 ms for the report").is_empty());
        assert!(has(
            "psycopg2.errors.UniqueViolation: duplicate",
            CodeKind::Exception,
            "UniqueViolation"
        ));
    }

    #[test]
    fn letters_and_digits_are_a_code_unless_they_name_a_standard() {
        assert!(has("error NETSDK1045: The current SDK", CodeKind::Named, "NETSDK1045"));
        assert!(has("NU1101: Unable to find package", CodeKind::Named, "NU1101"));
        assert!(has("错误 0x00000709", CodeKind::Named, "0x00000709"));
        assert!(has(
            "type: cluster_block_exception",
            CodeKind::Exception,
            "cluster_block_exception"
        ));
        assert!(codes("wrong SHA256 of a file in UTF16 at 0x7ffd3c21").is_empty());
    }

    #[test]
    fn numbers_of_systems_become_names() {
        assert!(has("OSError: [Errno 28] No space", CodeKind::Errno, "ENOSPC"));
        assert!(has("(os error 10061)", CodeKind::Errno, "ECONNREFUSED"));
        assert!(has(
            "bind() to 0.0.0.0:80 failed (13: Permission denied)",
            CodeKind::Errno,
            "EACCES"
        ));
    }

    #[test]
    fn http_status_needs_a_word_beside_it() {
        for text in [
            "HTTP/1.1 429 Too Many Requests",
            "curl: (22) The requested URL returned error: 429",
            "status code 429",
            "接口返回429",
        ] {
            assert!(has(text, CodeKind::Http, "429"), "{text}");
        }
        assert!(codes("copied 429 files to disk").is_empty());
    }
}
