package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/arg"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/chain"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/place"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/table"
)

// loop is a variable that within a loop stands for a file of the worktree.
type loop struct {
	name     string
	from, to syntax.Pos
	listed   bool // its names come from a command
}

// loop judges what a loop goes over.
func (j *judgement) loop(n *syntax.ForClause) {
	over, ok := n.Loop.(*syntax.WordIter)
	if !ok || over.Name == nil {
		return
	}
	if table.Powerful(over.Name.Value) {
		j.add(Deny, "env.programs", over.Name.Value+" decides which programs run or how")
	}
	plain, listed := len(over.Items) > 0 && !j.rebinds && !slices.Contains(j.sets, over.Name.Value), false
	for _, item := range chain.BracesOf(over.Items) {
		w := j.word(item)
		if !w.Listed {
			j.reads([]arg.Word{w})
		}
		listed = listed || w.Listed
		at, name := j.where(w)
		plain = plain && at == place.Tree && (w.Listed || !w.Dynamic && w.Text != "" && name != "." && !strings.HasPrefix(w.Text, "-") &&
			strings.Trim(w.Text, "*.?[]!/") != "" && Path(name, true).Allowed())
	}
	if plain {
		j.loops = append(j.loops, loop{over.Name.Value, n.DoPos, n.DonePos, listed})
	}
}

// item returns what a variable stands for there, if that is a file of the
// worktree.
func (j *judgement) item(name string, at syntax.Pos) (arg.Word, bool) {
	for _, l := range j.loops {
		if l.name == name && at.After(l.from) && l.to.After(at) {
			return arg.Word{Text: "item", Fixed: true, Listed: l.listed}, true
		}
	}
	return arg.Word{}, false
}
