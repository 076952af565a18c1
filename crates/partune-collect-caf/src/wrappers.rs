//! The calls that the program makes instead of the library's: a row each.
//!
//! A row says under which name a call is recorded, what is told before the library's own is called, and what after that. Arguments are words:
//! numbers and addresses, of which later versions of gfortran pass more to the same functions; so rows of few arguments pass on as many as there are
//! registers for. None of them is a floating-point number.
#![allow(unreachable_pub, clippy::missing_safety_doc, clippy::too_many_arguments, reason = "they are the library's")]
#![allow(clippy::undocumented_unsafe_blocks, clippy::redundant_closure_call, reason = "generated, all alike")]

use std::mem::transmute;

use partune_collect::frame::{self, Frame};
use partune_collect::meeting::Meeting;
use partune_collect::next::{Next, enter, enter_poll, named, without};
use partune_collect::{Call, How, Region};

use crate::rma::{self, Access, Section};
use crate::{atomics, coarrays, life, regions, sync, teams};

/// What is told before a call, and ends when it has returned.
trait Told {
    fn end(self, call: &mut Call<'_>);
}

impl Told for () {
    fn end(self, _: &mut Call<'_>) {}
}

impl Told for Meeting {
    fn end(self, call: &mut Call<'_>) {
        Meeting::end(self, call);
    }
}

impl Told for Option<Access> {
    fn end(self, call: &mut Call<'_>) {
        rma::complete(self.as_slice(), call);
    }
}

impl Told for [Option<Access>; 2] {
    fn end(self, call: &mut Call<'_>) {
        self.into_iter().for_each(|access| access.end(call));
    }
}

macro_rules! wrappers {
    ($($name:ident($($argument:ident)*) $enter:ident $region:expr, $before:expr $(, $after:expr)?;)*) => {
        $(wrappers!(@ $name "_gfortran_caf_" ($($argument)*) $enter $region, $before $(, $after)?);)*

        /// Under the names for compilers that have no coarrays of their own.
        mod extensions {
            use super::*;
            $(wrappers!(@ $name "_caf_extensions_" ($($argument)*) $enter $region, $before $(, $after)?);)*
            lives!("_caf_extensions_");
        }

        #[cfg(test)]
        pub(crate) const ALL: &[&str] = &[$(stringify!($name),)* "init", "register", "deregister", "finalize", "stop", "stop_numeric", "stop_str",
            "error_stop", "error_stop_str", "fail_image", "form_team", "change_team", "end_team"];
    };
    (@ $name:ident $prefix:literal ($($argument:ident)*) $enter:ident $region:expr, $before:expr $(, $after:expr)?) => {
        #[unsafe(export_name = concat!($prefix, stringify!($name)))]
        pub unsafe extern "C" fn $name($($argument: usize),*) -> usize {
            static NEXT: Next = Next::new(named(concat!($prefix, stringify!($name), "\0")));
            let frame = frame::here();
            let real: wrappers!(= $($argument)*) = unsafe { transmute(NEXT.address()) };
            let region: &'static Region = $region;
            let Some(mut call) = $enter(region, frame) else { return without(region, frame, || unsafe { real($($argument),*) }) };
            let told = ($before)(&mut call);
            let result = unsafe { real($($argument),*) };
            call.returned();
            $(($after)(&mut call);)?
            Told::end(told, &mut call);
            call.leave();
            result
        }
    };
    (= $($argument:ident)*) => { unsafe extern "C" fn($(wrappers!(! $argument)),*) -> usize };
    (! $argument:ident) => { usize };
}

/// Wrappers that do something whether calls are recorded or not: they begin or end recording, or make and forget what others refer to.
macro_rules! lives {
    ($prefix:literal) => {
        #[unsafe(export_name = concat!($prefix, "init"))]
        pub unsafe extern "C" fn init(arguments: usize, values: usize) {
            let frame = frame::here();
            let real: unsafe extern "C" fn(usize, usize) = unsafe { transmute(INIT.address()) };
            if !life::start(frame, &INIT, [arguments, values]) {
                unsafe { real(arguments, values) };
            }
        }

        static INIT: Next = Next::new(named(concat!($prefix, "init", "\0")));

        #[unsafe(export_name = concat!($prefix, "register"))]
        pub unsafe extern "C" fn register(size: usize, kind: usize, token: usize, array: usize, status: usize, message: usize, length: usize) {
            static NEXT: Next = Next::new(named(concat!($prefix, "register", "\0")));
            let frame = frame::here();
            life::start(frame, &INIT, [0, 0]);
            let real: unsafe extern "C" fn(usize, usize, usize, usize, usize, usize, usize) = unsafe { transmute(NEXT.address()) };
            let region = coarrays::allocation(kind);
            let mut call = enter(region, frame);
            let told = call.as_mut().and_then(|call| coarrays::allocate(call, kind));
            run(call.is_some(), region, frame, || unsafe { real(size, kind, token, array, status, message, length) });
            call.iter_mut().for_each(Call::returned);
            coarrays::allocated(call.as_mut(), kind, token);
            end(call, told);
        }

        #[unsafe(export_name = concat!($prefix, "deregister"))]
        pub unsafe extern "C" fn deregister(token: usize, kind: usize, status: usize, message: usize, length: usize, x: usize) {
            static NEXT: Next = Next::new(named(concat!($prefix, "deregister", "\0")));
            let frame = frame::here();
            let real: Six = unsafe { transmute(NEXT.address()) };
            let region = coarrays::deallocation(token, kind);
            let mut call = enter(region, frame);
            let told = call.as_mut().and_then(|call| coarrays::deallocate(call, token, kind));
            coarrays::forget(token, kind);
            run(call.is_some(), region, frame, || unsafe { real(token, kind, status, message, length, x) });
            call.iter_mut().for_each(Call::returned);
            end(call, told);
        }

        #[unsafe(export_name = concat!($prefix, "form_team"))]
        pub unsafe extern "C" fn form_team(number: usize, team: usize, c: usize, d: usize, e: usize, f: usize) {
            static NEXT: Next = Next::new(named(concat!($prefix, "form_team", "\0")));
            let frame = frame::here();
            let real: Six = unsafe { transmute(NEXT.address()) };
            let region = &regions::FORM_TEAM;
            let mut call = enter(region, frame);
            let told = call.as_mut().map(teams::form);
            run(call.is_some(), region, frame, || unsafe { real(number, team, c, d, e, f) });
            call.iter_mut().for_each(Call::returned);
            teams::formed(team);
            end(call, told);
        }

        #[unsafe(export_name = concat!($prefix, "change_team"))]
        pub unsafe extern "C" fn change_team(team: usize, b: usize, c: usize, d: usize, e: usize, f: usize) {
            static NEXT: Next = Next::new(named(concat!($prefix, "change_team", "\0")));
            let frame = frame::here();
            let real: Six = unsafe { transmute(NEXT.address()) };
            let region = &regions::CHANGE_TEAM;
            let mut call = enter(region, frame);
            let told = call.as_mut().map(|call| teams::meet(call, teams::named(team), sync::BARRIER));
            run(call.is_some(), region, frame, || unsafe { real(team, b, c, d, e, f) });
            call.iter_mut().for_each(Call::returned);
            teams::changed(team);
            end(call, told);
        }

        #[unsafe(export_name = concat!($prefix, "end_team"))]
        pub unsafe extern "C" fn end_team(team: usize, b: usize, c: usize, d: usize, e: usize, f: usize) {
            static NEXT: Next = Next::new(named(concat!($prefix, "end_team", "\0")));
            let frame = frame::here();
            let real: Six = unsafe { transmute(NEXT.address()) };
            let region = &regions::END_TEAM;
            let mut call = enter(region, frame);
            let told = call.as_mut().map(sync::everybody);
            run(call.is_some(), region, frame, || unsafe { real(team, b, c, d, e, f) });
            call.iter_mut().for_each(Call::returned);
            teams::ended();
            end(call, told);
        }

        #[unsafe(export_name = concat!($prefix, "finalize"))]
        pub unsafe extern "C" fn finalize() {
            static NEXT: Next = Next::new(named(concat!($prefix, "finalize", "\0")));
            let frame = frame::here();
            let real: unsafe extern "C" fn() = unsafe { transmute(NEXT.address()) };
            life::finalize(frame, || unsafe { real() });
        }

        lives!(@ $prefix, stop, regions::STOP, How::Finalize);
        lives!(@ $prefix, stop_numeric, regions::STOP, How::Finalize);
        lives!(@ $prefix, stop_str, regions::STOP, How::Finalize);
        lives!(@ $prefix, error_stop, regions::ERROR_STOP, How::Abort);
        lives!(@ $prefix, error_stop_str, regions::ERROR_STOP, How::Abort);
        lives!(@ $prefix, fail_image, regions::FAIL_IMAGE, How::Abort);
    };
    (@ $prefix:literal, $name:ident, $region:expr, $how:expr) => {
        #[unsafe(export_name = concat!($prefix, stringify!($name)))]
        pub unsafe extern "C" fn $name(a: usize, b: usize, c: usize) {
            static NEXT: Next = Next::new(named(concat!($prefix, stringify!($name), "\0")));
            let frame = frame::here();
            let real: unsafe extern "C" fn(usize, usize, usize) = unsafe { transmute(NEXT.address()) };
            life::stop(&$region, frame, $how, || unsafe { real(a, b, c) });
        }
    };
}

type Six = unsafe extern "C" fn(usize, usize, usize, usize, usize, usize);

/// Runs the library's function, in a call or where none was begun.
fn run(is_in_call: bool, region: &'static Region, frame: Frame, real: impl FnOnce()) {
    if is_in_call { real() } else { without(region, frame, real) }
}

/// The call has returned.
fn end(call: Option<Call<'_>>, told: Option<impl Told>) {
    if let Some(mut call) = call {
        told.into_iter().for_each(|told| told.end(&mut call));
        call.leave();
    }
}

lives!("_gfortran_caf_");

wrappers! {
    // Inquiry
    this_image(a b c d e f) enter &regions::THIS_IMAGE, |_| ();
    num_images(a b c d e f) enter &regions::NUM_IMAGES, |_| ();
    failed_images(a b c d e f) enter &regions::FAILED_IMAGES, |_| ();
    stopped_images(a b c d e f) enter &regions::STOPPED_IMAGES, |_| ();
    image_status(a b c d e f) enter &regions::IMAGE_STATUS, |_| ();
    is_contiguous(a) enter &regions::IS_CONTIGUOUS, |_| ();
    team_number(a b c d e f) enter &regions::TEAM_NUMBER, |_| ();
    get_communicator(a b c d e f) enter &regions::GET_COMMUNICATOR, |_| ();
    random_init(a b c d e f) enter &regions::RANDOM_INIT, |_| ();
    // Access
    send(token offset image to vector from g h i j k) enter &regions::PUT,
        |call| rma::put(call, Section { token, offset, image, array: to, vector }, from);
    get(token offset image from vector to g h i j k) enter &regions::GET,
        |call| rma::get(call, Section { token, offset, image, array: from, vector }, to);
    sendget(token offset image to vector from_token from_offset from_image from from_vector k l m n o) enter &regions::COPY,
        |call| rma::copy(
            call,
            Section { token, offset, image, array: to, vector },
            Section { token: from_token, offset: from_offset, image: from_image, array: from, vector: from_vector },
        );
    send_by_ref(token image from references e f g h i j) enter &regions::PUT,
        |call| rma::put_by_references(call, token, image, from);
    get_by_ref(token image to references e f g h i j) enter &regions::GET,
        |_| (), |call| rma::got_by_references(call, token, image, to);
    sendget_by_ref(token image references from_token from_image from_references g h i j k l m) enter &regions::COPY,
        |_| ();
    is_present(token image references d e f) enter &regions::ALLOCATED, |_| ();
    // Access as of GCC 15
    send_to_remote(token to to_length image bytes data length from i j k l m n) enter &regions::PUT,
        |call| rma::put_by_accessor(call, token, image, bytes, from);
    get_from_remote(token from from_length image bytes data length to i j k l m n o) enter &regions::GET,
        |call| rma::get_by_accessor(call, token, image, bytes, to);
    transfer_between_remotes(token b c image e f g from_token i j from_image l m n bytes p q r s t u v) enter &regions::COPY,
        |call: &mut Call<'_>| [
            rma::get_by_accessor(call, from_token, from_image, bytes, i),
            rma::put_by_accessor(call, token, image, bytes, i),
        ];
    is_present_on_remote(token image c d e f) enter &regions::ALLOCATED, |_| ();
    // Synchronisation
    sync_all(a b c d e f) enter &regions::SYNC_ALL, |call| sync::everybody(call);
    sync_images(count images c d e f) enter &regions::SYNC_IMAGES, |call| sync::images(call, count, images);
    sync_memory(a b c d e f) enter &regions::SYNC_MEMORY, |_| ();
    sync_team(team b c d e f) enter &regions::SYNC_TEAM, |call| teams::meet(call, teams::named(team), sync::BARRIER);
    lock(token index image acquired status f g) enter_lock sync::locking(token, acquired),
        |call| sync::request(call, (token, index, image), acquired),
        |call| sync::requested(call, (token, index, image), acquired, status);
    unlock(token index image d e f) enter sync::unlocking(token), |call| sync::release(call, (token, index, image));
    // Events
    event_post(token index image d e f) enter &regions::EVENT_POST, |call| atomics::post(call, token, index, image);
    event_wait(token index until d e f) enter &regions::EVENT_WAIT, |call| atomics::wait(call, token, index);
    event_query(token index image count e f) enter_poll &regions::EVENT_QUERY,
        |_| (), |call| atomics::queried(call, token, index, count);
    // Atomics
    atomic_define(token offset image value e f kind) enter &regions::ATOMIC_DEFINE,
        |call| atomics::define(call, (token, offset, image), kind);
    atomic_ref(token offset image value e f kind) enter &regions::ATOMIC_REF,
        |call| atomics::reference(call, (token, offset, image), kind);
    atomic_cas(token offset image old compare new g h kind) enter &regions::ATOMIC_CAS,
        |call| atomics::compare(call, (token, offset, image), kind);
    atomic_op(code token offset image value old g h kind) enter atomics::operation(code, old),
        |call| atomics::operate(call, code, (token, offset, image), old, kind);
    // Collectives
    co_broadcast(array image c d e f) enter &regions::CO_BROADCAST, |call| sync::broadcast(call, array, image);
    co_sum(array image c d e f) enter sync::reduction([&regions::CO_SUM, &regions::CO_SUM_TO_ONE], image), |call| sync::reduce(call, array, image);
    co_min(array image c d e f) enter sync::reduction([&regions::CO_MIN, &regions::CO_MIN_TO_ONE], image), |call| sync::reduce(call, array, image);
    co_max(array image c d e f) enter sync::reduction([&regions::CO_MAX, &regions::CO_MAX_TO_ONE], image), |call| sync::reduce(call, array, image);
    co_reduce(array b c image e f g h) enter sync::reduction([&regions::CO_REDUCE, &regions::CO_REDUCE_TO_ONE], image), |call| sync::reduce(call, array, image);
}

/// A call for a lock that is not waited for is a poll.
fn enter_lock(region: &'static Region, frame: Frame) -> Option<Call<'static>> {
    if std::ptr::eq(region, &raw const regions::TRY_LOCK) { enter_poll(region, frame) } else { enter(region, frame) }
}
