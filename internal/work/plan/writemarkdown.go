package plan

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// The beginnings of the parts of a plan in Markdown.
const (
	goalTitle     = "# Plan"
	taskTitle     = "## "
	criteriaTitle = "### Done when"
	comment       = "<!-- "
)

const markdownHelp = comment + `Each "## ID: title" is a task: its fields, what to do, and what must be true when it is done. -->
` + comment + `"- check: COMMAND" below a criterion is a gate's name, or a command that exits 0 when it is true; with "- kind: stays" it passes now, too. -->
` + comment + `A line of text that starts with ##, or with - below a criterion, has a \ before it. -->
`

// taskFieldCodec is a field in the list at the beginning of a task. A list has several values, a scalar
// one.
type taskFieldCodec struct {
	name string
	many bool
	get  func(t *nexus.Task) []string
	set  func(t *nexus.Task, v []string) error
}

// taskFields returns the fields of a task in the order in which they are written.
func taskFields() []taskFieldCodec {
	return []taskFieldCodec{
		taskKindField(),
		taskTextField("group", func(t *nexus.Task) *string { return &t.Group }),
		taskTextField("priority", func(t *nexus.Task) *nexus.Priority { return &t.Priority }),
		dependencyField("needs", func(t *nexus.Task) *[]nexus.TaskID { return &t.Needs }),
		dependencyField("wants", func(t *nexus.Task) *[]nexus.TaskID { return &t.Wants }),
		taskListField("covers", func(t *nexus.Task) *[]string { return &t.Covers }),
		taskTextField("package", func(t *nexus.Task) *string { return &t.Package }),
		taskListField("files", func(t *nexus.Task) *[]string { return &t.Files }),
		taskNumberField("minutes", func(t *nexus.Task) *int { return &t.Minutes }),
		taskTextField("complexity", func(t *nexus.Task) *nexus.Complexity { return &t.Complexity }),
		taskTextField("tier", func(t *nexus.Task) *nexus.Tier { return &t.Tier }),
		taskTextField("model", func(t *nexus.Task) *string { return &t.Model }),
		taskTextField("strategy", func(t *nexus.Task) *nexus.WritingStrategy { return &t.Strategy }),
		taskTextField("reason", func(t *nexus.Task) *string { return &t.Reason }),
		taskListField("tags", func(t *nexus.Task) *[]string { return &t.Tags }),
		taskNumberField("depth", func(t *nexus.Task) *int { return &t.Depth }),
		taskListField("keep", func(t *nexus.Task) *[]string { return &t.Keep }),
	}
}

func taskTextField[S ~string](name string, of func(*nexus.Task) *S) taskFieldCodec {
	return taskFieldCodec{
		name: name,
		get: func(t *nexus.Task) []string {
			if *of(t) == "" {
				return nil
			}
			return []string{string(*of(t))}
		},
		set: func(t *nexus.Task, v []string) error { *of(t) = S(v[0]); return nil },
	}
}

// taskKindField returns the field of the kind; its zero value is code.
func taskKindField() taskFieldCodec {
	f := taskTextField("kind", func(t *nexus.Task) *nexus.TaskKind { return &t.Kind })
	set := f.set
	f.set = func(t *nexus.Task, v []string) error {
		if v[0] == string(nexus.CodeTask) {
			v = []string{""}
		}
		return set(t, v)
	}
	return f
}

func taskListField[S ~string](name string, of func(*nexus.Task) *[]S) taskFieldCodec {
	return taskFieldCodec{
		name: name, many: true,
		get: func(t *nexus.Task) (all []string) {
			for _, s := range *of(t) {
				all = append(all, string(s))
			}
			return all
		},
		set: func(t *nexus.Task, v []string) error {
			for _, s := range v {
				*of(t) = append(*of(t), S(s))
			}
			return nil
		},
	}
}

