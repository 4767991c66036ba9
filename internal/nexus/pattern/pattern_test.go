package pattern_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

func TestLazy(t *testing.T) {
	number := pattern.Lazy(`^\d+$`)
	if again := number(); number() != again || !number().MatchString("12") || number().MatchString("x") {
		t.Error(number())
	}
	broken := pattern.Lazy(`(`) // nothing happens until it is used
	defer func() {
		if recover() == nil {
			t.Error("a text that is no pattern matches something")
		}
	}()
	broken()
}
