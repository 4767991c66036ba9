package pattern_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

func TestLazy(t *testing.T) {
	number := pattern.LazyRegexp(`^\d+$`)
	if again := number(); number() != again || !number().MatchString("12") || number().MatchString("x") {
		t.Error(number())
	}
	broken := pattern.LazyRegexp(`(`) // nothing happens until it is used
	defer func() {
		if recover() == nil {
			t.Error("a text that is no pattern matches something")
		}
	}()
	broken()
}

func TestOnce(t *testing.T) {
	made := 0
	number := pattern.OnceValue(func() *int { made++; n := 6 * 7; return &n })
	if made != 0 {
		t.Error("it is made before anybody asks")
	}
	if first := number(); *first != 42 || first != number() || made != 1 {
		t.Errorf("%d, made %d times", *first, made)
	}
}
