//! `cueme broker install`: a user service, for those who want the broker to run from login on.
//!
//! It only writes or removes one file and says how to enable it; nobody's session is changed behind their back.

use std::path::{Path, PathBuf};

use protocol_spec::exit::Exit;

use crate::environment::{self, variable};
use crate::error::CliError;
use crate::output;

pub(super) fn run(dry_run: bool, remove: bool) -> Result<Exit, CliError> {
    let service = Service::for_this_user()?;
    if dry_run {
        let verb = if remove { "remove" } else { "write" };
        output::print(&format!(
            "# would {verb} {}\n{}",
            service.path.display(),
            service.content
        ))?;
        return Ok(Exit::Done);
    }
    if remove {
        return service.remove();
    }
    service.write()
}

struct Service {
    path: PathBuf,
    content: String,
    enable: &'static str,
    disable: &'static str,
}

impl Service {
    fn for_this_user() -> Result<Self, CliError> {
        let home = variable("HOME")
            .map(PathBuf::from)
            .ok_or_else(|| CliError::usage("HOME is not set, so there is no place for a user service"))?;
        let executable = environment::executable()
            .map_err(|error| CliError::new(Exit::Io, format!("could not find this program: {error}")))?;
        let data = variable("CUEME_HOME");
        Ok(if cfg!(target_os = "macos") {
            Self {
                path: home.join("Library/LaunchAgents/me.cueme.broker.plist"),
                content: launchd_plist(&executable, data.as_deref()),
                enable: "launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/me.cueme.broker.plist",
                disable: "launchctl bootout gui/$(id -u)/me.cueme.broker",
            }
        } else {
            let config = variable("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
            Self {
                path: config.join("systemd/user/cueme-broker.service"),
                content: systemd_unit(&executable, data.as_deref()),
                enable: "systemctl --user daemon-reload && systemctl --user enable --now cueme-broker",
                disable: "systemctl --user disable --now cueme-broker",
            }
        })
    }

    fn write(&self) -> Result<Exit, CliError> {
        let failed = |error: std::io::Error| CliError::io("write", &self.path, &error);
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory).map_err(failed)?;
        }
        std::fs::write(&self.path, &self.content).map_err(failed)?;
        output::print(&format!(
            "wrote {}\nenable it with: {}\n",
            self.path.display(),
            self.enable
        ))?;
        Ok(Exit::Done)
    }

    fn remove(&self) -> Result<Exit, CliError> {
        match std::fs::remove_file(&self.path) {
            Ok(()) => {
                output::print(&format!(
                    "removed {}\nif it was enabled: {}\n",
                    self.path.display(),
                    self.disable
                ))?;
                Ok(Exit::Done)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                output::print_line(&format!("there is no {}", self.path.display()))?;
                Ok(Exit::NotFound)
            }
            Err(error) => Err(CliError::io("remove", &self.path, &error)),
        }
    }
}

fn systemd_unit(executable: &Path, data: Option<&str>) -> String {
    let environment = data
        .map(|home| format!("Environment={}\n", systemd_quoted(&format!("CUEME_HOME={home}"))))
        .unwrap_or_default();
    format!(
        "[Unit]\nDescription=cueme broker: questions of coding agents to their human\n\n\
         [Service]\nExecStart={} broker run\n{environment}Restart=on-failure\n\n\
         [Install]\nWantedBy=default.target\n",
        systemd_quoted(&executable.to_string_lossy())
    )
}

/// Quotes for systemd, which expands `%` and `$` even inside quotes.
fn systemd_quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('%', "%%")
        .replace('$', "$$");
    format!("\"{escaped}\"")
}

fn launchd_plist(executable: &Path, data: Option<&str>) -> String {
    let environment = data
        .map(|home| {
            format!(
                "  <key>EnvironmentVariables</key>\n  <dict><key>CUEME_HOME</key><string>{}</string></dict>\n",
                xml_escaped(home)
            )
        })
        .unwrap_or_default();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n  <key>Label</key><string>me.cueme.broker</string>\n  \
         <key>ProgramArguments</key>\n  <array><string>{}</string><string>broker</string><string>run</string></array>\n\
         {environment}  <key>RunAtLoad</key><true/>\n  \
         <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n</dict>\n</plist>\n",
        xml_escaped(&executable.to_string_lossy())
    )
}

fn xml_escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_special_characters_survives_in_both_kinds_of_services() {
        let executable = Path::new("/opt/my \"tools\"/100% & <x>/cueme");
        let unit = systemd_unit(executable, Some("/data/$home"));
        assert!(
            unit.contains(r#"ExecStart="/opt/my \"tools\"/100%% & <x>/cueme" broker run"#),
            "{unit}"
        );
        assert!(
            unit.contains(r#"Environment="CUEME_HOME=/data/$$home""#),
            "{unit}"
        );
        let plist = launchd_plist(executable, None);
        assert!(plist.contains("100% &amp; &lt;x&gt;/cueme"), "{plist}");
        assert!(!plist.contains("EnvironmentVariables"), "{plist}");
    }
}
