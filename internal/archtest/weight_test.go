package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What the program may weigh.
const (
	maxLinked = 400         // packages in it that are neither ours nor the standard library's
	maxSize   = 100_000_000 // bytes, stripped: an alarm
)

const program = "../../cmd/nexus"

// TestLinked counts what the program links, and names what it must not.
func TestLinked(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	for _, path := range strings.Fields(string(out)) {
		if !strings.HasPrefix(path, strings.TrimSuffix(internal, "internal/")) {
			others = append(others, path)
		}
		for _, not := range []string{"github.com/google/go-cmp", "google.golang.org/genai", "github.com/openai/", "github.com/anthropics/", "github.com/coder/"} {
			if strings.HasPrefix(path, not) {
				t.Errorf("the program links %s", path)
			}
		}
	}
	if len(others) > maxLinked || len(others) < 20 {
		t.Errorf("the program links %d packages of others, want at most %d", len(others), maxLinked)
	}
}

// TestSize builds the program as a release has it. The bound is an alarm: it never
// shapes code.
func TestSize(t *testing.T) {
	to := filepath.Join(t.TempDir(), "nexus")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", to, program)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(to)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxSize {
		t.Errorf("the program has %d bytes, want at most %d: go tool nm -size -sort size shows what is new", info.Size(), maxSize)
	}
}
