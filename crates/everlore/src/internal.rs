//! Parts of the engine that the server, the command line, the evaluation and the tests share with it. They are no part of
//! the public API and change without notice.

use std::sync::Arc;

use crate::{
    Engine, MemoryId, Result, Scope, files::layers::Layers, ingest::TextSketch, store::Store,
};

pub use crate::{
    sync::{BoxFuture, boxed, lock, run_blocking},
    types::{
        clock::{system_now, to_millisecond},
        slot::Attribute,
    },
};

pub mod text {
    pub mod dates {
        pub use crate::text::dates::find_times;
    }
    pub mod fold {
        pub use crate::text::fold::fold;
    }
    pub mod elision {
        pub use crate::text::elision::{elide_middle, elide_texts, keep_ends};
    }
    pub mod injected_blocks {
        pub use crate::text::injected_blocks::strip_injected_blocks;
    }
    pub mod quoted_text {
        pub use crate::text::quoted_text::SpokenText;
    }
    pub mod language {
        pub use crate::text::language::detect_language;
    }
    pub mod sanitize {
        pub use crate::text::sanitize::{sanitize_line, sanitize_verbatim};
    }
    pub mod side_requests {
        pub use crate::text::side_requests::is_side_request;
    }
    pub mod secrets {
        pub use crate::text::secrets::{describe_kinds, mask, mask_all, secret_name};
    }
    pub mod suspect {
        pub use crate::text::suspect::{
            is_unverified, mark_suspect_json, mark_suspect_lines, marked_text,
        };
    }
    pub mod terms {
        pub use crate::text::terms::{TERMS_VERSION, terms};
    }
    pub mod tiers {
        pub use crate::text::tiers::{one_line, overview, without_generated_overview};
    }
    pub mod tool_event {
        pub use crate::text::tool_event::{ToolEvent, main_argument, only_reads};
    }
    pub mod tokens {
        pub use crate::text::tokens::estimate_tokens;
    }
}

#[cfg(feature = "remote")]
pub mod llm {
    pub use crate::llm::remote::{
        ClientProtocol, FrameDecoder, FrameTooLong, Framing, Upstream, UpstreamResponse,
    };
}

pub mod files {
    pub mod agent_settings {
        pub use crate::files::agent_settings::AgentSettingsFile;
    }
    pub mod atomic_file {
        pub use crate::files::atomic_file::{
            TempFile, WriteOptions, create_private_folder, lock, private_open_options,
            remove_if_exists,
        };
    }
    pub mod documents {
        pub use crate::files::documents::{MAX_KEEP_TOGETHER_TOKENS, is_binary, parse};
    }
    pub mod front_matter {
        pub use crate::files::front_matter::{FrontMatter, YamlValue, yaml_scalar};
    }
    pub mod home {
        pub use crate::files::home::vault_folder;
    }
    pub mod layers {
        pub use crate::files::layers::{EditContext, ForgetTarget, Layers, fit_to_budget};
    }
    pub mod pending_text {
        pub use crate::files::pending_text::{
            PendingFiles, TYPED_LINES_FILE, database_backups, is_rescue_file, spool_folder,
        };
    }
    pub mod private_file {
        pub use crate::files::private_file::make_private;
    }
    pub mod regular_file {
        pub use crate::files::regular_file::{MAX_SETTINGS_BYTES, open, read, read_to_string};
    }
    pub mod sections {
        pub use crate::files::sections::MarkdownSections;
    }
    pub mod skill_folder {
        pub use crate::files::skill_folder::{
            MAX_SKILL_BYTES, SKILL_FILE, read_skill_file, write_skill_file,
        };
    }
    pub mod vault {
        pub use crate::files::vault::{
            INDEX_FILE, MAX_INDEX_VIEW_BYTES, MAX_INDEX_VIEW_LINES, MAX_PROMPT_FILES, VaultIndex,
            VaultListing, VaultNote, VaultPage, list, register_vault, sanitize_file_name, save,
        };
    }
}

pub mod ingest {
    pub use crate::ingest::{
        AgentNote, Correction, Draft, ExportHeader, ExportLine, SessionTurns, TextSketch, TurnText,
        agent_note, day_uri, extract_statements,
    };
}

pub mod recall {
    pub use crate::recall::{
        BlockRequest, FEATURE_COUNT, FORM_COUNT, MessageForm, TrainingSample, analyze,
        fit_logistic, logistic, pack,
    };
}

pub mod upkeep {
    pub use crate::upkeep::is_held_out;
}

pub mod prompt {
    pub use crate::prompt::PrefixDigest;
}

/// Returns the store below an engine. What is written through it is embedded as the engine's own saves are.
pub fn store_of(engine: &Engine) -> &Arc<dyn Store> {
    engine.store()
}

/// Returns the layer files of a scope, whose methods block.
pub fn layers_of(engine: &Engine, scope: &Scope) -> Result<Layers> {
    engine.layers(scope)
}

/// Returns sketches of all memories injected in a session.
pub async fn injected_sketches(
    engine: &Engine,
    scope: &Scope,
    session: &str,
) -> Result<Vec<(MemoryId, TextSketch)>> {
    engine.injected_sketches(scope, session).await
}
