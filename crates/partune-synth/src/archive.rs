//! Files of the archive: event files through chunked writers, then the definitions and the anchor.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use partune_otf2::codec::{Anchor, CodecError, Event, EventWriter};
use partune_otf2::write::{ANCHOR, DEFINITION_CHUNK, DEFINITIONS, location_file};

use crate::definitions::location_id;
use crate::options::SynthOptions;
use crate::world::Recorder;
use crate::{Answers, Sink, SynthError, definitions};

/// The first thing that went wrong in a callback, which cannot return it.
type Failure = Rc<RefCell<Option<SynthError>>>;

/// A file that takes chunks.
struct File {
    to: Box<dyn Write>,
    path: String,
    failure: Failure,
}

impl File {
    fn create(sink: &mut dyn Sink, path: String, failure: &Failure) -> Result<Self, SynthError> {
        match sink.create(&path) {
            Ok(to) => Ok(Self { to, path, failure: Rc::clone(failure) }),
            Err(error) => Err(SynthError::Write { path, error }),
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        if let Err(error) = self.to.write_all(bytes) {
            self.fail(error);
        }
    }

    fn fail(&self, error: io::Error) {
        let path = self.path.clone();
        self.failure.borrow_mut().get_or_insert(SynthError::Write { path, error });
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if let Err(error) = self.to.flush() {
            self.fail(error);
        }
    }
}

type Chunks = Box<dyn FnMut(&[u8])>;

/// Writes events of all locations; holds one chunk of each.
pub(crate) struct Archive {
    writers: Vec<EventWriter<Chunks>>,
    chunk_bytes: u64,
    types: [u64; 256],
    failure: Failure,
}

impl Recorder for Archive {
    #[inline]
    fn record(&mut self, location: usize, time: u64, event: &Event<'_>) {
        self.types[usize::from(event.id())] += 1;
        if let Err(error) = self.writers[location].write(time, event) {
            self.failure.borrow_mut().get_or_insert(error.into());
        }
    }
}

impl Archive {
    /// Opens the event files.
    pub(crate) fn create(options: &SynthOptions, sink: &mut dyn Sink) -> Result<Self, SynthError> {
        let chunk_bytes = match options.chunk_bytes {
            0 if options.locations() <= 128 => 1 << 20,
            0 => 256 << 10,
            bytes => bytes,
        };
        let failure = Failure::default();
        let writers = (0..options.locations()).map(|location| {
            let path = location_file(location_id(options, location), "evt");
            let chunks = chunks(File::create(sink, path, &failure)?);
            Ok(EventWriter::new(chunk_bytes, chunks)?)
        });
        let writers = writers.collect::<Result<_, SynthError>>()?;
        Ok(Self { writers, chunk_bytes, types: [0; 256], failure })
    }

    /// Fails if anything failed so far.
    pub(crate) fn check(&self) -> Result<(), SynthError> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// Ends the event files and writes all others; `end` is the time of the last event.
    pub(crate) fn finish(
        self,
        options: &SynthOptions,
        end: u64,
        sink: &mut dyn Sink,
        answers: &mut Answers,
    ) -> Result<(), SynthError> {
        let Self { writers, chunk_bytes, types, failure } = self;
        let events: Vec<u64> = writers.into_iter().map(EventWriter::finish).collect();
        for location in 0..events.len() {
            let path = location_file(location_id(options, location), "def");
            let file = File::create(sink, path, &failure)?;
            definitions::write_local(options, location, end, chunks(file))?;
        }
        let file = File::create(sink, DEFINITIONS.to_owned(), &failure)?;
        answers.definitions = definitions::write_global(options, &events, end, chunks(file))?;
        let anchor = Anchor {
            event_chunk_size: chunk_bytes,
            definition_chunk_size: DEFINITION_CHUNK,
            locations: events.len() as u64,
            global_definitions: answers.definitions,
            machine: "synthetic".to_owned(),
            creator: concat!("partune-synth ", env!("CARGO_PKG_VERSION")).to_owned(),
            description: "a synthetic program".to_owned(),
            trace_id: options.seed,
            ..Anchor::default()
        };
        File::create(sink, ANCHOR.to_owned(), &failure)?.put(&anchor.write());
        answers.events = events.iter().sum();
        let ids = (0..events.len()).map(|location| location_id(options, location));
        answers.location_events = ids.zip(events).collect();
        let kinds = Event::TYPES.iter().map(|(id, name)| (*name, types[usize::from(*id)]));
        answers.record_events = kinds.filter(|(_, count)| *count > 0).collect();
        failure.borrow_mut().take().map_or(Ok(()), Err)
    }
}

fn chunks(mut file: File) -> Chunks {
    Box::new(move |bytes| file.put(bytes))
}

impl From<CodecError> for SynthError {
    fn from(error: CodecError) -> Self {
        SynthError::Codec(error)
    }
}
