//! TLS certificate and key, reloaded when their files change.
//!
//! Open connections keep the old certificate; new connections get the new one. Files that cannot be used, as while a
//! program is still writing them, change nothing.

use everlore::internal::files::regular_file::{self, MAX_SETTINGS_BYTES};
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

/// First byte of every TLS connection: a handshake record.
const TLS_HANDSHAKE_BYTE: u8 = 0x16;

/// Response to plain HTTP on the TLS port, which most clients show.
const PLAIN_HTTP_RESPONSE: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n\
    this port speaks TLS: use https:// instead of http://\n";

/// Paths of the certificate and its key, both PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate of the server, followed by its intermediate certificates.
    pub cert: PathBuf,
    /// Private key of the certificate: PKCS#8, SEC1 or PKCS#1.
    pub key: PathBuf,
}

/// TLS acceptor that follows changes of its files.
pub(crate) struct TlsContext {
    files: TlsFiles,
    /// Stamp of the files from before the first load, so that a change during the load is noticed.
    initial_stamp: Option<CertFileStamp>,
    current: RwLock<Arc<LoadedCertificate>>,
}

/// Certificate in use.
struct LoadedCertificate {
    acceptor: TlsAcceptor,
    certificate: CertificateDer<'static>,
}

/// Modification time and length of both files, by which a change is noticed.
type CertFileStamp = [(SystemTime, u64); 2];

impl TlsContext {
    /// Loads the files, or fails with what is wrong with them.
    pub(crate) fn open(files: TlsFiles) -> Result<Self> {
        let initial_stamp = file_stamp(&files).ok();
        let loaded = load_certificate(&files)?;
        if is_world_accessible(&files.key) {
            let path = files.key.display();
            tracing::warn!(%path, "other users of this machine can read the key; protect it with chmod 600");
        }
        Ok(Self { files, initial_stamp, current: RwLock::new(Arc::new(loaded)) })
    }

    /// Performs the handshake; `None` if it fails, takes longer than `limit`, or the client speaks plain HTTP.
    pub(crate) async fn handshake(
        &self,
        mut stream: TcpStream,
        limit: Duration,
    ) -> Option<TlsStream<TcpStream>> {
        let handshake = tokio::time::timeout(limit, async {
            if peek_first_byte(&stream).await? != TLS_HANDSHAKE_BYTE {
                refuse_plain_http(&mut stream).await?;
                return Ok(None);
            }
            self.current().acceptor.accept(stream).await.map(Some)
        });
        match handshake.await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                tracing::debug!(%error, "a TLS handshake failed");
                None
            }
            Err(_) => {
                tracing::debug!("a TLS handshake took too long");
                None
            }
        }
    }

    /// Returns `true` if the certificate covers this name or address.
    pub(crate) fn covers_host(&self, host: &str) -> bool {
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
        let loaded = self.current();
        let (Ok(name), Ok(certificate)) =
            (ServerName::try_from(bare), ParsedCertificate::try_from(&loaded.certificate))
        else {
            return false;
        };
        verify_server_name(&certificate, &name).is_ok()
    }

    /// Returns `localhost` if the certificate covers that name and not the address.
    pub(crate) fn local_name(&self, address: SocketAddr) -> Option<String> {
        let is_other =
            !self.covers_host(&address.ip().to_string()) && self.covers_host("localhost");
        is_other.then(|| "localhost".to_owned())
    }

    /// Reloads the files whenever they change; runs until it is aborted.
    pub(crate) async fn watch_files(self: Arc<Self>, interval: Duration) {
        let mut stamp = self.initial_stamp;
        loop {
            tokio::time::sleep(interval).await;
            let tls = Arc::clone(&self);
            // The files may be on a slow disk.
            let checked = tokio::task::spawn_blocking(move || tls.reload_if_changed(stamp)).await;
            stamp = checked.unwrap_or(stamp);
        }
    }

    /// Reloads the files if they changed since `known`, and returns their stamp now.
    fn reload_if_changed(&self, known: Option<CertFileStamp>) -> Option<CertFileStamp> {
        let stamp = file_stamp(&self.files).ok();
        if stamp.is_none() || stamp == known {
            return known;
        }
        match load_certificate(&self.files) {
            Ok(loaded) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(loaded);
                tracing::info!("the renewed certificate is in use");
            }
            Err(error) => {
                tracing::warn!(%error, hint = error.hint(), "the renewed certificate cannot be used; the old one stays");
            }
        }
        stamp
    }

    fn current(&self) -> Arc<LoadedCertificate> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the first byte of the stream without consuming it.
