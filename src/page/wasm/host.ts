// Imported from the host: `ScanHost`.

/** What becomes of a member with a name in an object under the rules of a subject; `depth` is that of the object. */
export declare function askRule(subject: u32, start: u32, end: u32, depth: u32): u32

/** Writes what replaces a value where `room` says, and answers with its length. */
export declare function askReplacement(subject: u32, start: u32, end: u32): u32
