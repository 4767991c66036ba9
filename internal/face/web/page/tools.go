package page

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/face/web/commandoutput"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// MemoryEpisode is a memory entry.
type MemoryEpisode struct{ commandoutput.Episode }

// actions returns the actions for a memory entry.
func (e MemoryEpisode) actions() []Action {
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

func (s *PageHandlers) memoryPage(r *http.Request) (templ.Component, error) {
	f, err := s.newFrame(r, "memory", "Memory and rules", nil)
	f.Live = false
	var got commandoutput.Memory
	why := s.runCommand(r.Context(), "memory", "--json").Read(&got)
	all := make([]MemoryEpisode, len(got.Episodes))
	for i, e := range got.Episodes {
		e.Text = view.FirstLine(e.Text)
		all[i] = MemoryEpisode{e}
	}
	var rules commandoutput.Rules
	unknown := s.runCommand(r.Context(), "rules", "--json").Read(&rules)
	return memoryScreen(f, all, why, rules, unknown), err
}

func (s *PageHandlers) doctorPage(r *http.Request) (templ.Component, error) {
	f, err := s.newFrame(r, "doctor", "Doctor", nil)
	f.Live = false
	var got commandoutput.Doctor
	why := s.runCommand(r.Context(), "doctor", "--json").Read(&got)
	slices.SortStableFunc(got.Checks, func(a, b commandoutput.Check) int { return cmp.Compare(checkRank(a), checkRank(b)) })
	return doctorScreen(f, got.Checks, why), err
}

// checkRank sorts problems before notices, and notices before the rest.
func checkRank(c commandoutput.Check) int { return slices.Index([]string{"notice", "ok"}, c.State) }

// doctorSummary describes the number of checks, and their results.
func doctorSummary(all []commandoutput.Check) string {
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
