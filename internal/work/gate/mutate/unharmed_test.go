package mutate_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// baseline is what the tests of a package do without a fault that is awake.
type baseline struct {
	took time.Duration // negative where they are not asked
	skip string        // matches the tests that fail all the same
}

// unharmed builds the tests of a package and runs them without a fault. Tests
// that fail are left out, such as those that read the text of files with faults
// in them; the others are still asked.
func (p *project) unharmed(ctx context.Context, t *testing.T, pkg string) baseline {
	t.Helper()
	if p.built(ctx, pkg) {
		var red []string
		for {
			skip := ""
			if len(red) > 0 {
				skip = "^(" + strings.Join(red, "|") + ")$"
			}
			start := time.Now()
			out := p.run(ctx, pkg, "", 10*time.Minute, "-test.skip="+skip)
			if out == "" {
				return baseline{time.Since(start), skip}
			}
			found := failed(out)
			if len(found) == 0 || slices.Contains(red, found[0]) {
				break
			}
			red = append(red, found...)
			say(t, "left out: %s of %s, red without a fault that is awake", strings.Join(found, ", "), pkg)
		}
	}
	say(t, "not asked: the tests of %s are red or do not build without a fault that is awake", pkg)
	return baseline{took: -1}
}

// failed returns the tests that a test program says failed, without their
// subtests.
func failed(out string) []string {
	var all []string
	for _, found := range regexp.MustCompile(`(?m)^--- FAIL: (\w+)`).FindAllStringSubmatch(out, -1) {
		all = append(all, found[1])
	}
	return all
}

// TestUnharmed holds that a test that is red without a fault is left out, one
// that ends the program, too, and that the others are asked.
func TestUnharmed(t *testing.T) {
	p := project{dir: t.TempDir(), bin: t.TempDir(), rooms: []room{{ImportPath: "example.com/m"}}}
	p.rooms[0].Dir = p.dir
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"m_test.go": `package m

import ("os"; "testing")

func TestText(t *testing.T) { t.Run("part", func(t *testing.T) { t.Fatal("the text is another") }) }

func TestTextToo(t *testing.T) { panic("the text is another") }

func TestFault(t *testing.T) {
	if os.Getenv("PLANTED_FAULT") != "" {
		t.Error("noticed")
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	base := p.unharmed(t.Context(), t, "example.com/m")
	if want := "^(TestText|TestTextToo)$"; base.skip != want || base.took < 0 {
		t.Fatalf("left out is %q after %v, want %q", base.skip, base.took, want)
	}
	if out := p.run(t.Context(), "example.com/m", "1", time.Minute, "-test.skip="+base.skip); !slices.Equal(failed(out), []string{"TestFault"}) {
		t.Errorf("with a fault:\n%s", out)
	}
}
