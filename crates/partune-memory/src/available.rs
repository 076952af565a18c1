//! How much memory there is for a process.

use std::fs::File;
use std::io;
use std::path::Path;

/// Bytes that a process can take without putting others out of theirs: what the machine has available, or less where control groups or resource limits say so. None where the system
/// does not tell.
pub fn available() -> Option<u64> {
    let machine = kilobytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let left = groups.lines().flat_map(|line| left_in_group(Path::new("/sys/fs/cgroup"), line)).min();
    let data = rustix::process::getrlimit(rustix::process::Resource::Data).current;
    Some(machine.min(left.unwrap_or(u64::MAX)).min(data.unwrap_or(u64::MAX)))
}

/// Whether files where this one is are in memory.
pub(crate) fn in_memory(file: &File) -> io::Result<bool> {
    const TMPFS: i64 = 0x0102_1994;
    const RAMFS: i64 = 0x8584_58f6;
    let kind = rustix::fs::fstatfs(file)?.f_type;
    Ok([TMPFS, RAMFS].contains(&kind))
}

/// Bytes that the system reads around a page of this file that it has to bring. A program can only do without, not choose.
pub(crate) fn read_ahead(file: &File) -> Option<u64> {
    let device = rustix::fs::fstat(file).ok()?.st_dev;
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let text = std::fs::read_to_string(format!("/sys/class/bdi/{major}:{minor}/read_ahead_kb")).ok()?;
    text.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// What a control group, and those around it, let its processes still take; `line` is one of /proc/self/cgroup. What files have of it is there for who needs it.
fn left_in_group(root: &Path, line: &str) -> Vec<u64> {
    let mut words = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (words.next(), words.next()) else { return Vec::new() };
    let (root, most, files) = match controllers {
        "" => (root.to_owned(), "memory.max", "inactive_file"),
        _ if controllers.split(',').any(|it| it == "memory") => {
            (root.join("memory"), "memory.limit_in_bytes", "total_inactive_file")
        }
        _ => return Vec::new(),
    };
    let taken = if most == "memory.max" { "memory.current" } else { "memory.usage_in_bytes" };
    let number = |file: std::path::PathBuf| std::fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let around = Path::new(path.trim_start_matches('/')).ancestors().map(|it| root.join(it));
    let left = |group: std::path::PathBuf| {
        let stat = std::fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let files = stat.lines().find_map(|line| line.strip_prefix(files)?.trim().parse::<u64>().ok()).unwrap_or(0);
        Some(number(group.join(most))?.saturating_sub(number(group.join(taken))?.saturating_sub(files)))
    };
    around.filter_map(left).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_leaves_what_it_has_not_taken_and_what_files_have() {
        let root = tempfile::tempdir().expect("there is room for a folder");
        let group = |path: &str, files: &[(&str, &str)]| {
            let folder = root.path().join(path);
            std::fs::create_dir_all(&folder).expect("there is room for a folder");
            for (name, text) in files {
                std::fs::write(folder.join(name), text).expect("there is room for a file");
            }
        };
        group("", &[]);
        group(
            "job",
            &[("memory.max", "1000\n"), ("memory.current", "900\n"), ("memory.stat", "anon 1\ninactive_file 300\n")],
        );
        group("job/step", &[("memory.max", "max\n"), ("memory.current", "5\n")]);
        assert_eq!(left_in_group(root.path(), "0::/job/step"), [400], "the group around it has the limit");
        let old = [("memory.limit_in_bytes", "500\n"), ("memory.usage_in_bytes", "600\n")];
        group("memory/old", &old);
        assert_eq!(left_in_group(root.path(), "4:cpu,memory:/old"), [0]);
        assert!(
            left_in_group(root.path(), "4:cpuset:/old").is_empty() && left_in_group(root.path(), "nonsense").is_empty()
        );
        assert!(available().is_some_and(|bytes| bytes > 0));
    }
}
