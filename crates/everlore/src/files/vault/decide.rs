//! What to do where a file and a memory no longer say what both said last: a table.

/// What became of a file since both said the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSyncState {
    /// Its bytes are the same.
    Unchanged,
    /// It says something else.
    Edited,
    /// It is not there any more.
    Deleted,
    /// It is there and cannot be taken as it is.
    Unreadable,
}

/// What became of a memory since both said the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemorySyncState {
    /// It says the same.
    Unchanged,
    /// It says something else.
    Edited,
    /// It was archived or replaced.
    Inactive,
    /// It was deleted or forgotten.
    Deleted,
}

/// What has to be done so that both say the same again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncDecision {
    /// Nothing.
    Nothing,
    /// Neither is there any more.
    Untrack,
    /// The file gets what the memory says.
    WriteFile,
    /// The file is made again: it was deleted, but the memory was edited.
    RecreateFile,
    /// The file goes, as the memory did.
    RemoveFile,
    /// The memory gets what the file says.
    UpdateMemory,
    /// The memory comes back: it was put away or deleted, but the file was edited.
    RestoreMemory,
    /// The memory goes, as the file did.
    DeleteMemory,
    /// Both were edited: the file stays, what the memory said becomes a memory of its own.
    KeepBoth,
    /// The file has to be mended first.
    AwaitRepair,
}

/// Decides; `agree` tells whether an edited file says what the memory says.
pub fn decide(file: FileSyncState, memory: MemorySyncState, agree: bool) -> SyncDecision {
    match (file, memory) {
        (FileSyncState::Unchanged, MemorySyncState::Unchanged) => SyncDecision::Nothing,
        (FileSyncState::Unchanged, MemorySyncState::Edited) => SyncDecision::WriteFile,
        (FileSyncState::Unchanged, MemorySyncState::Inactive | MemorySyncState::Deleted) => {
            SyncDecision::RemoveFile
        }
        // What both have come to say is written only where the file leaves something out.
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
