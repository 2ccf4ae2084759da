//! Links the page's modules into one script, and what is rarely needed into parts that are loaded then.
//!
//! A browser that is given modules one by one learns of each from the one before it: with ours it would wait for ten answers
//! after one another until it may begin. Here each module becomes a function of a script, runs when it is first needed, and
//! hands out what it exports. The root and all it imports are one script; each `import("…")` is a part of its own, and what
//! the same parts need is one more. The sources stay modules: this reads only how they name each other, each import and
//! export on a line of its own, and refuses whatever is written otherwise.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::shrink::statements;

/// How modules reach each other. No module may use these names. Modules are strict, and a script is if it says so. Some
/// browsers remember that a file could not be had and never ask for it again: the next try is under another name.
const RUNTIME: &str = "\"use strict\";
const $made={},$use=(name)=>$made[name]??=$modules[name]();
const $tries={},$fetch=(at)=>import($tries[at]?`${at}?${$tries[at]}`:at).catch((error)=>{
$tries[at]=($tries[at]??0)+1;
throw error;
});
const $later=async(name)=>{
if(!$modules[name])for(const file of await Promise.all($parts[name].map($fetch)))Object.assign($modules,file.part($use,$later));
return $use(name);
};
";

/// What a file is called that several parts need.
const SHARED: &str = "shared";

/// Why the modules cannot be linked.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum LinkError {
    #[error("{module}: `{line}` is not an import or export as the page writes them")]
    Unreadable { module: String, line: String },
    #[error("{module} imports {wanted}, which is not there")]
    Missing { module: String, wanted: String },
    #[error("modules import each other in a circle: {}", modules.join(" → "))]
    Circle { modules: Vec<String> },
    #[error("nobody imports {}", modules.join(", "))]
    Unused { modules: Vec<String> },
    #[error("{name} is no script: {reason}")]
    NoScript { name: String, reason: String },
}

/// A module, told apart.
#[derive(Debug, Default)]
struct Module {
    /// What has to run before it.
    needs: Vec<String>,
    /// What it may run later.
    opens: Vec<String>,
    exports: Vec<String>,
    body: String,
}

impl Module {
    fn needed(&self) -> impl Iterator<Item = &str> {
        self.needs.iter().map(String::as_str)
    }

    fn opened(&self) -> impl Iterator<Item = &str> {
        self.opens.iter().map(String::as_str)
    }
}

/// Links `root` and all that it imports into one script, which it returns.
///
/// Each part for later is given to `place` with its name; it returns where browsers will find it. `sources` are all modules by
/// their paths: one that `root` does not lead to is refused, so that none is left lying about.
pub(crate) fn link(
    root: &str,
    sources: &BTreeMap<String, String>,
    mut place: impl FnMut(&str, String) -> Result<String, LinkError>,
) -> Result<String, LinkError> {
    let modules = sources
        .iter()
        .map(|(path, source)| Ok((path.as_str(), read(path, source, sources)?)))
        .collect::<Result<Modules<'_>, LinkError>>()?;
    refuse_unused(root, &modules)?;
    refuse_circles(&modules)?;
    let first = needed(root, &modules);
    let opened = modules.values().flat_map(Module::opened).collect::<BTreeSet<_>>();
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (parts, paths) in shares(opened.difference(&first), &first, &modules) {
        let functions = functions(paths.iter(), &modules);
        let file = if let [part] = parts[..] { part } else { SHARED };
        let at = place(
            file,
            format!("export const part=($use,$later)=>({{\n{functions}}});\n"),
        )?;
        for part in parts {
            places.entry(part).or_default().push(format!("{at:?}"));
        }
    }
    let mut script = format!("{RUNTIME}const $parts={{\n");
    for (part, places) in places {
        script.push_str(&format!("\"{part}\":[{}],\n", places.join(",")));
    }
    let functions = functions(first.iter(), &modules);
    script.push_str(&format!(
        "}};\nconst $modules={{\n{functions}}};\n$use(\"{}\");\n",
        name(root)
    ));
    Ok(script)
}

type Modules<'a> = BTreeMap<&'a str, Module>;

/// Returns the modules of all parts by the parts that need them. What the first script has is in none.
fn shares<'a>(
    opened: impl Iterator<Item = &'a &'a str>,
    first: &BTreeSet<&'a str>,
    modules: &'a Modules<'_>,
) -> BTreeMap<Vec<&'a str>, BTreeSet<&'a str>> {
    let mut needing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for part in opened {
        for module in needed(part, modules).difference(first) {
            needing.entry(module).or_default().push(name(part));
        }
    }
    let mut shares: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (module, parts) in needing {
        shares.entry(parts).or_default().insert(module);
    }
    shares
}

/// Writes modules as functions by name.
fn functions<'a>(paths: impl Iterator<Item = &'a &'a str>, modules: &Modules<'_>) -> String {
    let function = |path: &&str| {
        let Module { exports, body, .. } = modules.get(path)?;
        let (name, exports) = (name(path), exports.join(","));
        // In parentheses a function is compiled together with its script, beside the page's own thread.
        Some(format!("\"{name}\":(()=>{{\n{body}return{{{exports}}}}}),\n"))
    };
    paths.filter_map(function).collect()
}

