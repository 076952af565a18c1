//! The MPI of the program: its binary interface and the handles and addresses that mean something.

use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use partune_mpi_abi::{
    ABI_VERSION, Abi, Error, Evidence, Handle, Kind, Numbers, OPEN_MPI_WORLD, SUCCESS, StatusLayout, detect,
};

use crate::{library, pmpi};

/// What does not change while the program runs.
#[derive(Debug)]
pub(crate) struct Mpi {
    pub(crate) abi: Abi,
    pub(crate) numbers: Numbers,
    pub(crate) status: StatusLayout,
    pub(crate) world: usize,
    pub(crate) comm_null: usize,
    pub(crate) comm_self: usize,
    pub(crate) request_null: usize,
    /// Open MPI's request of all that is complete at once; 0 elsewhere.
    request_empty: usize,
    pub(crate) message_no_proc: usize,
    pub(crate) byte: usize,
    /// What the library says of itself, one line.
    pub(crate) version: String,
    /// Addresses that Fortran programs pass for what in C are constants.
    pub(crate) fortran: Fortran,
}

/// Addresses of objects whose names mean something.
#[derive(Debug, Default)]
pub(crate) struct Fortran {
    pub(crate) in_place: Objects,
    pub(crate) status_ignore: Objects,
    pub(crate) statuses_ignore: Objects,
}

/// Addresses that mean the same: those of all spellings of a name. 0 where there is none.
#[derive(Debug, Default)]
pub(crate) struct Objects([usize; Objects::SPELLINGS]);

impl Objects {
    const SPELLINGS: usize = 5;

    /// Open MPI's common block under its spellings, and MPICH's variable.
    fn find(block: &str, variable: &CStr) -> Objects {
        let spellings = [format!("{block}_"), block.to_owned(), format!("{block}__"), block.to_ascii_uppercase()];
        let spellings = spellings.into_iter().filter_map(|name| CString::new(name).ok()).chain([variable.to_owned()]);
        let mut found = spellings.filter_map(|name| library::data(&name));
        Objects(std::array::from_fn(|_| found.next().unwrap_or(0)))
    }

    /// Whether the program passed one of them.
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub(crate) fn has(&self, address: usize) -> bool {
        address != 0 && self.0.contains(&address)
    }
}

/// The program's MPI; none if its interface is unknown, and then nothing is recorded. Found when it is first asked for.
pub(crate) fn mpi() -> Option<&'static Mpi> {
    static ONCE: OnceLock<Option<Mpi>> = OnceLock::new();
    found().or_else(|| {
        let mpi = ONCE.get_or_init(find).as_ref()?;
        FOUND.store(std::ptr::from_ref(mpi).cast_mut(), Ordering::Release);
        Some(mpi)
    })
}

static FOUND: AtomicPtr<Mpi> = AtomicPtr::new(std::ptr::null_mut());

/// The program's MPI, if somebody asked before.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn found() -> Option<&'static Mpi> {
    // SAFETY: points into what `mpi` keeps, which is never changed.
    unsafe { FOUND.load(Ordering::Acquire).as_ref() }
}

fn find() -> Option<Mpi> {
    let version = library_version();
    let evidence = Evidence {
        abi_major: abi_major(),
        open_mpi_world: library::data(OPEN_MPI_WORLD).is_some(),
        library_version: version.as_deref(),
    };
    let Some(abi) = detect(&evidence) else {
        let what = version.as_deref().unwrap_or("without a version");
        complain(&format!("this MPI library has an unknown interface, MPI is not recorded: {what}"));
        return None;
    };
    let handle = |handle: Handle| handle.value(abi, |symbol: &CStr| library::data(symbol));
    Some(Mpi {
        abi,
        numbers: *abi.numbers(),
        status: abi.status(),
        world: handle(Handle::CommWorld)?,
        comm_null: handle(Handle::CommNull)?,
        comm_self: handle(Handle::CommSelf)?,
        request_null: handle(Handle::RequestNull)?,
        request_empty: library::data(c"ompi_request_empty").unwrap_or(0),
        message_no_proc: handle(Handle::MessageNoProc).unwrap_or(usize::MAX),
        byte: handle(Handle::Byte)?,
        version: version.unwrap_or_default(),
        fortran: Fortran {
            in_place: Objects::find("mpi_fortran_in_place", c"MPIR_F08_MPI_IN_PLACE"),
            status_ignore: Objects::find("mpi_fortran_status_ignore", c"MPIR_F08_MPI_STATUS_IGNORE_OBJ"),
            statuses_ignore: Objects::find("mpi_fortran_statuses_ignore", c"MPIR_F08_MPI_STATUSES_IGNORE_OBJ"),
        },
    })
}