// dependencyField returns a field with a list of tasks, each with the reason in parentheses unless it is
// the usual one.
func dependencyField(name string, of func(*nexus.Task) *[]nexus.TaskID) taskFieldCodec {
	reason := regexp.MustCompile(`^(.*\S)\s*\((\w*)\)$`)
	return taskFieldCodec{
		name: name, many: true,
		get: func(t *nexus.Task) (all []string) {
			for _, id := range *of(t) {
				text := string(id)
				if tie := t.Ties[id]; tie != "" {
					text += fmt.Sprintf(" (%s)", tie)
				}
				all = append(all, text)
			}
			return all
		},
		set: func(t *nexus.Task, v []string) error {
			for _, s := range v {
				m := reason.FindStringSubmatch(s)
				if m == nil {
					*of(t) = append(*of(t), nexus.TaskID(s))
					continue
				}
				if !slices.Contains(nexus.AllDependencyReasons(), nexus.DependencyReason(m[2])) {
					return fmt.Errorf("the reason of %s %s is not one of %s", name, quoteShort(m[2]), nexus.JoinWords(nexus.AllDependencyReasons()))
				}
				if t.Ties == nil {
					t.Ties = nexus.DependencyReasons{}
				}
				t.Ties[nexus.TaskID(m[1])] = nexus.DependencyReason(m[2])
				*of(t) = append(*of(t), nexus.TaskID(m[1]))
			}
			return nil
		},
	}
}

func taskNumberField(name string, of func(*nexus.Task) *int) taskFieldCodec {
	return taskFieldCodec{
		name: name,
		get: func(t *nexus.Task) []string {
			if *of(t) == 0 {
				return nil
			}
			return []string{strconv.Itoa(*of(t))}
		},
		set: func(t *nexus.Task, v []string) (err error) {
			if *of(t), err = strconv.Atoi(v[0]); err != nil {
				return fmt.Errorf("%s is a number, not %s", name, quoteShort(v[0]))
			}
			return nil
		},
	}
}

// FormatMarkdown returns a plan as a text that a person can edit, and [LoadMarkdown] reads. It
// contains all of a plan except its estimate; the risks that follow from its tasks are
// computed again, and the results of its checks are only for people to read.
func FormatMarkdown(p nexus.Plan) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n%s%s\n%s\n", goalTitle, markdownHelp, planRunComment(p.Run), escapeHeadings(strings.TrimSpace(p.Goal)))
	writeStatements(&b, p)
	writeCoverage(&b, p.Cover)
	writeAssumptionsAndRisks(&b, p)
	for _, t := range p.Tasks {
		fmt.Fprintf(&b, "\n%s%s: %s\n", taskTitle, t.ID, t.Title)
		written := false
		for _, f := range taskFields() {
			if v := f.get(&t); len(v) > 0 {
				if !written {
					b.WriteString("\n")
				}
				written = true
				fmt.Fprintf(&b, "- %s: %s\n", f.name, joinFieldValues(v, f.many))
			}
		}
		if !written && strings.HasPrefix(t.Brief, "- ") { // it is no list of fields
			fmt.Fprintf(&b, "\n- kind: %s\n", nexus.CodeTask)
		}
		if t.Brief != "" {
			fmt.Fprintf(&b, "\n%s\n", escapeHeadings(t.Brief))
		}
		fmt.Fprintf(&b, "\n%s\n\n", criteriaTitle)
		for _, c := range t.Criteria {
			writeCriterion(&b, c)
		}
	}
	return b.Bytes()
}

// mostStated limits how much of a statement is written: the goal contains all of it.
const mostStated = 120

// writeStatements writes the sentence of the goal for each ID of covers. The statements of a
// spec have their own text.
func writeStatements(b *bytes.Buffer, p nexus.Plan) {
	if _, ok := spec.ReadIfValid(p.Goal); ok || !slices.ContainsFunc(p.Tasks, func(t nexus.Task) bool { return len(t.Covers) > 0 }) {
		return
	}
	for n, s := range spec.StatementsOf(p.Goal) {
		if n == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "%s%s: %s -->\n", comment, s.ID, strings.ReplaceAll(sanitize.TruncateText(strings.Join(strings.Fields(s.Text), " "), mostStated), "-->", "->"))
	}
}

