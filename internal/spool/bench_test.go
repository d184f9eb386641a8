package spool_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/aurorabot/aurora/internal/spool"
)

// The two benchmarks belong together: the spool's figure is to be at least 0.8
// times the plain loop's (DESIGN section 15).

var payload = make([]byte, 700)

func BenchmarkPut(b *testing.B) {
	for _, batch := range []int{1, 16} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			s, err := Open(b.TempDir(), Options{MaxFiles: 1 << 30})
			if err != nil {
				b.Fatal(err)
			}
			items := make([]Item, batch)
			n := 0
			for b.Loop() {
				for i := range items {
					n++
					items[i] = Item{Name: fmt.Sprintf("event_%d.json", n), Data: payload, Place: Place{Seq: uint64(n)}}
				}
				if _, err := s.Put(items...); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func BenchmarkPlainLoop(b *testing.B) {
	for _, batch := range []int{1, 16} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			dir := b.TempDir()
			n := 0
			for b.Loop() {
				for range batch {
					n++
					temp := filepath.Join(dir, fmt.Sprintf(".%d", n))
					f, err := os.Create(temp)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := f.Write(payload); err != nil {
						b.Fatal(err)
					}
					if err := f.Sync(); err != nil {
						b.Fatal(err)
					}
					f.Close()
					if err := os.Rename(temp, filepath.Join(dir, fmt.Sprintf("event_%d.json", n))); err != nil {
						b.Fatal(err)
					}
				}
				d, err := os.Open(dir)
				if err != nil {
					b.Fatal(err)
				}
				if err := d.Sync(); err != nil {
					b.Fatal(err)
				}
				d.Close()
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
