//! `everlore skill validate`: checks a skill folder against the rules of the format.

use std::path::{Path, PathBuf};

use clap::Args;
use everlore::{
    engine::{SkillProblem, skill_problems},
    internal::files::skill_folder::{SKILL_FILE, read_skill_file},
};
use serde_json::json;

use crate::{CliContext, CliError, Exit, Output, Result, render::sanitize};

/// Check a folder with a SKILL.md against the rules of the format
///
/// The file begins with YAML between two `---` lines. name: 1 to 64 characters of a-z, 0-9 and single hyphens, and the folder's
/// name. description: 1 to 1,024 characters. Optional: license, compatibility (1 to 500 characters), metadata (words to texts),
/// allowed-tools (a text), and the keys that Claude Code adds. The body has fewer than 500 lines and 5,000 tokens.
#[derive(Debug, Args)]
pub(crate) struct SkillValidateArgs {
    /// The folder of the skill
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl SkillValidateArgs {
    pub(super) async fn run(self, _cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let problems = problems_of(&self.folder)?;
        let exit = Exit::from_success(problems.is_empty());
        if out.is_json() {
            out.json(&json!({ "valid": problems.is_empty(), "problems": problems }))?;
            return Ok(exit);
        }
        if problems.is_empty() {
            out.say("valid")?;
        }
        for problem in &problems {
            out.say(&sanitize(&problem.message))?;
        }
        Ok(exit)
    }
}

fn problems_of(folder: &Path) -> Result<Vec<SkillProblem>> {
    let path = folder.join(SKILL_FILE);
    let text = read_skill_file(&path)?.ok_or_else(|| {
        let message = format!("there is no {}", path.display());
        CliError::invalid(message, "name the folder that holds a SKILL.md")
    })?;
    let folder = std::path::absolute(folder)
        .map_err(|error| CliError::io(folder.display().to_string(), error))?;
    let name = folder.file_name().and_then(|name| name.to_str());
    Ok(skill_problems(&text, name))
}
