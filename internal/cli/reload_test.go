package cli

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func untouched(ts *testscript.TestScript, neg bool, args []string) {
	type life struct {
		Key, State    string
		PID, Restarts int
		Since         time.Time
	}
	read := func(name string) (all []life) {
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(name)), &all))
		return all
	}
	before, now := read(args[0]), read("stdout")
	if same := reflect.DeepEqual(before, now); same == neg {
		ts.Fatalf("the apps are %+v, were %+v", now, before)
	}
}
