package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestLogFilesAreBounded(t *testing.T) {
	// Given a log file that may hold three lines, with two older ones beside it,
	path := filepath.Join(t.TempDir(), "log", "a.log")
	l := newLogFile(path)
	l.size, l.keep = 21, 2
	// when ten lines are written,
	for i := range 10 {
		if _, err := fmt.Fprintf(l, "line %d\n", i); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// then the newest are there, in order, and the oldest are gone.
	for file, want := range map[string]string{
		path:        "line 9\n",
		path + ".1": "line 6\nline 7\nline 8\n",
		path + ".2": "line 3\nline 4\nline 5\n",
	} {
		if b, err := os.ReadFile(file); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v", file, b, err)
		}
	}
	if all, _ := os.ReadDir(filepath.Dir(path)); len(all) != 3 {
		t.Errorf("files: %v", all)
	}
	// A new run goes on in the same file.
	l = newLogFile(path)
	fmt.Fprintf(l, "again\n")
	l.Close()
	if b, _ := os.ReadFile(path); string(b) != "line 9\nagain\n" {
		t.Errorf("after a restart: %q", b)
	}
	if _, err := l.Write([]byte("late\n")); err == nil {
		t.Error("a closed log file takes lines")
	}
}
