//! Lists of skills and workflows.

use everlore::engine::{SkillForm, SkillView};
use serde_json::json;

use crate::{
    CliContext, Exit, Output, Result,
    messages::translate,
    render::{new_table, render_table, sanitize, truncate_width},
};

/// Width of the column of descriptions.
const TEXT_CELLS: usize = 60;

/// Prints the skills or workflows of the scope.
pub(crate) async fn list_procedures(
    cx: &CliContext,
    out: &mut Output,
    form: SkillForm,
    retired: bool,
) -> Result<Exit> {
    let found = cx.engine().await?.skills(&cx.scope, form, retired).await?;
    let exit = Exit::from_found(!found.is_empty());
    let plural = format!("{form}s");
    if out.is_json() {
        out.json(&json!({ plural: found }))?;
        return Ok(exit);
    }
    if found.is_empty() {
        out.note(&format!(
            "no {form} yet: everlore reflect suggests, everlore proposals approve makes one"
        ));
        return Ok(exit);
    }
    let mut rows = new_table(&["name", "version", "state", "uses", "success", "description"]);
    for view in &found {
        rows.add_row([
            view.name.clone(),
            view.version.to_string(),
            state(view),
            view.effect.uses.to_string(),
            format!("{:.0} %", view.effect.success * 100.0),
            truncate_width(&sanitize(&view.description), TEXT_CELLS),
        ]);
    }
    out.text(&render_table(rows))?;
    Ok(exit)
}

fn state(view: &SkillView) -> String {
    let state = view.state.to_string();
    if view.edited {
        format!("{}, {}", translate(&state), translate("edited"))
    } else {
        translate(&state).into_owned()
    }
}
