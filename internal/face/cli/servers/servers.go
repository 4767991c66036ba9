// Package servers tells which servers of the Model Context Protocol agents may
// use: the user's own, and those of a repository that somebody agreed to.
package servers

import (
	"errors"
	"os"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/network"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/declare"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/mcptools"
)

// Standing is a server, and whether it may be used.
type Standing struct {
	declare.Server
	State trust.State
	Text  string // what it would run
}

// Find returns the servers that hold for the repository at dir, whatever they
// are good for, in the order of their names. Where a file of it is broken, that
// is the error, and the others are there.
func Find(a *frame.Console, dir string) (all []Standing, err error) {
	c, origins, err := a.Settings()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	declared, broken := declare.All(c, origins, root)
	for _, d := range declared {
		s := Standing{d, trust.Trusted, d.Text(root)}
		if !d.Own && d.Why == nil {
			judged, err := a.Trust().Judge(dir, []trust.Item{{Name: d.Key(), Text: s.Text}})
			if err != nil {
				return nil, err
			}
			s.State = judged[0].State
		}
		all = append(all, s)
	}
	return all, broken
}

// Items returns what somebody has to agree to: the repository's servers, and
// what servers said of their tools when they were last met.
func Items(a *frame.Console, dir string) ([]trust.Item, error) {
	all, err := Find(a, dir)
	if err != nil {
		return nil, err
	}
	var items []trust.Item
	var known []string
	for _, s := range all {
		if !s.Own && s.Why == nil {
			items = append(items, trust.Item{Name: s.Key(), Text: s.Text})
		}
		known = append(known, s.Key()+"/")
	}
	met, err := a.Trust().Met(dir)
	if err != nil {
		return nil, err
	}
	for _, item := range met {
		for _, its := range known {
			if strings.HasPrefix(item.Name, its) {
				items = append(items, item)
			}
		}
	}
	return items, nil
}

// Way gives programs of servers a way out to the hosts and presets that the
// user named for them, and to nothing that is denied.
func Way(a *frame.Console) func(names []string) (*egress.Way, error) {
	return func(names []string) (*egress.Way, error) {
		c, _, err := a.Settings()
		if err != nil {
			return nil, err
		}
		g, err := network.GrantFor(strings.Join(names, ","), c.Network, "", nil, a.Env)
		if err != nil {
			return nil, err
		}
		return g.Open(), nil
	}
}

// Open returns the servers that agents may use in the repository at dir, and
// says which they may not, and what to do about it. It starts none.
func Open(a *frame.Console, dir string) (*mcptools.Servers, error) {
	all, err := Find(a, dir)
	if e, ok := errors.AsType[*nexus.Error](err); ok && e.Code == nexus.CodeInvalidConfig { // work does not stop for it
		a.Say("MCP servers of the repository are left out: %s", legible.Show(err.Error()))
	} else if err != nil {
		return nil, err
	}
	s := &mcptools.Servers{Text: map[string]string{}, Root: dir, Book: a.Trust(), Env: a.Env, Say: func(text string) { a.Say("%s", text) }, Way: Way(a)}
	for _, one := range all {
		switch {
		case one.Why != nil:
			a.Say("MCP server %s of %s is left out: %s", one.Name, one.From, legible.Show(one.Why.Error()))
		case one.State != trust.Trusted:
			a.Say("MCP server %s of %s is left out: nobody has agreed to what it would run (%s); read it with nexus trust, agree with nexus trust --yes", one.Name, one.From, one.State)
		default:
			s.List = append(s.List, one.Server)
			s.Text[one.Name] = one.Text
		}
	}
	return s, nil
}
