//! Warnings: what of a report a person should look at, and the next step.

use super::report::{HealthReport, HealthSeverity, HealthStatus, HealthWarning};

/// Share of a layer's budget from which it counts as full.
const FULL_LAYER_PERCENT: usize = 95;

impl HealthReport {
    /// Adds the warnings of the report and sets its status by the gravest.
    pub(super) fn judge(&mut self) {
        let mut warnings = self.warnings_of_scope();
        warnings.extend(self.warnings_of_store());
        warnings.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
        self.status = match warnings.first().map(|warning| warning.severity) {
            None => HealthStatus::Ok,
            Some(HealthSeverity::Note) => HealthStatus::Attention,
            Some(HealthSeverity::Problem) => HealthStatus::Problem,
        };
        self.warnings = warnings;
    }

    fn warnings_of_scope(&self) -> Vec<HealthWarning> {
        let mut found = Vec::new();
        if self.index.missing > 0 {
            let message = format!(
                "{} of the {} newest memories are not in the index",
                self.index.missing, self.index.checked
            );
            found.push(problem("index", message, "run `everlore doctor --repair`"));
        }
        if let Some(note) = &self.capture.note {
            let advice = "check [memory_agent] of the settings with `everlore doctor`";
            found.push(note_of("capture", format!("rules replace the model: {note}"), advice));
        }
        if self.quarantine > 0 {
            let message = format!("{} wait in quarantine", plural(self.quarantine, "draft"));
            found.push(note_of("quarantine", message, "judge them: `everlore quarantine list`"));
        }
        if self.proposals > 0 {
            let message = format!("{} wait for your decision", plural(self.proposals, "proposal"));
            found.push(note_of("proposals", message, "decide on them: `everlore proposals list`"));
        }
        if self.reminders.due > 0 {
            let message =
                format!("{} due and not told yet", plural(self.reminders.due, "reminder"));
            let advice = "a chat, a new session or `everlore heartbeat --once` tells them";
            found.push(note_of("reminders", message, advice));
        }
        if self.today.capped {
            let advice =
                "rules go on until tomorrow; raise [memory_agent.budget] if that is too early";
            found.push(note_of("today", "the daily budget is spent".to_owned(), advice));
        }
        found.extend(self.full_layers());
        found
    }

    fn full_layers(&self) -> impl Iterator<Item = HealthWarning> {
        let is_full = |chars: usize, budget: usize| chars * 100 > budget * FULL_LAYER_PERCENT;
        self.layers.iter().filter(move |it| is_full(it.chars, it.budget)).map(|it| {
            let message = format!(
                "the layer {} is full: {} of {} characters",
                it.layer.as_str(),
                it.chars,
                it.budget
            );
            let advice = format!("shorten it with `everlore layer edit {}`", it.layer.as_str());
            note_of("layers", message, &advice)
        })
    }

    fn warnings_of_store(&self) -> Vec<HealthWarning> {
        let mut found = Vec::new();
        if self.store.as_ref().is_some_and(|store| store.read_only) {
            let advice = "check the permissions and the free space of its folder";
            found.push(problem("store", "the database cannot be written".to_owned(), advice));
        }
        if let Some(embeddings) = &self.embeddings {
            if embeddings.paused {
                let message = "the embedding server failed: recall goes by words alone".to_owned();
                found.push(problem("embeddings", message, "check [embedding] of the settings"));
            }
            if embeddings.is_other_model {
                let message = "the settings name another embedding model".to_owned();
                found.push(note_of("embeddings", message, "run `everlore embed switch`"));
            } else if embeddings.model.is_some() && embeddings.waiting > 0 {
                let message = format!("{} without a vector", memories(embeddings.waiting));
                found.push(note_of("embeddings", message, "run `everlore embed rebuild`"));
            }
        }
        let jobs = self.heartbeat.iter().flat_map(|heartbeat| &heartbeat.jobs);
        let failed = jobs.filter_map(|job| Some((job.job, job.last.as_ref()?.failed.as_ref()?)));
        found.extend(failed.map(|(job, error)| {
            let message = format!("the last run of {job} failed: {error}");
            problem("heartbeat", message, "it is tried again; see `everlore heartbeat history`")
        }));
        found.extend(self.file_warnings());
        found
    }

    fn file_warnings(&self) -> Vec<HealthWarning> {
        let mut found = Vec::new();
        let Some(files) = &self.files else { return found };
        if files.overdue > 0 {
            let message = format!("{} of hooks not stored yet", plural(files.overdue, "turn"));
            let advice = "store them now: `everlore hook claude-code drain`";
            found.push(note_of("files", message, advice));
        }
        if files.refused > 0 {
            let message = format!("{} of hooks could not be stored", plural(files.refused, "turn"));
            let advice = "they are hooks/waiting/*.refused in the home: store what you need, then delete them";
            found.push(problem("files", message, advice));
        }
        if files.unsaved > 0 {
            let message =
                format!("{} with input that could not be saved", plural(files.unsaved, "file"));
            found.push(problem(
                "files",
                message,
                "`everlore doctor` prints the command that imports them",
            ));
        }
        if !files.backups.is_empty() {
            let message =
                format!("{} made before an update", plural(files.backups.len(), "backup"));
            let advice =
                "delete it when you no longer need it; texts forgotten since are still in it";
            found.push(note_of("files", message, advice));
        }
        found
    }
}

fn note_of(about: &'static str, message: String, advice: &str) -> HealthWarning {
    HealthWarning { about, severity: HealthSeverity::Note, message, advice: advice.to_owned() }
}

fn problem(about: &'static str, message: String, advice: &str) -> HealthWarning {
    HealthWarning { about, severity: HealthSeverity::Problem, message, advice: advice.to_owned() }
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn memories(count: usize) -> String {
    if count == 1 { "1 memory".to_owned() } else { format!("{count} memories") }
}
