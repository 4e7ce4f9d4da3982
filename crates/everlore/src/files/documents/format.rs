//! Format of a document, by its name.

use serde::{Deserialize, Serialize};

/// Format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum DocFormat {
    /// Paragraphs; also tables of values, logs and any other text.
    Plain,
    /// Headings, lists, tables and fences.
    Markdown,
    /// Tags around text.
    Html,
    /// Source code of any language.
    Code,
    /// Pages of which only the text is read.
    Pdf,
}

crate::types::variant_names! { pub DocFormat:
    Plain = "plain", Markdown = "markdown", Html = "html", Code = "code", Pdf = "pdf",
}

impl DocFormat {
    /// Returns the format of a file of this name.
    pub fn from_path(path: &str) -> Self {
        match extension(path).as_str() {
            "md" | "markdown" | "mdown" | "mkd" | "mdx" => Self::Markdown,
            "html" | "htm" | "xhtml" => Self::Html,
            "pdf" => Self::Pdf,
            _ if programming_language(path).is_some() => Self::Code,
            _ => Self::Plain,
        }
    }
}

/// Returns the programming language of a file of this name, if it is source code.
pub(crate) fn programming_language(path: &str) -> Option<&'static str> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let by_name = match name {
        "Makefile" | "makefile" | "GNUmakefile" => Some("make"),
        "Dockerfile" | "Containerfile" => Some("docker"),
        "CMakeLists.txt" => Some("cmake"),
        _ => None,
    };
    by_name.or_else(|| {
        let extension = extension(name);
        LANGUAGES.iter().find(|(ends, _)| ends.contains(&extension.as_str())).map(|(_, name)| *name)
    })
}

/// Returns the text after the last dot of the name, in lower case.
fn extension(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').map_or_else(String::new, |(_, end)| end.to_lowercase())
}

const LANGUAGES: &[(&[&str], &str)] = &[
    (&["rs"], "rust"),
    (&["py", "pyi"], "python"),
    (&["js", "mjs", "cjs", "jsx"], "javascript"),
    (&["ts", "tsx", "mts", "cts"], "typescript"),
    (&["go"], "go"),
    (&["java"], "java"),
    (&["kt", "kts"], "kotlin"),
    (&["swift"], "swift"),
    (&["c", "h"], "c"),
    (&["cc", "cpp", "cxx", "hh", "hpp", "hxx"], "c++"),
    (&["m", "mm"], "objective-c"),
    (&["cs"], "c#"),
    (&["fs", "fsx"], "f#"),
    (&["vb"], "visual basic"),
    (&["rb"], "ruby"),
    (&["php"], "php"),
    (&["scala", "sc"], "scala"),
    (&["sh", "bash", "zsh", "fish"], "shell"),
    (&["ps1", "psm1"], "powershell"),
    (&["sql"], "sql"),
    (&["lua"], "lua"),
    (&["r"], "r"),
    (&["jl"], "julia"),
    (&["pl", "pm"], "perl"),
    (&["hs"], "haskell"),
    (&["ml", "mli"], "ocaml"),
    (&["ex", "exs"], "elixir"),
    (&["erl", "hrl"], "erlang"),
    (&["clj", "cljs", "cljc", "edn"], "clojure"),
    (&["lisp", "el", "scm"], "lisp"),
    (&["dart"], "dart"),
    (&["zig"], "zig"),
    (&["nim"], "nim"),
    (&["vue"], "vue"),
    (&["svelte"], "svelte"),
    (&["css", "scss", "sass", "less"], "css"),
    (&["proto"], "protobuf"),
    (&["graphql", "gql"], "graphql"),
    (&["tf", "hcl"], "terraform"),
    (&["cmake"], "cmake"),
    (&["mk"], "make"),
    (&["groovy", "gradle"], "groovy"),
    (&["sol"], "solidity"),
    (&["asm", "s"], "assembler"),
];
