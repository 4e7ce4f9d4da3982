//! TLS: the certificate and its key, read again when somebody renewed them.
//!
//! Whoever is served already keeps what they have; new connections get the new certificate. Files that cannot be used, as
//! when a program is just writing them, change nothing.

use std::{
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use everlore::{Error, Result};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        Error as TlsError, ServerConfig,
        client::verify_server_name,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
        server::ParsedCertificate,
    },
    server::TlsStream,
};

/// How often it is looked whether the files were renewed: a certificate is renewed weeks before it ends.
const RELOAD_INTERVAL: Duration = Duration::from_secs(2);

/// The longest that a client may take until its line is closed to others.
const MAX_HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// The first byte of every line that speaks TLS.
const TLS_HANDSHAKE_BYTE: u8 = 0x16;

/// What is told to who does not: most of them read it.
const PLAIN_HTTP_RESPONSE: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n\
    this port speaks TLS: ask with https:// in place of http://\n";

/// Where the certificate and its key are, both PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and those that vouch for it after it.
    pub cert: PathBuf,
    /// Its private key: PKCS#8, SEC1 or PKCS#1.
    pub key: PathBuf,
}

/// What makes lines that nobody else reads.
pub(crate) struct TlsContext {
    files: TlsFiles,
    /// How the files were before they were read first: whatever changed since is read again.
    initial_stamp: Option<CertFileStamp>,
    current: RwLock<Arc<LoadedCertificate>>,
}

/// A certificate that is in use.
struct LoadedCertificate {
    acceptor: TlsAcceptor,
    certificate: CertificateDer<'static>,
}

/// By what a changed file is known.
type CertFileStamp = [(SystemTime, u64); 2];

impl TlsContext {
    /// Reads the files, and says what is wrong with them.
    pub(crate) fn open(files: TlsFiles) -> Result<Self> {
        let first = file_stamp(&files).ok();
        let ready = load_certificate(&files)?;
        if is_open_to_others(&files.key) {
            let path = files.key.display();
            tracing::warn!(%path, "others on this machine can read the key; close it with chmod 600");
        }
        Ok(Self { files, initial_stamp: first, current: RwLock::new(Arc::new(ready)) })
    }

    /// The line to a client once only the two can read it; none if it cannot be had in time.
    pub(crate) async fn handshake(&self, mut stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        let shaken = tokio::time::timeout(MAX_HANDSHAKE_TIME, async {
            if peek_first_byte(&stream).await? != TLS_HANDSHAKE_BYTE {
                refuse_plain_http(&mut stream).await?;
                return Ok(None);
            }
            self.current().acceptor.accept(stream).await.map(Some)
        });
        match shaken.await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                tracing::debug!(%error, "a client and the server found no common TLS");
                None
            }
            Err(_) => {
                tracing::debug!("a client took too long for its handshake");
                None
            }
        }
    }

    /// Whether the certificate is for this name or address.
    pub(crate) fn covers_host(&self, host: &str) -> bool {
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
        let ready = self.current();
        let (Ok(name), Ok(own)) =
            (ServerName::try_from(bare), ParsedCertificate::try_from(&ready.certificate))
        else {
            return false;
        };
        verify_server_name(&own, &name).is_ok()
    }

    /// What a client of this machine may call it and find in the certificate, where that is not the address.
    pub(crate) fn local_name(&self, address: SocketAddr) -> Option<String> {
        let is_other =
            !self.covers_host(&address.ip().to_string()) && self.covers_host("localhost");
        is_other.then(|| "localhost".to_owned())
    }

    /// Takes renewed files into use, as long as it runs.
    pub(crate) async fn watch_files(self: Arc<Self>) {
        let mut seen = self.initial_stamp;
        loop {
            tokio::time::sleep(RELOAD_INTERVAL).await;
            let tls = Arc::clone(&self);
            // Files may be on a disk that is slow to answer.
            let looked = tokio::task::spawn_blocking(move || tls.reload_if_changed(seen)).await;
            seen = looked.unwrap_or(seen);
        }
    }

    /// Reads the files again if they changed since `seen`; answers what was seen now.
    fn reload_if_changed(&self, seen: Option<CertFileStamp>) -> Option<CertFileStamp> {
        let found = file_stamp(&self.files).ok();
        if found.is_none() || found == seen {
            return seen;
        }
        match load_certificate(&self.files) {
            Ok(ready) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(ready);
                tracing::info!("the renewed certificate is in use");
            }
            Err(error) => {
                tracing::warn!(%error, hint = error.hint(), "the renewed certificate cannot be used; the old one stays");
            }
        }
        found
    }

    fn current(&self) -> Arc<LoadedCertificate> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The first byte that came, which is still there to be read.
