package proc

import (
	"os"
	"path/filepath"
	"strings"
)

// A command is a Spec made ready for the fork.
type command struct {
	spec Spec
	path string // absolute
	env  []string
}

// newCommand finds the program and looks at the working directory, so that a
// mistake is named before anything is forked.
func newCommand(s Spec, cookie string) (*command, error) {
	if s.Dir != "" {
		info, err := os.Stat(s.Dir)
		if err != nil || !info.IsDir() {
			return nil, &StartError{Kind: BadDir, Name: s.Name, Dir: s.Dir, Err: err}
		}
	}
	if len(s.Argv) == 0 {
		return nil, &StartError{Kind: NotFound, Name: s.Name}
	}
	path, err := LookPath(s.Argv[0], s.Env, s.Dir)
	if err != nil {
		if e, ok := err.(*StartError); ok {
			e.Name = s.Name
		}
		return nil, err
	}
	env := make([]string, 0, len(s.Env)+1)
	for _, kv := range s.Env {
		if !strings.HasPrefix(kv, CookieVar+"=") { // ours when Aurora runs inside Aurora
			env = append(env, kv)
		}
	}
	return &command{spec: s, path: path, env: append(env, CookieVar+"="+cookie)}, nil
}

// start forks. Failures of the fork and of the exec arrive alike.
func (c *command) start(files []*os.File) (*os.Process, error) {
	program, argv, sys, err := platformCommand(c.path, c.spec.Argv)
	if err != nil {
		return nil, err
	}
	return os.StartProcess(program, argv, &os.ProcAttr{Dir: c.spec.Dir, Env: c.env, Files: files, Sys: sys})
}

// failed explains why start did not succeed.
func (c *command) failed(err error) *StartError {
	e := &StartError{Kind: Other, Name: c.spec.Name, Command: c.spec.Argv[0], Path: c.path, Dir: c.spec.Dir, Err: err}
	e.classify()
	return e
}

// getenv returns the value of key in a list of "KEY=value".
func getenv(env []string, key string) (string, bool) {
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && sameKey(k, key) {
			return v, true
		}
	}
	return "", false
}

// absolute resolves a relative path as the child would, which runs in dir.
func absolute(path, dir string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Abs(filepath.Join(dir, path))
}
