//! A Python that is too old for charm4py loads the `sitecustomize` that it had, too.

use std::fs;
use std::process::Command;

use partune_testkit::outside;

#[test]
fn an_old_python_keeps_its_own_module() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let [ours, theirs] = ["ours", "theirs"].map(|name| folder.path().join(name));
    for (at, text) in [(&ours, include_str!("../src/charm/sitecustomize.py")), (&theirs, "print('mine')\nvalue = 7\n")]
    {
        fs::create_dir(at).expect("a folder is made");
        fs::write(at.join("sitecustomize.py"), text).expect("a file is written");
    }
    // Started without such a module, so that the version is another one when it is loaded.
    let program = "import sys; sys.version_info = (2, 7); import sitecustomize; print(sitecustomize.value)";
    let mut python = Command::new("python3");
    python.args(["-S", "-c", program]).env("PYTHONPATH", std::env::join_paths([ours, theirs]).expect("no colon"));
    let Ok(output) = python.output() else { return outside::missing("python3") };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "mine\n7\n", "{said}");
}
