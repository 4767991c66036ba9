// Package chain holds the models that a session may go on with: one, and
// those that are asked while it cannot be.
package chain

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// Choice is a model that a session may use, with what it costs.
type Choice struct {
	Model  llm.Model
	Name   string // provider/model
	Price  func(nexus.Usage, llm.Terms) nexus.Money
	Worst  func(llm.Request) nexus.Money
	Tokens func(llm.Request) int64

	Context int64 // most tokens that it holds
}

// Find returns where a name stands, -1 where it does not.
func Find(all []Choice, name string) int {
	return slices.IndexFunc(all, func(c Choice) bool { return c.Name == name })
}

// Others names what may be asked instead of a model, best first.
func Others(all []Choice, name string) []string {
	var names []string
	for _, c := range all {
		if c.Name != name {
			names = append(names, c.Name)
		}
	}
	return names
}

// maxHops is how often a call goes to another model because one fails. After
// that it waits for the last.
const maxHops = 2

// Next returns the model that is asked when one fails; empty where there is
// none, or the call was passed on often enough.
func Next(all []Choice, name string, hops int) string {
	if len(all) < 2 || hops >= min(maxHops, len(all)-1) {
		return ""
	}
	return all[(Find(all, name)+1)%len(all)].Name
}

// Legible returns messages as another model than that of the first n may read
// them: what is a model's own is left out of those.
func Legible(messages []llm.Message, n int) []llm.Message {
	if n == 0 {
		return messages
	}
	all := slices.Clone(messages)
	for i := range min(n, len(all)) {
		all[i].Parts = slices.DeleteFunc(slices.Clone(all[i].Parts), func(p llm.Part) bool { return p.Raw != nil })
	}
	return slices.DeleteFunc(all, func(m llm.Message) bool { return len(m.Parts) == 0 })
}
