//! Checks of the layer files, for `everlore doctor`.

use everlore::{engine::Layer, internal::files::layers::Layers};

use super::fill_bar;
use crate::{CliContext, render::pluralize};

/// Finding about a layer file.
pub(crate) struct LayerFinding {
    /// `true` for an error, `false` for a remark.
    pub(crate) problem: bool,
    /// Description.
    pub(crate) message: String,
    /// Advice for the user.
    pub(crate) hint: String,
}

/// Reads every layer of the home; returns their number in words, and the findings.
pub(crate) fn layer_findings(cx: &CliContext) -> (String, Vec<LayerFinding>) {
    let today = cx.now().date();
    let (mut files, mut findings) = (0, Vec::new());
    for layers in Layers::all(&cx.home, &cx.settings.config.layers) {
        for layer in Layer::ALL {
            let path = layers.path(layer, today);
            // All users share the agent's SOUL.md, which is counted once.
            let is_shared = layer == Layer::Soul
                && layers.path(Layer::User, today)
                    != path.with_file_name("memories").join("USER.md");
            if is_shared || path.symlink_metadata().is_err() {
                continue;
            }
            files += 1;
            findings.extend(check_layer(&layers, layer, cx));
        }
    }
    (pluralize(files, "file", "files"), findings)
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
        hint: "changes are written to the target; nothing to do".to_owned(),
    })
}
