package house

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/aurorabot/aurora"

// A pkg is what go list says of a package.
type pkg struct {
	ImportPath string
	Name       string
	Dir        string
	Doc        string
	GoFiles    []string
	Imports    []string

	path string // inside the module: "internal/call"; "." for its root
}

// ours returns the packages of the module that p imports, by their paths.
func (p pkg) ours() []string {
	var out []string
	for _, i := range p.Imports {
		if path, ok := strings.CutPrefix(i, module+"/"); ok {
			out = append(out, path)
		}
	}
	return out
}

// systems are those whose files are looked at.
var systems = []string{"linux", "darwin", "windows"}

// packages lists all packages of the module as built for a system.
func packages(t *testing.T, system string) []pkg {
	t.Helper()
	listed.Do(func() {
		for _, s := range systems {
			cmd := exec.Command("go", "list", "-json=ImportPath,Name,Dir,Doc,GoFiles,Imports", "./...")
			cmd.Dir = "../.."
			cmd.Env = append(os.Environ(), "GOOS="+s, "CGO_ENABLED=0")
			var problems strings.Builder
			cmd.Stderr = &problems
			out, err := cmd.Output()
			if err != nil {
				listError = errors.New(problems.String())
				return
			}
			for d := json.NewDecoder(strings.NewReader(string(out))); ; {
				var p pkg
				if err := d.Decode(&p); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					listError = err
					return
				}
				p.path = strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
				if p.path == "" {
					p.path = "."
				}
				lists[s] = append(lists[s], p)
			}
		}
	})
	if listError != nil {
		t.Fatal(listError)
	}
	return lists[system]
}

// listed guards lists and listError, which are written once.
var (
	listed    sync.Once
	lists     = map[string][]pkg{}
	listError error
)
