//! The whole way, from an archive to a document: what it must say, and that nothing breaks it.

mod advise;
mod archives;
mod browser;
mod clean;
mod command;
mod damage;
mod example;
mod export;
mod faults;
mod fuzz;
mod hostile;
mod losses;
mod machine;
mod manual;
mod model;
mod operations;
mod paraver;
mod pgas;
mod piece;
mod print;
mod record;
mod report;
mod runs;
mod same;
mod schema;
mod view;
