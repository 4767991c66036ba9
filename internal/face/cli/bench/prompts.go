package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

func promptsCommand(a *console.Console) *cobra.Command {
	c := a.Command("prompts", "measure the parts of prompts, and which are used", func(ctx context.Context, _ []string) error {
		p, err := measurePrompts(ctx, a)
		if err != nil {
			return err
		}
		return a.Answer(p, func(s view.OutputStyle) string { return drawPrompts(s, p) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeInterrupted)
	a.JSONFlag(c)
	return c
}

// PromptFigures is the JSON output of `bench prompts`.
type PromptFigures struct {
	Tasks    int          `json:"tasks"`
	Sessions int          `json:"sessions"`
	Requests int          `json:"requests"`
	Input    int64        `json:"input_tokens"` // of all requests together, estimated
	Cached   float64      `json:"cached"`       // share of the input that repeats the start of an earlier request
	Parts    []SectionUse `json:"sections"`     // the largest first
}

// SectionUse is a section of a role's prompts.
type SectionUse struct {
	Role     string  `json:"role"`
	Section  string  `json:"section"`
	Sessions int     `json:"sessions"` // sessions that received it
	Tokens   int64   `json:"tokens"`   // on average, each time that it was written
	Share    float64 `json:"share"`    // of all input, as it is sent again with every request
	Used     int     `json:"used"`     // sessions in which a later call named one of its names
	Names    int     `json:"names"`    // paths, commands and identifiers in it, on average
	NamedBy  float64 `json:"named_by"` // average number of those that later calls named
}

// measurePrompts lets a run do the tasks of the sample with a scripted model, and analyses the
// requests.
func measurePrompts(ctx context.Context, a *console.Console) (p PromptFigures, err error) {
	exe, err := os.Executable()
	if err != nil {
		return p, err
	}
	if exe, err = findNexus(exe, ""); err != nil {
		return p, err
	}
	home, err := os.MkdirTemp("", "nexus-bench-")
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	repo := filepath.Join(home, "shop")
	if err := sampleShop(repo); err != nil {
		return p, err
	}
	if err := git.CreateRepo(ctx, repo, git.CommitIdentity{Name: "Ada", Email: "ada@example.com"}, "Begin"); err != nil {
		return p, err
	}
	s, stop, err := llmtest.StartServer(ctx, shopScript(), llmtest.Options{Bodies: true})
	if err != nil {
		return p, err
	}
	defer stop()
	b := benchmarkSetup{app: a}
	e, err := runProcess(ctx, a.Now, repo, b.processEnv(home, s.URL(), "off"), exe, "run", "Let the modules of the shop do what their names say", "--headless", "--parallel", "1")
	if err != nil {
		return p, err
	}
	if e.exit != 0 {
		return p, &nexus.Error{
			Code: nexus.CodeInternal, Message: fmt.Sprintf("the run of the sample ended with code %d", e.exit),
			Hint: view.EscapeLinesForTerminal(string(e.out)),
		}
	}
	return sumRequests(s.Requests()), nil
}

// sumRequests summarises the logged requests.
func sumRequests(seen []llmtest.LoggedRequest) PromptFigures {
	p := PromptFigures{Tasks: len(sampleTasks())}
	talks := map[string][]llmtest.LoggedRequest{}
	bytes, kept := 0, 0
	for _, q := range seen {
		p.Requests++
		bytes += q.Prompt
		kept += min(q.Kept, q.Prompt)
		talks[q.Conversation] = append(talks[q.Conversation], q)
	}
	p.Sessions, p.Input = len(talks), int64(bytes)/3
	p.Cached = float64(kept) / float64(max(1, bytes))
	sums := map[[2]string]*sectionSum{}
	for _, name := range slices.Sorted(maps.Keys(talks)) {
		sumConversation(name, talks[name], sums)
	}
	for key, s := range sums {
		p.Parts = append(p.Parts, SectionUse{
			Role: key[0], Section: key[1], Sessions: s.sessions, Tokens: s.tokens / int64(s.written), Share: float64(s.sent) / float64(max(1, p.Input)),
			Used: s.used, Names: s.names / s.written, NamedBy: float64(s.named) / float64(s.written),
		})
	}
	slices.SortStableFunc(p.Parts, func(x, y SectionUse) int {
		return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(x.Role, y.Role), cmp.Compare(x.Section, y.Section))
	})
	return p
}

// sectionSum is the running total of a section.
type sectionSum struct {
	sessions, written, used, names, named int
	tokens, sent                          int64 // sent counts every request
}

// loggedConversation is one conversation.
type loggedConversation struct {
	role     string
	seen     []llmtest.LoggedRequest
	messages []gjson.Result // of its last request
	inputs   []string       // of calls, by message
	sums     map[[2]string]*sectionSum
	shown    map[string]bool // by section: whether it was used
}

// sumConversation adds the requests of one conversation.
func sumConversation(name string, seen []llmtest.LoggedRequest, sums map[[2]string]*sectionSum) {
	_, role, _ := strings.Cut(name, "/")
	role, _, _ = strings.Cut(role, ".")
	last := seen[len(seen)-1].Body
	t := loggedConversation{role: role, seen: seen, messages: gjson.GetBytes(last, "messages").Array(), sums: sums, shown: map[string]bool{}}
	for _, m := range t.messages {
		t.inputs = append(t.inputs, callInputs(m))
	}
	t.addSection(0, "tools", gjson.GetBytes(last, "tools").Raw)
	system := ""
	for _, part := range gjson.GetBytes(last, "system").Array() {
		system += part.Get("text").String()
	}
	for i, part := range splitSections(system) {
		t.addSection(0, "system: "+cmp.Or(part.title, map[bool]string{true: "role"}[i == 0], "rest"), part.text)
	}
	for i, m := range t.messages {
		t.addMessage(i, m)
	}
}

// callInputs returns the inputs of a message's calls.
func callInputs(m gjson.Result) string {
	text := ""
	for _, c := range m.Get("content").Array() {
		if c.Get("type").String() == "tool_use" {
			c.Get("input").ForEach(func(_, v gjson.Result) bool { text += v.String() + "\n"; return true })
		}
	}
	return text
}

// addMessage adds one message of the conversation.
func (t loggedConversation) addMessage(i int, m gjson.Result) {
	if m.Get("role").String() != "user" {
		t.addSection(i, "answers of the model", m.Get("content").Raw)
		return
	}
	kind := "brief: "
	if i > 0 {
		kind = "later: "
	}
	for _, c := range m.Get("content").Array() {
		if c.Get("type").String() != "text" {
			t.addSection(i, "results of tools", c.Raw)
			continue
		}
		for _, part := range splitSections(c.Get("text").String()) {
			t.addSection(i, kind+cmp.Or(part.title, "head"), part.text)
		}
	}
}

// addSection adds a section of a message, with the later calls that named one of its names.
func (t loggedConversation) addSection(at int, title, text string) {
	key := [2]string{t.role, title}
	if t.sums[key] == nil {
		t.sums[key] = &sectionSum{}
	}
	s := t.sums[key]
	times := 0 // requests that contained it
	for _, q := range t.seen {
		if len(gjson.GetBytes(q.Body, "messages").Array()) > at {
			times++
		}
	}
	later := strings.Join(t.inputs[min(at, len(t.inputs)):], "\n")
	refs := nameableWords(text)
	hits := len(refs) - len(slices.DeleteFunc(slices.Clone(refs), func(r string) bool { return strings.Contains(later, r) }))
	n := prompt.EstimateTokens(text)
	s.written, s.tokens, s.sent, s.names, s.named = s.written+1, s.tokens+n, s.sent+n*int64(times), s.names+len(refs), s.named+hits
	if !t.shown[title] {
		s.sessions++
	}
	if used := title + " used"; hits > 0 && !t.shown[used] {
		s.used++
		t.shown[used] = true
	}
	t.shown[title] = true
}

// textSection is a section of a text.
type textSection struct{ title, text string }

// splitSections splits a text at its headings, except those within code fences. Digits in a heading
// are dropped.
func splitSections(text string) []textSection {
	figures := regexp.MustCompile(` \(\d+\)$|, lines \d+ to \d+$`)
	parts := []textSection{{}}
	fence := ""
	for line := range strings.Lines(text) {
		mark := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(mark) >= 3:
			fence = mark
		case fence != "" && strings.TrimSpace(line) == fence:
			fence = ""
		case fence == "" && strings.HasPrefix(line, "## "):
			parts = append(parts, textSection{title: figures.ReplaceAllString(strings.TrimSpace(line[3:]), "")})
		}
		parts[len(parts)-1].text += line
	}
	return slices.DeleteFunc(parts, func(p textSection) bool { return strings.TrimSpace(p.text) == "" })
}

// nameableWords returns the names in a text that a call can also contain: paths, commands and identifiers
// of two words.
func nameableWords(text string) []string {
	all := map[string]bool{}
	for _, form := range []string{"`([^`\n]{3,80})`", `\b[\w-]+(?:/[\w.-]+)+\b`, `\b\w+\.(?:py|sh|md|toml)\b`, `\b[a-z]+_[a-z_]+\b`} {
		for _, m := range regexp.MustCompile(form).FindAllStringSubmatch(text, -1) {
			all[m[len(m)-1]] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func drawPrompts(s view.OutputStyle, p PromptFigures) string {
	var rows [][]string
	for _, x := range p.Parts {
		rows = append(rows, []string{
			x.Role, x.Section, fmt.Sprint(x.Sessions), view.FormatNumber(x.Tokens), fmt.Sprintf("%.1f %%", 100*x.Share),
			fmt.Sprintf("%d of %d", x.Used, x.Sessions), fmt.Sprintf("%.1f of %d", x.NamedBy, x.Names),
		})
	}
	return fmt.Sprintf("%d tasks, %s, %s: %s tokens of input, %.1f %% of them read from the cache.\n\n", p.Tasks, view.CountWithNoun(p.Sessions, "session"),
		view.CountWithNoun(p.Requests, "request"), view.FormatNumber(p.Input), 100*p.Cached) +
		view.DrawTable(s, []string{"role", "section", "sessions", "tokens", "of all input", "used in", "names used"}, rows)
}
