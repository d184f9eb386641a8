package peers

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/platform/proc"
	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write testdata/facts.json and docs/compatibility.md")

// launcher starts the servers of all tests.
var launcher *proc.Launcher

// workshop is a folder for what all tests share.
var workshop string

// places are the folders the servers were installed to, by the names that
// install.sh prints; missing says why others were not.
var places, missing = map[string]string{}, map[string]string{}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if guest := newGuest(); guest != nil {
		return guest.visit(os.Args[1:])
	}
	flag.Parse()
	if testing.Short() {
		for _, name := range []string{"npm", "conformance", "current", "sqlite"} {
			missing[name] = "no servers with -short"
		}
	} else if err := install(); err != nil {
		fmt.Fprintln(os.Stderr, "installing the servers:", err)
		return 1
	}
	l, err := proc.NewLauncher(proc.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Fprintln(os.Stderr, "no launcher:", err)
		return 1
	}
	launcher = l
	if workshop, err = os.MkdirTemp("", "aurora-peers-"); err != nil {
		fmt.Fprintln(os.Stderr, "no folder:", err)
		return 1
	}
	defer os.RemoveAll(workshop)
	code := m.Run()
	if err := launcher.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "closing the launcher:", err)
		return 1
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// install runs install.sh, whose messages go where those of the tests go.
func install() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "install.sh")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if name, dir, ok := strings.Cut(lines.Text(), "="); ok {
			places[name] = dir
		} else if name, why, ok := strings.Cut(lines.Text(), "! "); ok {
			missing[name] = why
		}
	}
	return nil
}

// place returns the path of a program of an installation. Without it the test
// is skipped, or fails where everything must be there.
func place(t *testing.T, name string, path ...string) string {
	t.Helper()
	dir, ok := places[name]
	if !ok {
		why := missing[name]
		if os.Getenv("CI") == "true" && !testing.Short() {
			t.Fatalf("servers %q: %s", name, why)
		}
		t.Skipf("servers %q: %s", name, why)
	}
	return filepath.Join(append([]string{dir}, path...)...)
}

// version returns the version to which the package named at the end of about is
// pinned.
func version(t *testing.T, about string) string {
	t.Helper()
	words := strings.Fields(about)
	name := words[len(words)-1]
	for file, form := range map[string]string{
		"npm/package.json": `"` + name + `": "`, "conformance/package.json": `"` + name + `": "`,
		"pypi/current.in": name + "==", "pypi/sqlite.in": name + "==",
	} {
		text, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		if _, rest, ok := strings.Cut(string(text), form); ok {
			return rest[:strings.IndexAny(rest, "\"\n")]
		}
	}
	t.Fatalf("%s is pinned nowhere", name)
	return ""
}
