//! `everlore skill install` and `uninstall`: copies where assistants read skills, on request only.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use everlore::{
    engine::{SkillForm, SkillState},
    internal::files::{
        atomic_file::remove_if_exists,
        skill_folder::{SKILL_FILE, read_skill_file, write_skill_file},
    },
};
use serde_json::json;

use super::installed::InstalledSkills;
use crate::{CliContext, CliError, Exit, Output, Result};

/// Copy a skill to where an assistant reads skills
///
/// HOST is claude-code (~/.claude/skills), codex (~/.codex/skills), hermes (~/.hermes/skills), agents (~/.agents/skills), or a folder.
/// With --project it is the folder of the current project: .claude/skills, or .agents/skills for codex and agents. A file that was
/// not installed by this command, or was changed since, is never overwritten.
#[derive(Debug, Args)]
pub(crate) struct SkillInstallArgs {
    /// The skill
    name: String,
    #[command(flatten)]
    target: InstallTargetArgs,
}

/// Remove a copy that `install` made, if it is unchanged
#[derive(Debug, Args)]
pub(crate) struct SkillUninstallArgs {
    /// The skill
    name: String,
    #[command(flatten)]
    target: InstallTargetArgs,
}

#[derive(Debug, Args)]
struct InstallTargetArgs {
    /// The assistant, or a folder
    #[arg(long, value_name = "HOST")]
    host: String,
    /// In this project only; without DIR, in the current folder
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
}

impl SkillInstallArgs {
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let skill = cx.engine().await?.skill(&cx.scope, SkillForm::Skill, &self.name).await?;
        if skill.state == SkillState::Retired {
            return Err(CliError::invalid(
                format!("`{}` is retired", skill.name),
                format!("put it back into use first: everlore skill restore {}", skill.name),
            ));
        }
        let text = skill.text.unwrap_or_default();
        let path = self.target.file(&skill.name)?;
        let mut installed = InstalledSkills::load(&cx.home)?;
        check_free(&path, &text, &installed)?;
        write_skill_file(&path, &text)?;
        installed.insert(path.clone(), &cx.scope, &skill.name, &text);
        installed.save(&cx.home)?;
        let path = path.display().to_string();
        let answer = json!({ "name": skill.name, "version": skill.version, "path": path });
        out.answer_line(&answer, &format!("installed: {path}"))
    }
}

impl SkillUninstallArgs {
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let path = self.target.file(&self.name)?;
        let mut installed = InstalledSkills::load(&cx.home)?;
        let Some(text) = read_skill_file(&path)? else {
            return Err(CliError::invalid(
                format!("there is no {}", path.display()),
                "name the host or folder that it was installed for",
            ));
        };
        if !installed.is_ours(&path, &text) {
            return Err(not_ours(&path));
        }
        remove_if_exists(&path).map_err(|error| CliError::io(path.display().to_string(), error))?;
        if let Some(folder) = path.parent() {
            // A folder with other files of the user stays.
            let _ = fs::remove_dir(folder);
        }
        installed.remove(&path);
        installed.save(&cx.home)?;
        let path = path.display().to_string();
        out.answer_line(&json!({ "name": self.name, "path": path }), &format!("removed: {path}"))
    }
}

impl InstallTargetArgs {
    /// Returns the file of a skill at the target.
    fn file(&self, name: &str) -> Result<PathBuf> {
        let is_plain = |sign: char| sign.is_ascii_alphanumeric() || sign == '-';
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(CliError::invalid(
                format!("`{name}` is no name of a skill"),
                "see `everlore skill list`",
            ));
        }
        let folder = self.folder()?.join(name);
        let folder = std::path::absolute(&folder)
            .map_err(|error| CliError::io(folder.display().to_string(), error))?;
        Ok(folder.join(SKILL_FILE))
    }

    /// Returns the folder in which the assistant looks for skills.
    fn folder(&self) -> Result<PathBuf> {
        let variable = |name: &str| {
            std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        Ok(match (self.host.as_str(), &self.project) {
            ("claude-code", Some(project)) => project.join(".claude/skills"),
            ("codex" | "agents", Some(project)) => project.join(".agents/skills"),
            ("hermes", Some(_)) => {
                return Err(CliError::invalid(
                    "hermes reads skills from your home folder only",
                    "leave --project out",
                ));
            }
            ("claude-code", None) => match variable("CLAUDE_CONFIG_DIR") {
                Some(folder) => folder.join("skills"),
                None => user_home()?.join(".claude/skills"),
            },
            ("codex", None) => match variable("CODEX_HOME") {
                Some(folder) => folder.join("skills"),
                None => user_home()?.join(".codex/skills"),
            },
            ("hermes", None) => user_home()?.join(".hermes/skills"),
            ("agents", None) => user_home()?.join(".agents/skills"),
            (folder, None) if Path::new(folder).is_dir() => PathBuf::from(folder),
            (host, _) => {
                return Err(CliError::invalid(
                    format!("`{host}` is no known assistant and no folder"),
                    "use claude-code, codex, hermes, agents, or a folder that exists",
                ));
            }
        })
    }
}

fn user_home() -> Result<PathBuf> {
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    home.ok_or_else(|| CliError::invalid("your home folder is not known", "set HOME"))
}

/// Fails if a file is there that is not our unchanged copy, or a folder with other files.
fn check_free(path: &Path, text: &str, installed: &InstalledSkills) -> Result<()> {
    match read_skill_file(path)? {
        Some(found) if found == text || installed.is_ours(path, &found) => Ok(()),
        Some(_) => Err(not_ours(path)),
        None => {
            let folder = path.parent().unwrap_or(Path::new(""));
            let is_used = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
            if is_used { Err(not_ours(folder)) } else { Ok(()) }
        }
    }
}

fn not_ours(path: &Path) -> CliError {
    CliError::invalid(
        format!("{} was not installed by everlore, or was changed since", path.display()),
        "move it away first; nothing was changed",
    )
}
