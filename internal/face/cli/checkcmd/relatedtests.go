package checkcmd

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/testselection"
)

// addRelatedTestGates inserts gates with the tests related to a change before those that run all tests, and
// prints a note for each gate that has none.
func addRelatedTestGates(ctx context.Context, a *console.Console, dir, rev string, gates []gate.QualityGate) ([]gate.QualityGate, error) {
	files, err := changeeffects.ChangedFiles(ctx, dir, rev)
	if err != nil {
		return nil, err
	}
	choices := testselection.ChooseRelatedTests(dir, files, gates)
	for _, c := range choices {
		if !c.Some {
			a.Say("%s runs as a whole: %s", c.Of.Name, c.Why)
		}
	}
	return testselection.InsertRelatedGates(gates, choices), nil
}
