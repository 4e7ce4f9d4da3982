//! Sync decision for a file and a memory that changed since they last agreed: a table.

/// State of a file since the last sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileSyncState {
    /// Same bytes.
    Unchanged,
    /// Another text.
    Edited,
    /// No longer there.
    Deleted,
    /// There, but not readable as a memory.
    Unreadable,
}

/// State of a memory since the last sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemorySyncState {
    /// Same text.
    Unchanged,
    /// Another text.
    Edited,
    /// Archived or superseded.
    Inactive,
    /// Deleted or erased.
    Deleted,
}

/// Step that makes file and memory agree again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SyncDecision {
    /// Do nothing.
    Nothing,
    /// Forget the pair: neither is there any more.
    Untrack,
    /// Write the memory to the file.
    WriteFile,
    /// Write the file again: it was deleted, but the memory was edited.
    RecreateFile,
    /// Remove the file, because the memory is gone.
    RemoveFile,
    /// Update the memory from the file.
    UpdateMemory,
    /// Restore the memory: it was archived or deleted, but the file was edited.
    RestoreMemory,
    /// Delete the memory, because the file is gone.
    DeleteMemory,
    /// Keep both edits: the file stays, the memory's text becomes a memory of its own.
    KeepBoth,
    /// Wait until the file is repaired.
    AwaitRepair,
}

/// Decides; `agree` is `true` if an edited file has the text of the memory.
pub(crate) fn decide(file: FileSyncState, memory: MemorySyncState, agree: bool) -> SyncDecision {
    match (file, memory) {
        (FileSyncState::Unchanged, MemorySyncState::Unchanged) => SyncDecision::Nothing,
        (FileSyncState::Unchanged, MemorySyncState::Edited) => SyncDecision::WriteFile,
        (FileSyncState::Unchanged, MemorySyncState::Inactive | MemorySyncState::Deleted) => {
            SyncDecision::RemoveFile
        }
        // A text that both have is written only if the file leaves something out.
        (FileSyncState::Edited, MemorySyncState::Unchanged | MemorySyncState::Edited) if agree => {
            SyncDecision::WriteFile
        }
        (FileSyncState::Edited, MemorySyncState::Unchanged) => SyncDecision::UpdateMemory,
        (FileSyncState::Edited, MemorySyncState::Edited) => SyncDecision::KeepBoth,
        (FileSyncState::Edited, MemorySyncState::Inactive | MemorySyncState::Deleted) => {
            SyncDecision::RestoreMemory
        }
        (FileSyncState::Deleted, MemorySyncState::Unchanged) => SyncDecision::DeleteMemory,
        (FileSyncState::Deleted, MemorySyncState::Edited) => SyncDecision::RecreateFile,
        (FileSyncState::Deleted, MemorySyncState::Inactive | MemorySyncState::Deleted) => {
            SyncDecision::Untrack
        }
        (FileSyncState::Unreadable, MemorySyncState::Unchanged) => SyncDecision::Nothing,
        (FileSyncState::Unreadable, _) => SyncDecision::AwaitRepair,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_edit_of_either_side_is_ever_overwritten_or_deleted() {
        let files = [
            FileSyncState::Unchanged,
            FileSyncState::Edited,
            FileSyncState::Deleted,
            FileSyncState::Unreadable,
        ];
        let memories = [
            MemorySyncState::Unchanged,
            MemorySyncState::Edited,
            MemorySyncState::Inactive,
            MemorySyncState::Deleted,
        ];
        for (file, memory) in
            files.into_iter().flat_map(|file| memories.map(|memory| (file, memory)))
        {
            let step = decide(file, memory, false);
            let loses_file = matches!(
                step,
                SyncDecision::WriteFile | SyncDecision::RemoveFile | SyncDecision::Untrack
            );
            let loses_memory = matches!(
                step,
                SyncDecision::UpdateMemory | SyncDecision::DeleteMemory | SyncDecision::Untrack
            );
            assert!(!(file == FileSyncState::Edited && loses_file), "{file:?} {memory:?} {step:?}");
            assert!(
                !(memory == MemorySyncState::Edited && loses_memory),
                "{file:?} {memory:?} {step:?}"
            );
            assert!(
                file != FileSyncState::Unreadable
                    || matches!(step, SyncDecision::Nothing | SyncDecision::AwaitRepair),
                "a file that cannot be read is never changed"
            );
        }
    }

    #[test]
    fn changes_of_one_side_travel_to_the_other() {
        assert_eq!(
            decide(FileSyncState::Unchanged, MemorySyncState::Edited, false),
            SyncDecision::WriteFile
        );
        assert_eq!(
            decide(FileSyncState::Edited, MemorySyncState::Unchanged, false),
            SyncDecision::UpdateMemory
        );
        assert_eq!(
            decide(FileSyncState::Deleted, MemorySyncState::Unchanged, false),
            SyncDecision::DeleteMemory
        );
        assert_eq!(
            decide(FileSyncState::Unchanged, MemorySyncState::Deleted, false),
            SyncDecision::RemoveFile
        );
        assert_eq!(
            decide(FileSyncState::Edited, MemorySyncState::Edited, false),
            SyncDecision::KeepBoth
        );
    }
}
