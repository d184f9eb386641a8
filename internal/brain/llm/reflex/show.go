package reflex

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/commands"
	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/call"
)

// results returns what the tools and prompts of this turn answered, for people.
func results(r llm.Request) []string {
	var tools, prompts []llm.Message
	for _, m := range r.Messages[r.Turn:] {
		switch {
		case m.Role == llm.Tool && m.Result != nil:
			tools = append(tools, m)
		case m.Prompt != "":
			prompts = append(prompts, m)
		}
	}
	var out []string
	for _, m := range tools {
		text := result(m.Result, r.Language)
		if len(tools) > 1 {
			text = "[" + lastSegment(m.Result.Tool) + "]\n" + text
		}
		out = append(out, text)
	}
	for _, m := range prompts {
		text := m.Content
		if len(prompts) > 1 {
			text = speaker(m.Role, r.Language) + text
		}
		out = append(out, text)
	}
	return out
}

func speaker(role llm.Role, l brain.Language) string {
	if role == llm.Assistant {
		return l.Pick("助手：", "Assistant: ")
	}
	return l.Pick("用户：", "User: ")
}

func lastSegment(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// result says how a call ended.
func result(r *llm.Result, l brain.Language) string {
	text, tool := pretty(r.Text), lastSegment(r.Tool)
	switch r.Outcome {
	case call.OK:
		if strings.TrimSpace(text) == "" {
			return l.Pick(tool+" 完成了，没有返回内容。", tool+" is done and returned nothing.")
		}
		return text
	case call.ToolError:
		return l.Pick(tool+" 报告了错误：", tool+" reports an error: ") + text
	case call.Denied:
		return l.Pick(tool+" 没有被允许：", tool+" was not allowed: ") + text
	case call.Waiting:
		return l.Pick(tool+" 在等待批准：", tool+" waits for an approval: ") + text
	case call.Timeout, call.Cancelled, call.Unknown:
		return l.Pick(tool+" 没有得到结果，不知道是否已经生效：", tool+" gave no result, and may or may not have done its work: ") + text
	}
	return l.Pick(tool+" 没有成功：", tool+" did not succeed: ") + text
}

// pretty returns JSON in lines, and anything else as it is.
func pretty(text string) string {
	raw := []byte(strings.TrimSpace(text))
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		return text
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return text
	}
	return b.String()
}

// label is what the line of an event begins with: its type.
var label = regexp.MustCompile(`^\[([^\]\n]*)\](?: |$)`)

// events says what happened that woke the bot when nobody spoke. What happens in a
// chat without a word, such as a reaction, is nothing to talk about.
func events(r llm.Request) string {
	var parts []string
	for _, m := range r.Messages[r.Turn:] {
		if m.Role != llm.User {
			continue
		}
		for line := range strings.SplitSeq(m.Content, "\n") {
			kind := label.FindStringSubmatch(line)
			if kind != nil && strings.HasPrefix(kind[1], "message.") {
				continue
			}
			if kind != nil {
				line = withoutData(line[len(kind[0]):])
			}
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, "\n")
}

// withoutData returns the summary of an event without the JSON behind it, which is
// for machines; the JSON where there is no summary.
func withoutData(line string) string {
	at := strings.Index(line, " {")
	if at > 0 && (json.Valid([]byte(line[at:])) || strings.HasSuffix(line, "…")) {
		return line[:at]
	}
	return line
}

// advice says that there is no model, and how to have one: at length the first
// time in a conversation, then in short, and in a group not again.
func advice(r llm.Request) string {
	l := r.Language
	opening := l.Pick(
		"我还没有接上语言模型，所以只懂命令，不能聊天。",
		"I have no language model yet, so I know commands only and cannot talk.")
	for _, m := range r.Messages[:r.Turn] {
		if m.Role == llm.Assistant && strings.HasPrefix(m.Content, opening) {
			if r.Group {
				return ""
			}
			return l.Pick(
				"还没有语言模型（配置方法见前面，或看 docs/configuration.md）。/help 显示可以用的命令。",
				"There is still no language model (see above, or docs/configuration.md). /help shows the commands.")
		}
	}
	text := opening + l.Pick(`

要接上一个，在 aurora.yml 里写：

llm:
  preset: deepseek
  model: deepseek-chat
  api_key: ${DEEPSEEK_API_KEY}

密钥写进同一个目录的 .env：DEEPSEEK_API_KEY=sk-…，然后重新启动。
preset 还可以是 openai、anthropic、gemini、qwen、kimi、glm、ollama、llama.cpp、vllm；本机的 ollama 不需要密钥。`, `

To have one, write into aurora.yml:

llm:
  preset: deepseek
  model: deepseek-chat
  api_key: ${DEEPSEEK_API_KEY}

and the key into .env beside it: DEEPSEEK_API_KEY=sk-…, then start again.
Other presets are openai, anthropic, gemini, qwen, kimi, glm, ollama, llama.cpp and vllm; a local ollama needs no key.`)
	text += l.Pick("\n\n现在就能用：/help 显示全部命令", "\n\nReady now: /help shows all commands")
	x := commands.NewIndex(r.Tools, nil)
	if t := x.Resolve("weather").Target; t.Tool != nil {
		text += l.Pick("；试试 ", "; try ") + x.Short(t) + l.Pick(" 上海", " Shanghai")
	}
	return text + l.Pick("。", ".")
}
