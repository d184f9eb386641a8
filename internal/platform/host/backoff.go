package host

import (
	"math/rand/v2"
	"time"
)

// minBackoff keeps a configured backoff of nothing from becoming a busy loop.
const minBackoff = 10 * time.Millisecond

// backoff returns how long to wait before the next start after n failures in a
// row: base, doubled with each failure after the first, at most five minutes,
// and a quarter more or less, so that apps that fell together do not rise
// together. Before the cap each wait is longer than the one before it.
func backoff(base time.Duration, n int) time.Duration {
	d := max(base, minBackoff)
	for ; n > 1 && d < backoffCap; n-- {
		d *= 2
	}
	d = min(d, backoffCap)
	return d*3/4 + rand.N(d/2)
}
