//! Generates and checks docs/reference/tools.md. Every tool is in it, so it needs the feature `compat-tools`.

use std::{fs, path::Path};

use everlore::{ToolRegistry, tools::ToolSpec};
use serde_json::{Value, json};

/// Renders the reference from the tools' own specs.
fn reference() -> String {
    let mut text = "# Tools\n\n<!-- Made from the specs in crates/everlore/src/tools. Update with: UPDATE_DOCS=1 cargo test -p everlore --features compat-tools --test it tools -->\n\n\
        The tools that agents call. The library, `everlore tool call NAME JSON`, HTTP, chat and MCP ([connect.md](../connect.md)) offer the same ones.\n\
        Each tool belongs to a set, and a host chooses the sets that it offers. An answer has a text for the model, the same content for\n\
        programs (`structured`), and `is_error`. With `is_error` nothing was changed, and the text says what is wrong and what to do. An unknown\n\
        tool or field, a missing field, a wrong type and a wrong choice are answered with what is expected; a null field counts as left out.\n"
        .to_owned();
    for spec in ToolRegistry::all().specs() {
        text += &section(spec);
    }
    text + &fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tools_notes.md"),
    )
    .unwrap()
}

fn section(spec: &ToolSpec) -> String {
    let annotations = serde_json::to_string(&spec.annotations).unwrap();
    let mut text = format!(
        "\n## {}\n\n{} (set `{}`, annotations `{annotations}`)\n\n{}\n\n| input | type | what it is |\n|---|---|---|\n",
        spec.name,
        spec.title,
        spec.set,
        spec.description.replace('\n', "  \n").replace("  \n  \n", "\n\n").replace('<', "\\<")
    );
    let required = spec.input_schema["required"].as_array().unwrap();
    for (field, schema) in spec.input_schema["properties"].as_object().unwrap() {
        let needed = if required.contains(&json!(field)) { ", required" } else { "" };
        text += &format!(
            "| `{field}` | {}{needed} | {} |\n",
            typed(schema),
            schema["description"].as_str().unwrap()
        );
    }
    for (field, alias, meant) in spec.aliases {
        text += &format!("\nIn `{field}`, `{alias}` is read as `{meant}`.");
    }
    text += "\n\n| answer | type | what it is |\n|---|---|---|\n";
    for (field, schema) in spec.output_schema["properties"].as_object().unwrap() {
        text += &format!(
            "| `{field}` | {} | {} |\n",
            typed(schema),
            schema["description"].as_str().unwrap_or_default()
        );
        for (inner, schema) in schema["items"]["properties"].as_object().into_iter().flatten() {
            text += &format!(
                "| `{field}[].{inner}` | {} | {} |\n",
                typed(schema),
                schema["description"].as_str().unwrap_or_default()
            );
        }
    }
    text.replace("\n\n\n", "\n\n")
}

fn typed(schema: &Value) -> String {
    let choices = schema["enum"].as_array().into_iter().flatten();
    let choices: Vec<String> =
        choices.map(|choice| format!("`{}`", choice.as_str().unwrap())).collect();
    if choices.is_empty() {
        schema["type"].as_str().unwrap().to_owned()
    } else {
        choices.join(", ")
    }
}

#[test]
fn the_reference_of_the_tools_is_up_to_date() {
    let expected = reference();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/tools.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let advice = "run `UPDATE_DOCS=1 cargo test -p everlore --features compat-tools --test it tools` and commit the result";
    assert!(found == expected, "docs/reference/tools.md is out of date: {advice}");
}
