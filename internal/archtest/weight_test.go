package archtest

import (
	"cmp"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What the program may weigh.
const (
	maxLinked = 200        // packages in it that are neither ours nor the standard library's
	maxSize   = 45_000_000 // bytes, stripped
	maxMade   = 5200       // what packages allocate at the start of each process, whichever command it runs
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
		for _, not := range []string{"github.com/google/go-cmp", "google.golang.org/", "github.com/openai/", "github.com/anthropics/", "github.com/coder/"} {
			if strings.HasPrefix(path, not) {
				t.Errorf("the program links %s", path)
			}
		}
	}
	if len(others) > maxLinked || len(others) < 20 {
		t.Errorf("the program links %d packages of others, want at most %d", len(others), maxLinked)
	}
}

// TestSize builds the program as a release has it, and counts what its packages
// allocate before it begins: each start of Nexus pays for that, in a sandbox, too.
func TestSize(t *testing.T) {
	to := filepath.Join(t.TempDir(), "nexus")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", to, program)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
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
	start := exec.CommandContext(t.Context(), to, "version")
	start.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := start.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	countInits(t, string(out))
}

// initLine is a line of GODEBUG=inittrace=1.
var initLine = regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) allocs$`)

func countInits(t *testing.T, trace string) {
	t.Helper()
	lines := initLine.FindAllStringSubmatch(trace, -1)
	if len(lines) < 20 {
		t.Fatalf("no trace of inits: %.1000s", trace)
	}
	sum := 0
	made := map[string]int{}
	for _, l := range lines {
		n, err := strconv.Atoi(l[2])
		if err != nil {
			t.Fatal(err)
		}
		sum += n
		made[l[1]] += n
	}
	most := slices.SortedFunc(maps.Keys(made), func(a, b string) int { return cmp.Compare(made[b], made[a]) })
	t.Logf("%d allocations in %d packages", sum, len(made))
	if sum > maxMade {
		t.Errorf("packages make %d allocations before the program begins, want at most %d: what is not always needed waits in pattern.Lazy or pattern.Once", sum, maxMade)
		for _, name := range most[:10] {
			t.Logf("%5d %s", made[name], name)
		}
	}
}