/// Returns a module and all that has to run before it.
fn needed<'a>(path: &'a str, modules: &'a Modules<'_>) -> BTreeSet<&'a str> {
    reached(path, modules, Module::needed)
}

/// Returns a module and all that `next` leads to from it.
fn reached<'a, N>(
    path: &'a str,
    modules: &'a Modules<'_>,
    next: impl Fn(&'a Module) -> N,
) -> BTreeSet<&'a str>
where
    N: Iterator<Item = &'a str>,
{
    let mut found = BTreeSet::new();
    let mut ahead = vec![path];
    while let Some(path) = ahead.pop() {
        if found.insert(path)
            && let Some(module) = modules.get(path)
        {
            ahead.extend(next(module));
        }
    }
    found
}

/// Reads how a module names others.
fn read(path: &str, source: &str, sources: &BTreeMap<String, String>) -> Result<Module, LinkError> {
    let target = |wanted: &str| {
        let target = resolve(path, wanted);
        let missing = || LinkError::Missing {
            module: path.to_owned(),
            wanted: target.clone(),
        };
        sources
            .contains_key(&target)
            .then(|| target.clone())
            .ok_or_else(missing)
    };
    let mut module = Module::default();
    for line in statements(source) {
        let unreadable = || LinkError::Unreadable {
            module: path.to_owned(),
            line: line.to_owned(),
        };
        let mut line = line.clone();
        while line.contains("import(") {
            let (before, wanted, after) = parse_later(&line).ok_or_else(unreadable)?;
            let target = target(wanted)?;
            line = format!("{before}$later(\"{}\"){after}", name(&target));
            module.opens.push(target);
        }
        if line.starts_with("import") {
            let (names, wanted) = parse_import(&line).ok_or_else(unreadable)?;
            let target = target(wanted)?;
            line = format!("const{{{names}}}=$use(\"{}\");", name(&target));
            module.needs.push(target);
        } else if let Some(declaration) = line.strip_prefix("export") {
            let declaration = declaration.trim_start().to_owned();
            let exported = parse_declared(&declaration).ok_or_else(unreadable)?;
            module.exports.push(exported.to_owned());
            line = declaration;
        }
        module.body.push_str(&line);
        module.body.push('\n');
    }
    Ok(module)
}

/// Parses `import { a, b as c } from "./d.js";` into names to take apart and the module.
fn parse_import(line: &str) -> Option<(String, &str)> {
    let (names, from) = line
        .strip_prefix("import")?
        .trim_start()
        .strip_prefix('{')?
        .split_once('}')?;
    let wanted = from
        .trim_start()
        .strip_prefix("from")?
        .trim_start()
        .strip_prefix('"')?
        .strip_suffix("\";")?;
    Some((names.replace(" as ", ":"), wanted))
}

/// Parses the name that `const a = …`, `function a(…)`, `async function a(…)` or `class a …` declares.
fn parse_declared(declaration: &str) -> Option<&str> {
    let rest = ["const ", "function ", "async function ", "class "]
        .iter()
        .find_map(|kind| declaration.strip_prefix(kind))?;
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let end = rest.find(|character| !is_part(character))?;
    (end > 0).then(|| &rest[..end])
}

/// Parses a line around its first `import("./a.js")`.
fn parse_later(line: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = line.split_once("import(\"")?;
    let (wanted, after) = rest.split_once("\")")?;
    Some((before, wanted, after))
}

