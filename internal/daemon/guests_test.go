package daemon

import (
	"errors"
	"testing"
)

func TestAHouseThatLeavesWaitsForItsGuests(t *testing.T) {
	var g guests
	if err := g.enter(); err != nil {
		t.Fatal(err)
	}
	gone := g.close()
	if err := g.enter(); !errors.Is(err, errLeaving) || !errLeaving.Retryable {
		t.Errorf("a late guest hears %v", err)
	}
	select {
	case <-gone:
		t.Error("it left while a guest was there")
	default:
	}
	g.leave()
	<-gone
	<-g.close() // again, and nobody is there
	var empty guests
	<-empty.close()
}
