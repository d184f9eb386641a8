//go:build !unix

package testkit

import (
	"errors"
	"os"
)

var signalNumbers = map[string]os.Signal{"TERM": os.Kill, "INT": os.Interrupt, "HUP": os.Kill}

func ignorePipeSignal() {}

func runIfFork() {}

var errNotHere = errors.New("this step needs a Unix system")

func (p *process) fork(forkOptions) error { return errNotHere }

func (p *process) kill(string) error { return errNotHere }
