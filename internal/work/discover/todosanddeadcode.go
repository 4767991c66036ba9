package discover

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/finding"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/cmdline"
)

// todoMark matches a mark of unfinished work within a comment.
var todoMark = pattern.LazyRegexp(`\b(TODO|FIXME|XXX|HACK)\b(?:\([^)]*\))?:?\s*(.*)`)

// findTodos finds marks of unfinished work in comments, with their age.
func findTodos(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	found := StrategyResult{Quick: true}
	for _, file := range s.files {
		syntax, ok := stack.SyntaxOf(file.path)
		lines, err := s.readTextLines(ctx, file.path)
		if err != nil {
			return found, err
		}
		if !ok || !isSafeInCheck(file.path) {
			continue
		}
		for n, text := range lines {
			if f, ok := parseTodo(file.path, syntax, n+1, text); ok {
				found.Findings = append(found.Findings, f)
			}
		}
	}
	return found, s.addFindingAges(ctx, found.Findings)
}

// parseTodo parses a line with a mark in a comment.
func parseTodo(name string, syntax stack.SourceSyntax, n int, text string) (finding.WorkFinding, bool) {
	at, m := commentAt(syntax, text), todoMark().FindStringSubmatchIndex(text)
	if at < 0 || m == nil || m[0] < at {
		return finding.WorkFinding{}, false
	}
	word, note, seen := text[m[2]:m[3]], strings.TrimSpace(text[m[4]:m[5]]), strings.TrimRight(text[m[0]:], " \t")
	note = strings.TrimRight(strings.TrimSuffix(note, syntax.Block[1]), " ")
	if !isSafeInCheck(seen) {
		return finding.WorkFinding{}, false
	}
	severity := nexus.PriorityLow
	if word == "FIXME" || word == "XXX" {
		severity = nexus.PriorityMedium
	}
	title := fmt.Sprintf("Resolve the %s in %s", word, name)
	if word == "HACK" { // it says what the code does
		title = fmt.Sprintf("Replace the HACK in %s", name)
	}
	if note != "" {
		title += ": " + truncateRunes(note, 70)
	}
	return finding.WorkFinding{
		ID: finding.FindingID("todo", name, seen), Strategy: "todo", Kind: finding.Todo, Title: title, Severity: severity,
		Why: fmt.Sprintf("a comment says %s", truncateRunes(seen, 120)), Evidence: strings.TrimSpace(text), Minutes: finding.EstimateMinutes("todo", 1),
		Places: []finding.FindingPlace{{File: name, Line: n}},
		Check:  fmt.Sprintf("! grep -qF -- %s %s", cmdline.Quote(seen), cmdline.Quote(path.Join(".", name))),
	}, true
}

// commentAt returns the offset of a line's comment, or -1. Text in quotes is no comment. A
// line that begins with * belongs to a comment of several lines.
func commentAt(syntax stack.SourceSyntax, text string) int {
	trimmed := strings.TrimLeft(text, " \t")
	if syntax.Block[0] != "" && strings.HasPrefix(trimmed, "*") {
		return len(text) - len(trimmed)
	}
	quoted := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted != 0 && c == '\\':
			i++
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case strings.IndexByte(syntax.Quotes, c) >= 0:
			quoted = c
		case syntax.Block[0] != "" && strings.HasPrefix(text[i:], syntax.Block[0]):
			return i
		default:
			for _, mark := range syntax.Comments {
				if strings.HasPrefix(text[i:], mark) && (mark != "#" || i == 0 || text[i-1] == ' ' || text[i-1] == '\t') {
					return i
				}
			}
		}
	}
	return -1
}

// mostBlamed limits the findings whose age is looked up.
const mostBlamed = 100

// addFindingAges adds the dates of the findings' lines. If the history has no date, nothing is added.
func (s *SourceTree) addFindingAges(ctx context.Context, all []finding.WorkFinding) error {
	byFile := map[string][]int{}
	for i, f := range all[:min(len(all), mostBlamed)] {
		byFile[f.Places[0].File] = append(byFile[f.Places[0].File], i)
	}
	if len(byFile) == 0 {
		return nil
	}
	for name, which := range byFile {
		var ranges []string
		for _, i := range which {
			ranges = append(ranges, "-L", fmt.Sprintf("%d,%d", all[i].Places[0].Line, all[i].Places[0].Line))
		}
		written, err := s.o.Repo.Blame(ctx, s.o.Commit, name, ranges)
		if err != nil {
			return err
		}
		for _, i := range which {
			if at, ok := written.Times[written.Lines[all[i].Places[0].Line]]; ok {
				days := max(int(s.o.Now.Sub(at).Hours()/24), 0)
				all[i].Why += fmt.Sprintf("; it has been there since %s (%s)", at.Format(time.DateOnly), pluralCount(days, "day"))
			}
		}
	}
	return nil
}

