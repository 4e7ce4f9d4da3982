//! Reading of regular files, at most a limit: pipes, devices, sockets and folders are refused at once. A pipe would
//! block the program until another one writes, and a device such as `/dev/zero` never ends.

use std::{
    fs::{self, File, FileType, OpenOptions},
    io::{self, Read},
    path::Path,
};

/// Longest settings, key or state file: all of them are far shorter.
pub const MAX_SETTINGS_BYTES: u64 = 4 * 1024 * 1024;

/// Opens a regular file for reading, without waiting. Symbolic links are followed.
pub fn open(path: &Path) -> io::Result<File> {
    // A socket cannot be opened, and opening some devices has an effect, so the path is judged first.
    check_type(fs::metadata(path)?.file_type())?;
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        // The path may be another one by now: opening a pipe without this flag waits for its writer.
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file = options.read(true).open(path)?;
    check_type(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a regular file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {limit} bytes"),
        ));
    }
    Ok(bytes)
}

/// Reads a regular file of at most `limit` bytes as UTF-8.
pub fn read_to_string(path: &Path, limit: u64) -> io::Result<String> {
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not valid UTF-8");
    String::from_utf8(read(path, limit)?).map_err(invalid)
}

fn check_type(file_type: FileType) -> io::Result<()> {
    if file_type.is_file() {
        return Ok(());
    }
    let name = type_name(file_type);
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("it is {name}; only regular files are read"),
    ))
}

fn type_name(file_type: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if file_type.is_fifo() {
            return "a pipe";
        }
        if file_type.is_socket() {
            return "a socket";
        }
        if file_type.is_char_device() || file_type.is_block_device() {
            return "a device";
        }
    }
    if file_type.is_dir() { "a folder" } else { "no file" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("茶.txt");
        fs::write(&path, "龙井 tea").unwrap();
        assert_eq!(read_to_string(&path, 10).unwrap(), "龙井 tea");
        assert_eq!(read(&path, 9).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(&folder.path().join("x"), 9).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_devices_sockets_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, socket] = ["pipe", "socket"].map(|name| folder.path().join(name));
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, name) in [
            (pipe.as_path(), "a pipe"),
            (&socket, "a socket"),
            (Path::new("/dev/zero"), "a device"),
            (folder.path(), "a folder"),
        ] {
            let error = read(path, 100).unwrap_err();
            assert!(error.to_string().starts_with(&format!("it is {name};")), "{error}");
        }
    }
}
