package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// payloads are frames as servers send them.
func payloads() map[string][]byte {
	frame := func(text string) []byte {
		quoted, _ := json.Marshal(text)
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":%s}],"isError":false}}`, quoted)
	}
	return map[string][]byte{
		"100B":         frame(strings.Repeat("a", 20)),
		"64KiB ascii":  frame(strings.Repeat("The quick brown fox jumps over it. ", 1872)),
		"64KiB zh":     frame(strings.Repeat("上海今天多云,最高三十一度。", 1600)),
		"64KiB lines":  frame(strings.Repeat("func main() { println(\"hi\") }\n", 2000)),
		"64KiB base64": frame(strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 2730)),
		"64KiB tree":   fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"result":{"structuredContent":[%s0]}}`, strings.Repeat(`{"a":1.5,"b":[true,null],"name":"x"},`, 1770)),
	}
}

func BenchmarkSplit(b *testing.B) {
	for name, frame := range payloads() {
		b.Run(name, func(b *testing.B) {
			var s splitter
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				if err := s.split(frame, func(m *Message) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("json.Valid/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				json.Valid(frame)
			}
		})
	}
}
