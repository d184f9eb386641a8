package toolschema

// A weight says how much work a schema is for a validator. Combinations such
// as anyOf try several schemas on one value, and references let that double at
// every step, so a small schema could keep a core busy for years.
type weight struct {
	here    int // most subschemas tried on one value
	below   int // how often the values inside one value are visited, at most
	endless bool
}

// weigh finds the weights of all schemas of d.
func weigh(d *document) weight {
	w := weigher{doc: d, done: map[*value]weight{}, open: map[*value]bool{}}
	w.all(d.root)
	return w.most
}

type weigher struct {
	doc  *document
	done map[*value]weight
	open map[*value]bool // on the way down to the schema looked at
	most weight
}

func (w *weigher) all(v *value) *value {
	x := w.of(v)
	w.most.here = max(w.most.here, x.here)
	w.most.below = max(w.most.below, x.below)
	w.most.endless = w.most.endless || x.endless
	for _, m := range v.members {
		eachSchema(m, w.all)
	}
	return v
}

// of returns the weight of one schema: itself and all that is tried on the
// same value.
func (w *weigher) of(v *value) weight {
	if x, ok := w.done[v]; ok {
		return x
	}
	if w.open[v] {
		return weight{endless: true}
	}
	w.open[v] = true
	x := weight{here: 1}
	add := func(y weight) {
		x.here = addSize(x.here, y.here)
		x.below = addSize(x.below, y.below)
		x.endless = x.endless || y.endless
	}
	inside := 0
	for _, m := range v.members {
		switch m.name {
		case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies":
			eachSchema(m, func(v *value) *value {
				add(w.of(v))
				return v
			})
		case "$ref", "$dynamicRef", "$recursiveRef":
			if target := w.doc.resolve(m.value.str()); target != nil {
				add(w.of(target))
			}
		case "properties", "prefixItems":
			inside = max(inside, 1)
		case "patternProperties":
			inside += len(m.value.members)
		case "additionalProperties", "items", "additionalItems", "contains", "unevaluatedProperties", "unevaluatedItems":
			inside++
		}
	}
	x.below = addSize(x.below, inside)
	delete(w.open, v)
	w.done[v] = x
	return x
}

// visits returns a bound on how many subschemas are tried on args.
func (w weight) visits(args *value) int {
	depth, values := extent(args)
	n := values * w.here
	for range depth {
		if n > maxVisits {
			break
		}
		n *= max(1, w.below)
	}
	return n
}

// extent returns how deep v is, 0 for a scalar, and how many values it has.
func extent(v *value) (depth, values int) {
	values = 1
	inside := func(v *value) {
		d, n := extent(v)
		depth = max(depth, d+1)
		values += n
	}
	for _, item := range v.items {
		inside(item)
	}
	for _, m := range v.members {
		inside(m.value)
	}
	return depth, values
}
