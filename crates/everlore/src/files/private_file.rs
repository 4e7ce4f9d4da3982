//! Files with secrets: readable by their owner only, as ssh demands of its keys.

use std::{io, path::Path};

/// Makes a file with a secret readable and writable by its owner only. Returns the former mode if others could read or
/// change it, and `None` if it was private already or does not exist.
#[cfg(unix)]
pub fn make_private(path: &Path) -> io::Result<Option<u32>> {
    use std::{fs, os::unix::fs::PermissionsExt};
    let mode = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata?.permissions().mode() & 0o777,
    };
    if mode & 0o077 == 0 {
        return Ok(None);
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(Some(mode))
}

/// Leaves the file to the access control of its folder, where there are no modes.
#[cfg(not(unix))]
pub fn make_private(_: &Path) -> io::Result<Option<u32>> {
    Ok(None)
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn a_file_that_others_could_read_is_closed_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        assert_eq!(make_private(&path).unwrap(), None);
        fs::write(&path, "x").unwrap();
        for (mode, told) in [(0o644, Some(0o644)), (0o620, Some(0o620)), (0o400, None)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(make_private(&path).unwrap(), told, "{mode:o}");
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o400);
    }
}
