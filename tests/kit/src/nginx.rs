//! A real nginx in front of brokers, as people run it.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use crate::tls::Certificate;
use crate::{eventually, free_port, not_run_without};

/// A TLS proxy in front of brokers.
#[derive(Debug)]
pub struct Nginx {
    child: Child,
    pub port: u16,
    pub certificate: PathBuf,
}

impl Nginx {
    /// Starts it in a directory that it gives to its user, in front of the brokers at these ports; where it is not installed
    /// there is none, and a test ends early.
    ///
    /// # Panics
    ///
    /// Panics when it does not start.
    pub fn start(directory: &Path, brokers: &[u16]) -> Option<Self> {
        if Command::new("nginx").arg("-v").output().is_err() {
            not_run_without("nginx");
            return None;
        }
        let Certificate { certificate, key } =
            Certificate::make(directory, "nginx", "DNS:localhost,IP:127.0.0.1")?;
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
        Some(Self {
            child,
            port,
            certificate,
        })
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
