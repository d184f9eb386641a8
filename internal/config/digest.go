package config

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io/fs"
)

// Digest tells what is in a file now, as [Config.Files] does: two files with the
// same digest hold the same. It is empty if there is no file.
func Digest(path string) string {
	text, err := readFile(path)
	return digest(text, err)
}

func digest(text []byte, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return "unreadable: " + err.Error()
	}
	sum := sha256.Sum256(text)
	return base64.RawStdEncoding.EncodeToString(sum[:])
}
