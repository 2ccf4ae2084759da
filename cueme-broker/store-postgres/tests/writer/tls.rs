//! TLS to a real server: what each mode encrypts, and whose certificate it accepts.

use cueme_store::Storage;
use cueme_test_kit::postgres::Server;
use cueme_test_kit::tls::Certificate;

use super::storage_at;

#[test]
fn a_mode_encrypts_and_verifies_what_it_says() {
    let directory = tempfile::tempdir().unwrap();
    let make = |file, name| Certificate::make(directory.path(), file, name);
    let (Some(here), Some(elsewhere)) = (make("here", "DNS:localhost"), make("elsewhere", "DNS:db.example"))
    else {
        return;
    };
    let Some(server) = Server::own(&[]) else { return };
    let url = server.database().replace("127.0.0.1", "localhost");
    let opens = |query: &str| {
        let mut storage = storage_at(&format!("{url}?{query}")).unwrap();
        let opened = storage.open(true);
        let is_encrypted = "SELECT count(*) > 0 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE ssl AND application_name = 'cueme' AND datname = current_database()";
        let is_encrypted = opened.is_ok() && server.run(&url, is_encrypted) == "t";
        opened.map(|_| is_encrypted).map_err(|error| error.to_string())
    };
    // A server without TLS.
    assert_eq!(opens("sslmode=prefer"), Ok(false));
    assert!(opens("sslmode=require").unwrap_err().contains("TLS"));
    server.use_tls(&here);
    let with =
        |mode: &str, root: &Certificate| format!("sslmode={mode}&sslrootcert={}", root.certificate.display());
    assert_eq!(opens("sslmode=disable"), Ok(false));
    assert_eq!(opens("sslmode=prefer"), Ok(true));
    assert_eq!(opens("sslmode=require"), Ok(true));
    assert_eq!(opens(&with("verify-full", &here)), Ok(true));
    // No authority that this machine trusts has signed it.
    assert!(opens("sslmode=verify-full").is_err());
    assert!(opens("sslmode=verify-ca").is_err());
    assert!(opens(&with("require", &elsewhere)).is_err());
    // The certificate of another name is enough for verify-ca alone.
    server.use_tls(&elsewhere);
    assert_eq!(opens(&with("verify-ca", &elsewhere)), Ok(true));
    assert!(opens(&with("verify-full", &elsewhere)).is_err());
}
