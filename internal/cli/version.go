package cli

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// A versionInfo is what `aurora version --json` prints.
type versionInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // empty when it was built without one
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// programVersion reads what the Go tool wrote into this binary.
func programVersion() versionInfo {
	v := versionInfo{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = cmp.Or(info.Main.Version, v.Version)
	modified := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				modified = "+changes"
			}
		}
	}
	if v.Commit != "" {
		v.Commit += modified
	}
	return v
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which aurora this is",
		Example: `  aurora version
  aurora version --json`,
		Args: arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error { return p.version() },
	}
}

func (p *program) version() error {
	v := programVersion()
	p.out.printf("aurora %s", v.Version)
	if v.Commit != "" {
		p.out.printf(" (%s)", v.Commit)
	}
	p.out.printf(" %s %s/%s\n", v.Go, v.OS, v.Arch)
	return p.out.document(v)
}
