//! What the doctor finds out about the layers of every agent and user.

use everlore::files::layers::{Layer, Layers};

use super::fill_bar;
use crate::{cli_context::CliContext, render::pluralize};

/// What is worth telling about a file.
pub(crate) struct LayerFinding {
    /// Whether something is wrong with it.
    pub(crate) problem: bool,
    /// What.
    pub(crate) message: String,
    /// What to do.
    pub(crate) hint: String,
}

/// Reads every layer of the home; returns how many there are in words, and what is to be told of them.
pub(crate) fn layer_findings(cx: &CliContext) -> (String, Vec<LayerFinding>) {
    let today = cx.now().date();
    let (mut files, mut found) = (0, Vec::new());
    for layers in Layers::all(&cx.home, &cx.settings.config.layers) {
        for layer in Layer::ALL {
            let path = layers.path(layer, today);
            // Folders of users share the SOUL.md of the agent, which is told once.
            let told = layer == Layer::Soul
                && layers.path(Layer::User, today)
                    != path.with_file_name("memories").join("USER.md");
            if told || path.symlink_metadata().is_err() {
                continue;
            }
            files += 1;
            found.extend(check_layer(&layers, layer, cx));
        }
    }
    (pluralize(files, "file", "files"), found)
}

fn check_layer(layers: &Layers, layer: Layer, cx: &CliContext) -> Option<LayerFinding> {
    let read = match layers.read(layer, cx.now().date()) {
        Err(error) => {
            let (message, hint) = (error.to_string(), error.hint().to_owned());
            return Some(LayerFinding { problem: true, message, hint });
        }
        Ok(read) => read,
    };
    let path = read.path.display();
    if read.usage.chars > read.usage.budget {
        return Some(LayerFinding {
            problem: false,
            message: format!("{path}: {}; its end does not reach the prompt", fill_bar(&read)),
            hint: format!("shorten it: everlore layer edit {layer}"),
        });
    }
    let target = read.link_to.as_ref()?;
    Some(LayerFinding {
        problem: false,
        message: format!("{path} is a link to {}", target.display()),
        hint: "changes are written there; nothing needs to be done".to_owned(),
    })
}
