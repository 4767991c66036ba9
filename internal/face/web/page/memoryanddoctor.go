package page

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/face/web/commandjson"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// MemoryEntryRow is a memory entry.
type MemoryEntryRow struct{ commandjson.MemoryListEntry }

// entryActions returns the actions for a memory entry.
func (e MemoryEntryRow) entryActions() []ItemAction {
	all := []ItemAction{{
		Name: "memory-approve", Label: "Approve", Key: "a", Args: []string{"memory", "approve", "--", e.ID}, Role: projection.RoleAdmin,
	}}
	if e.State == "approved" {
		all = nil
	}
	return append(all, ItemAction{
		Name: "memory-forget", Label: "Forget", Key: "x", Args: []string{"memory", "forget", "--", e.ID}, Role: projection.RoleAdmin,
		Danger:  true,
		Confirm: "Forget it? It is removed, and not proposed again here.",
	})
}

func (s *PageHandlers) memoryPage(r *http.Request) (templ.Component, error) {
	f, err := s.newFrame(r, "memory", "Memory and rules", nil)
	f.Live = false
	var got commandjson.MemoryListOutput
	why := s.runCommand(r.Context(), "memory", "--json").Read(&got)
	all := make([]MemoryEntryRow, len(got.Episodes))
	for i, e := range got.Episodes {
		e.Text = view.FirstLine(e.Text)
		all[i] = MemoryEntryRow{e}
	}
	var rules commandjson.RulesOutput
	unknown := s.runCommand(r.Context(), "rules", "--json").Read(&rules)
	return memoryScreen(f, all, why, rules, unknown), err
}

func (s *PageHandlers) doctorPage(r *http.Request) (templ.Component, error) {
	f, err := s.newFrame(r, "doctor", "Doctor", nil)
	f.Live = false
	var got commandjson.DoctorOutput
	why := s.runCommand(r.Context(), "doctor", "--json").Read(&got)
	slices.SortStableFunc(got.Checks, func(a, b commandjson.DoctorCheck) int { return cmp.Compare(checkRank(a), checkRank(b)) })
	return doctorScreen(f, got.Checks, why), err
}

// checkRank sorts problems before notices, and notices before the rest.
func checkRank(c commandjson.DoctorCheck) int {
	return slices.Index([]string{"notice", "ok"}, c.State)
}

// doctorSummary describes the number of checks, and their results.
func doctorSummary(all []commandjson.DoctorCheck) string {
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
	return fmt.Sprintf("%s: %d wrong, %s", view.CountWithNoun(len(all), "check"), bad, view.CountWithNoun(notices, "notice"))
}
