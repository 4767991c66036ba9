package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

var update = flag.Bool("update", false, "write the table of docs/agents.md")

// cells reads from the journal what is shown for the program. What has to be so for
// each of them, and is not, is an error.
func (s *stage) cells(m maker) (string, error) {
	all := s.happenings()
	count := func(kind string, texts ...string) (n int) {
		for _, e := range all {
			if fits(e, append([]string{kind}, texts...)) {
				n++
			}
		}
		return n
	}
	var wrong []error
	cell := func(column string, names ...string) string {
		if seen := cmp.Or(names...); seen != "" {
			return seen
		}
		wrong = append(wrong, errors.New(column+": not seen"))
		return ""
	}
	when := func(is bool, name string) string {
		if is {
			return name
		}
		return ""
	}
	for _, e := range all { // telemetry, updates
		if f, ok := e.Fact.(nexus.NetworkRequestsRecorded); ok {
			for _, h := range f.Hosts {
				if !h.Allowed && h.Host != m.refused {
					wrong = append(wrong, fmt.Errorf("%s wants to reach %s", f.Session, h.Host))
				}
			}
		}
	}
	landed := count("train.landed")
	limited := slices.ContainsFunc(s.server.Requests(), func(q llmtest.LoggedRequest) bool {
		return q.Fault == llmtest.RateLimit && q.Conversation == "T3.1/coder.1"
	})
	cells := []string{
		m.row(), m.version(s.t),
		cell("run", when(landed == 3 && count("run.ended", `"done"`) == 1, "3 tasks landed")),
		cell("resume", when(count("run.recovered") == 1 && count("agent.opened", `"T2.1/coder.1"`, `"resumed":true`) == 1, "in its conversation"),
			when(m.plain && count("run.recovered") == 1 && count("agent.ended", `"T2.1/coder.1"`) == 1, "in a new conversation")),
		cell("denied permission",
			when(count("tool.answered", `"T3.1/coder.1"`, `"rule":"git.shared"`, `"refused":true`) == 1, "asks; the policy denies"),
			when(count("tool.answered", `"T3.1/coder.1"`, filepath.Join(s.repo, "outside")+": No such file or directory") == 1, "the sandbox denies"),
			when(count("tool.answered", `"T3.1/coder.1"`, `"failed":true`) == 1, "the sandbox denies"),
			when(m.plain && s.isAbsent("outside"), "the sandbox denies")),
		cell("wrong patch", when(count("round.started", `"cause":"build"`) == 1 && count("agent.opened", `"T1.1/coder.1"`, `"resumed":true`) == 1, "repaired in its conversation")),
		cell("rate limit",
			when(limited && count("quota.hit") == 1, "Nexus waits"),
			when(limited && count("call.delayed") > 0, "Nexus asks again"),
			when(limited && count("agent.ended", `"T3.1/coder.1"`) > 0 && count("agent.ended", `"fault":"quota"`) == 0, "it asks again")),
		cell("asks people",
			when(m.answer == "" && m.acp == "", "no"),
			when(m.answer == "", "not tried"),
			when(count("question.answered") == 1 && count("question.answered", `"by":"fallback"`) == 0 && count("tool.answered", `"T3.1/coder.1"`, "Blue") == 1, "gets the answer")),
		cell("cost", cost(all), when(m.uncounted && count("agent.ended", `"usage"`) == 0, "no")),
	}
	return "| " + strings.Join(cells, " | ") + " |", errors.Join(wrong...)
}

// isAbsent reports whether the repository has no such file.
func (s *stage) isAbsent(name string) bool {
	_, err := os.Lstat(filepath.Join(s.repo, name))
	return errors.Is(err, fs.ErrNotExist)
}

// cost says how the program counts what it used, if it does so for every prompt that
// was not killed.
func cost(all []nexus.Event) string {
	dollars, tokens := 0, 0
	for _, e := range all {
		f, ok := e.Fact.(nexus.BudgetSettled)
		switch {
		case !ok || f.Usage.TotalTokens() == 0:
		case f.Money <= 0 || f.Money >= nexus.Dollar: // what is set aside is two
			return ""
		case f.Estimated:
			tokens++
		default:
			dollars++
		}
	}
	switch {
	case dollars >= 8 && tokens == 0:
		return "dollars"
	case tokens >= 8 && dollars == 0:
		return "tokens"
	}
	return ""
}

// agentTable is the table of docs/agents.md.
type agentTable struct {
	mu   sync.Mutex // guards rows
	rows map[string]string
}

func (a *agentTable) add(name, row string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rows[name] = row
}

// check holds the table against the rows of the programs that were run. With
// -update it writes them.
func (a *agentTable) check(t *testing.T) {
	t.Helper()
	const page, begin, end = "../../docs/agents.md", "<!-- written by TestAgentPrograms -->\n", "<!-- end -->\n"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	table := "| agent | version | run | resume after kill -9 | denied permission | wrong patch | rate limit | asks people | cost reported |\n" + strings.Repeat("|---", 9) + "|\n"
	var names []string
	for _, p := range agentcli.KnownPrograms() {
		names = append(names, p.Name)
	}
	for _, p := range agentcli.KnownPrograms() {
		if over := p.WithProtocol("acp"); p.Speaks == "acp" || over.Command != p.Command || !slices.Equal(over.Args, p.Args) {
			names = append(names, p.Name+" over ACP")
		}
	}
	for _, name := range names {
		row := a.rows[name]
		for line := range strings.Lines(old) {
			if row == "" && strings.HasPrefix(line, "| "+name+" | ") {
				row = strings.TrimSuffix(line, "\n")
			}
		}
		if row == "" {
			row = "| " + name + strings.Repeat(" | not run", 8) + " |"
		}
		table += row + "\n"
	}
	switch {
	case table == old:
	case *update:
		if err := os.WriteFile(page, []byte(before+begin+table+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what was seen (-update writes it):\n%s", page, table)
	}
}
