package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/short"
)

// A Record says how one request to an app ended.
type Record struct {
	// Time is when the request came in.
	Time   time.Time
	Caller call.Caller
	// Method is the MCP method, tools/call for a call.
	Method string
	// Name is the canonical name of the tool or prompt, or the URI of the
	// resource; what the caller wrote when nothing was found under it.
	Name string
	// App is the key of the app; empty when none was found.
	App     string
	Package string
	Risk    string // of a tool
	Outcome call.Outcome
	Code    call.Code // empty for OK
	RPC     int64     // JSON-RPC code of the server's error; 0: none
	Took    time.Duration
	// Args are hashed and counted, not written. The log keeps a reference
	// until then, so they must not be changed.
	Args []byte
}

// maxName bounds what a caller can put into the log by way of a name.
const maxName = 512

// line is the written form of a Record.
type line struct {
	Time       time.Time    `json:"time"`
	Seq        uint64       `json:"seq"`
	Caller     call.Caller  `json:"caller"`
	Method     string       `json:"method"`
	Name       string       `json:"name"`
	App        string       `json:"app,omitempty"`
	Package    string       `json:"package,omitempty"`
	Risk       string       `json:"risk,omitempty"`
	Outcome    call.Outcome `json:"outcome"`
	Code       call.Code    `json:"error_code,omitempty"`
	RPC        int64        `json:"rpc_code,omitempty"`
	Took       float64      `json:"duration_ms"`
	ArgsSHA256 string       `json:"args_sha256,omitempty"`
	ArgsBytes  int          `json:"args_bytes,omitempty"`
	Lost       int64        `json:"lost,omitempty"` // records missing before this one
}

func encode(r Record, seq uint64, lost int64) ([]byte, error) {
	l := line{
		Time:    r.Time.UTC(),
		Seq:     seq,
		Caller:  r.Caller,
		Method:  r.Method,
		Name:    short.Bytes(r.Name, maxName),
		App:     r.App,
		Package: r.Package,
		Risk:    r.Risk,
		Outcome: r.Outcome,
		Code:    r.Code,
		RPC:     r.RPC,
		Took:    float64(r.Took.Microseconds()) / 1000,
		Lost:    lost,
	}
	if len(r.Args) > 0 {
		sum := sha256.Sum256(r.Args)
		l.ArgsSHA256 = hex.EncodeToString(sum[:])
		l.ArgsBytes = len(r.Args)
	}
	b, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}
