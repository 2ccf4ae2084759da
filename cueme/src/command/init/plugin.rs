//! `cueme init claude_code --plugin DIR`: writes a plugin folder that Claude Code loads by its path.

use std::fs;
use std::path::Path;

use protocol_spec::exit::Exit;
use protocol_spec::version::PROGRAM;
use runtimes::Runtime;
use runtimes::install::{PLUGIN_MANIFEST, Wish, is_our_plugin, plugin};

use super::connection::Variant;
use super::{Connection, InitArgs, Machine, parse_runtime};
use crate::command::protocol::locale;
use crate::error::CliError;
use crate::output;

pub(super) fn run(args: &InitArgs, machine: &Machine, folder: &Path) -> Result<Exit, CliError> {
    let runtime = args.runtime.as_deref().map(parse_runtime).transpose()?;
    if runtime != Some(Runtime::ClaudeCode) {
        return Err(
            CliError::usage("only Claude Code loads a plugin folder").with_hint(format!(
                "run `cueme init claude_code --plugin {}`",
                folder.display()
            )),
        );
    }
    refuse_foreign(folder)?;
    let connection = Connection::new(machine, Runtime::ClaudeCode, args.scope());
    let variant = Variant {
        language: args.language.unwrap_or_else(locale),
        extras: args.extras().unwrap_or_default(),
    };
    let files = plugin(&connection.request(variant, Wish::Install), PROGRAM)
        .map_err(|problem| CliError::new(Exit::Io, problem.to_string()))?;
    for (path, text) in files {
        let path = folder.join(path);
        if args.dry_run {
            output::print_line(&format!("would write {}", path.display()))?;
            continue;
        }
        write(&path, &text)?;
        output::print_line(&format!("wrote {}", path.display()))?;
    }
    output::tell(&format!(
        "note: load it with `claude --plugin-dir {}`; where `cueme init claude_code` is installed it is not needed",
        folder.display()
    ));
    Ok(Exit::Done)
}

/// A folder that is not empty must be a plugin of ours.
fn refuse_foreign(folder: &Path) -> Result<(), CliError> {
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    let manifest = fs::read_to_string(folder.join(PLUGIN_MANIFEST)).unwrap_or_default();
    if is_empty || is_our_plugin(&manifest) {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "{} is not empty, and is not a cueme plugin",
        folder.display()
    ))
    .with_hint("name a new folder"))
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let failed = |error: std::io::Error| CliError::io("write", path, &error);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)
}
