package turn

import (
	"context"
	"fmt"
	"testing"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/brain/llm/reflex"
)

// BenchmarkTurn is one message answered: journal, history and reply, on a real
// disk. With a tool there are two requests and one call.
func BenchmarkTurn(b *testing.B) {
	for name, text := range map[string]string{"words": "hello", "tool": "/weather 上海"} {
		b.Run(name, func(b *testing.B) {
			v := newVillage()
			r := newRunner(b, options(b, v, llm.Front(reflex.Model{}, quick{})))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := r.Run(b.Context(), in(fmt.Sprint("s", i%200), fmt.Sprint(text, " ", i))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTurnsAtOnce is the same from 200 sessions that speak at once.
func BenchmarkTurnsAtOnce(b *testing.B) {
	v := newVillage()
	r := newRunner(b, options(b, v, quick{}))
	b.ReportAllocs()
	const sessions = 200
	for i := 0; b.Loop(); i++ {
		errs := make(chan error)
		for s := range sessions {
			go func() { errs <- r.Run(b.Context(), in(fmt.Sprint("s", s), fmt.Sprint("hello ", i))) }()
		}
		for range sessions {
			if err := <-errs; err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*sessions), "µs/turn")
}

// BenchmarkThousandTools is a command in a house with many tools.
func BenchmarkThousandTools(b *testing.B) {
	v := newVillage()
	for i := range 1000 {
		v.tools = append(v.tools, brain.Tool{Canonical: fmt.Sprintf("im.demo.app%d.get_thing", i), Alias: fmt.Sprintf("im__demo__app%d__get_thing", i), Enabled: true})
	}
	r := newRunner(b, options(b, v, reflex.Model{}))
	for i := 0; b.Loop(); i++ {
		if err := r.Run(b.Context(), in("s", fmt.Sprint("/weather 上海 ", i))); err != nil {
			b.Fatal(err)
		}
	}
}

// quick is a model that answers at once.
type quick struct{}

func (quick) Complete(context.Context, llm.Request, func(string)) (llm.Answer, error) {
	return llm.Answer{Text: "hello yourself", Usage: llm.Usage{Input: 10, Output: 2}}, nil
}
