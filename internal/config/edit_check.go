package config

import (
	"slices"
	"strconv"
)

// sameBut tells whether two trees mean the same but for the items at path, which
// are those given in the second tree. Items that are new stand in their order.
func sameBut(before, after *node, path []string, items []Item) bool {
	keys := make([]string, 0, 1)
	if len(path) > 0 {
		keys = append(keys, path[0])
	} else {
		for _, item := range items {
			keys = append(keys, item.Key)
		}
	}
	if after.kind != mapNode || before.kind != mapNode && before.kind != nullNode {
		return false
	}
	other := func(n *node) []entry {
		return slices.DeleteFunc(slices.Clone(n.entries), func(e entry) bool { return slices.Contains(keys, e.key) })
	}
	if !slices.EqualFunc(other(before), other(after), sameEntry) {
		return false
	}
	if len(path) > 0 {
		now, ok := only(after, path[0])
		if !ok {
			return false
		}
		was, ok := only(before, path[0])
		if !ok {
			was = &node{kind: nullNode}
		}
		return sameBut(was, now, path[1:], items)
	}
	var written []entry
	for _, e := range after.entries {
		if slices.Contains(keys, e.key) {
			written = append(written, e)
		}
	}
	return slices.EqualFunc(written, items, func(e entry, item Item) bool {
		return e.key == item.Key && meansValue(e.value, item.Value)
	})
}

// only returns the value of a key that stands once.
func only(n *node, key string) (*node, bool) {
	var found *node
	for _, e := range n.entries {
		if e.key == key {
			if found != nil {
				return nil, false
			}
			found = e.value
		}
	}
	return found, found != nil
}

func sameEntry(a, b entry) bool { return a.key == b.key && sameNode(a.value, b.value) }

// sameNode tells whether two nodes mean the same.
func sameNode(a, b *node) bool {
	return a == b || a.kind == b.kind && a.text == b.text && a.plain == b.plain &&
		slices.EqualFunc(a.items, b.items, sameNode) && slices.EqualFunc(a.entries, b.entries, sameEntry)
}

// meansValue tells whether a node is what an edit was to write.
func meansValue(n *node, value any) bool {
	switch value := value.(type) {
	case string:
		return n.kind == scalarNode && n.text == value && !(n.plain && isSpecial(value))
	case bool:
		return n.kind == scalarNode && n.plain && (value && isTrue(n.text) || !value && isFalse(n.text))
	case int:
		return n.kind == scalarNode && n.plain && n.text == strconv.Itoa(value)
	case []string:
		return n.kind == listNode && slices.EqualFunc(n.items, value, func(n *node, text string) bool { return meansValue(n, text) })
	case []Item:
		return n.kind == mapNode && slices.EqualFunc(n.entries, value, func(e entry, item Item) bool {
			return e.key == item.Key && meansValue(e.value, item.Value)
		})
	}
	return false
}

// isSpecial tells whether a text without quotes is more than a text.
func isSpecial(text string) bool {
	_, number := jsonNumber(text)
	return number || isTrue(text) || isFalse(text)
}
