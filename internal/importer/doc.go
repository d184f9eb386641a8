// Package importer reads the MCP servers that other programs have in their
// configuration, and works out how they become apps of a home.
//
// It reads what Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Cline and
// Zed write, and what people paste from a web page: with the wrapper around the
// servers, without it, or one server alone; with comments, trailing commas and a
// byte order mark.
//
// Promises:
//
//   - [Make] writes nothing. [Plan.Write] replaces the files of the home as a
//     whole, or not at all; a file that somebody changed meanwhile is left alone.
//   - What a plan writes was loaded as a home before ([config.Load]). An import
//     never makes a home that starts one that does not: an app which cannot run on
//     this machine yet is switched off, and it is said what is missing.
//   - Nothing that is there is changed: comments, order and format of
//     apps/config.yml and .env stay, an app with the same meaning is not added
//     again, and one with the same name gets another key. The same import twice
//     changes nothing.
//   - A server is imported with everything that matters, or refused with a reason.
//     What has no counterpart here and does not matter is named in a note.
//   - Secrets go to .env, and only there. No note, reason or error holds one.
//   - An error in a file has its line and column.
package importer
