package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

func TestTailGoesOnInANewFile(t *testing.T) {
	// Given a log whose last lines were read,
	path := filepath.Join(t.TempDir(), "a.log")
	add := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	add("1\n2\n3\nhal")
	tl := &tail{path: path}
	defer tl.close()
	if got, err := tl.last(2); err != nil || !slices.Equal(got, []string{"2", "3"}) {
		t.Fatalf("last: %q, %v", got, err)
	}
	more := func(want ...string) {
		t.Helper()
		if got, err := tl.more(); err != nil || !slices.Equal(got, want) {
			t.Errorf("more: %q, %v; want %q", got, err, want)
		}
	}
	more()
	// when it goes on, then whole lines come,
	add("f\nnext\n")
	more("half", "next")
	// and when it is replaced, both the last of the old and the first of the new.
	add("last of old\n")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	add("first of new\n")
	more("last of old", "first of new")
	// Gone for a moment is no error.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	more()
	add("back\n")
	more("back")
}

// What is written between the last look and the replacement of a log is shown.
func TestTailMissesNothingWhenALogIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	write("")
	tl := &tail{path: path}
	defer tl.close()
	if _, err := tl.last(0); err != nil {
		t.Fatal(err)
	}
	const rounds = 500
	var got []string
	for i := range rounds {
		var writer sync.WaitGroup
		writer.Go(func() { // as the log does it: the file is written, renamed, and begun anew
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = fmt.Fprintf(f, "old %d\n", i)
			_ = f.Close()
			_ = os.Rename(path, path+".1")
			write(fmt.Sprintf("new %d\n", i))
		})
		for range 3 {
			lines, err := tl.more()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, lines...)
		}
		writer.Wait()
		for range 2 {
			lines, err := tl.more()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, lines...)
		}
	}
	if len(got) != 2*rounds {
		t.Errorf("%d of %d lines are shown", len(got), 2*rounds)
	}
}
