package daemon

import (
	"cmp"
	"context"
	"fmt"

	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/brain/llm/reflex"
	"github.com/aurorabot/aurora/internal/config"
)

// model returns the model that answers, and what it is called for people.
func model(c *config.Config) (m llm.Model, name string) {
	set := c.Settings.LLM
	wanted := cmp.Or(set.Model.Model, set.Preset, set.BaseURL)
	if wanted == "" {
		return reflex.Model{}, "reflex"
	}
	return llm.Front(reflex.Model{}, absent{wanted}), fmt.Sprintf("reflex (%s is configured, but this build has no model client yet)", wanted)
}

// An absent model is one that is configured and that nothing here can ask. It
// says so.
type absent struct{ name string }

// Free implements [llm.Free].
func (absent) Free(llm.Request) bool { return true }

// Complete implements [llm.Model].
func (a absent) Complete(ctx context.Context, r llm.Request, onDelta func(string)) (llm.Answer, error) {
	if len(r.Said) == 0 { // nobody asked: reflex tells what happened
		return reflex.Model{}.Complete(ctx, r, onDelta)
	}
	if err := ctx.Err(); err != nil {
		return llm.Answer{}, err
	}
	text := fmt.Sprintf(r.Language.Pick(
		"已经配置了模型 %s，但这个版本的 Aurora 还没有模型客户端，所以我只能执行命令。发送 /help 可以看到所有命令。",
		"The model %s is configured, but this build of Aurora has no model client yet, so I can only carry out commands. Send /help to see them."), a.name)
	if onDelta != nil {
		onDelta(text)
	}
	return llm.Answer{Text: text}, nil
}
