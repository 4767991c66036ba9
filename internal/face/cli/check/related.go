package check

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/work/change"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/related"
)

// concerned puts the gates that run the tests which a change concerns before
// those that run all, and says where there are none.
func concerned(ctx context.Context, a *console.Console, dir, rev string, gates []gate.Gate) ([]gate.Gate, error) {
	files, err := change.Files(ctx, dir, rev)
	if err != nil {
		return nil, err
	}
	choices := related.Choose(dir, files, gates)
	for _, c := range choices {
		if !c.Some {
			a.Say("%s runs as a whole: %s", c.Of.Name, c.Why)
		}
	}
	return related.InsertRelated(gates, choices), nil
}
