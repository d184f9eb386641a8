package host

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/aurorabot/aurora/internal/config"
)

// echoVar makes this test binary an echo server: quick, and nothing but right.
const echoVar = "AURORA_TEST_ECHO"

// serveEchoIfChild serves and exits if this process was started as a server.
func serveEchoIfChild() {
	if os.Getenv(echoVar) == "" {
		return
	}
	in := bufio.NewReaderSize(os.Stdin, 256<<10)
	out := bufio.NewWriterSize(os.Stdout, 256<<10)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			os.Exit(0)
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion string
				Arguments       json.RawMessage
			}
		}
		if err := json.Unmarshal(line, &m); err != nil || m.ID == nil {
			continue
		}
		result := "{}"
		switch m.Method {
		case "initialize":
			result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`, m.Params.ProtocolVersion)
		case "tools/list":
			result = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			result = fmt.Sprintf(`{"content":[],"structuredContent":%s}`, m.Params.Arguments)
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
		out.Flush()
	}
}

// echoApp is an app whose process is this binary as an echo server.
func echoApp(key string) *config.App {
	c := appConfig(key)
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c.MCP.Command = []string{self}
	c.MCP.Env = slices.Concat(os.Environ(), []string{echoVar + "=1"})
	return c
}
