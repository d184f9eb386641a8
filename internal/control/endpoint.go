package control

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The files of the control endpoint in the run folder of a home.
const (
	addrFile  = "aurora.addr"
	tokenFile = "aurora.token"
	sockFile  = "aurora.sock"
)

// maxSocketPath is the longest path of a unix socket we use. The systems allow
// 103 (macOS) to 107 (Linux) bytes.
const maxSocketPath = 100

// socketDirPrefix begins the name of a folder that Listen makes for a socket
// outside the home.
const socketDirPrefix = "aurora-"

// An endpoint is where a daemon listens.
type endpoint struct {
	network string // "unix" or "tcp"
	address string // path, or host:port
	token   string // for tcp
}

func (e endpoint) String() string {
	if e.network == "unix" {
		return "unix:" + e.address
	}
	return "http://" + e.address
}

func parseEndpoint(line string) (endpoint, error) {
	line = strings.TrimSpace(line)
	if path, ok := strings.CutPrefix(line, "unix:"); ok && path != "" {
		return endpoint{network: "unix", address: path}, nil
	}
	if host, ok := strings.CutPrefix(line, "http://"); ok && host != "" {
		return endpoint{network: "tcp", address: host}, nil
	}
	return endpoint{}, fmt.Errorf("%q names no endpoint", line[:min(len(line), 60)])
}

// readEndpoint reads where the daemon of this run folder listens.
// Without a daemon the error is [fs.ErrNotExist].
func readEndpoint(runDir string) (endpoint, error) {
	b, err := os.ReadFile(filepath.Join(runDir, addrFile))
	if err != nil {
		return endpoint{}, err
	}
	e, err := parseEndpoint(string(b))
	if err != nil {
		return endpoint{}, fmt.Errorf("%s: %w", filepath.Join(runDir, addrFile), err)
	}
	if e.network == "tcp" {
		b, err := os.ReadFile(filepath.Join(runDir, tokenFile))
		if err != nil {
			return endpoint{}, err
		}
		e.token = strings.TrimSpace(string(b))
	}
	return e, nil
}

// writePrivate replaces a file at once, readable by its owner only.
func writePrivate(path, text string) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, []byte(text+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// Clean removes what a daemon that died left of its endpoint. The caller must
// hold the lock of the home, so that no daemon lives.
func Clean(runDir string) error {
	e, err := readEndpoint(runDir)
	if err == nil && e.network == "unix" {
		removeSocket(e.address)
	}
	return errors.Join(remove(filepath.Join(runDir, addrFile)), remove(filepath.Join(runDir, tokenFile)))
}

// removeSocket removes a socket, and its folder if Listen made it.
func removeSocket(path string) {
	if st, err := os.Lstat(path); err == nil && st.Mode().Type() != fs.ModeSocket {
		return // not ours
	}
	_ = os.Remove(path)
	if dir := filepath.Dir(path); strings.HasPrefix(filepath.Base(dir), socketDirPrefix) {
		_ = os.Remove(dir) // fails if it holds anything else, and shall
	}
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
