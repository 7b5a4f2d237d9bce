// Imported from the host: see `ScanHost`.

/** The rule for a member with this name, in an object at `depth` under the rules of a subject. */
export declare function askRule(subject: u32, start: u32, end: u32, depth: u32): u32

/** Writes the replacement of a value to the address that `room` returns, and returns its length. */
export declare function askReplacement(subject: u32, start: u32, end: u32): u32
