package report

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/testrunners"
)

func testCountText(n int) string {
	if n == 1 {
		return "1 test"
	}
	return strconv.Itoa(n) + " tests"
}

// tapReader reads test points and their explanations.
type tapReader struct {
	in      parserbase.ToolOutput
	run     parserbase.ParsedTestRun
	names   map[int]string // of the subtest that is open at an indent
	below   map[int]int    // points below an indent since the last one there
	red     map[int]int    // failed ones
	plan    int            // at the top
	points  int
	planned bool
	last    *nexus.Finding // the finding that the following lines explain
	indent  int
	said    []string
}

// ReadTAP reads the Test Anything Protocol, versions 12 to 14, with subtests.
func ReadTAP(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	t := tapReader{in: in, names: map[int]string{}, below: map[int]int{}, red: map[int]int{}}
	point := regexp.MustCompile(`^( *)(not )?ok\b(?: (\d+))?(?: -)? ?(.*?)( \{)?$`)
	plan := regexp.MustCompile(`^( *)1\.\.(\d+)(?:\s*#\s*(.*))?$`)
	subtest := regexp.MustCompile(`^( *)# Subtest(?:: (.*))?$`)
	for _, l := range in.AllLines() {
		l = l[:min(len(l), 4<<10)]
		p, n, s := point.FindStringSubmatch(l), plan.FindStringSubmatch(l), subtest.FindStringSubmatch(l)
		switch {
		case p != nil && !t.isExplanation(p[1]):
			t.endFailure()
			t.addPoint(len(p[1]), p[2] != "", p[4], p[5] != "")
		case n != nil:
			t.endFailure()
			if n[1] == "" {
				t.plan, t.planned = t.plan+parserbase.ParseNumber(n[2]), true
			}
		case s != nil:
			t.endFailure()
			t.names[len(s[1])] = s[2]
		case strings.HasPrefix(l, "Bail out!"):
			t.endFailure()
			t.run.Findings = append(t.run.Findings, nexus.Finding{Code: parserbase.CodeVanished, Message: strings.TrimSpace(l)})
		case strings.HasPrefix(l, "# ") && !strings.HasPrefix(l, "#  ") && t.last != nil && len(t.said) > 0 && !strings.HasPrefix(t.said[0], "#"):
			t.endFailure() // a remark on the whole
		case t.last != nil:
			t.said = append(t.said, l)
		}
	}
	t.endFailure()
	t.placeFromComments()
	ran := t.run.Counts.Passed + t.run.Counts.Failed + t.run.Counts.Skipped
	t.run.Counted = t.points > 0 || t.planned
	t.run.Empty = t.planned && t.plan == 0 && ran == 0
	switch {
	case t.planned && t.plan > t.points && !in.Cut:
		t.run.Findings = append(t.run.Findings, lostTestsFinding(t.plan-t.points, t.plan))
	case !t.planned && t.points > 0 && !in.Cut:
		t.run.Findings = append(t.run.Findings, nexus.Finding{Code: parserbase.CodeVanished, Message: "the plan is missing: the report is incomplete"})
	}
	for i, f := range t.run.Findings {
		if f.Test == "bats-gather-tests" || f.Test == "setup_file failed" { // the form in which bats reports that it could not run a file
			t.run.Findings[i].Code, t.run.Findings[i].Test = parserbase.CodeCompile, ""
		}
	}
	in.MarkUnloadableFiles(in.AllLines(), `^not ok \d+ - (\S+)$`, t.run.Findings)
	return in.TestRunReport(t.run)
}

// placeFromComments sets the positions of failures whose explanation is separate, as Perl and others
// write it to standard error.
func (t *tapReader) placeFromComments() {
	head := regexp.MustCompile(`^\s*#\s+Failed (?:\(TODO\) )?test(?: '(.*)')?(?: at (\S+) line (\d+)\.)?$`)
	place := regexp.MustCompile(`^\s*#\s+at (\S+) line (\d+)\.$`)
	name, open := "", false
	for _, l := range parserbase.SplitLines(t.in.Stderr) {
		m := head.FindStringSubmatch(l)
		if m != nil {
			name, open = m[1], true
			if m[2] == "" {
				continue
			}
		} else if m = place.FindStringSubmatch(l); m != nil {
			m = []string{"", "", m[1], m[2]}
		}
		if m == nil || !open {
			continue
		}
		open = false
		for i := range t.run.Findings {
			if f := &t.run.Findings[i]; f.File == "" && (f.Test == name || strings.HasSuffix(f.Test, "> "+name)) {
				f.File, f.Line = t.in.RelativePath(m[2]), parserbase.ParseNumber(m[3])
				break
			}
		}
	}
}