/// Returns the path that `wanted` means in the module at `path`.
fn resolve(path: &str, wanted: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in wanted.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns what a module goes by in the script, which is what the browser's console calls it.
fn name(path: &str) -> &str {
    let path = path.strip_prefix("js/").unwrap_or(path);
    path.strip_suffix(".js").unwrap_or(path)
}

fn refuse_unused(root: &str, modules: &Modules<'_>) -> Result<(), LinkError> {
    let used = reached(root, modules, |module| module.needed().chain(module.opened()));
    let unused: Vec<String> = modules
        .keys()
        .filter(|path| !used.contains(**path))
        .map(|path| (*path).to_owned())
        .collect();
    if unused.is_empty() {
        Ok(())
    } else {
        Err(LinkError::Unused { modules: unused })
    }
}

/// Functions that wait for each other would wait for ever; modules of a browser get by with declarations that are there early.
fn refuse_circles(modules: &Modules<'_>) -> Result<(), LinkError> {
    let mut done = BTreeSet::new();
    modules
        .keys()
        .try_for_each(|path| walk(path, modules, &mut Vec::new(), &mut done))
}

fn walk<'a>(
    path: &'a str,
    modules: &'a Modules<'_>,
    above: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
) -> Result<(), LinkError> {
    if let Some(start) = above.iter().position(|other| *other == path) {
        let circle = above[start..].iter().chain([&path]);
        return Err(LinkError::Circle {
            modules: circle.map(|&module| module.to_owned()).collect(),
        });
    }
    if done.contains(path) {
        return Ok(());
    }
    above.push(path);
    for needed in modules.get(path).into_iter().flat_map(Module::needed) {
        walk(needed, modules, above, done)?;
    }
    above.pop();
    done.insert(path);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files
            .iter()
            .map(|(path, source)| ((*path).to_owned(), (*source).to_owned()))
            .collect()
    }

    fn linked(sources: &BTreeMap<String, String>) -> Result<String, LinkError> {
        link("js/main.js", sources, |name, _| Ok(format!("/{name}")))
    }

    #[test]
    fn modules_become_functions_and_what_is_opened_later_a_part() {
        let sources = sources(&[
            (
                "js/main.js",
                "import { h, on as listen } from \"./lib/dom.js\";\nlisten(h, async () => (await import(\"./view/late.js\")).open());\n",
            ),
            (
                "js/lib/dom.js",
                "export const h = 1;\nexport async function on() {}\n",
            ),
            (
                "js/view/late.js",
                "import { h } from \"../lib/dom.js\";\nimport { own } from \"./own.js\";\nexport function open() {\n  return own(h);\n}\n",
            ),
            ("js/view/own.js", "export class own {}\n"),
        ]);
        let mut parts = Vec::new();
        let script = link("js/main.js", &sources, |name, part| {
            parts.push((name.to_owned(), part));
            Ok("/late.js".to_owned())
        });
        let expected = "const $parts={\n\"view/late\":[\"/late.js\"],\n};\nconst $modules={\n\
            \"lib/dom\":(()=>{\nconst h = 1;\nasync function on() {}\nreturn{h,on}}),\n\
            \"main\":(()=>{\nconst{ h, on:listen }=$use(\"lib/dom\");\nlisten(h, async () => (await $later(\"view/late\")).open());\nreturn{}}),\n\
            };\n$use(\"main\");\n";
        assert_eq!(script.unwrap().strip_prefix(RUNTIME), Some(expected));
        let expected = "export const part=($use,$later)=>({\n\
            \"view/late\":(()=>{\nconst{ h }=$use(\"lib/dom\");\nconst{ own }=$use(\"view/own\");\nfunction open() {\nreturn own(h);\n}\nreturn{open}}),\n\
            \"view/own\":(()=>{\nclass own {}\nreturn{own}}),\n});\n";
        assert_eq!(parts, [("view/late".to_owned(), expected.to_owned())]);
    }

    #[test]
    fn what_several_parts_need_is_served_once() {
        let sources = sources(&[
            (
                "js/main.js",
                "const a = () => import(\"./a.js\");\nconst b = () => import(\"./b.js\");\nconst c = () => import(\"./c.js\");\n",
            ),
            (
                "js/a.js",
                "import { both } from \"./both.js\";\nexport const a = both;\n",
            ),
            (
                "js/b.js",
                "import { both } from \"./both.js\";\nexport const b = both;\n",
            ),
            ("js/c.js", "export const c = 1;\n"),
            ("js/both.js", "export const both = 1;\n"),
        ]);
        let mut parts = BTreeMap::new();
        let script = link("js/main.js", &sources, |name, part| {
            parts.insert(name.to_owned(), part);
            Ok(format!("/{name}.js"))
        });
        let script = script.unwrap();
        for line in [
            "\"a\":[\"/a.js\",\"/shared.js\"],",
            "\"b\":[\"/shared.js\",\"/b.js\"],",
            "\"c\":[\"/c.js\"],",
        ] {
            assert!(script.lines().any(|written| written == line), "{script}");
        }
        let holding: Vec<&String> = parts
            .iter()
            .filter(|(_, part)| part.contains("\"both\":"))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(holding, ["shared"]);
    }

    #[test]
    fn what_cannot_be_linked_is_named() {
        let main = |source| sources(&[("js/main.js", source), ("js/a.js", ""), ("js/b.js", "")]);
        for line in [
            "import * as a from \"./a.js\";",
            "export default 1;",
            "export const { a } = b;",
            "import(a);",
        ] {
            let unreadable = LinkError::Unreadable {
                module: "js/main.js".into(),
                line: line.into(),
            };
            assert_eq!(linked(&main(line)), Err(unreadable));
        }
        let missing = LinkError::Missing {
            module: "js/main.js".into(),
            wanted: "js/c.js".into(),
        };
        assert_eq!(linked(&main("import { c } from \"./c.js\";")), Err(missing));
        let unused = LinkError::Unused {
            modules: vec!["js/b.js".into()],
        };
        assert_eq!(linked(&main("import { a } from \"./a.js\";")), Err(unused));
        let circle = sources(&[
            ("js/main.js", "import { a } from \"./a.js\";"),
            ("js/a.js", "import { b } from \"./b.js\";"),
            ("js/b.js", "import { a } from \"./a.js\";"),
        ]);
        let modules = ["js/a.js", "js/b.js", "js/a.js"].map(String::from).to_vec();
        assert_eq!(linked(&circle), Err(LinkError::Circle { modules }));
    }
}
