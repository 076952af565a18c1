//! Debug data in a file of its own: where such files are, and whether one belongs to a module.
//!
//! For [`crate::module`]. Distributions strip debug data into files that a build id or a `.gnu_debuglink` section names;
//! the places are those of GDB's manual, "Separate Debug Files".

use object::Object;

const GLOBAL: &str = "/usr/lib/debug";

/// How a module gets at other files. The caller maps them; they must live as long as the modules.
pub trait Files<'a> {
    /// The bytes of the file at `path`; none if there is no such file or it cannot be read.
    fn open(&self, path: &str) -> Option<&'a [u8]>;
}

impl<'a, F: Fn(&str) -> Option<&'a [u8]>> Files<'a> for F {
    fn open(&self, path: &str) -> Option<&'a [u8]> {
        self(path)
    }
}

/// No other files.
pub struct NoFiles;

impl<'a> Files<'a> for NoFiles {
    fn open(&self, _: &str) -> Option<&'a [u8]> {
        None
    }
}

/// A file that belongs to a module, and its path.
pub(crate) struct Found<'a> {
    pub(crate) path: String,
    pub(crate) file: object::File<'a>,
}

/// What a module says about its debug file.
pub(crate) struct Link<'a> {
    pub(crate) build_id: Option<&'a [u8]>,
    /// A file name and the checksum of that file.
    pub(crate) name: Option<(&'a str, u32)>,
}

impl<'a> Link<'a> {
    pub(crate) fn of(file: &object::File<'a>) -> Self {
        let name = file.gnu_debuglink().ok().flatten();
        Self {
            build_id: file.build_id().ok().flatten().filter(|id| id.len() > 1),
            name: name.and_then(|(name, sum)| Some((std::str::from_utf8(name).ok()?, sum))),
        }
    }

    /// The debug file of the module at `module`.
    pub(crate) fn find(&self, module: &str, files: &dyn Files<'a>) -> Option<Found<'a>> {
        let by_id = self.build_id.into_iter().map(id_path);
        let by_name = self.name.iter().flat_map(|(name, _)| name_paths(module, name));
        by_id.chain(by_name).filter(|path| path != module).find_map(|path| {
            let bytes = files.open(&path)?;
            let file = object::File::parse(bytes).ok()?;
            self.accepts(bytes, &file).then_some(Found { path, file })
        })
    }

    /// Equal build ids, or where the module has none, the checksum of its link.
    fn accepts(&self, bytes: &[u8], file: &object::File<'a>) -> bool {
        match (self.build_id, file.build_id().ok().flatten()) {
            (Some(own), Some(other)) => own == other,
            _ => self.name.is_some_and(|(_, sum)| checksum(bytes) == sum),
        }
    }
}

/// The file that several debug files share (`.gnu_debugaltlink`, made by `dwz`).
pub(crate) fn supplement<'a>(debug: &object::File<'a>, path: &str, files: &dyn Files<'a>) -> Option<object::File<'a>> {
    let (name, id) = debug.gnu_debugaltlink().ok().flatten()?;
    let name = std::str::from_utf8(name).ok()?;
    let beside = if name.starts_with('/') { name.to_owned() } else { format!("{}{name}", folder(path)) };
    [beside, id_path(id)].into_iter().find_map(|path| {
        let file = object::File::parse(files.open(&path)?).ok()?;
        (file.build_id().ok().flatten() == Some(id)).then_some(file)
    })
}

fn id_path(id: &[u8]) -> String {
    let digits = |half| char::from(b"0123456789abcdef"[usize::from(half)]);
    let mut path = format!("{GLOBAL}/.build-id/");
    for (index, byte) in id.iter().enumerate() {
        path.extend((index == 1).then_some('/'));
        path.extend([digits(byte >> 4), digits(byte & 15)]);
    }
    path + ".debug"
}

fn name_paths(module: &str, name: &str) -> [String; 3] {
    let folder = folder(module);
    [format!("{folder}{name}"), format!("{folder}.debug/{name}"), format!("{GLOBAL}{folder}{name}")]
}

/// The path up to its last slash, that included.
fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..=slash])
}

/// CRC-32 as in zlib and `.gnu_debuglink`.
fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_gdb() {
        assert_eq!(id_path(&[0xab, 0xcd, 0x0f]), "/usr/lib/debug/.build-id/ab/cd0f.debug");
        let places = ["/opt/bin/a.debug", "/opt/bin/.debug/a.debug", "/usr/lib/debug/opt/bin/a.debug"];
        assert_eq!(name_paths("/opt/bin/a", "a.debug"), places);
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }
}
