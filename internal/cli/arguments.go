package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

// maxArguments bounds what is read as arguments, in bytes. No app takes more
// in one message.
const maxArguments = 32 << 20

// rawArguments returns what --args says: JSON itself, @file, or - for stdin.
// Blank text means no arguments. The bytes are passed on as they are.
func (p *program) rawArguments(ctx context.Context, value string) (json.RawMessage, error) {
	from := "--args"
	text := []byte(value)
	var err error
	switch {
	case value == "-":
		from = "stdin"
		text, err = p.readStdin(ctx, maxArguments+1)
	case strings.HasPrefix(value, "@"):
		from = value[1:]
		text, err = readFile(from)
	}
	switch {
	case errors.Is(err, errInterrupted):
		return nil, err
	case err != nil:
		return nil, usagef("reading the arguments: %v", err)
	}
	if len(text) > maxArguments {
		return nil, control.Errorf(call.ArgumentsInvalid, "%s: the arguments are longer than %d MiB", from, maxArguments>>20)
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if len(text) == 0 {
		return nil, nil
	}
	var v json.RawMessage
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, control.Errorf(call.ArgumentsInvalid, "%s: %s", from, jsonFault(text, err))
	}
	if text[0] != '{' && string(text) != "null" {
		return nil, control.Errorf(call.ArgumentsInvalid, "%s: arguments are a JSON object, such as {\"city\": \"上海\"}", from)
	}
	return text, nil
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxArguments+1))
}

// jsonFault says where JSON is wrong: line and column, in characters.
func jsonFault(text []byte, err error) string {
	var s *json.SyntaxError
	if !errors.As(err, &s) {
		return err.Error()
	}
	// Offset counts the bytes read, the wrong one included; at an early end
	// it is the length.
	at := min(int(s.Offset), len(text))
	if at > 0 && at < len(text) || strings.HasPrefix(s.Error(), "invalid character") {
		at--
	}
	before := text[:max(at, 0)]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d: %v", line, column, s)
}

// pairMap reads k=v words as strings, for arguments that have no other type.
func pairMap(pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	m := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		k, v, ok := strings.Cut(pair, "=")
		if !ok || k == "" {
			return nil, control.Errorf(call.ArgumentsInvalid, "%q is not of the form name=value", pair)
		}
		if _, twice := m[k]; twice {
			return nil, control.Errorf(call.ArgumentsInvalid, "the argument %q is given twice", k)
		}
		m[k] = v
	}
	return m, nil
}
