package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	maxPages     = 200
	maxItems     = 100_000
	maxListBytes = defaultMaxMessage // of all pages: what one may have
)

// A List is a whole list of a server, all pages in order.
type List struct {
	// Items are the entries as they were sent, of any shape.
	Items []json.RawMessage
	// Pages is how many answers they came in; 0 when the server has no such list.
	Pages int
	// Warnings say, for people, what was odd. The items are good nevertheless.
	Warnings []string
}

// ListTools returns all tools (server/tools). A list that the server does not
// declare, or does not know, is empty. ctx and Options.ListTimeout bound all
// pages together. A list is complete or an error, with one exception: a server
// that never stops paging is cut off with a warning.
func (s *Session) ListTools(ctx context.Context) (List, error) {
	return s.list(ctx, "tools/list", "tools", s.info.Capabilities.Tools)
}

// ListResources returns all resources (server/resources), as ListTools does.
func (s *Session) ListResources(ctx context.Context) (List, error) {
	return s.list(ctx, "resources/list", "resources", s.info.Capabilities.Resources)
}

// ListResourceTemplates returns all resource templates, as ListTools does.
func (s *Session) ListResourceTemplates(ctx context.Context) (List, error) {
	return s.list(ctx, "resources/templates/list", "resourceTemplates", s.info.Capabilities.Resources)
}

// ListPrompts returns all prompts (server/prompts), as ListTools does.
func (s *Session) ListPrompts(ctx context.Context) (List, error) {
	return s.list(ctx, "prompts/list", "prompts", s.info.Capabilities.Prompts)
}

// list follows the cursors to their end (MCP 2025-11-25, server/utilities/pagination).
func (s *Session) list(ctx context.Context, method, member string, declared bool) (List, error) {
	var l List
	var first []byte
	if !declared {
		return l, nil
	}
	deadline := time.Now().Add(s.o.ListTimeout)
	seen := map[string]bool{}
	size := 0
	params := []byte("{}")
	for {
		left := time.Until(deadline)
		result, err := s.Request(ctx, method, params, &RequestOptions{Whole: max(left, time.Nanosecond)})
		var refused *RPCError
		if errors.As(err, &refused) && refused.Code == CodeMethodNotFound && l.Pages == 0 {
			return l, nil
		}
		if err != nil {
			return List{}, err
		}
		if l.Pages > 0 && bytes.Equal(result.Raw, first) {
			l.warn("%s: page %d is the first page again; taken as the end", method, l.Pages+1)
			return l, nil
		}
		if l.Pages == 0 {
			first = result.Raw
		}
		page, err := parsePage(result.Raw, member)
		if err != nil {
			return List{}, &CallError{Kind: BadAnswer, Method: method, Delivered: true, Err: err}
		}
		if page.warning != "" {
			l.Warnings = append(l.Warnings, fmt.Sprintf("%s: page %d: %s", method, l.Pages+1, page.warning))
		}
		l.Items = append(l.Items, page.items...)
		l.Pages++
		size += len(result.Raw)
		switch {
		case page.cursor == nil:
			return l, nil
		case seen[*page.cursor]:
			l.warn("%s: the cursor %q came twice; stopped after %d pages", method, clipString(*page.cursor), l.Pages)
			return l, nil
		case l.Pages == maxPages:
			l.warn("%s: stopped after %d pages", method, maxPages)
			return l, nil
		case len(l.Items) >= maxItems:
			l.warn("%s: stopped after %d items", method, len(l.Items))
			return l, nil
		case size >= maxListBytes:
			l.warn("%s: stopped after %d pages, which have more than %d MiB", method, l.Pages, maxListBytes>>20)
			return l, nil
		}
		seen[*page.cursor] = true
		params = append(appendQuoted([]byte(`{"cursor":`), *page.cursor), '}')
	}
}

func (l *List) warn(format string, args ...any) {
	l.Warnings = append(l.Warnings, fmt.Sprintf(format, args...))
}

// A page is one answer of a list.
type page struct {
	items   []json.RawMessage
	cursor  *string // of the next page; nil at the end; "" is a cursor too
	warning string
}

func parsePage(raw []byte, member string) (page, error) {
	var p page
	all := object(raw)
	switch items := all[member]; {
	case items == nil:
		return p, fmt.Errorf("the result has no %q", member)
	case items[0] == 'n':
		p.warning = fmt.Sprintf("%q is null, taken as empty", member)
	case items[0] != '[':
		return p, fmt.Errorf("%q is no array", member)
	default:
		elements(items, func(value []byte) { p.items = append(p.items, value) })
	}
	switch cursor := all["nextCursor"]; {
	case cursor == nil, cursor[0] == 'n':
	case cursor[0] == '"':
		text := unquote(cursor)
		p.cursor = &text
	default:
		p.warning = "nextCursor is no string, taken as the end"
	}
	return p, nil
}
