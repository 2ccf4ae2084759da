//! TLS to a real server: what each mode encrypts, and whose certificate it accepts.

use std::path::Path;
use std::process::Command;

use cueme_store::Storage;
use cueme_store_postgres::PostgresStorage;
use cueme_test_kit::not_run_without;
use cueme_test_kit::postgres::Server;

/// Makes a certificate for a name; it is its own authority.
fn certificate(directory: &Path, file: &str, name: &str) -> bool {
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=cueme test",
        ])
        .args(["-addext", &format!("subjectAltName=DNS:{name}")])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(directory.join(format!("{file}.key")))
        .arg("-out")
        .arg(directory.join(format!("{file}.crt")))
        .output();
    made.is_ok_and(|made| made.status.success())
}

#[test]
fn a_mode_encrypts_and_verifies_what_it_says() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    if !certificate(directory.path(), "here", "localhost")
        || !certificate(directory.path(), "elsewhere", "db.example")
    {
        return not_run_without("openssl");
    }
    let Some(server) = Server::own(&[]) else { return };
    let url = server.database().replace("127.0.0.1", "localhost");
    let opens = |query: &str| {
        let mut storage = PostgresStorage::at(&format!("{url}?{query}")).unwrap();
        let opened = storage.open(true);
        let is_encrypted = "SELECT count(*) > 0 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE ssl AND application_name = 'cueme' AND datname = current_database()";
        let is_encrypted = opened.is_ok() && server.run(&url, is_encrypted) == "t";
        opened.map(|_| is_encrypted).map_err(|error| error.to_string())
    };
    // A server without TLS.
    assert_eq!(opens("sslmode=prefer"), Ok(false));
    assert!(opens("sslmode=require").unwrap_err().contains("TLS"));
    server.use_tls(&at("here.crt"), &at("here.key"));
    let (here, elsewhere) = (at("here.crt"), at("elsewhere.crt"));
    let with = |mode: &str, roots: &Path| format!("sslmode={mode}&sslrootcert={}", roots.display());
    assert_eq!(opens("sslmode=disable"), Ok(false));
    assert_eq!(opens("sslmode=prefer"), Ok(true));
    assert_eq!(opens("sslmode=require"), Ok(true));
    assert_eq!(opens(&with("verify-full", &here)), Ok(true));
    // Nobody whom this machine trusts has signed it.
    assert!(opens("sslmode=verify-full").is_err());
    assert!(opens("sslmode=verify-ca").is_err());
    assert!(opens(&with("require", &elsewhere)).is_err());
    // The certificate of another name is enough for verify-ca alone.
    server.use_tls(&at("elsewhere.crt"), &at("elsewhere.key"));
    assert_eq!(opens(&with("verify-ca", &elsewhere)), Ok(true));
    assert!(opens(&with("verify-full", &elsewhere)).is_err());
}
