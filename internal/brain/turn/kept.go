package turn

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/aurorabot/aurora/internal/call"
)

// tell fills in what the model is told of a result.
func (t *turn) tell(r *Record, result call.Result, step, number, room int) {
	whole := true
	switch {
	case len(result.Raw) > 0:
		r.Text, whole = resultText(result.Raw)
	case result.Err != nil:
		r.Text = failureText(result.Err)
	}
	if whole && len(r.Text) <= room {
		return
	}
	data, ext := result.Raw, "json"
	if len(data) == 0 {
		data, ext = []byte(r.Text), "txt" // what went wrong, in many words
	}
	name := filepath.Join(t.unit.ID+".d", fmt.Sprintf("%d-%d.%s", step, number, ext))
	if err := t.keep(name, data); err != nil {
		t.log.Warn("the whole of a result could not be kept", "call", r.Call, "error", err)
	} else {
		r.Kept = filepath.ToSlash(name)
	}
	kept := ""
	if r.Kept != "" {
		kept = filepath.Join(t.opt.Dir, name)
	}
	r.Text = cut(r.Text, room, max(r.Size, len(r.Text)), kept)
}

// keep writes a file beside the journal.
func (t *turn) keep(name string, data []byte) error {
	path := filepath.Join(t.opt.Dir, name)
	if err := t.files.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := t.files.Append(path, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
