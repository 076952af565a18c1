// What the server answers, by question: made from its types by a test of partune-pages (PARTUNE_UPDATE=1). Not to be edited.

export interface Answers {
  "runs": {
    device_streams: number | null;
    duration_ns: number | null;
    events: number | null;
    fraction: number;
    /** There are sums of it, and no single events. */
    in_slices: boolean | null;
    message: string;
    name: string;
    path: string;
    pes: number | null;
    processes: number | null;
    producer: string | null;
    profile_only: boolean | null;
    remedy: string;
    run: number;
    stage: string;
    state: "opening" | "ready" | "failed";
  }[];
  "runs/R/summary": {
    bounds: {
      name: string;
      seconds: number;
    }[];
    /** Times of different PEs can be compared. */
    clocks_aligned: boolean;
    device_streams: number;
    devices: number;
    duration_s: number;
    efficiency: {
      label: string;
      level: string;
      meaning: string;
      name: string;
      value: number;
    }[];
    /** How the run ended, if not in order. */
    ending: string[];
    events: number;
    findings: {
      callpath: string[];
      cause: string | null;
      cause_pe: number | null;
      cause_s: number | null;
      construct: string;
      count: number;
      fraction: number;
      id: string;
      is_wait: boolean;
      /** Where in the source something is. */
      location: {
        file: string;
        function: string;
        line: number;
      };
      /** What is lost besides outside of the run. */
      outside_s: number;
      pattern: string;
      place: string;
      role: string;
      seconds: number;
      title: string;
      words: string;
      worst_pe: number | null;
      worst_pe_s: number | null;
    }[];
    findings_count: number;
    gaps: {
      label: string;
      meaning: string;
      name: string;
      seconds: number;
    }[];
    name: string;
    /** What constructs took of the run, longest first. */
    operations: {
      bytes: number;
      construct: string;
      /** How many constructs it is of. */
      constructs: number;
      count: number;
      fraction: number;
      seconds: number;
      /** Null for a profile. */
      waiting_s: number | null;
    }[];
    /** All others together. */
    operations_rest: {
      bytes: number;
      construct: string;
      /** How many constructs it is of. */
      constructs: number;
      count: number;
      fraction: number;
      seconds: number;
      /** Null for a profile. */
      waiting_s: number | null;
    } | null;
    paradigms: string[];
    path: string;
    pes: number;
    /** The piece of the run that is looked at, in words; none if it is all of it. */
    piece: string | null;
    processes: number;
    producer: string | null;
    profile_only: boolean;
    quality: {
      /** What it is, for programs. */
      code: "missing-file" | "unread-file" | "damaged-file" | "cut-file" | "unknown-records" | "malformed-records" | "long-lines" | "large-numbers" | "damaged-header" | "miscounted-events" | "samples-left-out" | "duplicate-definitions" | "unordered-definitions" | "no-locations" | "undefined-reference" | "undefined-window" | "undefined-group" | "undefined-partner" | "undefined-context" | "unknown-members" | "missing-names" | "unlisted-threads" | "too-many-threads" | "backward-times" | "far-times" | "unordered-records" | "stray-leaves" | "missing-leaves" | "crossing-visits" | "overlapping-states" | "too-many-visits" | "broken-callers" | "deep-callers" | "states-only" | "recorded-in-bursts" | "unmatched-messages" | "one-sided-messages" | "half-messages" | "uncompleted-receives" | "incomplete-collectives" | "uncompleted-collectives" | "contradicting-collectives" | "contradicting-roots" | "unproven-barriers" | "uncompleted-accesses" | "unended-epochs" | "unpaired-epochs" | "unpaired-synchronisations" | "crowded-epochs" | "stray-releases" | "unknown-teams" | "nested-teams" | "lost-events" | "lost-calls" | "missing-statistics" | "missing-processes" | "ended-early" | "recorder-note" | "separate-jobs" | "is-profile" | "median-run" | "needs-events" | "unused-operation" | "damaged-operations" | "lost-samples" | "time-by-samples" | "time-of-outermost" | "hidden-calls" | "left-out-calls" | "recorder-paused" | "shallow-call-paths" | "recording-cost" | "clocks-disagree" | "clocks-not-aligned" | "clock-rate-unknown" | "no-debug-data" | "damaged-debug-data" | "unnamed-definitions" | "missing-thumbnails" | "left-out-lock-attempts" | "left-out-messages" | "left-out-call-lines";
      count: number;
      message: string;
      remedy: string;
      severity: "info" | "data_loss" | "error";
    }[];
    sentences: string[];
    /** The same of the threads of a process, on average: they end where `bounds` begin. */
    thread_bounds: {
      name: string;
      seconds: number;
    }[];
    thread_gaps: {
      label: string;
      meaning: string;
      name: string;
      seconds: number;
    }[];
    waiting: number | null;
    waiting_s: number | null;
  };
  "runs/R/findings": {
    findings: {
      callpath: string[];
      cause: string | null;
      cause_pe: number | null;
      cause_s: number | null;
      construct: string;
      count: number;
      fraction: number;
      id: string;
      is_wait: boolean;
      /** Where in the source something is. */
      location: {
        file: string;
        function: string;
        line: number;
      };
      /** What is lost besides outside of the run. */
      outside_s: number;
      pattern: string;
      place: string;
      role: string;
      seconds: number;
      title: string;
      words: string;
      worst_pe: number | null;
      worst_pe_s: number | null;
    }[];
    omitted: number;
  };
  "runs/R/findings/*": {
    advice: string;
    callpath: string[];
    callpaths: {
      caller: string;
      callpath: string[];
      seconds: number;
    }[];
    cause: string | null;
    cause_pe: number | null;
    cause_s: number | null;
    causes: {
      callpath: string[];
      construct: string;
      /** Where in the source something is. */
      location: {
        file: string;
        function: string;
        line: number;
      };
      origin: {
        callpath: string[];
        construct: string;
        /** Where in the source something is. */
        location: {
          file: string;
          function: string;
          line: number;
        };
        place: string;
      } | null;
      pe: number | null;
      place: string;
      seconds: number;
      via: {
        pe: number | null;
        place: string;
      }[];
      via_s: number;
      words: string;
    }[];
    construct: string;
    count: number;
    facts: {
      /** The same in words. */
      label: string;
      name: string;
      text: string;
      value: number;
    }[];
    fraction: number;
    frames: {
      called_file: string;
      called_line: number;
      file: string;
      line: number;
      name: string;
    }[];
    id: string;
    instances: {
      cause: (string | null)[];
      cause_from: (number | null)[];
      cause_pe: (number | null)[];
      cause_to: (number | null)[];
      from: number[];
      pe: number[];
      seconds: number[];
      to: number[];
    };
    instances_count: number;
    is_wait: boolean;
    lines: {
      file: string;
      function: string;
      line: number;
      seconds: number;
    }[];
    /** Where in the source something is. */
    location: {
      file: string;
      function: string;
      line: number;
    };
    /** What the PE that loses most at once did meanwhile, and below it the one that made it. */
    longest: {
      bins: {
        data: string;
        kinds: number[];
      };
      columns: number;
      from: number;
      /** The rows of an answer. */
      rows: {
        count: number[];
        first: (number | null)[];
        label: string[];
      };
      to: number;
    } | null;
    meaning: string;
    /** How many more each list has. */
    omitted: Record<string, number>;
    /** What causes that are not listed made. */
    other_causes_s: number;
    /** What is lost besides outside of the run. */
    outside_s: number;
    pattern: string;
    pes: {
      pe: number[];
      seconds: number[];
    };
    pes_rest: {
      count: number;
      seconds: number;
    };
    place: string;
    role: string;
    seconds: number;
    title: string;
    unexplained_s: number;
    words: string;
    worst_pe: number | null;
    worst_pe_s: number | null;
  };
  "runs/R/findings/*/next": {
    /** One time that it happened. */
    instance: {
      cause: string | null;
      cause_from: number | null;
      cause_pe: number | null;
      cause_to: number | null;
      from: number;
      pe: number;
      seconds: number;
      to: number;
    } | null;
  };
  "runs/R/thresholds": {
    /** Shares are 0 to 1. */
    kind: ("share" | "factor" | "count" | "bytes")[];
    least: number[];
    meaning: string[];
    name: string[];
    value: number[];
  };
  "runs/R/pes": {
    hosts: string[];
    omitted: number;
    pes: {
      host: (number | null)[];
      kind: string[];
      name: string[];
      process: number[];
      thread: number[];
    };
    processes: {
      count: number;
      first: number;
      host: number | null;
      name: string;
    }[];
  };
  "runs/R/kinds": {
    kind: number;
    label: string;
    name: string;
  }[];
  "runs/R/timeline": {
    bins: {
      data: string;
      kinds: number[];
    };
    collectives: {
      construct: string;
      count: number;
      group: string;
      members: {
        enter: number[];
        exit: number[];
        pe: number[];
        row: number[];
      };
    }[];
    collectives_count: number | null;
    columns: number;
    critical_path: {
      from: number[];
      pe: number[];
      row: (number | null)[];
      to: number[];
    };
    critical_path_count: number | null;
    findings: string[];
    from: number;
    /** By function, where that is asked for. */
    functions: {
      data: string;
      function: (number | null)[];
    } | null;
    groups: string[];
    messages: {
      bytes: number[];
      from_pe: (number | null)[];
      from_row: (number | null)[];
      group: (number | null)[];
      received: number[];
      sent: number[];
      tag: (number | null)[];
      to_pe: (number | null)[];
      to_row: (number | null)[];
    } | null;
    messages_count: number | null;
    patterns: string[];
    /** PEs that have no row, since others wait more. */
    pes_omitted: number;
    regions: string[];
    /** The rows of an answer. */
    rows: {
      count: number[];
      first: (number | null)[];
      label: string[];
    };
    spans: {
      depth: number[];
      from: number[];
      kind: number[];
      region: number[];
      row: number[];
      to: number[];
    } | null;
    spans_count: number | null;
    to: number;
    waits: {
      cause_from: (number | null)[];
      cause_pe: (number | null)[];
      cause_row: (number | null)[];
      cause_to: (number | null)[];
      finding: (number | null)[];
      from: number[];
      pattern: number[];
      pe: number[];
      row: number[];
      to: number[];
    };
    /** How many there are in the view; not known of a run that was looked at in slices, as all counts of lines. */
    waits_count: number | null;
  };
  "runs/R/selection": {
    /** Where it lies in the whole run, as `--from` and `--to` take it. */
    begin_s: number;
    /** Of the visits of the region that is asked for, or of all. */
    durations: {
      count: number[];
      from: number[];
      to: number[];
    };
    end_s: number;
    from: number;
    functions: {
      exclusive_s: number[];
      inclusive_s: number[];
      kind: number[];
      most_pe: (number | null)[];
      most_s: number[];
      name: string[];
      pes: number[];
      /** None for the code outside of all. */
      region: (number | null)[];
      visits: number[];
      waiting_s: number[];
    };
    functions_omitted: number;
    /** Of all PEs together. */
    kinds: {
      kind: number[];
      seconds: number[];
    };
    /** In start-up, shut-down and the like, of which no finding is made. */
    management_wait_s: number;
    moved: {
      bytes: number[];
      count: number[];
      what: ("sent" | "received" | "put" | "got" | "atomic" | "collective" | "read" | "written")[];
    };
    pes: number;
    /** What each row of PEs did with its time, a list a kind. */
    rows: {
      count: number[];
      first: (number | null)[];
      label: string[];
    };
    seconds: number[][];
    to: number;
    waits: {
      count: number[];
      pattern: string[];
      seconds: number[];
      title: string[];
    };
  };
  "runs/R/beside": {
    base_from: number;
    /** So many PEs the other run has. */
    base_pes: number;
    base_to: number;
    /** What stages are, and what they could be. */
    by: string;
    can: string[];
    /** The part, and where it is in the other run. */
    from: number;
    /** Those first that differ most. */
    functions: {
      base_s: number[];
      base_visits: number[];
      base_waiting_s: number[];
      kind: number[];
      name: string[];
      /** None for the code outside of all, and where only the other run has it. */
      region: (number | null)[];
      seconds: number[];
      visits: number[];
      waiting_s: number[];
    };
    functions_omitted: number;
    kinds: {
      base_s: number[];
      kind: number[];
      seconds: number[];
    };
    /** In the whole runs: those that are not in the other one, or in another order there. */
    only_here: number;
    only_there: number;
    /** For each PE of the part, in its order, the number of the same one in the other run; null if there is none. */
    pes: (number | null)[];
    /** Stages in order of time. A block has the name of what ends it. */
    stages: {
      base_from: number[];
      base_to: number[];
      from: number[];
      name: string[];
      /** From 0, of those with the name. */
      number: number[];
      to: number[];
    };
    /** In the part, in both runs. */
    stages_count: number;
    to: number;
  };
  "runs/R/at": {
    collective: {
      construct: string;
      group: string;
      last_enter: number | null;
      last_pe: number | null;
      members: number;
      received: number | null;
      root: number | null;
      sent: number | null;
    } | null;
    messages: {
      bytes: number;
      group: string;
      pe: number | null;
      received: number | null;
      sent: number | null;
      tag: number;
      way: "sent" | "received";
    }[];
    operation: {
      construct: string;
      from: number;
      kind: number;
      place: string;
      role: string;
      to: number;
    } | null;
    pe: number;
    stack: {
      called_file: string[];
      called_line: number[];
      file: string[];
      from: number[];
      kind: number[];
      line: number[];
      name: string[];
      path: number[];
      region: number[];
      to: number[];
    };
    time: number;
    transfers: {
      bytes: number;
      kind: string;
      pe: number | null;
      time: number;
    }[];
    waits: {
      cause: string | null;
      cause_from: number | null;
      cause_pe: number | null;
      cause_to: number | null;
      finding: string | null;
      from: number;
      pattern: string;
      seconds: number;
      title: string;
      to: number;
    }[];
  };
  "runs/R/find": {
    findings: {
      callpath: string[];
      cause: string | null;
      cause_pe: number | null;
      cause_s: number | null;
      construct: string;
      count: number;
      fraction: number;
      id: string;
      is_wait: boolean;
      /** Where in the source something is. */
      location: {
        file: string;
        function: string;
        line: number;
      };
      /** What is lost besides outside of the run. */
      outside_s: number;
      pattern: string;
      place: string;
      role: string;
      seconds: number;
      title: string;
      words: string;
      worst_pe: number | null;
      worst_pe_s: number | null;
    }[];
    findings_omitted: number;
    /** How many more there are. */
    omitted: number;
    pes: {
      host: string;
      pe: number;
      process: string;
    }[];
    pes_omitted: number;
    regions: {
      exclusive_s: number;
      file: string;
      from: number | null;
      inclusive_s: number;
      kind: number;
      line: number;
      name: string;
      pe: number | null;
      region: number;
      to: number | null;
      visits: number;
    }[];
    /** Where the text is a condition, the longest visits of which it holds. */
    visits: {
      from: number;
      kind: number;
      name: string;
      pe: number;
      place: string;
      to: number;
    }[] | null;
    visits_count: number;
    /** Where it looks like a condition and is none, why. */
    wrong: {
      message: string;
      remedy: string;
    } | null;
  };
  "runs/R/next": {
    visit: {
      from: number;
      pe: number;
      to: number;
    } | null;
  };
  "runs/R/profile": {
    omitted: number;
    regions: {
      bytes: number[];
      exclusive_s: number[];
      file: string[];
      inclusive_s: number[];
      kind: number[];
      least_s: number[];
      line: number[];
      mean_s: number[];
      most_pe: (number | null)[];
      most_s: number[];
      name: string[];
      pes: number[];
      /** None for the code outside of all. */
      region: (number | null)[];
      visits: number[];
      waiting_s: number[];
    };
  };
  "runs/R/tree": {
    all_s: number;
    nodes: {
      children: number[];
      depth: number[];
      exclusive_s: number[];
      file: string[];
      inclusive_s: number[];
      kind: number[];
      line: number[];
      most_s: number[];
      name: string[];
      parent: (number | null)[];
      /** None for the code outside of all. */
      path: (number | null)[];
      pes: number[];
      region: (number | null)[];
      visits: number[];
      waiting_s: number[];
    };
    omitted: number;
  };
  "runs/R/measured": {
    own: number[];
    paths: {
      own: number[];
      /** None for the code outside of all. */
      path: (number | null)[];
      whole: number[];
    };
    paths_omitted: number;
    /** Of the call path that is asked for, or all of the program. */
    rows: {
      count: number[];
      first: (number | null)[];
      label: string[];
    };
    /** Seconds, bytes, the unit of a counter; empty for plain numbers. */
    unit: string;
    whole: number[];
  };
  "runs/R/flame": {
    all_s: number;
    /** Of the run beside it. */
    base_all_s: number | null;
    boxes: {
      base_s: (number | null)[];
      /** How many functions it is. */
      count: number[];
      /** None where functions are told together. */
      function: (number | null)[];
      kind: number[];
      own_s: number[];
      parent: (number | null)[];
      seconds: number[];
      visits: number[];
      waiting_s: number[];
    };
    functions: {
      file: string[];
      line: number[];
      name: string[];
      /** None for the code outside of all. */
      region: (number | null)[];
    };
    pes: number;
    /** So many boxes lead to the one that is opened. */
    under: number;
  };
  "runs/R/balance": {
    blocks: {
      count: number[];
      first: number[];
      from: number[];
      seconds: number[][];
      to: number[];
    } | null;
    events: {
      kind: number[];
      least_s: number[];
      mean_s: number[];
      most_pe: (number | null)[];
      most_s: number[];
      name: string[];
      /** None for the code outside of all. */
      region: (number | null)[];
      spread: number[];
      total_s: number[];
    };
    kinds: number[];
    regions: {
      names: string[];
      region: number[];
      seconds: number[][];
    };
    /** The rows of an answer. */
    rows: {
      count: number[];
      first: (number | null)[];
      label: string[];
    };
    seconds: number[][];
  };
  "runs/R/matrix": {
    by: string;
    cells: number[][];
    most: number;
    /** The rows of an answer. */
    rows: {
      count: number[];
      first: (number | null)[];
      label: string[];
    };
    total: number;
  };
  "runs/R/transfers": {
    backwards: number;
    bytes: number;
    count: number;
    durations: {
      count: number[];
      from: number[];
      to: number[];
    };
    omitted: number;
    rows: {
      bytes: number[];
      from_pe: (number | null)[];
      group: (string | null)[];
      kind: string[];
      received: number[];
      sent: number[];
      tag: (number | null)[];
      to_pe: (number | null)[];
    };
    seconds: number;
    sizes: {
      bytes: number[];
      count: number[];
      from: number[];
      to: (number | null)[];
    };
    unmatched: number;
  };
  "runs/R/array": {
    /** The one that is asked for, or the first; none if there are none. */
    array: {
      /** Accesses to elements, all and those that are where they live: as recorded, as asked for, and at best. Not known where more PEs are asked for than there were. */
      accesses: number;
      at_home: number[][] | null;
      begin: number;
      best_block: number | null;
      best_local: number | null;
      /** The distribution that is asked for: element i on PE ⌊i/block⌋ mod pes. */
      block: number;
      /** Elements on each PE, as recorded, and where the first begins there. */
      each: number;
      element_bytes: number;
      elements: number;
      factors: {
        block: number[];
        local: number[];
      };
      /** Elements on the PE that has most. */
      largest: number;
      local: number | null;
      pes: number;
      recorded_local: number;
      /** PEs in order of rank, how often each touches the elements of each column, and how often where they are at home as asked for. */
      rows: {
        count: number[];
        first: (number | null)[];
        label: string[];
      };
      touched: number[][];
      window: number;
    } | null;
    /** Windows and symmetric heaps whose accesses were all recorded with addresses. */
    windows: {
      local_bytes: number[];
      name: string[];
      pes: number[];
      remote_bytes: number[];
      window: number[];
    };
  };
  "runs/R/metrics": {
    /** It is a counter, and not a gauge. */
    counts: boolean[];
    name: string[];
    unit: string[];
  };
  "runs/R/counters": {
    columns: number;
    from: number;
    reading: string;
    /** Of PEs that have samples of the metric. */
    rows: {
      count: number[];
      first: (number | null)[];
      label: string[];
    };
    to: number;
    values: (number | null)[][];
  };
  "runs/R/sources": {
    /** Sums of files, or of lines of one. */
    files: {
      calls_s: number[];
      caused_s: number[];
      /** Empty where they are lines. */
      file: string[];
      /** How many lines of the file are known; or which line it is. */
      line: number[];
      own_s: number[];
      visits: number[];
      waiting_s: number[];
    };
    omitted: number;
    /** Whether there are folders whose text may be shown. */
    shown: boolean;
  };
  "runs/R/source": {
    count: number;
    file: string;
    findings: {
      advice: string;
      id: string;
      line: number;
      seconds: number;
      title: string;
    }[];
    /** The first line that is sent, how many the file has, and the text; none where it may not be shown or is not there. */
    from: number;
    /** Sums of files, or of lines of one. */
    lines: {
      calls_s: number[];
      caused_s: number[];
      /** Empty where they are lines. */
      file: string[];
      /** How many lines of the file are known; or which line it is. */
      line: number[];
      own_s: number[];
      visits: number[];
      waiting_s: number[];
    };
    omitted: number;
    text: string[] | null;
    /** Why there is no text. */
    why: string | null;
  };
  "runs/R/environment": {
    /** When the first event was, in milliseconds since 1970. */
    began_ms: number | null;
    /** The command that was recorded, as a shell takes it. */
    command: string | null;
    /** With their flags, where programs have them. */
    compilers: string[];
    facts: {
      name: string;
      value: string;
    }[];
    groups: {
      members: number[];
      name: string[];
      paradigm: string[];
    };
    /** Of the paradigms, with their versions. */
    libraries: string[];
    machine: string | null;
    metrics: {
      /** It is a counter, and not a gauge. */
      counts: boolean[];
      name: string[];
      unit: string[];
    };
    /** How many more each list has. */
    omitted: Record<string, number>;
    processes: {
      host: string[];
      name: string[];
      pes: number[];
    };
    producer: string | null;
    quality: {
      /** What it is, for programs. */
      code: "missing-file" | "unread-file" | "damaged-file" | "cut-file" | "unknown-records" | "malformed-records" | "long-lines" | "large-numbers" | "damaged-header" | "miscounted-events" | "samples-left-out" | "duplicate-definitions" | "unordered-definitions" | "no-locations" | "undefined-reference" | "undefined-window" | "undefined-group" | "undefined-partner" | "undefined-context" | "unknown-members" | "missing-names" | "unlisted-threads" | "too-many-threads" | "backward-times" | "far-times" | "unordered-records" | "stray-leaves" | "missing-leaves" | "crossing-visits" | "overlapping-states" | "too-many-visits" | "broken-callers" | "deep-callers" | "states-only" | "recorded-in-bursts" | "unmatched-messages" | "one-sided-messages" | "half-messages" | "uncompleted-receives" | "incomplete-collectives" | "uncompleted-collectives" | "contradicting-collectives" | "contradicting-roots" | "unproven-barriers" | "uncompleted-accesses" | "unended-epochs" | "unpaired-epochs" | "unpaired-synchronisations" | "crowded-epochs" | "stray-releases" | "unknown-teams" | "nested-teams" | "lost-events" | "lost-calls" | "missing-statistics" | "missing-processes" | "ended-early" | "recorder-note" | "separate-jobs" | "is-profile" | "median-run" | "needs-events" | "unused-operation" | "damaged-operations" | "lost-samples" | "time-by-samples" | "time-of-outermost" | "hidden-calls" | "left-out-calls" | "recorder-paused" | "shallow-call-paths" | "recording-cost" | "clocks-disagree" | "clocks-not-aligned" | "clock-rate-unknown" | "no-debug-data" | "damaged-debug-data" | "unnamed-definitions" | "missing-thumbnails" | "left-out-lock-attempts" | "left-out-messages" | "left-out-call-lines";
      count: number;
      message: string;
      remedy: string;
      severity: "info" | "data_loss" | "error";
    }[];
  };
  "runs/R/figures": {
    /** How it is computed: a page of the book, in Markdown. */
    book: string;
    name: string;
    notes: string[];
    scalars: {
      name: string;
      text: string;
    }[];
    tables: {
      columns: {
        name: string;
        texts: string[];
        /** Of numbers, by what they are sorted. */
        values: (number | null)[] | null;
      }[];
      /** Rows in all; those that are here are the first. */
      count: number;
      name: string;
    }[];
    title: string;
  }[];
  "runs/R/piece": {
    /** Its number in `runs`. */
    run: number;
  };
  "history": {
    figures: {
      label: string;
      name: string;
      section: string;
      unit: "seconds" | "bytes" | "count" | "share";
      values: ({
        /** Beyond noise, against the revision before; none where it is not, or where it cannot be told. */
        changed: "more" | "less" | "new" | "gone" | null;
        high: number;
        low: number;
        value: number;
      } | null)[];
    }[];
    findings: {
      changed: ("more" | "less" | "new" | "gone" | null)[];
      place: string;
      seconds: (number | null)[];
      title: string;
    }[];
    /** How many findings are not shown. */
    omitted: number;
    revisions: {
      began_ms: number | null;
      name: string;
      pes: number;
      /** The report on its median run, in the same folder. */
      report: string;
      runs: number;
    }[];
  };
  "compare": {
    /** Advice for the base, and what became of it; left out where none is named. */
    advice?: {
      action: string;
      /** Whether that is what was predicted: in the range, or no farther from it than a hundredth of the run, or than noise. */
      as_predicted: boolean[];
      change: string | null;
      id: string;
      /** `inside`, `within_noise`, `outside`. */
      outcome: string[];
      /** The same by all its repeats. */
      saved: {
        /** How likely such an interval covers the truth: 0.9 or more with 3 runs of each kind, 0 with one of each. */
        confidence: number;
        /** The median of all pairs of runs (Hodges and Lehmann). */
        estimate: number;
        high: number;
        low: number;
      }[];
      /** What each run after the base saved. */
      saved_s: number[];
      saves_high_s: number;
      saves_low_s: number;
      saves_s: number;
    } | null;
    /** Most time is at call paths that only one run has: `regions` tell more than `callpaths`, and findings are matched by region. */
    by_region: boolean;
    /** Largest difference of exclusive seconds first. */
    callpaths: {
      callpath: string[];
      /** Of exclusive seconds. */
      changes: {
        difference_s: number;
        /** What the difference is by all repeats; null where there are none. */
        interval: {
          /** How likely such an interval covers the truth: 0.9 or more with 3 runs of each kind, 0 with one of each. */
          confidence: number;
          /** The median of all pairs of runs (Hodges and Lehmann). */
          estimate: number;
          high: number;
          low: number;
        } | null;
        /** Standard deviation of the difference by the runs' own spread; null if nothing is known of it. */
        noise_s: number | null;
        /** To the base; null if the base has zero. */
        ratio: number | null;
        /** `same`, `too_small_to_tell`, `no_spread_to_tell_by`, `grown`, `shrunk`, `added`, `gone`; of findings `new` and `gone`. */
        verdict: string;
      }[];
      construct: string;
      /** For each run after the base the PE on which it changed most, where it did not change so on the others; null where none stands out, runs were repeated, or they have another number of PEs. */
      most_on: ({
        /** Of the exclusive seconds of this PE. */
        difference_s: number;
        /** Standard deviation of the difference by the visits on this PE, and by the number of samples where functions are known by these. */
        noise_s: number;
        pe: number;
        /** To the base; null if the base has zero. */
        ratio: number | null;
      } | null)[];
      /** Null where a run never was. */
      runs: ({
        bytes: number;
        /** Exclusive seconds on the base of the comparison, see `per_pe`: the changes are differences of these. */
        compared_s: number;
        /** Summed over PEs, as all that follows. */
        exclusive_s: number;
        inclusive_s: number;
        location: {
          file: string;
          /** The user function around it; empty if unknown. */
          function: string;
          /** 0 if unknown. */
          line: number;
        };
        /** Exclusive seconds of the PE that spent the most. */
        longest_s: number;
        /** PEs that were here. */
        pes: number;
        /** Call paths that could not be told apart and are shown as one. */
        places: number;
        visits: number;
        /** Null for a profile. */
        waiting_s: number | null;
      } | null)[];
    }[];
    /** What came of `--fail-on`; left out where there is none. */
    conditions?: {
      condition: string;
      /** It holds for one of the runs after the base, so the exit status is 3. */
      holds: boolean;
      /** What is measured is a relative difference to the base, as a share; else a value. */
      is_change: boolean;
      /** For each run after the base; null where it has no such figure. */
      measured: ({
        /** How likely such an interval covers the truth: 0.9 or more with 3 runs of each kind, 0 with one of each. */
        confidence: number;
        /** The median of all pairs of runs (Hodges and Lehmann). */
        estimate: number;
        high: number;
        low: number;
      } | null)[];
    }[];
    /** Efficiencies, bounds and gaps side by side. */
    figures: {
      name: string;
      /** `efficiency`, `bounds` or `gaps`. */
      section: string;
      /** One per run; null where the run has no such figure. */
      values: (number | null)[];
    }[];
    /** Largest difference first. Empty if one run is a profile and another is not. */
    findings: {
      callpath: string[];
      changes: {
        difference_s: number;
        /** What the difference is by all repeats; null where there are none. */
        interval: {
          /** How likely such an interval covers the truth: 0.9 or more with 3 runs of each kind, 0 with one of each. */
          confidence: number;
          /** The median of all pairs of runs (Hodges and Lehmann). */
          estimate: number;
          high: number;
          low: number;
        } | null;
        /** Standard deviation of the difference by the runs' own spread; null if nothing is known of it. */
        noise_s: number | null;
        /** To the base; null if the base has zero. */
        ratio: number | null;
        /** `same`, `too_small_to_tell`, `no_spread_to_tell_by`, `grown`, `shrunk`, `added`, `gone`; of findings `new` and `gone`. */
        verdict: string;
      }[];
      construct: string;
      pattern: "late_sender" | "late_receiver" | "wait_at_barrier" | "wait_at_nxn" | "wait_at_set_up" | "late_broadcast" | "early_reduce" | "early_scan" | "wait_on_lock" | "wait_on_value" | "competing_put_get" | "late_fence" | "late_partner" | "wait_for_task" | "wait_for_thread" | "redundant_barrier" | "small_transfers" | "serial_blocking_transfers" | "load_imbalance" | "serial_section" | "poor_locality" | "high_frequency" | "small_accesses" | "serial_io" | "same_file_read_by_all" | "sync_in_loop" | "above_baseline" | "operation_cost" | "input_output" | "wait_on_device" | "start_up" | "fork_join" | "idle_threads" | "wait_for_processor" | string;
      /** Where it is, in words; what has no call path is at the processors that PEs waited for. */
      place: string;
      role: "init" | "finalize" | "inquiry" | "group_sync" | "group_notify" | "group_wait" | "one_to_all" | "all_to_one" | "all_to_all" | "scan" | "global_alloc" | "put" | "get" | "atomic" | "comm_sync" | "device_wait" | "rma_group_sync" | "rma_post" | "rma_start" | "rma_complete" | "rma_wait" | "send" | "recv" | "send_recv" | "probe" | "lock_acquire" | "lock_release" | "wait_on_value" | "signal" | "work_sharing" | "parallel" | "task_create" | "task_run" | "task_wait" | "pe_management" | "io" | "management" | "measurement" | "user";
      /** Null where it is not found: it loses less than the threshold there. */
      runs: ({
        /** The same on the base of the comparison, see `per_pe`: the changes are differences of these. */
        compared_s: number;
        count: number;
        fraction: number;
        location: {
          file: string;
          /** The user function around it; empty if unknown. */
          function: string;
          /** 0 if unknown. */
          line: number;
        };
        /** Summed over PEs. */
        seconds: number;
      } | null)[];
    }[];
    /** `compare`. */
    kind: string;
    /** What makes the runs less comparable. */
    notes: string[];
    /** Version of this document. */
    partune: number;
    /** Differences are of means over PEs, since the runs differ in their number; else of sums over PEs. */
    per_pe: boolean;
    regions: {
      callpath: string[];
      /** Of exclusive seconds. */
      changes: {
        difference_s: number;
        /** What the difference is by all repeats; null where there are none. */
        interval: {
          /** How likely such an interval covers the truth: 0.9 or more with 3 runs of each kind, 0 with one of each. */
          confidence: number;
          /** The median of all pairs of runs (Hodges and Lehmann). */
          estimate: number;
          high: number;
          low: number;
        } | null;
        /** Standard deviation of the difference by the runs' own spread; null if nothing is known of it. */
        noise_s: number | null;
        /** To the base; null if the base has zero. */
        ratio: number | null;
        /** `same`, `too_small_to_tell`, `no_spread_to_tell_by`, `grown`, `shrunk`, `added`, `gone`; of findings `new` and `gone`. */
        verdict: string;
      }[];
      construct: string;
      /** For each run after the base the PE on which it changed most, where it did not change so on the others; null where none stands out, runs were repeated, or they have another number of PEs. */
      most_on: ({
        /** Of the exclusive seconds of this PE. */
        difference_s: number;
        /** Standard deviation of the difference by the visits on this PE, and by the number of samples where functions are known by these. */
        noise_s: number;
        pe: number;
        /** To the base; null if the base has zero. */
        ratio: number | null;
      } | null)[];
      /** Null where a run never was. */
      runs: ({
        bytes: number;
        /** Exclusive seconds on the base of the comparison, see `per_pe`: the changes are differences of these. */
        compared_s: number;
        /** Summed over PEs, as all that follows. */
        exclusive_s: number;
        inclusive_s: number;
        location: {
          file: string;
          /** The user function around it; empty if unknown. */
          function: string;
          /** 0 if unknown. */
          line: number;
        };
        /** Exclusive seconds of the PE that spent the most. */
        longest_s: number;
        /** PEs that were here. */
        pes: number;
        /** Call paths that could not be told apart and are shown as one. */
        places: number;
        visits: number;
        /** Null for a profile. */
        waiting_s: number | null;
      } | null)[];
    }[];
    runs: {
      archive: string;
      /** Of the duration. */
      change: {
        difference_s: number;
        /** What the difference is by all repeats; null where there are none. */
        interval: {
          /** How likely such an interval covers the truth: 0.9 or more with 3 runs of each kind, 0 with one of each. */
          confidence: number;
          /** The median of all pairs of runs (Hodges and Lehmann). */
          estimate: number;
          high: number;
          low: number;
        } | null;
        /** Standard deviation of the difference by the runs' own spread; null if nothing is known of it. */
        noise_s: number | null;
        /** To the base; null if the base has zero. */
        ratio: number | null;
        /** `same`, `too_small_to_tell`, `no_spread_to_tell_by`, `grown`, `shrunk`, `added`, `gone`; of findings `new` and `gone`. */
        verdict: string;
      };
      /** From the first event to the last. */
      duration_s: number;
      events: number;
      /** How much longer than the base all these are, in seconds, and how many times as long; null for the base. */
      longer: {
        /** How likely such an interval covers the truth: 0.9 or more with 3 runs of each kind, 0 with one of each. */
        confidence: number;
        /** The median of all pairs of runs (Hodges and Lehmann). */
        estimate: number;
        high: number;
        low: number;
      } | null;
      /** From the end of the start-up to the begin of the shut-down; null if nothing was useful. */
      measured_s: number | null;
      /** How many times faster than the base that is. */
      measured_speed_up: number | null;
      pes: number;
      /** The piece of the run that is compared; null for the whole run. */
      piece: {
        begin_s: number;
        end_s: number;
        /** How long the whole run is. */
        of_s: number;
      } | null;
      processes: number;
      /** Sums were recorded, no events. */
      profile: boolean;
      /** `measured_s`, or else `duration_s`, of each run where they were repeated; first that of the run with the median, whose figures all others are. */
      repeats_s: number[];
      slower: {
        /** How likely such an interval covers the truth: 0.9 or more with 3 runs of each kind, 0 with one of each. */
        confidence: number;
        /** The median of all pairs of runs (Hodges and Lehmann). */
        estimate: number;
        high: number;
        low: number;
      } | null;
      /** How many times faster than the base. */
      speed_up: number | null;
    }[];
  };
  "scaling": {
    /** PEs at which it is limited, or better. */
    at_pes: number | null;
    /** By what they lose at the last point. */
    callpaths: {
      callpath: string[];
      construct: string;
      /** `ideal`, `better`, `serial`, `replicated`, `uneven`, `work`, `waiting`, `transfer`, `operation`, `start_up`. */
      growth: string;
      /** `code` or `operation`. */
      kind: string;
      location: {
        file: string;
        /** The user function around it; empty if unknown. */
        function: string;
        /** 0 if unknown. */
        line: number;
      };
      /** Null where a point never was. */
      points: ({
        bytes: number;
        exclusive_s: number;
        /** Scalability factor: ideal to real time. */
        factor: number | null;
        inclusive_s: number;
        /** Exclusive seconds of the PE that spent the most. */
        longest_s: number;
        /** Seconds of all PEs more than ideal. */
        lost_s: number;
        /** PEs that were here. */
        pes: number;
        visits: number;
        /** Null for a profile. */
        waiting_s: number | null;
      } | null)[];
    }[];
    /** Efficiencies, bounds and gaps; a value a point. */
    figures: {
      name: string;
      /** `efficiency`, `bounds` or `gaps`. */
      section: string;
      /** One per run; null where the run has no such figure. */
      values: (number | null)[];
    }[];
    /** `scale`. */
    kind: string;
    /** The smallest factor there. */
    limited_by: string | null;
    /** `strong` or `weak`. */
    mode: string;
    notes: string[];
    /** `ideal`, `better` or `limited`. */
    outcome: string;
    /** Version of this document. */
    partune: number;
    /** By number of PEs. */
    points: {
      /** The run with the median time, which stands for all. */
      archive: string;
      /** All runs on this number of PEs, fastest first. */
      archives: string[];
      duration_s: number;
      efficiency: number;
      /** What it is by all runs on this number of PEs and on the first; null for the first. */
      efficiency_range: {
        /** How likely such an interval covers the truth: 0.9 or more with 3 runs of each kind, 0 with one of each. */
        confidence: number;
        /** The median of all pairs of runs (Hodges and Lehmann). */
        estimate: number;
        high: number;
        low: number;
      } | null;
      /** Their product is the efficiency; each 1 if as good as at the first point. `communication` is in place of `serialization` and `transfer` where a run is a profile. Null if a run has no efficiency. */
      factors: Record<string, number> | null;
      ideal_speed_up: number;
      longest_s: number;
      /** Seconds of all PEs more than ideal. */
      lost_s: number;
      pes: number;
      /** Of Karp and Flatt; for weak scaling of Gustafson. Null for the first point. */
      serial_fraction: number | null;
      shortest_s: number;
      speed_up: number;
    }[];
    regions: {
      callpath: string[];
      construct: string;
      /** `ideal`, `better`, `serial`, `replicated`, `uneven`, `work`, `waiting`, `transfer`, `operation`, `start_up`. */
      growth: string;
      /** `code` or `operation`. */
      kind: string;
      location: {
        file: string;
        /** The user function around it; empty if unknown. */
        function: string;
        /** 0 if unknown. */
        line: number;
      };
      /** Null where a point never was. */
      points: ({
        bytes: number;
        exclusive_s: number;
        /** Scalability factor: ideal to real time. */
        factor: number | null;
        inclusive_s: number;
        /** Exclusive seconds of the PE that spent the most. */
        longest_s: number;
        /** Seconds of all PEs more than ideal. */
        lost_s: number;
        /** PEs that were here. */
        pes: number;
        visits: number;
        /** Null for a profile. */
        waiting_s: number | null;
      } | null)[];
    }[];
    /** In words. */
    text: string;
  };
}