// isExplanation reports whether a line that looks like a point belongs to the explanation of a
// failure.
func (t *tapReader) isExplanation(indent string) bool {
	return t.last != nil && len(indent) > t.indent && len(t.said) > 0 && strings.TrimSpace(t.said[0]) == "---" && strings.TrimSpace(t.said[len(t.said)-1]) != "..."
}

func (t *tapReader) addPoint(indent int, failed bool, text string, opens bool) {
	name, directive, _ := strings.Cut(text, " # ")
	if strings.HasPrefix(text, "# ") {
		name, directive = "", text[2:]
	}
	word := strings.ToUpper(directive[:min(len(directive), 4)])
	if indent == 0 {
		t.points++
	}
	parent := opens || t.below[indent] > 0
	redBelow := t.red[indent] > 0
	t.below[indent], t.red[indent] = 0, 0
	for at := indent - 1; at >= 0; at-- {
		t.below[at]++
	}
	path := t.pointPath(indent, name)
	if opens {
		t.names[indent] = name
	}
	switch {
	case word == "SKIP" || word == "TODO":
		if !parent {
			t.run.Counts.Skipped++
			t.run.Tests = append(t.run.Tests, parserbase.TestResult{Name: path, State: "skip"})
		}
	case !failed:
		if !parent {
			t.run.Counts.Passed++
			t.run.Tests = append(t.run.Tests, parserbase.TestResult{Name: path, State: "pass"})
		}
	case opens || parent && redBelow: // the points below explain it
	default:
		t.run.Counts.Failed++
		t.run.Tests = append(t.run.Tests, parserbase.TestResult{Name: path, State: "fail"})
		for at := indent - 1; at >= 0; at-- {
			t.red[at]++
		}
		t.last, t.indent, t.said = &nexus.Finding{Code: parserbase.CodeTest, Test: path}, indent, nil
	}
}

// pointPath returns the name of a point with its enclosing subtests.
func (t *tapReader) pointPath(indent int, name string) string {
	var all []string
	for at := range indent {
		if n := t.names[at]; n != "" {
			all = append(all, n)
		}
	}
	for at := range t.names {
		if at >= indent {
			delete(t.names, at)
		}
	}
	if p := t.in.RelativePath(name); strings.HasPrefix(name, "/") && p != "" && !strings.Contains(name, " ") {
		name = p
	}
	return strings.Join(append(all, strings.TrimSpace(name)), " > ")
}

