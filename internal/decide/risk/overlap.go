package risk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// Overlap is a part that two tasks of a plan share and that no text defines exactly.
type Overlap struct {
	Task  nexus.TaskID // the task that uses it
	Other nexus.TaskID // the task that creates it
	Text  string
}

// HowTo is the remedy for an overlap.
const HowTo = "name the interface, the schema or the format with its exact form in a criterion or the brief of the one that comes first, " +
	"and the same name in the other"

// Overlaps returns the overlaps of tasks without a defined contract: one task uses the
// interface or the data of another (a tie api or schema), and they have no name in common,
// nor with a task that both wait for; or one names a thing that another says it creates, and
// does not wait for it. It uses the texts alone, and refuses nothing.
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

// ancestors returns for each task the tasks that must have ended before it starts. Tasks in a
// cycle have none.
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

// shares reports whether two tasks have a name in common, or each has one in common with a
// task that both wait for.
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

// fixed reports whether a task that both wait for contains a name.
func fixed(name string, names [][]string, i, j int, before []map[int]bool) bool {
	for k := range before[i] {
		if before[j][k] && slices.Contains(names[k], name) {
			return true
		}
	}
	return false
}

var (
	// exact matches how a text names code: between backquotes, as a call, in mixed case, with
	// an underscore, or as a served path.
	exact = pattern.Lazy("`([^`\n]{2,80})`" +
		`|\b([A-Za-z_]\w*(?:\.\w+)*)\(|\b([A-Z][a-z0-9]+[A-Z]\w*|[a-z][a-z0-9]*[A-Z]\w*|[A-Za-z0-9]+_\w+)\b` +
		`|(?:^|\s)((?:GET|POST|PUT|PATCH|DELETE) )?(/[a-z][\w{}:.-]*(?:/[\w{}:.-]+)*)`)
	// word matches a capitalized word within a sentence, or one with a dot, which may be a
	// name too.
	word = pattern.Lazy(`(?:[a-z0-9,;:(] )([A-Z]\w+)\b|\b([\w-]+(?:\.[\w-]+)+)\b`)
	// making matches the words before the name of a thing that a task creates.
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

// namesIn returns the names in a task: exact names, words and files.
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

// madeIn returns the exact names of things that a task says it creates.
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

// products returns names in mixed case that are not part of a plan's code.
func products() []string {
	return []string{
		"GitHub", "GitLab", "JavaScript", "TypeScript", "GraphQL", "OpenAPI", "PostgreSQL", "MySQL", "SQLite",
		"NodeJS", "OAuth", "YouTube", "LinkedIn", "PayPal", "WebSocket", "JetBrains", "macOS", "iOS",
	}
}

// leading returns the blank at the start of a match.
func leading(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, " \t\n"))]
}

// nameOf returns the name in a match of [exact], without arguments.
func nameOf(m []string) string {
	name := m[1] + m[2] + m[3] + m[5]
	if at := strings.IndexByte(name, '('); at > 0 {
		name = name[:at]
	}
	return strings.TrimRight(strings.TrimSpace(name), ".:-")
}

// OpenOverlaps returns the [Overlaps] of a plan, unless it has too many tasks to compare all
// pairs.
func OpenOverlaps(tasks []nexus.Task) []Overlap {
	if len(tasks) > mostMeet {
		return nil
	}
	return Overlaps(tasks)
}

// distinct returns the words that are not blank, without repetition.
func distinct(words []string) []string {
	var all []string
	for _, w := range words {
		if w = strings.TrimSpace(w); w != "" && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}
