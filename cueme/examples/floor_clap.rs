//! The smallest program that parses its arguments with clap: the floor for starting `cueme`.

use clap::Parser;

#[derive(Parser)]
struct Arguments {
    verb: String,
    value: String,
}

fn main() {
    let arguments = Arguments::parse();
    println!("{}={}", arguments.verb, arguments.value);
}