// endFailure adds the failure whose explanation has ended.
func (t *tapReader) endFailure() {
	if t.last == nil {
		return
	}
	f := *t.last
	t.last = nil
	if len(t.run.Findings) >= parserbase.Enough {
		return
	}
	lines := dropFrameMarks(t.said)
	if found := t.lintFindings(f, lines); len(found) > 0 {
		t.run.Findings = append(t.run.Findings, found...)
		return
	}
	place := regexp.MustCompile(`^\s*(?:at|location): ['"]?(?:file://)?(.+?):(\d+):(\d+)['"]?$`)
	perl := regexp.MustCompile(`^#?\s+at (\S+) line (\d+)\.?$`)
	bats := regexp.MustCompile(`\bin (?:test )?file (\S+), line (\d+)\)$`)
	f.Message = messageByKey(lines)
	frame := regexp.MustCompile(`\((?:file://)?([^()\s]+?):(\d+):(\d+)\)$`)
	for _, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "stack:") {
			f.Column = 0 // the position found before is a part of the message
		}
		if m := frame.FindStringSubmatch(l); m != nil && f.Column == 0 && t.in.RelativePath(m[1]) != "" && !strings.Contains(m[1], "node_modules/") && !strings.HasPrefix(m[1], "node:") {
			f.File, f.Line, f.Column = t.in.RelativePath(m[1]), parserbase.ParseNumber(m[2]), parserbase.ParseNumber(m[3])
		}
		if m := perl.FindStringSubmatch(l); m != nil && f.File == "" {
			f.File, f.Line = t.in.RelativePath(m[1]), parserbase.ParseNumber(m[2])
		}
		if m := bats.FindStringSubmatch(l); m != nil {
			f.File, f.Line = t.in.RelativePath(m[1]), parserbase.ParseNumber(m[2]) // the last one is the test's own
		}
	}
	for _, l := range lines {
		if m := place.FindStringSubmatch(l); m != nil && f.File == "" {
			f.File, f.Line, f.Column = t.in.RelativePath(m[1]), parserbase.ParseNumber(m[2]), parserbase.ParseNumber(m[3])
		}
	}
	if f.Message == "" {
		f.Message = strings.TrimSpace(strings.Join(lines, "\n"))
		f.Message = trimExplanation(f.Message)
	}
	if f.Message == "" {
		f.Message = "failed without a message"
	}
	where := f
	testrunners.PlaceFailure(t.in, &f, "", lines)
	if where.File != "" {
		f.File, f.Line, f.Column = where.File, where.Line, where.Column
	}
	f.Expected, f.Actual = strings.Trim(f.Expected, `'"`), strings.Trim(f.Actual, `'"`)
	t.run.Findings = append(t.run.Findings, f)
}

// messageByKey returns the message in an explanation that has a key for it.
func messageByKey(lines []string) string {
	key := regexp.MustCompile(`^\s*(?:error|message): ['"]?(.*?)['"]?$`)
	for i, l := range lines {
		m := key.FindStringSubmatch(l)
		switch {
		case m == nil || m[1] == "":
		case m[1][0] == '|' || m[1][0] == '>':
			if block := joinYAMLBlock(lines[i+1:]); block != "" {
				return block
			}
		default:
			return m[1]
		}
	}
	return ""
}

// lintFindings returns the findings of a linter in the explanation of a point that is a file: all
// lines that it names.
func (t *tapReader) lintFindings(f nexus.Finding, lines []string) (found []nexus.Finding) {
	if !regexp.MustCompile(`^[^\s>]*\.[A-Za-z]\w{0,9}$`).MatchString(f.Test) {
		return nil
	}
	key := regexp.MustCompile(`^\s*(?:- )?(message|line|column|col|severity): ['"]?(.*?)['"]?$`)
	message := ""
	for _, l := range lines {
		m := key.FindStringSubmatch(l)
		switch {
		case m == nil:
		case m[1] == "message":
			message = m[2]
		case m[1] == "line":
			found = append(found, nexus.Finding{File: t.in.RelativePath(f.Test), Line: parserbase.ParseNumber(m[2]), Code: parserbase.CodeTest, Test: f.Test, Message: message})
		case strings.HasPrefix(m[1], "col") && len(found) > 0:
			found[len(found)-1].Column = parserbase.ParseNumber(m[2])
		}
	}
	return found
}

// trimExplanation cuts a text at the beginning of a stack, and removes the common indentation of its
// lines.
func trimExplanation(text string) string {
	var kept []string
	for l := range strings.Lines(text) {
		t := strings.TrimSpace(l)
		if strings.HasPrefix(t, "at ") {
			break
		}
		kept = append(kept, t)
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// dropFrameMarks removes the marks around an explanation.
func dropFrameMarks(all []string) []string {
	var kept []string
	for _, l := range all {
		l = strings.TrimPrefix(l, "# ")
		if s := strings.TrimSpace(l); s == "---" || s == "..." || s == "}" || len(kept) > 200 {
			continue
		}
		kept = append(kept, l)
	}
	return kept
}

// joinYAMLBlock joins the lines of a YAML block.
func joinYAMLBlock(all []string) string {
	var kept []string
	indent := -1
	for _, l := range all {
		trimmed := strings.TrimLeft(l, " ")
		if trimmed == "" {
			kept = append(kept, "")
			continue
		}
		if n := len(l) - len(trimmed); indent < 0 {
			indent = n
		} else if n < indent {
			break
		}
		kept = append(kept, l[indent:])
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}
