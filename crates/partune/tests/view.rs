//! `partune view` as a process among others: who sees the token, and what a stranger can take away.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::archives::workspace;

/// The program, until the test ends.
struct View {
    process: Child,
    out: BufReader<ChildStdout>,
    /// Of the file that holds the address.
    file: PathBuf,
    url: String,
}

impl View {
    fn start(mut command: Command) -> View {
        let mut process = command.stdout(Stdio::piped()).spawn().expect("the binary runs");
        let mut out = BufReader::new(process.stdout.take().expect("output is piped"));
        let mut line = String::new();
        out.read_line(&mut line).expect("a line is printed");
        let file = line.trim_end().strip_prefix("partune: serving; the address is in ").expect(&line);
        let url = std::fs::read_to_string(file).expect("the file is there").trim_end().to_owned();
        View { process, out, file: PathBuf::from(file), url }
    }

    /// `127.0.0.1:PORT`, and the token.
    fn parts(&self) -> (&str, &str) {
        let address = self.url.strip_prefix("http://").expect("an address");
        address.trim_end_matches('/').split_once('/').expect("an address with a token")
    }

    /// The status of `api/runs`.
    fn ask(&self) -> String {
        let (host, token) = self.parts();
        let mut stream = TcpStream::connect(host).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a socket has time-outs");
        let request = format!("GET /{token}/api/runs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        // Closed already: reading tells.
        let _ = stream.write_all(request.as_bytes());
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        String::from_utf8_lossy(&reply).split(' ').nth(1).unwrap_or_default().to_owned()
    }

    /// Asks it to end. What it printed since, and its status.
    fn end(mut self) -> (String, Option<i32>) {
        let ended = Command::new("kill").arg(self.process.id().to_string()).status().expect("kill runs");
        assert!(ended.success());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("output is text");
        (rest, self.process.wait().expect("it ends").code())
    }
}

fn archive() -> PathBuf {
    workspace().join("examples/archives/ring")
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

#[test]
fn the_token_is_in_nobodys_sight() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let bin = folder.path().join("bin");
    let opened = folder.path().join("opened");
    std::fs::create_dir(&bin).expect("a folder is made");
    // A browser: it tells what it was started with and what it finds there.
    let script = format!(
        "#!/bin/sh\n{{ echo \"$#\"; echo \"$1\"; cat \"$1\"; }} >{0}.part; mv {0}.part {0}\n",
        opened.display()
    );
    std::fs::write(bin.join("xdg-open"), script).expect("a script is written");
    std::fs::set_permissions(bin.join("xdg-open"), Permissions::from_mode(0o755)).expect("it may run");
    let path = std::env::var("PATH").unwrap_or_default();

    let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
    command.arg("view").arg(archive()).env("PATH", format!("{}:{path}", bin.display())).env("TMPDIR", folder.path());
    let view = View::start(command);
    let (_, token) = view.parts();
    assert_eq!(token.len(), 32);
    while !opened.exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let seen = std::fs::read_to_string(&opened).expect("text");
    let (arguments, page) = seen.split_at(seen.match_indices('\n').nth(1).expect("two lines").0);
    assert!(arguments.starts_with("1\n/") && !arguments.contains(token), "{arguments}");
    assert!(page.contains(&format!("url={}\"", view.url)), "{page}");
    for process in [view.process.id().to_string(), "self".to_owned()] {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).expect("Linux tells it");
        assert!(!String::from_utf8_lossy(&line).contains(token));
    }

    let private = view.file.parent().expect("a file is in a folder").to_owned();
    assert_eq!(mode(&private), 0o700);
    let files: Vec<PathBuf> = std::fs::read_dir(&private).expect("a folder").flatten().map(|it| it.path()).collect();
    assert_eq!(files.len(), 2, "{files:?}");
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
    assert_eq!(view.ask(), "200");
    assert_eq!(view.end(), (String::new(), Some(0)), "nothing else is printed");
    assert!(!private.exists(), "nothing is left behind");
}

