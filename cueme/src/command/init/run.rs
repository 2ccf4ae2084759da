//! Plans, shows, asks, and carries out.

use protocol_spec::exit::Exit;
use runtimes::Runtime;
use runtimes::install::{FileEdit, Plan, Refusal, Request, Scope, Status, Wish, apply, diff, plan};

use super::connection::Variant;
use super::runtime_settings::{self, Settings};
use super::{Connection, InitArgs, Machine, consent, parse_runtime, plugin, table};
use crate::client::wait_below;
use crate::command::protocol::locale;
use crate::display::Paint;
use crate::error::CliError;
use crate::output;

pub(in crate::command) fn run(args: &InitArgs) -> Result<Exit, CliError> {
    let machine = Machine::find()?;
    if args.status {
        return table::run(args, &machine);
    }
    machine.check_name()?;
    if let Some(folder) = &args.plugin {
        return plugin::run(args, &machine, folder);
    }
    let mut exit = Exit::Done;
    for runtime in chosen(args, &machine)? {
        let connection = Connection::new(&machine, runtime, args.scope());
        if !change(args, &machine, &connection)? {
            exit = Exit::Usage;
        }
    }
    Ok(exit)
}

/// Returns the runtime that was named, or those that there is something to do for.
fn chosen(args: &InitArgs, machine: &Machine) -> Result<Vec<Runtime>, CliError> {
    if let Some(tag) = &args.runtime {
        return Ok(vec![parse_runtime(tag)?]);
    }
    let is_connected = |runtime: &Runtime| {
        let connection = Connection::new(machine, *runtime, args.scope());
        !matches!(connection.status(), Ok(Status::NotInstalled))
    };
    let found: Vec<Runtime> = if args.remove {
        Runtime::ALL.into_iter().filter(is_connected).collect()
    } else {
        machine.runtimes()
    };
    if !found.is_empty() {
        return Ok(found);
    }
    Err(if args.remove {
        CliError::new(Exit::NotFound, "nothing is connected here")
            .with_hint("`cueme init --status` lists the connections")
    } else {
        CliError::new(
            Exit::NotFound,
            "no runtime that cueme knows was found on this machine",
        )
        .with_hint("name one, such as `cueme init cursor`; `cueme help init` lists them")
    })
}

/// Changes one connection; returns whether every file of it could be.
fn change(args: &InitArgs, machine: &Machine, connection: &Connection<'_>) -> Result<bool, CliError> {
    let wish = if args.remove { Wish::Remove } else { Wish::Install };
    let request = connection.request(variant(args, connection)?, wish);
    let plan = plan(&request, &connection.read(&request)?);
    let wait = settings_edit(machine, &request, &plan);
    show(&request, &plan, wait.as_ref().ok().and_then(Option::as_ref))?;
    let mut is_whole = tell_refused(&plan.refused);
    if let Err(unreadable) = &wait {
        let path = machine.places.config.display();
        output::tell(&format!("left alone: {path}: {}", unreadable.why));
        is_whole = false;
    }
    let wait = wait.ok().flatten();
    if plan.edits.is_empty() && wait.is_none() {
        let state = if args.remove {
            "nothing of cueme is left"
        } else {
            "up to date"
        };
        let state = if is_whole { state } else { "nothing else to change" };
        output::print_line(&format!("{}: {state}", request.runtime.display_name()))?;
    } else if !args.dry_run && consent::given(args, &question(&request), &command(args, &request))? {
        apply(&request, &plan, &machine.places.data_dir)?;
        if let Some(edit) = &wait {
            runtime_settings::apply(edit)?;
        }
        let done = if args.remove { "disconnected" } else { "connected" };
        output::print_line(&format!("{}: {done}", request.runtime.display_name()))?;
    } else {
        output::print_line(&format!(
            "{}: nothing was changed",
            request.runtime.display_name()
        ))?;
    }
    tell_notes(&request, &plan);
    Ok(is_whole)
}

