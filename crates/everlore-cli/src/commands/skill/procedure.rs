//! Commands on one skill or workflow.

use clap::Args;
use everlore::{
    Engine,
    engine::{SkillForm, SkillVersion, SkillView},
};
use serde_json::json;

use super::installed::InstalledSkills;
use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{indent, pad_width, pluralize, sanitize},
};

/// Name of a skill or workflow.
#[derive(Debug, Args)]
pub(crate) struct ProcedureNameArgs {
    /// The name
    pub(crate) name: String,
}

/// Version to go back to.
#[derive(Debug, Args)]
pub(crate) struct ProcedureRollbackArgs {
    #[command(flatten)]
    pub(crate) which: ProcedureNameArgs,
    /// The version; the one before the current by default
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: Option<u32>,
}

/// Skill or workflow that a command is about.
pub(crate) struct Procedure<'a> {
    cx: &'a CliContext,
    out: &'a mut Output,
    form: SkillForm,
    name: String,
}

impl<'a> Procedure<'a> {
    pub(crate) fn new(
        cx: &'a CliContext,
        out: &'a mut Output,
        form: SkillForm,
        which: ProcedureNameArgs,
    ) -> Self {
        Self { cx, out, form, name: which.name }
    }

    async fn engine(&self) -> Result<&'a Engine> {
        self.cx.engine().await
    }

    /// Prints it in full.
    pub(crate) async fn show(self) -> Result<Exit> {
        let view = self.engine().await?.skill(&self.cx.scope, self.form, &self.name).await?;
        let text = view.text.clone().unwrap_or_default();
        let body = format!("{}\n{}", head(&view), indent(sanitize(&text).trim_end(), 2));
        self.out.answer_text(&view, &format!("{body}\n"))
    }

    /// Prints its versions.
    pub(crate) async fn history(self) -> Result<Exit> {
        let engine = self.engine().await?;
        let versions = engine.skill_history(&self.cx.scope, self.form, &self.name).await?;
        let lines: String = versions.iter().map(version_line).collect();
        self.out.answer_text(&json!({ "versions": versions }), &lines)
    }

    /// Makes a new version.
    pub(crate) async fn update(self, text: Option<&str>) -> Result<Exit> {
        let engine = self.engine().await?;
        let view = engine.update_skill(&self.cx.scope, self.form, &self.name, text).await?;
        self.changed(&view, &format!("version {}", view.version))
    }

    /// Brings back an earlier version.
    pub(crate) async fn roll_back(self, to: Option<u32>) -> Result<Exit> {
        let engine = self.engine().await?;
        let view = engine.roll_back_skill(&self.cx.scope, self.form, &self.name, to).await?;
        self.changed(&view, &format!("back to version {}", view.version))
    }

    /// Takes it out of use.
    pub(crate) async fn retire(self) -> Result<Exit> {
        let view = self.engine().await?.retire_skill(&self.cx.scope, self.form, &self.name).await?;
        self.changed(&view, "out of use")
    }

    /// Puts it back into use.
    pub(crate) async fn restore(self) -> Result<Exit> {
        let view =
            self.engine().await?.restore_skill(&self.cx.scope, self.form, &self.name).await?;
        self.changed(&view, "in use again")
    }

    /// Reports a success.
    pub(crate) async fn worked(self) -> Result<Exit> {
        self.report(true).await
    }

    /// Reports a failure.
    pub(crate) async fn failed(self) -> Result<Exit> {
        self.report(false).await
    }

    async fn report(self, worked: bool) -> Result<Exit> {
        let engine = self.engine().await?;
        let view = engine.report_skill(&self.cx.scope, self.form, &self.name, worked).await?;
        self.changed(&view, &effect(&view))
    }

    /// Removes it.
    pub(crate) async fn remove(self) -> Result<Exit> {
        let view = self.engine().await?.remove_skill(&self.cx.scope, self.form, &self.name).await?;
        self.changed(&view, "removed; everlore memory undo brings it back")
    }

    /// Prints what became of it, and names copies that assistants still read.
    fn changed(self, view: &SkillView, what: &str) -> Result<Exit> {
        for copy in InstalledSkills::load(&self.cx.home)?.copies_of(&self.cx.scope, &view.name) {
            let path = copy.display();
            self.out
                .note(&format!("an assistant reads a copy: {path}; install or uninstall it again"));
        }
        self.out.answer_line(view, &format!("{}: {}", view.name, translate(what)))
    }
}

/// Width of the column of names.
const NAME_CELLS: usize = 9;

fn head(view: &SkillView) -> String {
    let expected = view.expected_use;
    let expected = format!(
        "{} in {} over {}",
        pluralize(expected.times as usize, "time", "times"),
        pluralize(expected.sessions as usize, "conversation", "conversations"),
        pluralize(expected.days as usize, "day", "days"),
    );
    let evidence = pluralize(view.evidence.len(), "piece of evidence", "pieces of evidence");
    let (state, reason) = (view.state.to_string(), view.reason.to_string());
    let title = format!("version {} {} ({})", view.version, translate(&state), translate(&reason));
    let mut lines = vec![
        format!("{} {}", view.name, translate(&title)),
        field("why", &translate(&sanitize(&view.why))),
        field("expected", &translate(&expected)),
        field("effect", &translate(&effect(view))),
        field("evidence", &translate(&evidence)),
    ];
    lines.extend(view.path.as_ref().map(|path| field("file", &sanitize(path))));
    if view.edited {
        let note = format!("the file differs: everlore {} update {}", view.form, view.name);
        lines.push(field("edited", &translate(&note)));
    }
    lines.join("\n")
}

fn field(name: &str, value: &str) -> String {
    format!("{} {value}", pad_width(&translate(name), NAME_CELLS))
}

/// Describes how often a skill was used and worked.
fn effect(view: &SkillView) -> String {
    let effect = view.effect;
    format!(
        "used {}, worked {}, failed {}, success {:.0} %, {}",
        effect.uses,
        effect.worked,
        effect.failed,
        effect.success * 100.0,
        view.state
    )
}

fn version_line(version: &SkillVersion) -> String {
    let current = if version.current { translate(" (this text is in use)") } else { "".into() };
    let (state, cause) = (version.state.to_string(), translate(&version.cause).into_owned());
    let head = format!("version {} {} {}", version.version, version.at, translate(&state));
    format!("{}: {}{current}\n", translate(&head), sanitize(&cause))
}
