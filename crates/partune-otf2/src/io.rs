//! How archives call interfaces to files: the known ones of OTF2's documentation.

use partune_trace::IoLayer;

use crate::codec::CodecError;
use crate::codec::definition::IoParadigm;
use crate::codec::view::Properties;
use crate::write::Definitions;

/// `OTF2_IoParadigmClass` of interfaces that are for several processes together.
pub(crate) const PARALLEL: u8 = 1;
/// `OTF2_IoParadigmFlag`: it is the system's.
const OF_SYSTEM: u32 = 1;

/// Defines the interface of a layer, with its position in [`IoLayer::ALL`] for a number.
pub fn define<S: FnMut(&[u8])>(layer: IoLayer, to: &mut Definitions<S>) -> Result<(), CodecError> {
    let (identification, name, io_paradigm_class, io_paradigm_flags) = match layer {
        IoLayer::Direct => ("POSIX", "POSIX I/O", 0, OF_SYSTEM),
        IoLayer::Buffered => ("ISOC", "ISO C I/O", 0, 0),
        IoLayer::Parallel => ("MPI-IO", "MPI-IO", PARALLEL, 0),
    };
    let (identification, name) = (to.text(identification)?, to.text(name)?);
    let (id, properties) = (layer as u8, Properties::new(&[]));
    to.put(IoParadigm { id, identification, name, io_paradigm_class, io_paradigm_flags, properties })
}

/// The layer of an interface.
pub(crate) fn layer(identification: &str, class: u8) -> IoLayer {
    let is_of_streams = || {
        let letters = identification.chars().filter(char::is_ascii_alphanumeric);
        letters.take(4).collect::<String>().eq_ignore_ascii_case("isoc")
    };
    match class {
        PARALLEL => IoLayer::Parallel,
        _ if is_of_streams() => IoLayer::Buffered,
        _ => IoLayer::Direct,
    }
}
