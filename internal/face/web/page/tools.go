package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sorting"
)

// Episode is what was learned, as nexus memory list tells it.
type Episode struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Text  string `json:"text"`
	Path  string `json:"path"`
	Told  int    `json:"told"`
}

// actions are what can be done about what was learned.
func (e Episode) actions() []Action {
	all := []Action{{
		Name: "memory-approve", Label: "Approve", Key: "a", Args: []string{"memory", "approve", "--", e.ID}, Role: projection.RoleAdmin,
	}}
	if e.State == "approved" {
		all = nil
	}
	return append(all, Action{
		Name: "memory-forget", Label: "Forget", Key: "x", Args: []string{"memory", "forget", "--", e.ID}, Role: projection.RoleAdmin,
		Danger:  true,
		Confirm: "Forget it? It is removed, and not proposed again here.",
	})
}

// Rules is what agents are told wherever they work, as nexus rules tells it.
type Rules struct {
	Wrong string `json:"-"` // why it is not known
	Rules []struct {
		File   string `json:"file"`
		Why    string `json:"why"`
		By     string `json:"by"`
		Tokens int    `json:"tokens"`
		Of     int    `json:"of"` // tokens in full, where it was cut
	} `json:"rules"`
	Invoked []struct {
		Kind  string `json:"kind"`
		Name  string `json:"name"`
		File  string `json:"file"`
		State string `json:"state"`
	} `json:"invoked"`
	Refused []struct {
		File string `json:"file"`
		Why  string `json:"why"`
	} `json:"refused"`
}

// Check is what nexus doctor found.
type Check struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Hint   string `json:"hint"`
}

// read reads the object that a command printed, and says why there is none.
func read(r access.Result, to any) string {
	if len(r.Data) > 0 && json.Unmarshal(r.Data, to) == nil {
		return ""
	}
	return strings.TrimSpace(cmp.Or(r.Text, "The command printed nothing.") + "\n" + r.Hint)
}

func (s *Site) memory(r *http.Request) (templ.Component, error) {
	f, err := s.frame(r, "memory", "Memory and rules", nil)
	var got struct{ Episodes []Episode }
	why := read(s.run(r.Context(), "memory", "list", "--json"), &got)
	for i := range got.Episodes {
		got.Episodes[i].Text = view.FirstLine(got.Episodes[i].Text)
	}
	var rules Rules
	rules.Wrong = read(s.run(r.Context(), "rules", "--json"), &rules)
	f.Live = false
	return memoryScreen(f, got.Episodes, rules, why), err
}

func (s *Site) doctor(r *http.Request) (templ.Component, error) {
	f, err := s.frame(r, "doctor", "Doctor", nil)
	f.Live = false
	var got struct{ Checks []Check }
	why := read(s.run(r.Context(), "doctor", "--json"), &got)
	sorting.By(got.Checks, func(a, b Check) int { return cmp.Compare(a.rank(), b.rank()) })
	return doctorScreen(f, got.Checks, why), err
}

// rank puts what is wrong before what is worth knowing, and that before all else.
func (c Check) rank() int { return slices.Index([]string{"notice", "ok"}, c.State) }

// healthy says how many checks there were, and what they came to.
func healthy(all []Check) string {
	var bad, notices int
	for _, c := range all {
		switch c.State {
		case "ok":
		case "notice":
			notices++
		default:
			bad++
		}
	}
	return fmt.Sprintf("%s: %d wrong, %s", view.Count(len(all), "check"), bad, view.Count(notices, "notice"))
}
