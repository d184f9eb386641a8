package weather

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnswersAreKeptUntilTheyExpire(t *testing.T) {
	now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	c := newCache[int](func() time.Time { return now })
	fetched := 0
	get := func() int {
		v, err := c.get(t.Context(), "k", func() (int, time.Time, error) {
			fetched++
			return fetched, now.Add(10 * time.Minute), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	get()
	now = now.Add(10*time.Minute - time.Nanosecond)
	if got := get(); got != 1 {
		t.Errorf("just before it expires the answer is fetch %d", got)
	}
	now = now.Add(time.Nanosecond)
	if got := get(); got != 2 {
		t.Errorf("when it has expired the answer is fetch %d", got)
	}
}

func TestFailuresAreNotKept(t *testing.T) {
	c := newCache[int](time.Now)
	down := errors.New("down")
	if _, err := c.get(t.Context(), "k", func() (int, time.Time, error) { return 0, time.Time{}, down }); !errors.Is(err, down) {
		t.Errorf("got %v", err)
	}
	if v, err := c.get(t.Context(), "k", func() (int, time.Time, error) { return 7, time.Now(), nil }); v != 7 || err != nil {
		t.Errorf("got %d, %v", v, err)
	}
}

func TestEqualQuestionsAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache[int](time.Now)
		var fetches atomic.Int32
		release := make(chan struct{})
		results := make(chan int, 10)
		for range 10 {
			go func() {
				v, _ := c.get(t.Context(), "k", func() (int, time.Time, error) {
					<-release
					return int(fetches.Add(1)), time.Now().Add(time.Minute), nil
				})
				results <- v
			}()
		}
		synctest.Wait()
		close(release)
		for range 10 {
			if v := <-results; v != 1 {
				t.Errorf("a caller got fetch %d", v)
			}
		}
	})
}

func TestAWaitingCallerTakesOverFromOneThatGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache[int](time.Now)
		first, giveUp := context.WithCancel(t.Context())
		go c.get(first, "k", func() (int, time.Time, error) {
			<-first.Done()
			return 0, time.Time{}, first.Err()
		})
		synctest.Wait()
		second := make(chan int)
		go func() {
			v, _ := c.get(t.Context(), "k", func() (int, time.Time, error) { return 2, time.Now().Add(time.Minute), nil })
			second <- v
		}()
		impatient, leave := context.WithCancel(t.Context())
		third := make(chan error)
		go func() {
			_, err := c.get(impatient, "k", func() (int, time.Time, error) { return 3, time.Now(), nil })
			third <- err
		}()
		synctest.Wait()
		leave()
		if err := <-third; !errors.Is(err, context.Canceled) {
			t.Errorf("a waiting caller that is cancelled gets %v", err)
		}
		giveUp()
		if v := <-second; v != 2 {
			t.Errorf("the other waiting caller gets %d, want 2", v)
		}
	})
}

func TestAPanicInAFetchLeavesNobodyWaiting(t *testing.T) {
	c := newCache[int](time.Now)
	func() {
		defer func() { recover() }()
		c.get(t.Context(), "k", func() (int, time.Time, error) { panic("oops") })
	}()
	if v, err := c.get(t.Context(), "k", func() (int, time.Time, error) { return 1, time.Now(), nil }); v != 1 || err != nil {
		t.Errorf("got %d, %v", v, err)
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	c := newCache[int](func() time.Time { return now })
	for i := range 3 * cacheSize {
		c.get(t.Context(), fmt.Sprint(i), func() (int, time.Time, error) { return i, now.Add(time.Duration(i+1) * time.Second), nil })
	}
	if len(c.entries) != cacheSize {
		t.Errorf("holds %d entries, want %d", len(c.entries), cacheSize)
	}
	if _, ok := c.entries[fmt.Sprint(3*cacheSize-1)]; !ok {
		t.Error("the newest entry was thrown out")
	}
}
