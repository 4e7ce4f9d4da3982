//! System error numbers of Linux, macOS and Windows by the name they share.

/// Returns the POSIX name of an error number as Linux, macOS (where Linux does not use it in practice) or Winsock
/// prints it.
pub(super) fn name(number: u32) -> Option<&'static str> {
    NUMBERS.iter().find(|(code, _)| *code == number).map(|(_, name)| *name)
}

/// Returns the POSIX name of an error number of the Windows interface, whose low numbers differ from those of errno.
pub(super) fn windows_name(number: u32) -> Option<&'static str> {
    let own = WINDOWS_NUMBERS.iter().find(|(code, _)| *code == number).map(|(_, name)| *name);
    own.or_else(|| name(number).filter(|_| number >= FIRST_WINSOCK_NUMBER))
}

/// Numbers of Winsock begin here; Python and Rust print them like those of errno.
const FIRST_WINSOCK_NUMBER: u32 = 10_000;

const WINDOWS_NUMBERS: [(u32, &str); 9] = [
    (2, "ENOENT"),
    (3, "ENOENT"),
    (5, "EACCES"),
    (8, "ENOMEM"),
    (17, "EXDEV"),
    (32, "WINERROR32"),
    (112, "ENOSPC"),
    (145, "ENOTEMPTY"),
    (183, "EEXIST"),
];

/// Returns whether `word` is a name of a system error that programs print (`ECONNREFUSED`).
pub(super) fn is_name(word: &str) -> bool {
    NUMBERS.iter().any(|(_, name)| *name == word) || EXTRA.contains(&word)
}

/// Names without a number of their own here: resolver errors and npm's and OpenSSL's codes.
const EXTRA: [&str; 31] = [
    "EAI_AGAIN",
    "ENOTFOUND",
    "ERESOLVE",
    "EINTEGRITY",
    "ENOENT",
    "E404",
    "E401",
    "E403",
    "EBADENGINE",
    "ELIFECYCLE",
    "EJSONPARSE",
    "ETARGET",
    "EUSAGE",
    "EBADPLATFORM",
    "ENOWORKSPACES",
    "EPUBLISHCONFLICT",
    "ENEEDAUTH",
    "EOTP",
    "CERT_HAS_EXPIRED",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "EPROTO",
    "ENOTCACHED",
    "EINVALIDTAGNAME",
    "EUNSUPPORTEDPROTOCOL",
    "ENOAUDIT",
    "ENOGIT",
    "EEXIST",
    "ECONNABORTED",
];

const NUMBERS: [(u32, &str); 62] = [
    (1, "EPERM"),
    (2, "ENOENT"),
    (3, "ESRCH"),
    (4, "EINTR"),
    (5, "EIO"),
    (7, "E2BIG"),
    (8, "ENOEXEC"),
    (9, "EBADF"),
    (11, "EAGAIN"),
    (12, "ENOMEM"),
    (13, "EACCES"),
    (14, "EFAULT"),
    (16, "EBUSY"),
    (17, "EEXIST"),
    (18, "EXDEV"),
    (19, "ENODEV"),
    (20, "ENOTDIR"),
    (21, "EISDIR"),
    (22, "EINVAL"),
    (23, "ENFILE"),
    (24, "EMFILE"),
    (25, "ENOTTY"),
    (26, "ETXTBSY"),
    (27, "EFBIG"),
    (28, "ENOSPC"),
    (30, "EROFS"),
    (31, "EMLINK"),
    (32, "EPIPE"),
    (36, "ENAMETOOLONG"),
    (39, "ENOTEMPTY"),
    (40, "ELOOP"),
    (66, "ENOTEMPTY"),
    (95, "EOPNOTSUPP"),
    (97, "EAFNOSUPPORT"),
    (98, "EADDRINUSE"),
    (99, "EADDRNOTAVAIL"),
    (100, "ENETDOWN"),
    (101, "ENETUNREACH"),
    (103, "ECONNABORTED"),
    (104, "ECONNRESET"),
    (107, "ENOTCONN"),
    (110, "ETIMEDOUT"),
    (111, "ECONNREFUSED"),
    (112, "EHOSTDOWN"),
    (113, "EHOSTUNREACH"),
    (116, "ESTALE"),
    (122, "EDQUOT"),
    (48, "EADDRINUSE"),
    (49, "EADDRNOTAVAIL"),
    (54, "ECONNRESET"),
    (60, "ETIMEDOUT"),
    (61, "ECONNREFUSED"),
    (65, "EHOSTUNREACH"),
    (69, "EDQUOT"),
    (10013, "EACCES"),
    (10048, "EADDRINUSE"),
    (10049, "EADDRNOTAVAIL"),
    (10051, "ENETUNREACH"),
    (10053, "ECONNABORTED"),
    (10054, "ECONNRESET"),
    (10060, "ETIMEDOUT"),
    (10061, "ECONNREFUSED"),
];

#[cfg(test)]
mod tests {
    use super::{is_name, name, windows_name};

    #[test]
    fn numbers_of_three_systems_share_a_name() {
        assert_eq!([111, 61, 10061].map(name), [Some("ECONNREFUSED"); 3]);
        assert_eq!([98, 48, 10048].map(name), [Some("EADDRINUSE"); 3]);
        assert_eq!(name(9999), None);
    }

    #[test]
    fn windows_counts_in_its_own_way() {
        assert_eq!(windows_name(5), Some("EACCES"));
        assert_eq!(windows_name(10061), Some("ECONNREFUSED"));
        assert_eq!(windows_name(13), None);
    }

    #[test]
    fn names_are_known() {
        assert!(is_name("ENOTFOUND") && is_name("EDQUOT") && !is_name("EXAMPLE"));
    }
}