async fn peek_first_byte(stream: &TcpStream) -> io::Result<u8> {
    let mut byte = [0];
    match stream.peek(&mut byte).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(byte[0]),
    }
}

/// Answers plain HTTP with a hint. Reads the request first: closing a socket with unread bytes resets the connection,
/// and the client would lose the answer.
async fn refuse_plain_http(stream: &mut TcpStream) -> io::Result<()> {
    let _ = stream.read(&mut [0; 8 * 1024]).await?;
    stream.write_all(PLAIN_HTTP_RESPONSE).await?;
    stream.shutdown().await
}

fn file_stamp(files: &TlsFiles) -> io::Result<CertFileStamp> {
    let stamp =
        |path: &Path| fs::metadata(path).and_then(|data| Ok((data.modified()?, data.len())));
    Ok([stamp(&files.cert)?, stamp(&files.key)?])
}

/// Loads the certificate and its key, and checks that they belong together.
fn load_certificate(files: &TlsFiles) -> Result<LoadedCertificate> {
    let (chain, key) = (read_certificates(&files.cert)?, read_private_key(&files.key)?);
    let certificate = chain[0].clone();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(files, &error))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| unusable(files, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(LoadedCertificate { acceptor: TlsAcceptor::from(Arc::new(config)), certificate })
}

/// Reads at least one certificate.
fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let bytes = read_file(path)?;
    let chain: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match chain {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        Ok(_) => Err(Error::invalid(
            format!("{} holds no certificate", path.display()),
            "name a PEM file with -----BEGIN CERTIFICATE-----, the server's certificate first",
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
            "the server cannot ask for its password: decrypt it with `openssl pkey -in KEY -out PLAIN` and protect the file with chmod 600",
        )),
        Some(Err(error)) => Err(not_pem(path, &error)),
        None => Err(Error::invalid(
            format!("{} holds no private key", path.display()),
            "name a PEM file with -----BEGIN PRIVATE KEY-----, EC PRIVATE KEY or RSA PRIVATE KEY",
        )),
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    regular_file::read(path, MAX_SETTINGS_BYTES).map_err(|error| {
        Error::invalid(
            format!("{} cannot be read: {error}", path.display()),
            "name a readable file with --tls-cert and --tls-key, or in [server] of the settings",
        )
    })
}

fn not_pem(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::invalid(
        format!("{} is not a PEM file: {error}", path.display()),
        "create it again; a copy may be incomplete",
    )
}

fn unusable(files: &TlsFiles, error: &TlsError) -> Error {
    let (cert, key) = (files.cert.display(), files.key.display());
    match error {
        TlsError::InconsistentKeys(_) => Error::invalid(
            format!("the key in {key} does not belong to the certificate in {cert}"),
            "name the key of the certificate; the server's own certificate must come first in its file",
        ),
        _ => Error::invalid(
            format!("{cert} and {key} cannot be used for TLS: {error}"),
            "use a certificate with an ECDSA, Ed25519 or RSA key of at least 2048 bits",
        ),
    }
}

#[cfg(unix)]
fn is_world_accessible(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    // Group access is allowed: systems often have a group for such keys.
    fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o007 != 0)
}

#[cfg(not(unix))]
fn is_world_accessible(_: &Path) -> bool {
    false
}
