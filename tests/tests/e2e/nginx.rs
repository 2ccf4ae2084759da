//! A real nginx in front of brokers, as people run it.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use cueme_tests::{eventually, not_run_without};

/// A TLS proxy in front of brokers.
pub(crate) struct Nginx {
    child: Child,
    pub(crate) port: u16,
    pub(crate) certificate: PathBuf,
}

impl Nginx {
    /// Says whether it can be used here.
    pub(crate) fn is_installed() -> bool {
        let missing = ["nginx", "openssl"]
            .into_iter()
            .find(|tool| Command::new(tool).arg("-v").output().is_err());
        if let Some(tool) = missing {
            not_run_without(tool);
        }
        missing.is_none()
    }

    /// Starts it in a directory that it gives to its user, in front of the brokers at these ports.
    pub(crate) fn start(directory: &Path, brokers: &[u16]) -> Self {
        let (key, certificate) = (directory.join("key.pem"), directory.join("certificate.pem"));
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
                "/CN=localhost",
            ])
            .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .arg("-keyout")
            .arg(&key)
            .arg("-out")
            .arg(&certificate)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let port = free_port();
        let servers: String = brokers
            .iter()
            .map(|port| format!("server 127.0.0.1:{port} max_fails=1 fail_timeout=2s; "))
            .collect();
        let place = directory.display();
        let configuration = format!(
            "daemon off; master_process off; pid {place}/nginx.pid; error_log stderr;\n\
             events {{}}\n\
             http {{\n\
               access_log off; client_body_temp_path {place}; proxy_temp_path {place}; fastcgi_temp_path {place};\n\
               uwsgi_temp_path {place}; scgi_temp_path {place};\n\
               map $http_upgrade $connection_upgrade {{ default upgrade; '' ''; }}\n\
               upstream inbox {{ {servers} }}\n\
               server {{\n\
                 listen 127.0.0.1:{port} ssl; ssl_certificate {}; ssl_certificate_key {};\n\
                 location / {{\n\
                   proxy_pass http://inbox; proxy_http_version 1.1; proxy_buffering off;\n\
                   proxy_set_header Host $http_host; proxy_set_header Upgrade $http_upgrade;\n\
                   proxy_set_header Connection $connection_upgrade;\n\
                 }}\n\
               }}\n\
             }}\n",
            certificate.display(),
            key.display()
        );
        let file = directory.join("nginx.conf");
        std::fs::write(&file, configuration).unwrap();
        let child = Command::new("nginx").arg("-c").arg(&file).spawn().unwrap();
        eventually("nginx listens", || TcpStream::connect(("127.0.0.1", port)).ok());
        Self {
            child,
            port,
            certificate,
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
