//! TLS to the server: the verification of its certificate and name.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// The verification of a server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verification {
    /// None: the connection is encrypted, but the server is not authenticated.
    None,
    /// An authority must have signed it.
    Authority,
    /// It must be for this host, too.
    Full,
}

/// Makes the configuration of a client; `root_file` replaces the system's authorities.
pub(crate) fn client_config(
    verification: Verification,
    root_file: Option<&Path>,
) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let checks: Option<Arc<dyn ServerCertVerifier>> = match (verification, root_file) {
        (Verification::None, _) => None,
        (_, Some(file)) => Some(authorities_in(file, &provider)?),
        (_, None) => {
            let of_system = rustls_platform_verifier::Verifier::new(Arc::clone(&provider));
            Some(Arc::new(of_system.map_err(|error| error.to_string())?))
        }
    };
    let verifier: Arc<dyn ServerCertVerifier> = match (checks, verification) {
        (Some(checks), Verification::Full) => checks,
        (checks, _) => Arc::new(NamelessVerifier {
            checks,
            provider: Arc::clone(&provider),
        }),
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(config)
}

fn authorities_in(
    file: &Path,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| failed(&error))? {
        let certificate = certificate.map_err(|error| failed(&error))?;
        roots.add(certificate).map_err(|error| failed(&error))?;
    }
    let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    let verifier = builder.build().map_err(|error| failed(&error))?;
    Ok(verifier)
}

/// Accepts a certificate for another name, or any at all without verification.
#[derive(Debug)]
struct NamelessVerifier {
    checks: Option<Arc<dyn ServerCertVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for NamelessVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(checks) = &self.checks else {
            return Ok(ServerCertVerified::assertion());
        };
        match checks.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
