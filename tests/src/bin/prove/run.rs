//! The command line: which tests, how large, from which seed; runs them and says how it went.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use uuid::Uuid;

use crate::program::Program;
use crate::proofs::{PROOFS, Proof, find};
use crate::report::{Kept, Outcome, Verdict, print_table, write_figures};
use crate::tier::Tier;
use crate::trial::{NotRun, Trial};

/// Attacks cueme and says with figures whether it held.
#[derive(Debug, Parser)]
#[command(name = "prove")]
struct Args {
    /// The tests, such as r1 or r7; all of them when none is named
    tests: Vec<String>,
    /// How much is tried
    #[arg(long, value_enum, default_value = "ci")]
    tier: Tier,
    /// Repeats the chance of an earlier run
    #[arg(long)]
    seed: Option<u64>,
    /// Leaves out what passed in an earlier run of this tier, by the same programs
    #[arg(long)]
    resume: bool,
    /// Writes the figures of this run, and of earlier ones of this tier, to a file
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Lists the tests
    #[arg(long)]
    list: bool,
}

/// Runs what the command line says.
pub(crate) fn run() -> ExitCode {
    if let Some(code) = crate::knock::child() {
        return code;
    }
    let args = Args::parse();
    if args.list {
        for proof in PROOFS {
            println!("{:4} {}", proof.id, proof.title);
        }
        return ExitCode::SUCCESS;
    }
    let proofs = match chosen(&args.tests) {
        Ok(proofs) => proofs,
        Err(unknown) => {
            eprintln!("error: there is no test {unknown}\nhint: `prove --list` lists them");
            return ExitCode::from(2);
        }
    };
    let seed = args.seed.unwrap_or_else(|| Uuid::new_v4().as_u64_pair().0);
    let kept = Kept::open(args.tier);
    let program = Program::look();
    println!("tier {}, seed {seed}", args.tier.name());
    let mut outcomes = Vec::new();
    for proof in proofs {
        if args.resume
            && let Some(earlier) = kept.read(proof.id).filter(|earlier| earlier.stands_for(&program))
        {
            outcomes.push(earlier);
            continue;
        }
        let outcome = try_one(proof, args.tier, seed, &program);
        kept.write(&outcome);
        outcomes.push(outcome);
    }
    print_table(&outcomes);
    if let Some(path) = &args.write
        && let Err(error) = write_figures(path, args.tier)
    {
        eprintln!("error: could not write {}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    let failed = outcomes.iter().any(|outcome| outcome.verdict == Verdict::Failed);
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn chosen(names: &[String]) -> Result<Vec<Proof>, String> {
    if names.is_empty() {
        return Ok(PROOFS.to_vec());
    }
    names
        .iter()
        .map(|name| find(name).ok_or_else(|| name.clone()))
        .collect()
}

/// Runs one test; a harness that cannot go on is a failure too.
fn try_one(proof: Proof, tier: Tier, seed: u64, program: &Program) -> Outcome {
    eprintln!("{}: {} (seed {seed})", proof.id, proof.title);
    let started = Instant::now();
    let mut trial = Trial::new(proof.id, tier, seed);
    let ended = catch_unwind(AssertUnwindSafe(|| (proof.run)(&mut trial)));
    let why_not = match ended {
        Ok(Ok(())) => None,
        Ok(Err(NotRun(why))) => Some(why),
        Err(panic) => {
            trial.violation(format!("the test could not go on: {}", words_of(&*panic)));
            None
        }
    };
    let outcome = Outcome::new(
        proof,
        tier,
        seed,
        started.elapsed(),
        program,
        why_not,
        trial.into_findings(),
    );
    eprintln!("{}: {}", proof.id, outcome.verdict.word());
    outcome
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without words")
        .to_owned()
}
