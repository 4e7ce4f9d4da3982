//! TLS of connections to databases: rustls with ring. A certificate is always verified, by the system's roots or by
//! those of a file.

use std::sync::Arc;

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};

use super::address::ServerOptions;
use crate::error::{Error, Result};

/// Builds the client's side of TLS.
pub(super) fn client_config(options: &ServerOptions) -> Result<ClientConfig> {
    let roots = match &options.root_certificates {
        Some(file) => roots_of_file(file)?,
        None => system_roots()?,
    };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(Error::store)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn roots_of_file(file: &str) -> Result<RootCertStore> {
    let unreadable = |error: &dyn std::fmt::Display| {
        Error::invalid(
            format!("the certificates of `{file}` cannot be read: {error}"),
            "name a file in PEM format",
        )
    };
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unreadable(&error))?;
        roots.add(certificate).map_err(|error| unreadable(&error))?;
    }
    Ok(roots)
}

fn system_roots() -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(Error::invalid(
            "this system has no root certificates to verify the database with",
            "name a file with sslrootcert=FILE",
        ));
    }
    Ok(roots)
}
