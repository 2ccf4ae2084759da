//! Shows a plan as a unified diff.

use diffy::DiffOptions;

use super::{FileEdit, Plan};

/// Renders every edit of a plan as a unified diff, in the plan's order.
pub fn render(plan: &Plan) -> String {
    plan.edits.iter().map(render_edit).collect()
}

fn render_edit(edit: &FileEdit) -> String {
    let path = edit.path.display().to_string();
    let name = |content: &Option<Vec<u8>>| {
        if content.is_some() {
            path.clone()
        } else {
            "/dev/null".to_owned()
        }
    };
    let (before, after) = (text(edit.before.as_deref()), text(edit.after.as_deref()));
    let mut options = DiffOptions::new();
    options
        .set_original_filename(name(&edit.before))
        .set_modified_filename(name(&edit.after));
    options.create_patch(&before, &after).to_string()
}

fn text(content: Option<&[u8]>) -> String {
    String::from_utf8_lossy(content.unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_a_change_and_a_deletion_read_as_in_any_diff() {
        let edit = |before: Option<&str>, after: Option<&str>| FileEdit {
            path: "a.json".into(),
            before: before.map(|text| text.as_bytes().to_vec()),
            after: after.map(|text| text.as_bytes().to_vec()),
            why: String::new(),
            roles: Vec::new(),
        };
        assert_eq!(
            render_edit(&edit(None, Some("x\n"))),
            "--- /dev/null\n+++ a.json\n@@ -0,0 +1 @@\n+x\n"
        );
        assert_eq!(
            render_edit(&edit(Some("x\ny"), Some("x\nz"))),
            "--- a.json\n+++ a.json\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+z\n\\ No newline at end of file\n"
        );
        assert!(render_edit(&edit(Some("x\n"), None)).contains("+++ /dev/null"));
    }
}
