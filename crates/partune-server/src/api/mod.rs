//! The questions of the API: one list, one file a view.

mod balance;
mod environment;
mod findings;
mod lines;
mod matrix;
mod moment;
mod pes;
mod profile;
mod regions;
mod rows;
mod runs;
mod several;
mod summary;
mod timeline;

use crate::query::Query;
use crate::reply::{Answer, Error};
use crate::run::Run;
use crate::runs::Runs;

/// A question about one run that is open.
pub(crate) struct Endpoint {
    /// Below `runs/R/`; `*` stands for one part of any text.
    path: &'static str,
    /// Parameters that it knows.
    keys: &'static [&'static str],
    answer: fn(&Run, &Ask<'_>) -> Answer,
}

/// What is asked.
pub(crate) struct Ask<'a> {
    pub(crate) query: Query,
    /// The part of the path that `*` stands for; else empty.
    pub(crate) part: &'a str,
}

/// All questions about a run. To add one: one function, one line.
static ENDPOINTS: &[Endpoint] = &[
    Endpoint { path: "summary", keys: &[], answer: summary::summary },
    Endpoint { path: "findings", keys: &["pattern", "text"], answer: findings::list },
    Endpoint { path: "findings/*", keys: &[], answer: findings::detail },
    Endpoint { path: "findings/*/next", keys: &["after", "pe", "back"], answer: findings::next },
    Endpoint { path: "pes", keys: &[], answer: pes::pes },
    Endpoint { path: "kinds", keys: &[], answer: pes::kinds },
    Endpoint {
        path: "timeline",
        keys: &["from", "to", "columns", "first", "pes", "rows", "group"],
        answer: timeline::timeline,
    },
    Endpoint { path: "at", keys: &["pe", "time"], answer: moment::at },
    Endpoint { path: "find", keys: &["text"], answer: regions::find },
    Endpoint { path: "next", keys: &["region", "after", "pe", "back"], answer: regions::next },
    Endpoint { path: "profile", keys: &[], answer: profile::profile },
    Endpoint { path: "tree", keys: &["path", "depth"], answer: profile::tree },
    Endpoint { path: "balance", keys: &["rows", "columns"], answer: balance::balance },
    Endpoint { path: "matrix", keys: &["by", "rows"], answer: matrix::matrix },
    Endpoint { path: "environment", keys: &[], answer: environment::environment },
];

/// The answer to a question: a path below `api/`, and what is behind `?`.
pub(crate) fn answer(runs: &Runs, path: &str, query: &str) -> Answer {
    let parts: Vec<&str> = path.split('/').collect();
    let (run, rest) = match parts.as_slice() {
        ["runs"] => {
            Query::new(query, &[])?;
            return runs::list(runs);
        }
        ["compare"] => return several::compare(runs, query),
        ["scaling"] => return several::scaling(runs, query),
        ["runs", run, rest @ ..] if !rest.is_empty() => (run, rest),
        _ => return Err(Error::not_found("there is no such question")),
    };
    for endpoint in ENDPOINTS {
        if let Some(part) = endpoint.matches(rest) {
            let query = Query::new(query, endpoint.keys)?;
            return (endpoint.answer)(&*runs.ready(run)?, &Ask { query, part });
        }
    }
    Err(Error::not_found("there is no such question about a run"))
}

impl Endpoint {
    /// What `*` stands for, if this is the question.
    fn matches<'a>(&self, parts: &[&'a str]) -> Option<&'a str> {
        let mut any = "";
        let mut own = self.path.split('/');
        for part in parts {
            match own.next()? {
                "*" => any = part,
                word if word == *part => {}
                _ => return None,
            }
        }
        own.next().is_none().then_some(any)
    }
}