/// Writes a line for the person who runs the program.
pub(crate) fn complain(text: &str) {
    let line = format!("partune: {text}\n");
    // SAFETY: a buffer and its length.
    unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
}

fn abi_major() -> Option<i32> {
    type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    let address = library::function(&[ABI_VERSION.to_owned()])?;
    // SAFETY: the function's type in the standard.
    let version: Version = unsafe { std::mem::transmute(address) };
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: two numbers that outlive the call.
    let result = unsafe { version(&raw mut major, &raw mut minor) };
    (result == 0).then_some(major)
}

/// The first line of what the library says of itself.
fn library_version() -> Option<String> {
    /// `MPI_MAX_LIBRARY_VERSION_STRING` is at most 8,192 in any interface.
    const MOST: usize = 8192;
    let mut text = vec![0_u8; MOST + 1];
    let mut length: c_int = 0;
    // SAFETY: room for the longest text of any library.
    if unsafe { pmpi::get_library_version(text.as_mut_ptr() as usize, &raw mut length as usize) } != 0 {
        return None;
    }
    // SAFETY: the library ended the text, and so does the last byte.
    let text = unsafe { CStr::from_ptr(text.as_ptr().cast::<c_char>()) }.to_string_lossy().into_owned();
    Some(text.lines().next().unwrap_or_default().trim_end().to_owned())
}

impl Mpi {
    /// A handle as it came in a register.
    pub(crate) fn handle(&self, kind: Kind, word: usize) -> usize {
        self.abi.normalise(kind, word)
    }

    /// Whether a request is the one that the library gives for everything that is complete at once.
    pub(crate) fn is_complete_handle(&self, request: usize) -> bool {
        /// MPICH's predefined objects: the upper two bits are their kind, the next four say that they are requests.
        const PREDEFINED_REQUEST: usize = 0x6c00_0000 >> 26;
        match self.abi {
            Abi::OpenMpi => request == self.request_empty,
            Abi::Mpich => request >> 26 == PREDEFINED_REQUEST,
            Abi::Standard => false,
        }
    }

    /// A Fortran handle in memory as the C handle that it stands for.
    #[inline(never)]
    pub(crate) fn translated(&self, kind: Kind, array: usize, index: usize) -> usize {
        // SAFETY: the program's array of `INTEGER`s, and functions that only look up.
        unsafe {
            let handle = *(array as *const i32).add(index) as usize;
            if self.abi == Abi::Mpich && kind != Kind::File {
                // A handle is the same number in both languages.
                return self.handle(kind, handle);
            }
            match kind {
                Kind::Comm => pmpi::comm_f2c(handle),
                Kind::Group => pmpi::group_f2c(handle),
                Kind::Datatype => pmpi::type_f2c(handle),
                Kind::Win => pmpi::win_f2c(handle),
                Kind::File => pmpi::file_f2c(handle),
                Kind::Request => pmpi::request_f2c(handle),
                Kind::Message => pmpi::message_f2c(handle),
                Kind::Op | Kind::Info | Kind::Errhandler => 0,
            }
        }
    }

    /// Whether a result says that some of several operations succeeded, and their statuses say which.
    #[cold]
    pub(crate) fn is_in_status(&self, result: c_int) -> bool {
        let mut class: c_int = SUCCESS;
        // SAFETY: a number that outlives the call.
        let known = unsafe { pmpi::error_class(result as usize, &raw mut class as usize) } == SUCCESS;
        known && class == Error::InStatus.class(self.abi)
    }

    /// Bytes that a status, at an address, counts: asked from the library.
    #[cold]
    pub(crate) fn bytes_in(&self, status: usize) -> u64 {
        let mut count: i64 = 0;
        // SAFETY: a status that the library filled, and a count that outlives the call.
        let known = unsafe { pmpi::get_elements_x(status, self.byte, &raw mut count as usize) } == SUCCESS;
        if known { count.max(0) as u64 } else { 0 }
    }

    /// A handle in memory: of an array of handles, the one at an index.
    ///
    /// # Safety
    /// The array must be as long.
    pub(crate) unsafe fn stored(&self, kind: Kind, array: usize, index: usize) -> usize {
        if self.abi.handle_size(kind) == size_of::<u32>() {
            // SAFETY: as the caller said.
            unsafe { *(array as *const u32).add(index) as usize }
        } else {
            // SAFETY: as the caller said.
            unsafe { *(array as *const usize).add(index) }
        }
    }
}
