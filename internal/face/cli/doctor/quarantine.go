package doctor

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// checkQuarantine checks the record of quarantined tests, whose failures do not count. It returns
// nothing if there is no record.
func checkQuarantine(dir string, today flaky.QuarantineDay, h flaky.TestResultHistory) []Check {
	list, err := gate.ReadQuarantineIn(dir)
	if err != nil {
		return []Check{checkOf("quarantine", "", err)}
	}
	if len(list) == 0 {
		return nil
	}
	notice := func(test, detail, hint string) Check {
		return Check{Name: "quarantine", State: Notice, Detail: view.EscapeForTerminal(test) + ": " + detail, Hint: hint}
	}
	var all []Check
	for _, f := range (flaky.DatedQuarantine{List: list, Day: today}).CheckEntries(gate.TestLookupIn(dir)) {
		all = append(all, notice(f.Test, f.Message, f.Advice))
	}
	for _, e := range list {
		if judged, red := h.CountJudgedSince(e); e.IsActive(today) && judged >= flaky.Enough && red == 0 {
			all = append(all, notice(e.Test, fmt.Sprintf("it has not failed in %d runs of its gate since it was added", judged), "It may be fixed. Remove it with nexus quarantine remove."))
		}
	}
	if len(all) == 0 {
		all = []Check{{Name: "quarantine", State: Fine, Detail: view.CountWithNoun(len(list), "test")}}
	}
	return all
}
