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

// On some systems a file that somebody looks at cannot be renamed, and a folder
// never gives way.
func TestALogFileThatCannotMakeRoomGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	wall := filepath.Join(path+".1", "wall")
	if err := os.MkdirAll(wall, 0o700); err != nil {
		t.Fatal(err)
	}
	l := newLogFile(path)
	l.size, l.keep = 21, 1
	want := ""
	for i := range 10 {
		line := fmt.Sprintf("line %d\n", i)
		if _, err := l.Write([]byte(line)); err != nil {
			t.Errorf("%q is lost: %v", line, err)
		}
		want += line
	}
	if b, err := os.ReadFile(path); string(b) != want {
		t.Errorf("it holds %q, %v", b, err)
	}
	if err := os.RemoveAll(path + ".1"); err != nil {
		t.Fatal(err)
	}
	for i := range 4 { // and makes room once it can
		fmt.Fprintf(l, "late %d\n", i)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); len(b) > 21 {
		t.Errorf("it still holds %d bytes", len(b))
	}
}
