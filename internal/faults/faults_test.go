package faults

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/internal/platform/proc"
	"github.com/aurorabot/aurora/internal/redact"
	"github.com/aurorabot/aurora/internal/testkit"
)

// launcher starts the processes of all tests: a program has one.
var launcher *proc.Launcher

func TestMain(m *testing.M) {
	testkit.RunIfChild()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	flag.Parse()
	// Most rows wait for a process or a deadline, not for a core.
	if err := flag.Set("test.parallel", "16"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	files, err := openFiles()
	if err == nil {
		launcher, err = proc.NewLauncher(proc.Options{Redact: (*redact.Redactor)(nil).String})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := errors.Join(launcher.Close(), leftovers(files)); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// leftovers says what some thousand starts and stops have left in this process.
func leftovers(files int) error {
	now, err := openFiles()
	if now > files+spareFiles {
		err = errors.Join(err, fmt.Errorf("%d files are open; it were %d", now, files))
	}
	left, childErr := children()
	if len(left) > 0 {
		err = errors.Join(err, fmt.Errorf("children are left: %v", left))
	}
	return errors.Join(err, childErr, goleak.Find())
}

// spareFiles are those that the runtime opens once and keeps.
const spareFiles = 4

func scripts(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func rowOf(path string) string {
	row, _, _ := strings.Cut(filepath.Base(path), "-")
	return row
}

func TestFaults(t *testing.T) {
	for _, path := range scripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := testkit.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(a.Comment, rowOf(path)+" ") || strings.Count(a.Comment, "\n\n") < 2 {
				t.Errorf("%s does not begin with its row, what the user did and what a right host does", path)
			}
			plays := 0
			for _, name := range a.Sections() {
				title, ok := strings.CutPrefix(name, "steps")
				if !ok {
					continue
				}
				plays++
				on := wires[:1]
				if rest, everywhere := strings.CutPrefix(title, " everywhere"); everywhere {
					title, on = rest, wires
				}
				title = strings.TrimPrefix(title, ": ")
				for _, wire := range on {
					t.Run(strings.Trim(title+", "+wire.name, ", "), func(t *testing.T) {
						t.Parallel()
						play(t, a, name, wire.http)
					})
				}
			}
			if plays == 0 {
				t.Errorf("%s has no steps", path)
			}
		})
	}
}
