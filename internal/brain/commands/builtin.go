package commands

import "github.com/aurorabot/aurora/internal/brain"

// The built-in commands.
const (
	Help   = "help"
	Tools  = "tools"
	Apps   = "apps"
	Events = "events"
	New    = "new"
	Stop   = "stop"
	Status = "status"
	SID    = "sid"
)

// A builtin is a command of ours.
type builtin struct {
	name   string
	others []string // other names of it
	args   string   // as help shows them
	zh, en string   // what it does
}

// builtins returns the built-in commands in the order help shows them.
func builtins() []builtin {
	return []builtin{
		{Help, []string{"h", "帮助"}, "[NAME]", "说明；或某个工具的用法", "this page, or how to use one tool"},
		{Tools, []string{"工具"}, "[WORD]", "可用的工具", "the tools there are"},
		{Apps, []string{"应用"}, "", "应用及其状态", "the apps and their states"},
		{Events, []string{"事件"}, "[N]", "最近的事件", "the latest events"},
		{New, []string{"新会话", "新对话"}, "", "忘掉本会话的上文，重新开始", "forget this conversation and start afresh"},
		{Stop, []string{"停", "停止"}, "", "停止正在进行的回答", "stop the answer under way"},
		{Status, []string{"状态"}, "", "模型、用量和运行情况", "model, usage and what is going on"},
		{SID, []string{"会话"}, "", "本会话的标识", "the ids of this session"},
	}
}

func (b builtin) does(l brain.Language) string { return l.Pick(b.zh, b.en) }

// lookup returns the built-in command that a name means.
func lookup(name string) (builtin, bool) {
	name = fold(name)
	for _, b := range builtins() {
		if b.name == name {
			return b, true
		}
		for _, other := range b.others {
			if other == name {
				return b, true
			}
		}
	}
	return builtin{}, false
}

// Builtin returns the built-in command that a message is, and what follows it.
func Builtin(text string) (name, rest string, ok bool) {
	line, ok := ParseLine(text)
	if !ok {
		return "", "", false
	}
	b, ok := lookup(line.Name)
	return b.name, line.Rest, ok
}

// IsStop reports whether a message asks to stop. It is for those who take in
// messages: a message that waits behind the answer it is to stop comes too late.
func IsStop(text string) bool {
	name, _, ok := Builtin(text)
	return ok && name == Stop
}
