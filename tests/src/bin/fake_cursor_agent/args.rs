//! The command line of the double.

/// The requested command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Command {
    Version,
    Status,
    About,
    Models,
    CreateChat,
    List,
    Login,
    Mcp,
    #[default]
    Turn,
}

/// The options that matter to a scenario.
#[derive(Debug, Default)]
pub(crate) struct Args {
    pub(crate) command: Command,
    pub(crate) prompt: String,
    pub(crate) partial: bool,
    pub(crate) format: String,
    pub(crate) resume: Option<String>,
    pub(crate) new_session_id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) api_key: Option<String>,
    pub(crate) trusted: bool,
    pub(crate) force: bool,
}

impl Args {
    /// Reads the words; the error is what the real CLI prints.
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Self {
            format: "text".into(),
            ..Self::default()
        };
        let mut prompt: Vec<String> = Vec::new();
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            let (flag, inline) = match word.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (flag.to_owned(), Some(value.to_owned())),
                _ => (word.clone(), None),
            };
            let mut value = || inline.clone().or_else(|| words.next()).unwrap_or_default();
            match flag.as_str() {
                "-p" | "--print" | "--plan" | "--approve-mcps" | "--continue" => {}
                "--stream-partial-output" => args.partial = true,
                "--output-format" => args.format = value(),
                "--resume" => args.resume = Some(value()),
                "--new-session-id" => args.new_session_id = Some(value()),
                "--model" => args.model = Some(value()),
                "--api-key" => args.api_key = Some(value()),
                "-f" | "--force" | "--yolo" => args.force = true,
                "--trust" => args.trusted = true,
                "--mode" | "--sandbox" | "--workspace" | "-H" | "--add-dir" | "-w" | "--worktree" => {
                    drop(value())
                }
                "-v" | "--version" => args.command = Command::Version,
                "--list-models" => args.command = Command::Models,
                "--format" => drop(value()),
                option if option.starts_with('-') && option.len() > 1 => {
                    return Err(format!("error: unknown option '{option}'"));
                }
                word => match command(word) {
                    Some(found) if prompt.is_empty() => args.command = found,
                    _ => prompt.push(word.to_owned()),
                },
            }
        }
        args.prompt = prompt.join(" ");
        Ok(args)
    }
}

fn command(word: &str) -> Option<Command> {
    Some(match word {
        "status" | "whoami" => Command::Status,
        "about" => Command::About,
        "models" => Command::Models,
        "create-chat" => Command::CreateChat,
        "ls" => Command::List,
        "login" => Command::Login,
        "mcp" => Command::Mcp,
        _ => return None,
    })
}