// planRunComment returns the comment that names the run that only made the plan, or "" if there is
// none.
func planRunComment(run nexus.RunID) string {
	if run == "" {
		return ""
	}
	return fmt.Sprintf("%srun: %s made this plan; what that cost counts within the budget of the run that carries it out. -->\n", comment, run)
}

// maker matches that comment. No other text matches it: see escape.
var maker = regexp.MustCompile(`^ *<!-- run: ([0-9A-Za-z-]+) made this plan`)

func writeCriterion(b *bytes.Buffer, c nexus.Criterion) {
	text := item.ReplaceAllString(box.ReplaceAllString(c.Text, `\$1`), `\$1`)
	fmt.Fprintf(b, "- %s\n", strings.ReplaceAll(text, "\n", "\n  "))
	if c.Check != "" {
		fmt.Fprintf(b, "  - check: %s\n", fenceCommand(c.Check))
	}
	if c.Kind != "" {
		fmt.Fprintf(b, "  - kind: %s\n", c.Kind)
	}
	if c.Red {
		fmt.Fprintf(b, "  - red: it fails now\n")
	}
	if c.Tried != "" {
		fmt.Fprintf(b, "  %stried: %s -->\n", comment, strings.Join(strings.Fields(c.Tried), " "))
	}
}

var (
	// title matches a line of text that looks like one of the titles or comments.
	title = regexp.MustCompile(`(?m)^(\\*(?:## |##$| *(?i:### done when) *$| *<!-- ))`)
	// item matches a line of a criterion that looks like a field of it, or a comment.
	item = regexp.MustCompile(`(?m)^(\\*(?: {0,2}- | *<!-- ))`)
	box  = regexp.MustCompile(`^(\\*\[[ xX]\] )`) // a checkbox, which is not part of the text
)

// unescapeLine removes one of the escapes that prevent a line from being parsed as something else.
func unescapeLine(line string, like *regexp.Regexp) string {
	if rest, ok := strings.CutPrefix(line, `\`); ok && like.MatchString(rest) {
		return rest
	}
	return line
}

// escapeHeadings escapes the lines of a text that would be parsed as something else.
func escapeHeadings(text string) string { return title.ReplaceAllString(text, `\$1`) }

// fenceCommand puts two more backquotes around a command that is between backquotes.
func fenceCommand(s string) string {
	if len(s) > 1 && strings.HasPrefix(s, "`") && strings.HasSuffix(s, "`") {
		return "`" + s + "`"
	}
	return s
}

// joinFieldValues formats the values of a field in one line.
func joinFieldValues(v []string, many bool) string {
	out := slices.Clone(v)
	for i, s := range out {
		if strings.ContainsAny(s, "\n\r") || strings.TrimSpace(s) != s || strings.HasPrefix(s, `"`) || s == "" || many && strings.ContainsAny(s, ",`") {
			out[i] = strconv.Quote(s)
		}
	}
	return strings.Join(out, ", ")
}

// parseFieldValues parses the output of joined, also after a person's edits.
func parseFieldValues(text string, many bool) (all []string, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		v, rest := text, ""
		if quoted, err := strconv.QuotedPrefix(text); err == nil && strings.HasPrefix(text, `"`) {
			if v, err = strconv.Unquote(quoted); err != nil {
				return nil, err
			}
			rest = strings.TrimSpace(text[len(quoted):])
			if rest != "" && !strings.HasPrefix(rest, ",") {
				return nil, fmt.Errorf("%s follows a quoted value: put a comma between them", quoteShort(rest))
			}
			rest = strings.TrimPrefix(rest, ",")
		} else if many {
			v, rest, _ = strings.Cut(text, ",")
			v = strings.Trim(strings.TrimSpace(v), "`")
		}
		if v != "" || !many {
			all = append(all, v)
		}
		text = rest
	}
	return all, nil
}
