package daemon

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/redact"
)

func TestLogs(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			// Given a house that knows a secret and logs at INFO,
			home := config.Home{Dir: t.TempDir()}
			secret := `s3cret "quoted" <value>`
			var terminal bytes.Buffer
			b := openLogbook(home, config.Log{Level: "info", Format: format}, redact.New(secret), &Terminal{Writer: &terminal})
			// when records hold it in any way,
			b.Info("message with "+secret, "attr", secret)
			b.With("key", secret).Error("failed", "err", errors.New("refused "+secret), slog.Group("g", "v", []string{secret}))
			b.Debug("a detail")
			apps := b.appLogger().With("app", "my/app")
			apps.Debug("stderr", "line", "an app's words")
			if err := b.close(); err != nil {
				t.Fatal(err)
			}
			// then no log has it, whatever else they hold.
			file, err := os.ReadFile(LogFile(home, ""))
			if err != nil {
				t.Fatal(err)
			}
			for where, text := range map[string]string{"file": string(file), "terminal": terminal.String()} {
				if strings.Contains(text, "s3cret") {
					t.Errorf("the %s tells the secret:\n%s", where, text)
				}
				if !strings.Contains(text, "message with") || !strings.Contains(text, "failed") {
					t.Errorf("the %s lost a record:\n%s", where, text)
				}
				if strings.Contains(text, "detail") || strings.Contains(text, "words") {
					t.Errorf("the %s has more than INFO:\n%s", where, text)
				}
			}
			// And what an app wrote is in its own log.
			words, err := os.ReadFile(LogFile(home, "my/app"))
			if err != nil || !strings.HasSuffix(string(words), " an app's words\n") {
				t.Errorf("the app's log: %q, %v", words, err)
			}
		})
	}
}

func TestTerminalCanShowLess(t *testing.T) {
	var terminal bytes.Buffer
	var level slog.LevelVar
	level.Set(slog.LevelWarn)
	b := openLogbook(config.Home{Dir: t.TempDir()}, config.Log{Level: "info"}, nil, &Terminal{Writer: &terminal, Level: &level})
	defer b.close()
	b.Info("first")
	level.Set(slog.LevelDebug) // more than the configuration wants
	b.Info("second")
	b.Debug("third")
	if got := terminal.String(); strings.Contains(got, "first") || !strings.Contains(got, "second") || strings.Contains(got, "third") {
		t.Errorf("the terminal shows\n%s", got)
	}
}
