package faults

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/internal/platform/proc"
	"github.com/aurorabot/aurora/internal/redact"
	"github.com/aurorabot/aurora/internal/testkit"
)

// rows are the field faults of the areas stdio, lifecycle, process, tools and
// of what belongs to them elsewhere. Each has at least one script.
var rows = []string{
	// the core set
	"S01", "S03", "S05", "S09", "S11", "L01", "L03", "L07", "P01", "P03", "P06", "P08", "T01", "T03", "T05",
	// the rest
	"S06", "S07", "S13", "S14", "S15", "S16", "L05", "L06", "L09", "L10", "L12", "L13", "P05",
	"T06", "T07", "T09", "T11", "T12", "T13", "C09", "C10", "E01", "E04", "E06", "E07",
	"P10", "G01", "G02", "G03", "G06", "R01", "R03", "R05", "R07", "R08",
}

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

func TestEveryRowHasAScript(t *testing.T) {
	var have []string
	for _, path := range scripts(t) {
		have = append(have, rowOf(path))
	}
	for _, row := range rows {
		if !slices.Contains(have, row) {
			t.Errorf("no script for row %s", row)
		}
	}
	for _, row := range have {
		if !slices.Contains(rows, row) {
			t.Errorf("row %s is not in the list of rows", row)
		}
	}
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
				t.Run(strings.TrimPrefix(title, ": "), func(t *testing.T) {
					t.Parallel()
					play(t, a, name)
				})
			}
			if plays == 0 {
				t.Errorf("%s has no steps", path)
			}
		})
	}
}
