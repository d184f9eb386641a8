// Package redact replaces secrets in text that leaves the process: logs,
// errors, status, events and the audit trail.
//
// Promises:
//
//   - A [Redactor] is safe for concurrent use; adding secrets never blocks
//     readers. Text that was redacted before a secret was added stays as it is.
//   - Valid JSON stays valid JSON, so that a redacted event or audit record can
//     still be read.
//   - Where nothing matches nothing is copied.
//
// What is hidden: every secret a Redactor was told of, also where it is written
// with JSON escapes (once or twice) or percent-encoded, and text that has the
// shape of a well-known kind of token even if nobody told us of it. What is not
// hidden: other encodings of a secret, such as base64 or a hash.
package redact
