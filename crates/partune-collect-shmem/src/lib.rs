//! Records OpenSHMEM inside the user's program: the functions of its C interface up to version 1.5, as Open MPI's OpenSHMEM and Sandia
//! OpenSHMEM export them. What the library of a program lacks is absent for the program too.
//!
//! For `partune record`, which preloads it. Every function has a wrapper here (made by `build.rs` from the list of their families), which
//! records the call and calls the library's own, the next in the loader's order. Before SHMEM starts, wrappers only pass calls on.
//!
//! Two windows stand for the memory that other PEs reach, the symmetric heap and the global data of the program; accesses, waits for values
//! and locks are told with their offset there, which is the same on all PEs. A further window stands for each active set or
//! team of a collective. Nobody communicates for the sake of recording: what tells a job from others is in its environment.
#![allow(unsafe_code, reason = "arguments of the program and functions of its library")]

mod function;
mod long_double;
mod rma;
mod segments;
mod sync;
mod teams;
mod values;
mod world;

/// The functions that the program calls instead of the library's.
#[allow(unreachable_pub, clippy::missing_safety_doc, clippy::too_many_arguments, reason = "they are OpenSHMEM's")]
#[allow(
    clippy::undocumented_unsafe_blocks,
    clippy::unused_unit,
    clippy::let_unit_value,
    clippy::needless_return,
    clippy::missing_transmute_annotations,
    clippy::used_underscore_items,
    unused_variables,
    unused_mut,
    reason = "generated, all alike"
)]
mod wrappers {
    use std::ffi::{c_int, c_long};
    use std::mem::transmute;

    use partune_collect::facts::Atomic;
    use partune_collect::frame;

    use crate::function::Function;
    use crate::{rma, segments, sync, teams, values, world};

    include!(concat!(env!("OUT_DIR"), "/wrappers.rs"));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use partune_paradigm::OPENSHMEM;

    use crate::wrappers::ALL;

    /// Those that are written by hand, and what is none of the user's or not recorded.
    const OTHERS: [&str; 12] = [
        "shmem_init",
        "shmem_init_thread",
        "shmem_finalize",
        "shmem_global_exit",
        "shmem_longdouble_p",
        "shmem_longdouble_g",
        "shmem_ctx_longdouble_p",
        "shmem_ctx_longdouble_g",
        "shmem_broadcast",
        "shmem_pcontrol",
        "shmem_swap",
        "shmemx_alltoall_global_nb",
    ];

    #[test]
    fn no_function_has_two_wrappers() {
        let wrapped = wrapped();
        assert_eq!(wrapped.len(), ALL.len());
        assert!(ALL.len() > 1800, "{}", ALL.len());
    }

    fn wrapped() -> BTreeMap<&'static str, usize> {
        ALL.iter().map(|(name, _, parameters)| (*name, *parameters)).collect()
    }

    /// Who chooses a family by the paradigm's table chooses these functions.
    #[test]
    fn families_are_rows_of_the_paradigm() {
        for (name, family, _) in ALL {
            let row = (OPENSHMEM.recognise_hinted)(name).map(|construct| construct.name);
            assert!(row == Some(name) || row == Some(family), "{name} of {family}: {row:?}");
        }
    }

    /// Where headers of an OpenSHMEM are installed, what they declare has a wrapper with as many parameters.
    #[test]
    fn what_the_headers_declare_has_a_wrapper() {
        let wrapped = wrapped();
        let open_mpi = format!("/usr/lib/{}-linux-gnu/openmpi/include", std::env::consts::ARCH);
        let sandia = std::env::var("PARTUNE_SHMEM").map(|folder| format!("{folder}/include"));
        let sandia =
            sandia.unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/shmem/include").to_owned());
        let headers = [
            (&open_mpi, "shmem.h", "OSHMEM_DECLSPEC", 800),
            (&open_mpi, "shmemx.h", "OSHMEM_DECLSPEC", 70),
            (&sandia, "shmem.h", "SHMEM_FUNCTION_ATTRIBUTES", 1600),
        ];
        for (folder, file, mark, least) in headers {
            let Ok(text) = std::fs::read_to_string(format!("{folder}/{file}")) else { continue };
            let mut declared: Vec<(&str, usize)> =
                text.split(&format!("\n{mark} ")).skip(1).filter_map(declared).collect();
            declared.retain(|it| !OTHERS.contains(&it.0));
            assert!(declared.len() > least, "{file} of {folder} declares {}", declared.len());
            for (name, parameters) in declared {
                assert_eq!(wrapped.get(name), Some(&parameters), "{name}");
            }
        }
    }

    /// The name and the number of parameters of a function that is declared next.
    fn declared(text: &str) -> Option<(&str, usize)> {
        let (declaration, _) = text.split_once(';')?;
        let declaration = declaration.trim();
        // Complex types are macros with arguments.
        let at = declaration.find("shmem")?;
        let (name, rest) = declaration[at..].split_once('(')?;
        let depths = rest.chars().scan(1, |depth, letter| {
            *depth += match letter {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            Some((letter, *depth))
        });
        let inside: Vec<char> = depths.take_while(|it| it.1 > 0).filter(|it| it.1 == 1).map(|it| it.0).collect();
        let text: String = inside.into_iter().collect();
        let count = if text.trim() == "void" { 0 } else { text.split(',').count() };
        Some((name.trim(), count))
    }
}