// findDeadCode finds functions that other files cannot use, and that their own file, or the files
// beside it, never name.
func findDeadCode(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	found := StrategyResult{Quick: true}
	uses, err := s.countWords(ctx)
	if err != nil {
		return found, err
	}
	for _, file := range s.files {
		declares := privateFunctionPattern(file.path)
		if declares == nil || isAuxiliaryFile(file.path) || !isSafeInCheck(file.path) {
			continue
		}
		lines, err := s.readTextLines(ctx, file.path)
		if err != nil {
			return found, err
		}
		for n, text := range lines {
			m := declares.FindStringSubmatch(text)
			if m == nil || len(m[1]) < 3 || uses[m[1]] != 1 || slices.Contains([]string{"main", "init"}, m[1]) {
				continue
			}
			if n > 0 && marked().MatchString(lines[n-1]) {
				continue
			}
			found.Findings = append(found.Findings, finding.WorkFinding{
				ID: finding.FindingID("dead-code", file.path, m[1]), Strategy: "dead-code", Kind: finding.Refactor,
				Title: fmt.Sprintf("Remove %s from %s, or use it", m[1], file.path), Severity: nexus.PriorityLow,
				Why:      fmt.Sprintf("no other file can use %s, and no line of the repository names it but the one that declares it", m[1]),
				Evidence: strings.TrimSpace(text), Minutes: finding.EstimateMinutes("dead-code", 1), Places: []finding.FindingPlace{{File: file.path, Line: n + 1}},
				Check: fmt.Sprintf("test $(cat -- %s | grep -ow -- %s | wc -l) -ne 1", s.shellFilesUsing(file.path), m[1]),
			})
		}
	}
	return found, nil
}

// shellFilesUsing returns, for a shell script, the files in which a name of a file may be used.
func (s *SourceTree) shellFilesUsing(name string) string {
	if path.Ext(name) == ".go" {
		dir := path.Dir(name)
		if dir == "." {
			return "./*.go"
		}
		return cmdline.Quote("./"+dir) + "/*.go"
	}
	return cmdline.Quote("./" + name)
}

// privateFunctionPattern returns a pattern of lines that declare a function which no other file can use; nil
// for files in which a line does not show that.
func privateFunctionPattern(name string) *regexp.Regexp {
	switch path.Ext(name) {
	case ".go":
		return goHidden()
	case ".py":
		return pythonHidden()
	case ".rs":
		return rustHidden()
	case ".c":
		return cHidden()
	case ".sh", ".bash":
		return shellHidden()
	}
	return nil
}

var (
	goHidden     = pattern.LazyRegexp(`^func ([a-z]\w*)[\[(]`)
	pythonHidden = pattern.LazyRegexp(`^(?:async )?def (_[a-z]\w*)\(`)
	rustHidden   = pattern.LazyRegexp(`^(?:async )?fn (\w+)[<(]`)
	shellHidden  = pattern.LazyRegexp(`^(?:function )?([a-z_]\w*) ?\(\)`)
	cHidden      = pattern.LazyRegexp(`^static [\w *]*?\b(\w+)\([^;]*$`)
)

// marked matches a line above a function that means it may be called without being named: an
// attribute of Rust or C, a decorator, or a directive of Go.
var marked = pattern.LazyRegexp(`^\s*(?:#!?\[|\)?\]\s*$|@\w|//(?:export|go:)|__attribute__)`)

// wordOf matches a name in any language.
var wordOf = pattern.LazyRegexp(`[A-Za-z_]\w*`)

// countWords counts the occurrences of each name in the files of the tree.
func (s *SourceTree) countWords(ctx context.Context) (map[string]int, error) {
	all := map[string]int{}
	for _, file := range s.files {
		lines, err := s.readTextLines(ctx, file.path)
		if err != nil {
			return nil, err
		}
		for _, text := range lines {
			for _, w := range wordOf().FindAllString(text, -1) {
				all[w]++
			}
		}
	}
	return all, nil
}
