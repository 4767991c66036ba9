package discover

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/finding"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/cmdline"
)

// shortestCopy is the least number of lines of a copy, without comments and blank lines.
const shortestCopy = 10

// leastCopy is the least number of characters of a copy: ten lines of closing brackets and
// branches are often alike.
const leastCopy = 200

// codeLine is a line of code.
type codeLine struct {
	text  string
	n     int  // line number, from 1
	exact bool // the text equals the line in the file
}

// linePosition is the start of a run of lines: its file and index among the significant lines.
type linePosition struct{ file, at int }

// findDuplicateCode finds runs of lines that occur twice.
func findDuplicateCode(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	found := StrategyResult{Quick: true}
	var names []string
	var texts [][]codeLine
	for _, file := range s.files {
		syntax, ok := stack.SyntaxOf(file.path)
		if !ok || isAuxiliaryFile(file.path) || !isSafeInCheck(file.path) {
			continue
		}
		lines, err := s.readTextLines(ctx, file.path)
		if err != nil {
			return found, err
		}
		if code := significantLines(syntax, lines); len(code) >= shortestCopy {
			names, texts = append(names, file.path), append(texts, code)
		}
	}
	for _, c := range findCopies(texts) {
		from, to := names[c.from.file], names[c.to.file]
		whole := [][]string{s.texts[from]}
		if from != to {
			whole = append(whole, s.texts[to])
		}
		if f, ok := copyFinding(from, to, texts[c.from.file][c.from.at:c.from.at+c.n], texts[c.to.file][c.to.at].n, whole); ok {
			found.Findings = append(found.Findings, f)
		}
	}
	return found, nil
}

// significantLines returns the lines of code of a file: no blank lines, comments, single
// brackets or imports.
func significantLines(syntax stack.SourceSyntax, lines []string) []codeLine {
	var all []codeLine
	for n, whole := range lines {
		text := strings.Join(strings.Fields(whole), " ")
		at := commentAt(syntax, text)
		word, _, _ := strings.Cut(text, " ")
		named := slices.Contains([]string{"import", "#include", "from", "use", "require", "package"}, word)
		if at == 0 || named || len(strings.Trim(text, "{}()[];, ")) < 2 {
			continue
		}
		all = append(all, codeLine{text, n + 1, strings.TrimSpace(whole) == text})
	}
	return all
}

// copyOf is a run of n lines that occurs twice.
type copyOf struct {
	from, to linePosition
	n        int
}

// findCopies returns the runs of lines that occur twice, without overlaps.
func findCopies(texts [][]codeLine) []copyOf {
	first := map[string]linePosition{}
	var all []copyOf
	for file, lines := range texts {
		for at := 0; at+shortestCopy <= len(lines); {
			key := copyKey(lines[at:])
			from, seen := first[key]
			if !seen || from.file == file && from.at+shortestCopy > at {
				if !seen {
					first[key] = linePosition{file, at}
				}
				at++
				continue
			}
			n := shortestCopy
			for at+n < len(lines) && from.at+n < len(texts[from.file]) && (from.file != file || from.at+n < at) &&
				texts[from.file][from.at+n].text == lines[at+n].text {
				n++
			}
			all = append(all, copyOf{from, linePosition{file, at}, n})
			at += n
		}
	}
	return all
}

// copyKey returns the text of the shortest copy that begins with some lines.
func copyKey(lines []codeLine) string {
	var b strings.Builder
	for _, l := range lines[:shortestCopy] {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// copyFinding makes a finding of a copy. Its check counts the two lines of the copy that are rarest
// in whole, the lines of its files, and passes if one of them occurs less often.
func copyFinding(from, to string, lines []codeLine, at int, whole [][]string) (finding.WorkFinding, bool) {
	var marks []string
	var words, evidence []string
	size := 0
	for _, l := range lines {
		words = append(words, l.text)
		size += len(l.text)
		if len(l.text) >= 12 && len(l.text) < 80 && l.exact && isSafeInCheck(l.text) && !slices.Contains(marks, l.text) {
			marks = append(marks, l.text)
		}
	}
	times := map[string]int{}
	for _, m := range marks {
		times[m] = countOccurrences(whole, m)
	}
	slices.SortStableFunc(marks, func(a, b string) int { return cmp.Or(times[a]-times[b], len(b)-len(a)) })
	if len(marks) < 2 || size < leastCopy {
		return finding.WorkFinding{}, false
	}
	for _, l := range lines[:min(3, len(lines))] {
		evidence = append(evidence, l.text)
	}
	var tests []string
	both := cmdline.Quote("./" + from)
	if from != to {
		both += " " + cmdline.Quote("./"+to)
	}
	for _, m := range marks[:2] {
		tests = append(tests, fmt.Sprintf("test $(cat %s | grep -cF -- %s) -ge %d", both, cmdline.Quote(m), times[m]))
	}
	check := "! { " + strings.Join(tests, " && ") + "; }"
	if len(check) > longestCheck {
		return finding.WorkFinding{}, false
	}
	places := []finding.FindingPlace{{File: from, Line: lines[0].n}, {File: to, Line: at}}
	return finding.WorkFinding{
		ID: finding.FindingID("duplicates", append([]string{from, to}, words...)...), Strategy: "duplicates", Kind: finding.Refactor,
		Title: fmt.Sprintf("Write %d lines once that are the same in %s and %s", len(lines), places[0], places[1]), Severity: nexus.PriorityLow,
		Why: fmt.Sprintf("%d lines of code are the same in both places", len(lines)), Evidence: strings.Join(evidence, "\n"), Count: len(lines),
		Minutes: finding.EstimateMinutes("duplicates", 1), Places: places, Check: check,
	}, true
}

// countOccurrences counts the lines of files that have a text, as the check does. A text that is not in
// each of them, or occurs only once in total, is no evidence of a copy: the result is larger
// than any count.
func countOccurrences(whole [][]string, text string) int {
	all, missing := 0, false
	for _, lines := range whole {
		n := 0
		for _, l := range lines {
			if strings.Contains(l, text) {
				n++
			}
		}
		all, missing = all+n, missing || n == 0
	}
	if missing || all < 2 {
		return math.MaxInt32
	}
	return all
}
