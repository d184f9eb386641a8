// Package policy judges calls: how risky a tool is, and whether a caller may
// call it now.
//
// Promises:
//
//   - A judgement is about the canonical name, whatever form the caller used.
//   - Nothing here is asked twice for one call, and nothing here calls an app.
//   - Doubt never allows: the zero [Decision] refuses, an unknown caller is
//     refused, and a tool of which nothing is known is of [High] risk.
//   - Methods may be called from any number of goroutines and do not block.
//
// [Plain] is the policy until rules, approvals and pins exist. Whoever needs a
// policy declares the interface; host does.
package policy