#[test]
fn strangers_who_take_all_descriptors_do_not_fell_it() {
    let mut command = Command::new("sh");
    let limited = "ulimit -n 64; exec \"$0\" view --no-open \"$1\"";
    command.args(["-c", limited, env!("CARGO_BIN_EXE_partune")]).arg(archive());
    let view = View::start(command);
    let idle: Vec<TcpStream> = (0..300).filter_map(|_| TcpStream::connect(view.parts().0).ok()).collect();
    assert!(idle.len() > 200, "{}", idle.len());
    assert_eq!(view.ask(), "200");
    assert_eq!(view.end().1, Some(0));
}

#[test]
fn an_archive_that_is_not_there_is_not_served() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
    let ended =
        command.args(["view", "--no-open"]).arg(archive()).arg("/nonexistent").output().expect("the binary runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!((ended.status.code(), ended.stdout.is_empty()), (Some(1), true), "{said}");
    assert!(said.contains("/nonexistent") && said.contains("remedy: give the path of an archive"), "{said}");
}

/// The command with a token that is kept, on a port that was free a moment ago.
fn kept(token: &Path) -> Command {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port is free").port();
    let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
    command.args(["view", "--no-open", "--port", &free.to_string(), "--token-file"]).arg(token).arg(archive());
    command
}

/// It is asked to end as soon as anybody can know of it.
#[test]
fn who_ends_it_at_once_leaves_nothing_behind() {
    for _ in 0..20 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
        command.args(["view", "--no-open"]).arg(archive());
        let view = View::start(command);
        let file = view.file.clone();
        assert_eq!(view.end().1, Some(0));
        assert!(!file.exists(), "the address is gone");
    }
}

#[test]
fn a_token_is_kept_for_its_owner_alone() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let file = folder.path().join("token");
    let first = View::start(kept(&file));
    let token = first.parts().1.to_owned();
    assert_eq!((mode(&file), first.ask().as_str()), (0o600, "200"));
    let line = std::fs::read(format!("/proc/{}/cmdline", first.process.id())).expect("Linux tells it");
    assert!(!String::from_utf8_lossy(&line).contains(&token));
    assert_eq!(first.end().1, Some(0));
    let second = View::start(kept(&file));
    assert_eq!((second.parts().1, second.ask().as_str()), (token.as_str(), "200"));
    assert_eq!(second.end().1, Some(0));
    let other = View::start(kept(&folder.path().join("other")));
    assert_ne!(other.parts().1, token, "another file, another token");
    assert_eq!(other.end().1, Some(0));

    let refused = |file: &Path| {
        let ended = kept(file).output().expect("the binary runs");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!((ended.status.code(), ended.stdout.is_empty()), (Some(1), true), "{said}");
        assert!(said.contains("remedy: give a file that is yours alone") && !said.contains(&token), "{said}");
        said
    };
    std::fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("it is ours");
    assert!(refused(&file).contains("others can read or change it"));
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("it is ours");
    for wrong in ["", "short", &"G".repeat(32), &"a".repeat(33), &format!("{token}x")] {
        std::fs::write(&file, wrong).expect("it is ours");
        assert!(refused(&file).contains("it holds no token"), "{wrong}");
    }
    refused(folder.path());
    refused(Path::new("/dev/zero"));
    let mut without_port = Command::new(env!("CARGO_BIN_EXE_partune"));
    let ended = without_port.args(["view", "--no-open", "--token-file"]).arg(&file).arg(archive()).output();
    assert_eq!(ended.expect("the binary runs").status.code(), Some(2), "an address needs a port that stays");
}

#[test]
fn a_folder_of_sources_must_be_there() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
    let ended = command.args(["view", "--no-open", "--source", "/nonexistent"]).arg(archive()).output();
    let ended = ended.expect("the binary runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("/nonexistent") && said.contains("remedy: give folders that are there"), "{said}");
}
