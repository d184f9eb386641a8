// Package audit keeps the record of what was called by whom and how it ended.
//
// Promises:
//
//   - One call is one line of JSON in a file of its day (UTC) under the log's
//     folder. Lines of one file are in the order of their "seq"; "seq" goes on
//     over files and restarts.
//   - Arguments and results are never written, only the arguments' SHA-256 and
//     length.
//   - [Log.Append] never blocks and never waits for the disk: records pass
//     through a bounded queue to one goroutine, which [Log.Close] waits for.
//     What the queue or the disk could not take is counted, and the next line
//     that is written says how many records were lost.
//   - Files are 0600, the folder 0700. A line torn by a crash stays as it is;
//     the next one begins on a line of its own.
package audit
