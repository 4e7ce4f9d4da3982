//! Entry of a hook process: recognizes `everlore hook` before its arguments are parsed, and exits with 0 in time.

use std::{borrow::Cow, ffi::OsString, thread, time::Duration};

use super::host::HookEventKind;
use crate::error::Exit;

/// Event name that drains the spool.
pub(super) const DRAIN_EVENT: &str = "drain";

/// Earlier name of [`DRAIN_EVENT`].
const OLD_DRAIN_EVENT: &str = "store";

/// Options of hooks that take a value.
const VALUE_OPTIONS: [&str; 9] = [
    "--home",
    "--agent",
    "--user",
    "--config",
    "--store",
    "--color",
    "--extract",
    "--read",
    "--end",
];

/// Runs a hook and exits with 0 whatever happens: for some hosts any other code blocks the agent.
pub(crate) fn always_succeed(args: &[OsString], work: impl FnOnce() -> Exit) -> Exit {
    if !is_drain(args) {
        // Starts before anything is read: even opening a folder may hang.
        exit_after(HookEventKind::Prompt.time_limit());
    }
    // The error was printed on standard error already.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    Exit::Done
}

/// Returns `true` for the arguments of `everlore hook`, before they are parsed.
pub(crate) fn is_hook(args: &[OsString]) -> bool {
    positional_args(args).next().is_some_and(|command| command == "hook")
}

/// Returns `true` for the arguments of `everlore hook HOST drain`.
fn is_drain(args: &[OsString]) -> bool {
    positional_args(args).nth(2).is_some_and(|event| is_drain_event(&event))
}

/// Returns `true` for the event that drains the spool, by either name.
pub(super) fn is_drain_event(name: &str) -> bool {
    [DRAIN_EVENT, OLD_DRAIN_EVENT].contains(&name)
}

/// Returns the arguments that are no options and no values of options.
fn positional_args(args: &[OsString]) -> impl Iterator<Item = Cow<'_, str>> {
    let mut args = args.iter().skip(1).map(|arg| arg.to_string_lossy());
    std::iter::from_fn(move || {
        loop {
            let arg = args.next()?;
            if VALUE_OPTIONS.contains(&&*arg) {
                args.next();
            } else if !arg.starts_with('-') {
                return Some(arg);
            }
        }
    })
}

/// Exits with 0 after this time: an agent must never wait for its memory.
pub(super) fn exit_after(time: Duration) {
    thread::spawn(move || {
        thread::sleep(time);
        std::process::exit(0);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_panics_exits_with_zero() {
        // The draining event has no time limit that would end the test.
        let args = ["everlore", "hook", "codex", DRAIN_EVENT].map(OsString::from);
        assert_eq!(always_succeed(&args, || panic!("this is only a test")), Exit::Done);
        assert_eq!(always_succeed(&args, || Exit::Failed), Exit::Done);
    }

    #[test]
    fn a_hook_is_known_before_its_arguments_are_understood() {
        let is = |line: &str| is_hook(&line.split(' ').map(Into::into).collect::<Vec<_>>());
        assert!(is("everlore hook") && is("everlore --home /x hook codex Stop --wrong"));
        assert!(!is("everlore recall tea") && !is("everlore"));
        assert!(!is("everlore recall hook") && !is("everlore --agent hook recall tea"));
    }

    #[test]
    fn only_the_event_tells_a_drain_from_a_hook_that_a_host_waits_for() {
        let is = |line: &str| is_drain(&line.split(' ').map(Into::into).collect::<Vec<_>>());
        assert!(is("everlore hook codex drain") && is("everlore --user li hook codex store"));
        assert!(
            is("everlore hook codex --read s1 store") && is("everlore hook codex drain --end s1")
        );
        assert!(!is("everlore --user store hook codex Stop") && !is("everlore hook store"));
        assert!(
            !is("everlore hook codex Stop --agent drain")
                && !is("everlore hook codex --home=drain Stop")
        );
    }
}
