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

// renderResult makes text of the result of a call: its text parts, notes for
// parts of other kinds, and its structured content if there is no text.
func renderResult(raw []byte, s style) string {
	var r struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return string(indent(raw)) + "\n"
	}
	var b strings.Builder
	hasText := false
	for _, c := range r.Content {
		p := decodePart(c)
		hasText = hasText || p.Type == "text" && p.Text != nil
		b.WriteString(endLine(renderPart(p, s)))
	}
	switch {
	case hasText:
	case len(r.Structured) > 0:
		fmt.Fprintf(&b, "%s\n", indent(r.Structured))
	case len(r.Content) == 0:
		b.WriteString(s.dim("(an empty result)") + "\n")
	}
	return b.String()
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

// renderPart shows text as it is and anything else as a short note.
func renderPart(p part, s style) string {
	switch {
	case p.Type == "text" && p.Text != nil:
		return *p.Text
	case p.Type == "image" || p.Type == "audio":
		return s.dim(fmt.Sprintf("[%s %s, %s]", p.Type, p.MIMEType, bytesOf(p.Data)))
	case p.Type == "resource_link":
		return s.dim("[link " + p.URI + named(p.Name) + "]")
	case p.Type == "resource" && p.Resource != nil:
		return s.dim("[resource "+p.Resource.URI+"]") + "\n" + renderContents(*p.Resource, s)
	case p.Type != "":
		return s.dim("[" + p.Type + "] " + string(p.Other))
	}
	return s.dim("[unknown part] ") + string(p.Other)
}

// renderContents shows one item of the contents of a resource.
func renderContents(p part, s style) string {
	switch {
	case p.Text != nil:
		return *p.Text
	case p.Blob != nil:
		return s.dim(fmt.Sprintf("[%s, %s]", cmp.Or(p.MIMEType, "binary data"), bytesOf(*p.Blob)))
	}
	return s.dim("[no text]")
}

// renderRead makes text of the contents of a resource.
func renderRead(raw []byte, s style) string {
	contents, ok := decodeContents(raw)
	if !ok {
		return string(indent(raw)) + "\n"
	}
	var b strings.Builder
	for _, c := range contents {
		if len(contents) > 1 {
			b.WriteString(s.bold(c.URI) + "\n")
		}
		b.WriteString(endLine(renderContents(c, s)))
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

// renderPrompt makes text of the messages of a prompt.
func renderPrompt(raw []byte, s style) string {
	var r struct {
		Description string `json:"description"`
		Messages    []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return string(indent(raw)) + "\n"
	}
	var b strings.Builder
	if r.Description != "" {
		b.WriteString(s.dim(r.Description) + "\n\n")
	}
	for _, m := range r.Messages {
		b.WriteString(s.bold(m.Role+":") + " " + endLine(renderPart(decodePart(m.Content), s)))
	}
	return b.String()
}

// renderCompletion prints one value a line.
func renderCompletion(raw []byte, _ style) string {
	var r struct {
		Completion struct {
			Values []string `json:"values"`
		} `json:"completion"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return string(indent(raw)) + "\n"
	}
	var b strings.Builder
	for _, v := range r.Completion.Values {
		b.WriteString(v + "\n")
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
