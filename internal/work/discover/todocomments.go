package discover

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
)

// todoMark matches a mark of unfinished work within a comment.
var todoMark = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b(?:\([^)]*\))?:?\s*(.*)`)

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
func parseTodo(name string, syntax stack.SourceSyntax, n int, text string) (discoveredwork.WorkFinding, bool) {
	at, m := commentOffset(syntax, text), todoMark.FindStringSubmatchIndex(text)
	if at < 0 || m == nil || m[0] < at {
		return discoveredwork.WorkFinding{}, false
	}
	word, note, seen := text[m[2]:m[3]], strings.TrimSpace(text[m[4]:m[5]]), strings.TrimRight(text[m[0]:], " \t")
	note = strings.TrimRight(strings.TrimSuffix(note, syntax.Block[1]), " ")
	if !isSafeInCheck(seen) {
		return discoveredwork.WorkFinding{}, false
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
	return discoveredwork.WorkFinding{
		ID: discoveredwork.FindingID("todo", name, seen), Strategy: "todo", Kind: discoveredwork.Todo, Title: title, Severity: severity,
		Why: fmt.Sprintf("a comment says %s", truncateRunes(seen, 120)), Evidence: strings.TrimSpace(text), Minutes: discoveredwork.EstimateMinutes("todo", 1),
		Places: []discoveredwork.FindingPlace{{File: name, Line: n}},
		Check:  fmt.Sprintf("! grep -qF -- %s %s", scriptcommands.QuoteShellWord(seen), scriptcommands.QuoteShellWord(path.Join(".", name))),
	}, true
}

// commentOffset returns the offset of a line's comment, or -1. Text in quotes is no comment. A
// line that begins with * belongs to a comment of several lines.
func commentOffset(syntax stack.SourceSyntax, text string) int {
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
func (s *SourceTree) addFindingAges(ctx context.Context, all []discoveredwork.WorkFinding) error {
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
