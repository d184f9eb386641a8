package cli

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// A part is one content block of a result or a message, or one item of the
// contents of a resource (MCP 2025-11-25, ContentBlock, ResourceContents).
type part struct {
	Type     string          `json:"type"`
	Text     *string         `json:"text"`
	Data     string          `json:"data"`
	Blob     *string         `json:"blob"`
	MIMEType string          `json:"mimeType"`
	URI      string          `json:"uri"`
	Name     string          `json:"name"`
	Resource *part           `json:"resource"`
	Other    json.RawMessage `json:"-"`
}

// A renderer makes text for people of what apps answer.
type renderer struct {
	style
	terminal bool // control characters of foreign text are made visible
}

func (o *output) renderer() renderer { return renderer{o.style(), o.terminal} }

// text returns foreign text as it may be shown.
func (r renderer) text(s string) string {
	if r.terminal {
		return visible(s)
	}
	return s
}

// note returns our own words about a part, which may hold foreign text.
func (r renderer) note(s string) string { return r.dim(r.text(s)) }

// json returns raw JSON in lines.
func (r renderer) json(raw []byte) string { return r.text(string(indent(raw))) + "\n" }

// result makes text of the result of a call: its text parts, notes for
// parts of other kinds, and its structured content if there is no text.
func (r renderer) result(raw []byte) string {
	var res struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
	}
	if json.Unmarshal(raw, &res) != nil {
		return r.json(raw)
	}
	var b strings.Builder
	hasText := false
	for _, c := range res.Content {
		p := decodePart(c)
		hasText = hasText || p.Type == "text" && p.Text != nil
		b.WriteString(endLine(r.part(p)))
	}
	switch {
	case hasText:
	case len(res.Structured) > 0:
		b.WriteString(r.json(res.Structured))
	case len(res.Content) > 0:
	case saysMore(raw):
		b.WriteString(r.json(raw))
	default:
		b.WriteString(r.dim("(an empty result)") + "\n")
	}
	return b.String()
}

// saysMore tells whether a result has members that no result of a call has, such
// as those of older and newer versions of the protocol.
func saysMore(raw []byte) bool {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members) // it was read before
	for _, known := range []string{"content", "structuredContent", "isError", "_meta", "resultType"} {
		delete(members, known)
	}
	return len(members) > 0
}

func decodePart(raw json.RawMessage) part {
	var p part
	if json.Unmarshal(raw, &p) != nil {
		// A part whose members have other types than they should have.
		p = part{}
	}
	p.Other = raw
	return p
}

// part shows text as it is and anything else as a short note.
func (r renderer) part(p part) string {
	switch {
	case p.Type == "text" && p.Text != nil:
		return r.text(*p.Text)
	case p.Type == "image" || p.Type == "audio":
		return r.note(fmt.Sprintf("[%s, %s]", strings.TrimSpace(p.Type+" "+p.MIMEType), bytesOf(p.Data)))
	case p.Type == "resource_link":
		return r.note("[link " + p.URI + named(p.Name) + "]")
	case p.Type == "resource" && p.Resource != nil:
		return r.note("[resource "+p.Resource.URI+"]") + "\n" + r.contents(*p.Resource)
	case p.Type != "":
		return r.note("[" + p.Type + "] " + string(p.Other))
	}
	return r.note("[unknown part] " + string(p.Other))
}

// contents shows one item of the contents of a resource.
func (r renderer) contents(p part) string {
	switch {
	case p.Text != nil:
		return r.text(*p.Text)
	case p.Blob != nil:
		return r.note(fmt.Sprintf("[%s, %s]", cmp.Or(p.MIMEType, "binary data"), bytesOf(*p.Blob)))
	}
	return r.dim("[no text]")
}

// read makes text of the contents of a resource.
func (r renderer) read(raw []byte) string {
	contents, ok := decodeContents(raw)
	if !ok {
		return r.json(raw)
	}
	var b strings.Builder
	for _, c := range contents {
		if len(contents) > 1 {
			b.WriteString(r.bold(r.text(c.URI)) + "\n")
		}
		b.WriteString(endLine(r.contents(c)))
	}
	return b.String()
}

func decodeContents(raw []byte) ([]part, bool) {
	var r struct {
		Contents []part `json:"contents"`
	}
	err := json.Unmarshal(raw, &r)
	return r.Contents, err == nil
}

// prompt makes text of the messages of a prompt.
func (r renderer) prompt(raw []byte) string {
	var res struct {
		Description string `json:"description"`
		Messages    []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(raw, &res) != nil {
		return r.json(raw)
	}
	var b strings.Builder
	if res.Description != "" {
		b.WriteString(r.note(res.Description) + "\n\n")
	}
	for _, m := range res.Messages {
		b.WriteString(r.bold(r.text(m.Role)+":") + " " + endLine(r.part(decodePart(m.Content))))
	}
	return b.String()
}

// completion prints one value a line.
func (r renderer) completion(raw []byte) string {
	var res struct {
		Completion struct {
			Values []string `json:"values"`
		} `json:"completion"`
	}
	if json.Unmarshal(raw, &res) != nil {
		return r.json(raw)
	}
	var b strings.Builder
	for _, v := range res.Completion.Values {
		b.WriteString(r.text(v) + "\n")
	}
	return b.String()
}

// bytesOf says how many bytes a base64 text holds.
func bytesOf(base64Text string) string {
	n := base64.StdEncoding.DecodedLen(len(base64Text)) - strings.Count(base64Text, "=")
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", max(n, 0))
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

func named(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// endLine ends a text with a line break, unless it is empty.
func endLine(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
