//! What to do where a file and a memory no longer say what both said last: a table.

/// What became of a file since both said the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDisk {
    /// Its bytes are the same.
    Same,
    /// It says something else.
    Edited,
    /// It is not there any more.
    Gone,
    /// It is there and cannot be taken as it is.
    Unreadable,
}

/// What became of a memory since both said the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// It says the same.
    Same,
    /// It says something else.
    Edited,
    /// It was archived or replaced.
    PutAway,
    /// It was deleted or forgotten.
    Gone,
}

/// What has to be done so that both say the same again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    Nothing,
    /// Neither is there any more.
    Drop,
    /// The file gets what the memory says.
    WriteFile,
    /// The file is made again: it was deleted, but the memory was edited.
    MakeFile,
    /// The file goes, as the memory did.
    RemoveFile,
    /// The memory gets what the file says.
    UpdateMemory,
    /// The memory comes back: it was put away or deleted, but the file was edited.
    BringBack,
    /// The memory goes, as the file did.
    DeleteMemory,
    /// Both were edited: the file stays, what the memory said becomes a memory of its own.
    KeepBoth,
    /// The file has to be mended first.
    Wait,
}

/// Decides; `agree` tells whether an edited file says what the memory says.
pub fn decide(file: OnDisk, memory: Stored, agree: bool) -> Step {
    match (file, memory) {
        (OnDisk::Same, Stored::Same) => Step::Nothing,
        (OnDisk::Same, Stored::Edited) => Step::WriteFile,
        (OnDisk::Same, Stored::PutAway | Stored::Gone) => Step::RemoveFile,
        // What both have come to say is written only where the file leaves something out.
        (OnDisk::Edited, Stored::Same | Stored::Edited) if agree => Step::WriteFile,
        (OnDisk::Edited, Stored::Same) => Step::UpdateMemory,
        (OnDisk::Edited, Stored::Edited) => Step::KeepBoth,
        (OnDisk::Edited, Stored::PutAway | Stored::Gone) => Step::BringBack,
        (OnDisk::Gone, Stored::Same) => Step::DeleteMemory,
        (OnDisk::Gone, Stored::Edited) => Step::MakeFile,
        (OnDisk::Gone, Stored::PutAway | Stored::Gone) => Step::Drop,
        (OnDisk::Unreadable, Stored::Same) => Step::Nothing,
        (OnDisk::Unreadable, _) => Step::Wait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_edit_of_either_side_is_ever_overwritten_or_deleted() {
        let files = [OnDisk::Same, OnDisk::Edited, OnDisk::Gone, OnDisk::Unreadable];
        let memories = [Stored::Same, Stored::Edited, Stored::PutAway, Stored::Gone];
        for (file, memory) in
            files.into_iter().flat_map(|file| memories.map(|memory| (file, memory)))
        {
            let step = decide(file, memory, false);
            let loses_file = matches!(step, Step::WriteFile | Step::RemoveFile | Step::Drop);
            let loses_memory = matches!(step, Step::UpdateMemory | Step::DeleteMemory | Step::Drop);
            assert!(!(file == OnDisk::Edited && loses_file), "{file:?} {memory:?} {step:?}");
            assert!(!(memory == Stored::Edited && loses_memory), "{file:?} {memory:?} {step:?}");
            assert!(
                file != OnDisk::Unreadable || matches!(step, Step::Nothing | Step::Wait),
                "a file that cannot be read is never changed"
            );
        }
    }

    #[test]
    fn changes_of_one_side_travel_to_the_other() {
        assert_eq!(decide(OnDisk::Same, Stored::Edited, false), Step::WriteFile);
        assert_eq!(decide(OnDisk::Edited, Stored::Same, false), Step::UpdateMemory);
        assert_eq!(decide(OnDisk::Gone, Stored::Same, false), Step::DeleteMemory);
        assert_eq!(decide(OnDisk::Same, Stored::Gone, false), Step::RemoveFile);
        assert_eq!(decide(OnDisk::Edited, Stored::Edited, false), Step::KeepBoth);
    }
}