async fn peek_first_byte(stream: &TcpStream) -> io::Result<u8> {
    let mut byte = [0];
    match stream.peek(&mut byte).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(byte[0]),
    }
}

/// Tells who speaks plain HTTP what to do instead. What they sent is taken first: a line that is closed with unread bytes is
/// cut off, with the answer.
async fn refuse_plain_http(stream: &mut TcpStream) -> io::Result<()> {
    let _ = stream.read(&mut [0; 8 * 1024]).await?;
    stream.write_all(PLAIN_HTTP_RESPONSE).await?;
    stream.shutdown().await
}

fn file_stamp(files: &TlsFiles) -> io::Result<CertFileStamp> {
    let of = |path: &Path| fs::metadata(path).and_then(|data| Ok((data.modified()?, data.len())));
    Ok([of(&files.cert)?, of(&files.key)?])
}

/// A certificate and its key that fit each other.
fn load_certificate(files: &TlsFiles) -> Result<LoadedCertificate> {
    let (chain, key) = (read_certificates(&files.cert)?, read_private_key(&files.key)?);
    let own = chain[0].clone();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(files, &error))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| unusable(files, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(LoadedCertificate { acceptor: TlsAcceptor::from(Arc::new(config)), certificate: own })
}

/// At least one.
fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let bytes = read_file(path)?;
    let found: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(Error::invalid(
            format!("{} holds no certificate", path.display()),
            "name a PEM file with -----BEGIN CERTIFICATE-----, its own certificate first",
        )),
        Err(error) => Err(not_pem(path, &error)),
    }
}

fn read_private_key(path: &Path) -> Result<PrivateKeyDer<'static>> {
    let bytes = read_file(path)?;
    match PrivateKeyDer::pem_slice_iter(&bytes).next() {
        Some(Ok(key)) => Ok(key),
        _ if bytes.windows(9).any(|bytes| bytes == b"ENCRYPTED") => Err(Error::invalid(
            format!("the key in {} is encrypted", path.display()),
            "nobody can type its password here: decrypt it with `openssl pkey -in KEY -out PLAIN` and close the file to others",
        )),
        Some(Err(error)) => Err(not_pem(path, &error)),
        None => Err(Error::invalid(
            format!("{} holds no private key", path.display()),
            "name a PEM file with -----BEGIN PRIVATE KEY-----, EC PRIVATE KEY or RSA PRIVATE KEY",
        )),
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| {
        Error::invalid(
            format!("{} cannot be read: {error}", path.display()),
            "name a file that this user may read, with --tls-cert and --tls-key or in [server] of the settings",
        )
    })
}

fn not_pem(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::invalid(
        format!("{} is no PEM file: {error}", path.display()),
        "make it anew; a copy may have been cut off",
    )
}

fn unusable(files: &TlsFiles, error: &TlsError) -> Error {
    let (cert, key) = (files.cert.display(), files.key.display());
    match error {
        TlsError::InconsistentKeys(_) => Error::invalid(
            format!("the key in {key} is not that of the certificate in {cert}"),
            "name the key that the certificate was made with; the server's own certificate comes first in its file",
        ),
        _ => Error::invalid(
            format!("{cert} and {key} cannot be used for TLS: {error}"),
            "use a certificate with an ECDSA, Ed25519 or RSA key of at least 2048 bits",
        ),
    }
}

#[cfg(unix)]
fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    // Any right of those who are not the owner or in the group: a group is often made for such keys.
    fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o007 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false
}
