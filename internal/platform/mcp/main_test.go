package mcp

import (
	"bufio"
	"bytes"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childEnv makes the test binary a server: a process of its own, as real
// servers are.
const childEnv = "AURORA_MCP_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		echoChild(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// echoChild answers tools/call with its arguments, and initialize.
func echoChild(r *os.File, w *os.File) {
	in := bufio.NewReaderSize(r, 256<<10)
	var out []byte
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		at := bytes.Index(line, []byte(`"id":`))
		if at < 0 {
			continue
		}
		id := line[at+5:]
		id = id[:bytes.IndexByte(id, ',')]
		out = append(out[:0], `{"jsonrpc":"2.0","id":`...)
		out = append(out, id...)
		if bytes.Contains(line[:min(len(line), 100)], []byte(`"initialize"`)) {
			out = append(out, `,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}}`...)
		} else {
			args := line[bytes.Index(line, []byte(`"arguments":`))+12:]
			args = args[:bytes.LastIndex(args, []byte(`,"_meta":`))]
			out = append(out, `,"result":{"content":[],"structuredContent":`...)
			out = append(out, args...)
			out = append(out, `,"isError":false}}`...)
		}
		out = append(out, '\n')
		if _, err := w.Write(out); err != nil {
			return
		}
	}
}
