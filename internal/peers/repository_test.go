package peers

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// newRepository makes a git repository with one new file in it.
func newRepository(t *testing.T, dir string) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"config", "user.name", "小明"}, {"config", "user.email", "ming@example.org"}} {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "日记.txt"), []byte("今天下雨\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// quoted returns s as JSON.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return string(b)
}
