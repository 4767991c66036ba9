package tui

import (
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/hostiletest"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// TestNoFieldIsObeyed draws a snapshot with hostile text in every field: what is
// added to it later is looked at, too.
func TestNoFieldIsObeyed(t *testing.T) {
	p := projection.NewProjection("261126-1500-abc", projection.Options{})
	var snap RunSnapshot
	hostiletest.FillFields(&snap, hostiletest.HostileText())
	for _, width := range []int{60, 133} {
		m := begin(t, &stage{p: p, snap: &snap}, view.OutputStyle{}, width, 20)
		for _, keys := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "1<enter>", "2<enter>", "2l", "2d", "2d]", "2d]]", "2c", "w", "y", "<esc>", "<ctrl+p>", "<esc>"} {
			m.keys(keys)
			for _, l := range m.check(t) {
				if bad := hostiletest.ObeyedPart(ansi.Strip(l)); bad != "" {
					t.Fatalf("%s: %q", keys, bad)
				}
			}
		}
	}
}
