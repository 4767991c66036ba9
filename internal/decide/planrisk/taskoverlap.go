package planrisk

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// UndefinedTaskInterface is a part that two tasks of a plan share and that no text defines exactly.
type UndefinedTaskInterface struct {
	Task  nexus.TaskID // the task that uses it
	Other nexus.TaskID // the task that creates it
	Text  string
}

// HowTo is the remedy for an overlap.
const HowTo = "name the interface, the schema or the format with its exact form in a criterion or the brief of the one that comes first, " +
	"and the same name in the other"

// FindOverlaps returns the overlaps of tasks without a defined contract: one task uses the
// interface or the data of another (a tie api or schema), and they have no name in common,
// nor with a task that both wait for; or one names a thing that another says it creates, and
// does not wait for it. It uses the texts alone, and refuses nothing.
func FindOverlaps(tasks []nexus.Task) []UndefinedTaskInterface {
	at := map[nexus.TaskID]int{}
	names, made := make([][]string, len(tasks)), make([][]string, len(tasks))
	for i, t := range tasks {
		at[t.ID] = i
		names[i], made[i] = mentionedNames(t), producedNames(t)
	}
	before := prerequisitesOf(tasks, at)
	var all []UndefinedTaskInterface
	for i, t := range tasks {
		for _, id := range t.Prerequisites() {
			j, ok := at[id]
			if tie := t.Ties[id]; ok && j != i && (tie == nexus.TieAPI || tie == nexus.TieSchema) && !shareName(names, i, j, before) {
				text := fmt.Sprintf("it relies on what %s makes (%s), and no name is in both: the contract is open", id, tie)
				all = append(all, UndefinedTaskInterface{t.ID, id, text})
			}
		}
		for j, o := range tasks {
			if j == i || before[i][j] || before[j][i] {
				continue
			}
			for _, name := range made[j] {
				if slices.Contains(names[i], name) && !slices.Contains(made[i], name) && !isFixedBefore(name, names, i, j, before) {
					all = append(all, UndefinedTaskInterface{t.ID, o.ID, fmt.Sprintf("it names %s, which %s makes, and does not wait for it", name, o.ID)})
					break
				}
			}
		}
	}
	return all
}

// prerequisitesOf returns for each task the tasks that must have ended before it starts. Tasks in a
// cycle have none.
func prerequisitesOf(tasks []nexus.Task, at map[nexus.TaskID]int) []map[int]bool {
	all := make([]map[int]bool, len(tasks))
	var of func(i int) map[int]bool
	of = func(i int) map[int]bool {
		if all[i] != nil {
			return all[i]
		}
		all[i] = map[int]bool{}
		for _, id := range tasks[i].Prerequisites() {
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

// shareName reports whether two tasks have a name in common, or each has one in common with a
// task that both wait for.
func shareName(names [][]string, i, j int, before []map[int]bool) bool {
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

// isFixedBefore reports whether a task that both wait for contains a name.
func isFixedBefore(name string, names [][]string, i, j int, before []map[int]bool) bool {
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
	exact = regexp.MustCompile("`([^`\n]{2,80})`" +
		`|\b([A-Za-z_]\w*(?:\.\w+)*)\(|\b([A-Z][a-z0-9]+[A-Z]\w*|[a-z][a-z0-9]*[A-Z]\w*|[A-Za-z0-9]+_\w+)\b` +
		`|(?:^|\s)((?:GET|POST|PUT|PATCH|DELETE) )?(/[a-z][\w{}:.-]*(?:/[\w{}:.-]+)*)`)
	// word matches a capitalized word within a sentence, or one with a dot, which may be a
	// name too.
	word = regexp.MustCompile(`(?:[a-z0-9,;:(] )([A-Z]\w+)\b|\b([\w-]+(?:\.[\w-]+)+)\b`)
	// making matches the words before the name of a thing that a task creates.
	making = regexp.MustCompile(`(?i)\b(?:adds?|creates?|defines?|introduces?|implements?|exports?|provides?|makes?)\s+` +
		`(?:(?:an?|the|new|function|method|type|interface|endpoint|table|class|struct|route|handler|command|constant|called|named)\s+){0,4}$`)
)

func taskText(t nexus.Task) string {
	parts := []string{t.Title, t.Brief}
	for _, c := range t.Criteria {
		parts = append(parts, c.Text, c.Check)
	}
	return strings.Join(parts, "\n")
}

// mentionedNames returns the names in a task: exact names, words and files.
func mentionedNames(t nexus.Task) []string {
	text := taskText(t)
	var all []string
	for _, m := range exact.FindAllStringSubmatch(text, -1) {
		all = append(all, matchedName(m))
	}
	for _, m := range word.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1]+m[2])
	}
	return distinctWords(append(all, t.Files...))
}

// producedNames returns the exact names of things that a task says it creates.
func producedNames(t nexus.Task) []string {
	text := taskText(t)
	var all []string
	for _, at := range exact.FindAllStringSubmatchIndex(text, -1) {
		m := make([]string, len(at)/2)
		for i := range m {
			if at[2*i] >= 0 {
				m[i] = text[at[2*i]:at[2*i+1]]
			}
		}
		if name := matchedName(m); making.MatchString(text[max(0, at[0]-80):at[0]]+leadingSpace(m[0])) && !slices.Contains(productNames(), name) {
			all = append(all, name)
		}
	}
	return distinctWords(all)
}

// productNames returns names in mixed case that are not part of a plan's code.
func productNames() []string {
	return []string{
		"GitHub", "GitLab", "JavaScript", "TypeScript", "GraphQL", "OpenAPI", "PostgreSQL", "MySQL", "SQLite",
		"NodeJS", "OAuth", "YouTube", "LinkedIn", "PayPal", "WebSocket", "JetBrains", "macOS", "iOS",
	}
}

// leadingSpace returns the blank at the start of a match.
func leadingSpace(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, " \t\n"))]
}

// matchedName returns the name in a match of [exact], without arguments.
func matchedName(m []string) string {
	name := m[1] + m[2] + m[3] + m[5]
	if at := strings.IndexByte(name, '('); at > 0 {
		name = name[:at]
	}
	return strings.TrimRight(strings.TrimSpace(name), ".:-")
}

// OpenOverlaps returns the [FindOverlaps] of a plan, unless it has too many tasks to compare all
// pairs.
func OpenOverlaps(tasks []nexus.Task) []UndefinedTaskInterface {
	if len(tasks) > mostMeet {
		return nil
	}
	return FindOverlaps(tasks)
}

// distinctWords returns the words that are not blank, without repetition.
func distinctWords(words []string) []string {
	var all []string
	for _, w := range words {
		if w = strings.TrimSpace(w); w != "" && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}
