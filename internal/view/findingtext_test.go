package view_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func TestPlace(t *testing.T) {
	for _, tt := range []struct {
		f    nexus.Finding
		want string
	}{
		{nexus.Finding{Message: "undefined: x"}, "undefined: x"},
		{nexus.Finding{File: "a.go", Message: "b"}, "a.go: b"},
		{nexus.Finding{File: "p/a_test.go", Line: 3, Test: "p.TestA", Message: "a_test.go:3: got 1"}, "p/a_test.go:3: p.TestA: got 1"},
		{nexus.Finding{File: "p/a_test.go", Line: 3, Test: "p.TestA", Message: "a_test.go:3:\n  have: 1\n  want: 2"}, "p/a_test.go:3: p.TestA: have: 1"},
	} {
		if got := view.FindingText(tt.f); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
