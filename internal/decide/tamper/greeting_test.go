package tamper_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// TestTheGreetingOfASkeletonMayGo lets work take away or rewrite the test that a new
// project began with, and only that: one that somebody has changed by a letter is a
// test as every other.
func TestTheGreetingOfASkeletonMayGo(t *testing.T) {
	n := 0
	for _, s := range stack.AllStacks() {
		for _, f := range s.Skeleton.FilesFor("tally-2") {
			if f.Path != s.Skeleton.Test {
				continue
			}
			n++
			changed := strings.Replace(f.Text, "Hello", "Hallo", 1)
			for _, c := range []struct {
				old   string
				now   *string
				found bool
			}{{f.Text, nil, false}, {f.Text, &changed, false}, {changed, nil, true}} {
				got := tamper.FindTampering([]tamper.ChangedFileVersions{{Path: f.Path, Old: &c.old, New: c.now}})
				if (len(got) > 0) != c.found {
					t.Errorf("%s of %s, from %q: %+v", f.Path, s.Name, c.old, got)
				}
			}
			elsewhere := "sub/" + f.Path
			if len(tamper.FindTampering([]tamper.ChangedFileVersions{{Path: elsewhere, Old: &f.Text}})) == 0 {
				t.Errorf("%s is no skeleton's", elsewhere)
			}
		}
	}
	if n < 4 {
		t.Errorf("%d skeletons have a test of their own", n)
	}
}
