package state_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestWhatFactsChange plays the tapes in testdata/facts. Below each fact they
// tell, indented, what it changes. A line "view T1" tells what a worker of the
// task is given then. With -update both are written anew.
func TestWhatFactsChange(t *testing.T) {
	files, err := filepath.Glob("testdata/facts/*.tape")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := told(t, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(text), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// told returns a tape with what each of its facts changes.
func told(t *testing.T, tape string) string {
	t.Helper()
	s, at, out := state.NewState("r"), eventtapetest.TapeStartTime(), strings.Builder{}
	was := flattened(t, dumped(t, s))
	for line := range strings.SplitSeq(strings.TrimSuffix(tape, "\n"), "\n") {
		if strings.HasPrefix(line, "\t") {
			continue
		}
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if of, ok := strings.CutPrefix(line, "view "); ok {
			v := s.WorkerView(nexus.TaskID(strings.Trim(of, `"`)))
			v.Goal, v.Limits = nexus.GoalAccepted{}, nexus.Limits{}
			given := flattened(t, v)
			for _, name := range slices.Sorted(maps.Keys(given)) {
				fmt.Fprintf(&out, "\t%s = %s\n", name, given[name])
			}
			continue
		}
		at = at.Add(time.Second)
		f, err := eventtapetest.ParseFact(line)
		if err == nil {
			err = s.Apply(nexus.Event{Seq: s.Seq + 1, Run: "r", At: at, Fact: f})
		}
		if err != nil {
			fmt.Fprintf(&out, "\trefused: %v\n", err)
			continue
		}
		now := flattened(t, dumped(t, s))
		names := maps.Clone(was)
		maps.Copy(names, now)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			switch before, after := was[name], now[name]; {
			case before == after:
			case after == "":
				fmt.Fprintf(&out, "\t%s is gone, was %s\n", name, before)
			default:
				fmt.Fprintf(&out, "\t%s = %s\n", name, after)
			}
		}
		was = now
	}
	return out.String()
}

// dumped is the state with what its caps are at: what all runs spent today, and
// whether a dollar more would be refused.
func dumped(t *testing.T, s *state.State) any {
	t.Helper()
	text, err := s.DumpJSON()
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	day, others := s.Ledger.OthersSpent()
	all["Caps"] = map[string]any{"Limit": s.Ledger.RunLimit(), "Pressure": s.Ledger.SpendingPressure(), "Day": day, "Others": others}
	return all
}

// flattened returns what is not zero in a value by its path. An attempt or a
// session, and in a view the plan, is there in full once, and elsewhere with its name;
// what changes with every fact is left out.
func flattened(t *testing.T, of any) map[string]string {
	t.Helper()
	data, err := json.Marshal(of)
	var v any
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			id, _ := v["ID"].(string)
			_, attempt := v["Stage"]
			if attempt && strings.HasPrefix(path, "State.") {
				all[path] = id
				return
			}
			if strings.HasPrefix(path, "Sessions.") {
				all[path] = fmt.Sprint(v["role"])
				return
			}
			if strings.HasPrefix(path, "Tasks.") {
				all[path] = "planned"
				return
			}
			for name, x := range v {
				walk(strings.TrimPrefix(path+"."+name, "."), x)
			}
		case []any:
			for i, x := range v {
				name := fmt.Sprint(i)
				for _, field := range []string{"ID", "id", "Session"} {
					if m, ok := x.(map[string]any); ok && m[field] != nil {
						name = fmt.Sprint(m[field])
					}
				}
				walk(path+"."+name, x)
			}
		case nil:
		default:
			if text := fmt.Sprint(v); text != "" && text != "0" && text != "false" && text != "0001-01-01T00:00:00Z" {
				all[path] = strings.ReplaceAll(strings.TrimPrefix(text, "2026-01-01T"), "\x00", " ")
			}
		}
	}
	walk("", v)
	for _, name := range []string{"State.Seq", "State.Updated", "State.Run", "Heard", "Run"} {
		delete(all, name)
	}
	return all
}