/// An existing installation decides every choice that the caller left open, so that a second run changes nothing.
fn variant(args: &InitArgs, connection: &Connection<'_>) -> Result<Variant, CliError> {
    let installed = connection.chosen_variant()?;
    Ok(Variant {
        language: args
            .language
            .or(installed.map(|variant| variant.language))
            .unwrap_or_else(locale),
        extras: args
            .extras()
            .or(installed.map(|variant| variant.extras))
            .unwrap_or_default(),
    })
}

/// Plans what our own configuration says of the runtime: the wait and the language.
///
/// A project's files raise the ceiling in that project only, while our configuration holds everywhere. A wait that is
/// too short is merely repeated and one that is too long loses the agent, so only a user's installation sets it.
fn settings_edit(
    machine: &Machine,
    request: &Request<'_>,
    plan: &Plan,
) -> Result<Option<FileEdit>, runtime_settings::Unreadable> {
    if request.scope == Scope::Project {
        return Ok(None);
    }
    let settings = match request.wish {
        Wish::Install => Settings {
            wait: plan.shell_ceiling.map(wait_below),
            language: request.language,
        },
        Wish::Remove => Settings::default(),
    };
    runtime_settings::plan(&machine.places.config, request.runtime, settings)
}

fn show(request: &Request<'_>, plan: &Plan, wait: Option<&FileEdit>) -> Result<(), CliError> {
    let paint = Paint::for_stdout();
    let name = request.runtime.display_name();
    let scope = request.scope.word();
    output::print_line(&paint.bold(&format!("{name} ({scope})")))?;
    for edit in plan.edits.iter().chain(wait) {
        output::print_line(&paint.dim(&format!("# {}: {}", edit.path.display(), edit.why)))?;
    }
    let shown = Plan {
        edits: plan.edits.iter().chain(wait).cloned().collect(),
        refused: Vec::new(),
        notes: Vec::new(),
        shell_ceiling: None,
        record: None,
    };
    for line in diff::render(&shown).lines() {
        let painted = match line.as_bytes().first() {
            Some(b'+') => paint.green(line),
            Some(b'-') => paint.red(line),
            Some(b'@') => paint.cyan(line),
            _ => line.to_owned(),
        };
        output::print_line(&painted)?;
    }
    Ok(())
}

/// Names the files that are left alone; returns whether there are none.
fn tell_refused(refused: &[Refusal]) -> bool {
    for refusal in refused {
        output::tell(&format!(
            "left alone: {}: {}",
            refusal.path.display(),
            refusal.why
        ));
    }
    if !refused.is_empty() {
        output::tell("hint: correct these files by hand and run the same command again");
    }
    refused.is_empty()
}

fn tell_notes(request: &Request<'_>, plan: &Plan) {
    for note in &plan.notes {
        output::tell(&format!("note: {note}"));
    }
    if request.wish == Wish::Install {
        for limit in request.runtime.limits() {
            output::tell(&format!("limit: {}", limit.reason));
        }
    }
    if request.scope == Scope::Project && request.wish == Wish::Install && plan.shell_ceiling.is_some() {
        let tag = request.runtime.tag();
        output::tell(&format!(
            "note: waits stay as short as {} allows by default, because other projects may not be connected; \
             `[runtime.{tag}] wait` in the configuration changes that",
            request.runtime.display_name()
        ));
    }
}

fn question(request: &Request<'_>) -> String {
    let name = request.runtime.display_name();
    match request.wish {
        Wish::Install => format!("Connect {name} with these changes? [y/N] "),
        Wish::Remove => format!("Remove cueme from {name} with these changes? [y/N] "),
    }
}

/// Returns the call that means the same for this one runtime.
fn command(args: &InitArgs, request: &Request<'_>) -> String {
    let mut words = vec!["cueme", "init", request.runtime.tag()];
    if args.project {
        words.push("--project");
    }
    if args.remove {
        words.push("--remove");
    }
    words.join(" ")
}
