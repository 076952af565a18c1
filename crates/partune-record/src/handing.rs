//! How the variables that make a process be recorded reach processes on other nodes.
//!
//! Most launchers hand their environment on by themselves. Open MPI's hands on what it is told to, in one of two ways (mpirun(1), "Exported
//! Environment Variables"): a list in a variable, or options `-x NAME`; it refuses to start a job with both. A list serves a launcher that a script
//! starts as well; so it is the way, unless the command has options already.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

/// The way to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A list in [`LIST`].
    List,
    /// Options of the launcher, after its name.
    Options,
    /// None: what is on this node inherits the variables.
    Inherit,
}

/// Names of variables, with semicolons.
pub(crate) const LIST: &str = "OMPI_MCA_mca_base_env_list";

impl Way {
    pub(crate) fn of(command: &[OsString]) -> Way {
        let has_option = command.iter().skip(1).any(|argument| argument == "-x" || argument == "--x");
        if has_option && command.first().is_some_and(|launcher| is_open_mpi(launcher)) {
            Way::Options
        } else if has_option || command.iter().any(|argument| is_script_with_option(argument)) {
            Way::Inherit
        } else {
            Way::List
        }
    }
}

/// Asks a command that is called like a launcher who it is.
fn is_open_mpi(launcher: &OsStr) -> bool {
    let name = Path::new(launcher).file_name().unwrap_or_default().to_string_lossy();
    if !["mpirun", "mpiexec", "orterun", "prterun", "prun"].iter().any(|known| name.starts_with(known)) {
        return false;
    }
    let Ok(output) = Command::new(launcher).arg("--version").output() else { return false };
    let text = String::from_utf8_lossy(&output.stdout);
    ["Open MPI", "OpenRTE", "PRRTE"].iter().any(|known| text.contains(known))
}

/// Whether an argument is a script, or names one, in which a launcher gets the option.
fn is_script_with_option(argument: &OsStr) -> bool {
    const MOST: u64 = 1 << 20;
    let text = argument.to_string_lossy();
    if text.contains(char::is_whitespace) {
        return has_option(&text);
    }
    let mut script = Vec::new();
    // A pipe or a terminal is the program's to read.
    let read =
        partune_files::open_regular(Path::new(argument)).and_then(|file| file.take(MOST).read_to_end(&mut script));
    // Programs are no scripts, and a script of another kind than the shell's begins with its interpreter too.
    let is_text = read.is_ok() && !script.contains(&0);
    is_text && has_option(&String::from_utf8_lossy(&script))
}

/// `-x NAME` or `-x NAME=VALUE`; not the shell's own option, as in `set -x`.
fn has_option(script: &str) -> bool {
    let words: Vec<&str> = script.split_whitespace().collect();
    words.windows(3).any(|words| {
        let [before, option, name] = words else { return false };
        let begins_a_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$');
        let is_of_shell = *before == "set" || before.ends_with("sh");
        matches!(*option, "-x" | "--x") && begins_a_name && !is_of_shell
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &[&str]) -> Way {
        Way::of(&command.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_list_is_the_way_unless_there_are_options() {
        assert_eq!(of(&["mpirun", "-n", "4", "./app"]), Way::List);
        assert_eq!(of(&["srun", "./app"]), Way::List);
        // No launcher of Open MPI: an option of the program, or of a launcher that we do not know.
        assert_eq!(of(&["./app", "-x", "5"]), Way::Inherit);
        assert_eq!(of(&[]), Way::List);
    }

    #[test]
    fn scripts_are_read() {
        assert!(has_option("export A=1\nmpirun \\\n  -x A -n 4 ./app"));
        assert!(has_option("mpirun -n 4 --x A=5 ./app"));
        assert!(!has_option("#!/bin/bash\nset -x\nmpirun -n 4 ./app"));
        assert!(!has_option("#!/bin/bash -x\nmpirun -n 4 ./app"));
        assert!(!has_option("tar -x -f a.tar; mpirun ./app -x 5"));
        assert_eq!(of(&["sh", "-c", "mpirun -x A ./app"]), Way::Inherit);
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let script = folder.path().join("job");
        let command = ["bash".to_owned(), script.display().to_string()].map(OsString::from);
        std::fs::write(&script, "#!/bin/bash\nmpirun -x A ./app\n").expect("a file can be written");
        assert_eq!(Way::of(&command), Way::Inherit);
        std::fs::write(&script, "#!/bin/bash\nmpirun ./app\n").expect("a file can be written");
        assert_eq!(Way::of(&command), Way::List);
        // Reading it would wait for a writer.
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("a command of every system").success());
        assert_eq!(Way::of(&["./app".into(), pipe.into()]), Way::List);
    }
}
