//! Error signatures: one failure recognised again in other paths, ids, versions, hosts and languages.
//!
//! A text becomes a signature in one pass: the log is cleaned (`log_text`), split into messages and stack
//! (`stack`), the decisive message is chosen (`kernel`) and freed of accidents (`placeholders`); codes
//! (`codes`), tool and service (`tools`) are read off, and a table of known failures (`failures`) gives the canonical
//! name that every language and paraphrase of the message shares. `compare` decides by that name first and by words
//! only where neither text has one; `keys` lets a store find candidates without comparing all.
//!
//! Invariant: nothing here reads a clock, a file or the environment; equal texts give equal signatures.

mod log_text;
mod stack;
mod kernel;
mod placeholders;
mod translations;
mod codes;
mod errno;
mod tools;
mod names;
mod failures;
mod compare;
mod keys;

pub(crate) use codes::{CodeKind, ErrorCode};
pub(crate) use compare::{is_same, may_be_same, similarity};
pub(crate) use failures::{Failure, Identity, failure_title};
pub(crate) use keys::lookup_keys;
pub(crate) use tools::{ErrorTool, Service};

/// A failure as printed by a program or told by a person, reduced to what decides its cure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ErrorSignature {
    /// Languages and programs that show in the text, the most telling first.
    pub(crate) tools: Vec<ErrorTool>,
    /// Server the failure is about, where a port, a driver or a word names it.
    pub(crate) service: Option<Service>,
    /// Codes the text carries, each once, in order of appearance.
    pub(crate) codes: Vec<ErrorCode>,
    /// Known failure that the text describes, with the name that distinguishes its cure.
    pub(crate) failure: Option<Failure>,
    /// Other known failures that the text mentions; never decisive.
    pub(crate) mentions: Vec<&'static str>,
    /// Decisive message with its accidents replaced by placeholders.
    pub(crate) message: String,
    /// Whole message text, normalised in the same way; the stack is left out.
    pub(crate) normalised: String,
    /// Quoted names of the decisive message; weak evidence.
    pub(crate) names: Vec<String>,
    /// Function names of the innermost stack frames, without lines and addresses.
    pub(crate) frames: Vec<String>,
}

/// Most frames that a signature keeps.
const MAX_FRAMES: usize = 6;

impl ErrorSignature {
    /// Returns `true` if the text describes a failure: a known one, or one with a code that names it.
    pub(crate) fn is_failure(&self) -> bool {
        let names = |code: &ErrorCode| code.kind != CodeKind::Exit;
        self.failure.is_some() || self.codes.iter().any(names)
    }
}

/// Returns the decisive message of an error text as it was printed.
pub(crate) fn decisive_message(text: &str) -> String {
    kernel::choose(&stack::split(&log_text::clean(text)).messages)
}

/// Reads the signature of an error text.
pub(crate) fn signature(text: &str) -> ErrorSignature {
    let log = log_text::clean(text);
    let parts = stack::split(&log);
    let kernel = kernel::choose(&parts.messages);
    let codes = codes::extract(&parts.messages, &kernel);
    let tools = tools::detect(&log);
    let service = tools::service(&log);
    let evidence = failures::Evidence { kernel: &kernel, parts: &parts, codes: &codes };
    let (failure, mentions) = failures::recognise(&evidence);
    ErrorSignature {
        tools,
        service,
        codes,
        failure,
        mentions,
        message: placeholders::normalise(&kernel),
        normalised: placeholders::normalise(&parts.messages.join("\n")),
        names: names::quoted(&kernel),
        frames: parts.frames.iter().take(MAX_FRAMES).cloned().collect(),
    }
}

#[cfg(test)]
mod tests;
