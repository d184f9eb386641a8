// Package config reads the home folder: apps/config.yml, the manifests of the
// apps, aurora.yml and .env (DESIGN sections 9 and 10).
//
// Promises:
//
//   - [Load] reads files and nothing else. It never writes, never starts a
//     process and never touches the network.
//   - Everything that is wrong is found at once. A mistake is a [Problem] with
//     its file, line, column, app, field and a hint; it never stops the search
//     for the next one. Load itself fails only when there is no home to read.
//   - A mistake in one app is a problem of that app. The others are complete
//     and can run.
//   - No problem, and no text made from one, holds a secret. The value of a variable
//     shows only as part of a path that does not exist, and is masked if it may be
//     secret. Secrets go to [Config.Redact].
//   - [SetAt], [AddAt] and [AddEnv] make a new text of a file from the old one
//     and touch no disk. Everything that they were not asked to change stays byte
//     by byte, and they read what they made before they give it away.
//   - A [Config] is not changed after Load returns; many goroutines may read it.
//
// The comments of the fields of [Settings] and of the file types (appEntry,
// manifestFile and what they hold) are the manual: docs/configuration.md is
// generated from them by
//
//	go run ./internal/config/gendoc -update
//
// and a test fails when the two differ. The struct tags are part of it:
//
//	yaml     the key; ",inline" takes the keys of a struct as one's own
//	alias    other spellings of the key
//	default  what a missing key means, as one would write it in the file
//	computed the same in words, where it is not a fixed value
//	one      the words that are allowed, separated by |
//	min, max the least and greatest number, duration or size
//	unit     "s": the key names seconds, so a bare number is accepted
//	expand   "yes": ${VAR}, ${VAR:-default} and ${file:PATH} are replaced
//	later    what holds instead, for a key that this version reads and checks but
//	         does not obey yet; whoever sets it is warned
package config
