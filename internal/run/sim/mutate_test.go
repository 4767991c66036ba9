package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// mutation is a bug that is planted in the engine.
type mutation struct {
	name     string
	breaks   string
	file     string // relative to the module
	old, new string
}

// TestMutations plants each bug of mutations/, one at a time, and requires
// that the simulator finds it, in a night; NEXUS_MUTATE has a part of a name,
// or 1 for all, by day. NEXUS_SIM_SEEDS says how many seeds a bug may survive.
//
// The bug is laid over the module for one build; nothing is written to it.
func TestMutations(t *testing.T) {
	which := os.Getenv("NEXUS_MUTATE")
	if which == "" && testenv.RunsNightly() {
		which = "1"
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	all := mutations(t, root)
	if len(all) < 20 {
		t.Errorf("there are only %d mutations", len(all))
	}
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(root, m.file))
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(data, []byte(m.old)); n != 1 {
				t.Fatalf("%s has the old text %d times: the mutation is out of date", m.file, n)
			}
			if which == "" || which != "1" && !strings.Contains(m.name, which) {
				return // it still applies; whether it is found is tried at night
			}
			plant(t, root, m, bytes.Replace(data, []byte(m.old), []byte(m.new), 1))
		})
	}
}

// plant runs the simulator on the broken engine.
func plant(t *testing.T, root string, m mutation, broken []byte) {
	t.Helper()
	dir := t.TempDir()
	replaced, overlay := filepath.Join(dir, "broken.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(replaced, broken, 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, m.file): replaced}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Minute, fmt.Errorf("the simulator hangs"))
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-run", "TestChaos$|TestOvershoot$", "-count=1", "./internal/run/sim")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), fmt.Sprintf("NEXUS_SIM_SEEDS=%d", number(t, "NEXUS_SIM_SEEDS", 10000)), "NEXUS_MUTATE=")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("nobody notices: %s", m.breaks)
		return
	}
	found := regexp.MustCompile(`# seed (\d+): (.*)`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("the simulator did not say what it found:\n%.3000s", out)
	}
	t.Logf("found by seed %s: %s", found[1], found[2])
}

// mutations reads the list.
func mutations(t *testing.T, root string) []mutation {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "internal/run/sim/mutations/*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all []mutation
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, ok := strings.Cut(string(data), "\n--- old\n")
		before, after, more := strings.Cut(rest, "\n--- new\n")
		where, breaks, said := strings.Cut(head, "\n")
		if !ok || !more || !said {
			t.Fatalf("%s is not a mutation", file)
		}
		all = append(all, mutation{
			name: strings.TrimSuffix(filepath.Base(file), ".txt"), breaks: breaks,
			file: where, old: before, new: strings.TrimSuffix(after, "\n"),
		})
	}
	return all
}
