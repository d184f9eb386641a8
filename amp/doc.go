// Package amp holds the Aurora Message Protocol: the envelope in which every
// signal of every MCP server lies on disk (amp/1.0).
//
// An event file is one JSON object with a header (what it is, where it comes
// from, when) and a payload (its type, its session, its data). Programs that
// consume Aurora's event files read them with [Parse]; programs in other
// languages use docs/schemas/amp-envelope.json.
//
// # Promises
//
//   - An envelope that [Parse] returned, or that [Envelope.Validate] accepted,
//     marshals to JSON that [Parse] accepts again, with the same meaning.
//   - Data stays raw JSON: number text, key order and unknown fields of it are
//     kept. Unknown fields of header and payload are kept in Extra and never
//     routed on.
//   - Errors name the place: "header.timestamp: …". All faults of one envelope
//     are reported together.
//   - Nothing here does I/O, keeps state or starts goroutines. Values are plain
//     data and safe to share as long as nobody changes them.
package amp
