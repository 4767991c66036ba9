package risk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// Overlap is a place where two tasks of a plan meet, and no text says what exactly both
// rely on.
type Overlap struct {
	Task  nexus.TaskID // that relies on it
	Other nexus.TaskID // that makes it
	Text  string
}

// HowTo is what is done about a meeting.
const HowTo = "name the interface, the schema or the format with its exact form in a criterion or the brief of the one that comes first, " +
	"and the same name in the other"

// Overlaps lists where tasks meet and no contract is fixed first: one relies on the
// interface or the data of another (a tie api or schema), and they have no name in common,
// nor has a task that both wait for; or one names what another says that it makes, and
// does not wait for it. It goes by what the texts say, and refuses nothing.
func Overlaps(tasks []nexus.Task) []Overlap {
	at := map[nexus.TaskID]int{}
	names, made := make([][]string, len(tasks)), make([][]string, len(tasks))
	for i, t := range tasks {
		at[t.ID] = i
		names[i], made[i] = namesIn(t), madeIn(t)
	}
	before := ancestors(tasks, at)
	var all []Overlap
	for i, t := range tasks {
		for _, id := range t.After() {
			j, ok := at[id]
			if tie := t.Ties[id]; ok && j != i && (tie == nexus.TieAPI || tie == nexus.TieSchema) && !shares(names, i, j, before) {
				text := fmt.Sprintf("it relies on what %s makes (%s), and no name is in both: the contract is open", id, tie)
				all = append(all, Overlap{t.ID, id, text})
			}
		}
		for j, o := range tasks {
			if j == i || before[i][j] || before[j][i] {
				continue
			}
			for _, name := range made[j] {
				if slices.Contains(names[i], name) && !slices.Contains(made[i], name) && !fixed(name, names, i, j, before) {
					all = append(all, Overlap{t.ID, o.ID, fmt.Sprintf("it names %s, which %s makes, and does not wait for it", name, o.ID)})
					break
				}
			}
		}
	}
	return all
}

// ancestors returns for each task those that must have ended before it starts. A
// plan with a circle has none of those in it.
func ancestors(tasks []nexus.Task, at map[nexus.TaskID]int) []map[int]bool {
	all := make([]map[int]bool, len(tasks))
	var of func(i int) map[int]bool
	of = func(i int) map[int]bool {
		if all[i] != nil {
			return all[i]
		}
		all[i] = map[int]bool{}
		for _, id := range tasks[i].After() {
			j, ok := at[id]
			if !ok || j == i {
				continue
			}
			all[i][j] = true
			for k := range of(j) {
				all[i][k] = true
			}
		}
		return all[i]
	}
	for i := range tasks {
		of(i)
	}
	return all
}

// shares reports whether two tasks have a name in common, or both with one that both wait for.
func shares(names [][]string, i, j int, before []map[int]bool) bool {
	common := func(a, b int) bool {
		return slices.ContainsFunc(names[a], func(n string) bool { return slices.Contains(names[b], n) })
	}
	if common(i, j) {
		return true
	}
	for k := range before[i] {
		if before[j][k] && common(i, k) && common(j, k) {
			return true
		}
	}
	return false
}

// fixed reports whether a task that both wait for says a name.
func fixed(name string, names [][]string, i, j int, before []map[int]bool) bool {
	for k := range before[i] {
		if before[j][k] && slices.Contains(names[k], name) {
			return true
		}
	}
	return false
}

var (
	// exact is how a text names something of the code: between backquotes, as a call, in mixed case,
	// with an underscore, or as a path that is served.
	exact = pattern.Lazy("`([^`\n]{2,80})`" +
		`|\b([A-Za-z_]\w*(?:\.\w+)*)\(|\b([A-Z][a-z0-9]+[A-Z]\w*|[a-z][a-z0-9]*[A-Z]\w*|[A-Za-z0-9]+_\w+)\b` +
		`|(?:^|\s)((?:GET|POST|PUT|PATCH|DELETE) )?(/[a-z][\w{}:.-]*(?:/[\w{}:.-]+)*)`)
	// word is a capitalised word within a sentence, which may be a name, too, or one with a dot.
	word = pattern.Lazy(`(?:[a-z0-9,;:(] )([A-Z]\w+)\b|\b([\w-]+(?:\.[\w-]+)+)\b`)
	// making stands before the name of what a task makes.
	making = pattern.Lazy(`(?i)\b(?:adds?|creates?|defines?|introduces?|implements?|exports?|provides?|makes?)\s+` +
		`(?:(?:an?|the|new|function|method|type|interface|endpoint|table|class|struct|route|handler|command|constant|called|named)\s+){0,4}$`)
)

func textOf(t nexus.Task) string {
	parts := []string{t.Title, t.Brief}
	for _, c := range t.Criteria {
		parts = append(parts, c.Text, c.Check)
	}
	return strings.Join(parts, "\n")
}

// namesIn returns what a task names: exactly, or by a word or a file.
func namesIn(t nexus.Task) []string {
	text := textOf(t)
	var all []string
	for _, m := range exact().FindAllStringSubmatch(text, -1) {
		all = append(all, nameOf(m))
	}
	for _, m := range word().FindAllStringSubmatch(text, -1) {
		all = append(all, m[1]+m[2])
	}
	return distinct(append(all, t.Files...))
}

// madeIn returns the exact names of what a task says that it makes.
func madeIn(t nexus.Task) []string {
	text := textOf(t)
	var all []string
	for _, at := range exact().FindAllStringSubmatchIndex(text, -1) {
		m := make([]string, len(at)/2)
		for i := range m {
			if at[2*i] >= 0 {
				m[i] = text[at[2*i]:at[2*i+1]]
			}
		}
		if name := nameOf(m); making().MatchString(text[max(0, at[0]-80):at[0]]+leading(m[0])) && !slices.Contains(products(), name) {
			all = append(all, name)
		}
	}
	return distinct(all)
}

// products are names in mixed case that are nothing of the code that a plan is about.
func products() []string {
	return []string{
		"GitHub", "GitLab", "JavaScript", "TypeScript", "GraphQL", "OpenAPI", "PostgreSQL", "MySQL", "SQLite",
		"NodeJS", "OAuth", "YouTube", "LinkedIn", "PayPal", "WebSocket", "JetBrains", "macOS", "iOS",
	}
}

// leading returns the blank that a match begins with.
func leading(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, " \t\n"))]
}

// nameOf is the name of a match of [exact], without what it is called with.
func nameOf(m []string) string {
	name := m[1] + m[2] + m[3] + m[5]
	if at := strings.IndexByte(name, '('); at > 0 {
		name = name[:at]
	}
	return strings.TrimRight(strings.TrimSpace(name), ".:-")
}

// OpenOverlaps are the [Overlaps] of a plan that is not too large to look at all pairs.
func OpenOverlaps(tasks []nexus.Task) []Overlap {
	if len(tasks) > mostMeet {
		return nil
	}
	return Overlaps(tasks)
}

// distinct returns the words that are not blank, each once.
func distinct(words []string) []string {
	var all []string
	for _, w := range words {
		if w = strings.TrimSpace(w); w != "" && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}
