package discover

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/finding"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/cmdline"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret/leak"
)

// dangerousPattern is a pattern of code that is often a mistake.
type dangerousPattern struct {
	ends    []string
	pattern string // pattern for Go and for grep -E
	but     string // pattern of matching lines that are fine, likewise; empty: none
	what    string
	level   nexus.Priority
	hides   bool // the lines contain a secret, which no finding shows
}

// hardCoded matches a password or a key of at least 20 characters (the predecessor's figure)
// in the code. The rules for known services, and the entropy test, find random-looking
// secrets; this finds secrets that a person made up.
const hardCoded = `([Pp]assw(or)?d|PASSW(OR)?D|[Aa]pi_?[Kk]ey|API_KEY|[Ss]ecret|SECRET|[Tt]oken|TOKEN)["']? *(:=|=>|=|:) *["'][^"'[:space:]{}<>$]{20,}["']`

// madeUp matches values of such names that are no secrets: an address, a name without a digit,
// a placeholder word.
const madeUp = `["'](https?:|[/.])|(:=|=>|=|:) *["'][^"'0-9]*["']|[Ee]xample|EXAMPLE|[Yy]our[_-]|[Cc]hange[_-]?me|[Xx]{5}|[*]{3}|[Tt]est|[Dd]ummy|[Ff]ake`

// declared matches a function with the name eval, and a call with a constant text.
const declared = `(def|function) +eval[(]|[^.A-Za-z0-9_]eval[(] *("[^"#{$]*"|'[^']*') *[,)]`

// remark matches a comment at the beginning of a line, for Go and for grep -E.
const remark = `^[[:space:]]*(#|//|[*]|/[*]|<!--)`

func dangerousPatterns() []dangerousPattern {
	scripts := []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte", ".html"}
	row := func(ends []string, pattern, but, what string) dangerousPattern {
		return dangerousPattern{ends: ends, pattern: pattern, but: but, what: what, level: nexus.PriorityHigh}
	}
	return []dangerousPattern{
		row(append([]string{".py", ".rb", ".php"}, scripts...), `(^|[^.A-Za-z0-9_])eval[(]`, declared, "eval runs any code that a string contains"),
		row(scripts, `[.]innerHTML *[+]?=[^=]`, "", "innerHTML inserts markup from anybody"),
		row(scripts, `dangerouslySetInnerHTML`, "", "dangerouslySetInnerHTML inserts markup from anyone"),
		row(scripts, `document[.]write[(]`, "", "document.write inserts markup from anybody"),
		{
			ends:    append([]string{".go", ".py", ".rb", ".php", ".java", ".kt", ".cs", ".rs", ".swift"}, scripts...),
			pattern: hardCoded, but: madeUp, what: "the code contains a password or a key", level: nexus.PriorityCritical, hides: true,
		},
	}
}

// findSecurityRisks finds secrets, dangerous calls, and tracked settings files with secrets.
func findSecurityRisks(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	found := StrategyResult{Quick: true}
	rows := dangerousPatterns()
	var written []finding.WorkFinding // secrets that people made up
	var patch strings.Builder
	for _, file := range s.files {
		lines, err := s.readTextLines(ctx, file.path)
		if err != nil {
			return found, err
		}
		if base := path.Base(file.path); isEnvFile(base) && isSafeInCheck(file.path) {
			found.Findings = append(found.Findings, finding.WorkFinding{
				ID: finding.FindingID("security", file.path, ".env"), Strategy: "security", Kind: finding.Security,
				Title: fmt.Sprintf("Stop tracking %s", file.path), Severity: nexus.PriorityCritical, Minutes: finding.EstimateMinutes("security", 1),
				Why:    "git tracks a file with the settings of one machine, which often contains secrets",
				Places: []finding.FindingPlace{{File: file.path}}, Check: "! test -e " + cmdline.Quote(file.path),
			})
			continue
		}
		addPatch(&patch, file.path, lines)
		if stack.ServesTests(file.path) || !isSafeInCheck(file.path) {
			continue
		}
		for _, row := range rows {
			if !slices.Contains(row.ends, strings.ToLower(path.Ext(file.path))) {
				continue
			}
			to := &found.Findings
			if row.hides {
				to = &written
			}
			*to = append(*to, row.findInLines(file.path, lines)...)
		}
	}
	leaks, err := s.leaks.FindAdded(ctx, patch.String())
	if err != nil {
		return found, err
	}
	known := map[finding.FindingPlace]bool{}
	for _, l := range leaks {
		if f, ok := s.leakedSecretFinding(l); ok {
			found.Findings = append(found.Findings, f)
			known[f.Places[0]] = true
		}
	}
	for _, f := range written {
		// otherwise a service's rule is more specific
		if slices.ContainsFunc(f.Places, func(p finding.FindingPlace) bool { return !known[p] }) {
			found.Findings = append(found.Findings, f)
		}
	}
	return found, nil
}

// redactSecrets removes secrets from findings: findings are stored, shown, and sent to models.
// Lines in the evidence are omitted, and a finding whose own words contain a secret is
// dropped.
func (s *SourceTree) redactSecrets(ctx context.Context, found StrategyResult) (StrategyResult, error) {
	var patch strings.Builder
	for i, f := range found.Findings {
		addPatch(&patch, strconv.Itoa(i)+"/evidence", strings.Split(f.Evidence, "\n"))
		addPatch(&patch, strconv.Itoa(i)+"/words", []string{f.Title, f.Why, f.Check})
	}
	if len(found.Findings) == 0 {
		return found, nil
	}
	leaks, err := s.leaks.FindAdded(ctx, patch.String())
	if err != nil {
		return found, err
	}
	drop := map[int]bool{}
	for _, l := range leaks {
		which, part, _ := strings.Cut(l.File, "/")
		i, err := strconv.Atoi(which)
		if err != nil || i >= len(found.Findings) {
			continue
		}
		if found.Findings[i].Evidence = ""; part == "words" {
			drop[i] = true
		}
	}
	if len(drop) > 0 {
		const why = " with a secret in its words was left out; the strategy security names the secret"
		found.Notes = append(found.Notes, pluralCount(len(drop), "finding")+why)
	}
	var all []finding.WorkFinding
	for i, f := range found.Findings {
		if !drop[i] {
			all = append(all, f)
		}
	}
	found.Findings = all
	return found, nil
}

// isEnvFile reports whether a file contains settings of one machine.
func isEnvFile(base string) bool {
	rest, ok := strings.CutPrefix(base, ".env")
	return ok && (rest == "" || rest == ".local" || rest == ".production" || rest == ".development")
}

// findInLines finds the pattern in a file: one finding for all its lines.
func (d dangerousPattern) findInLines(name string, lines []string) []finding.WorkFinding {
	fine := remark + `|[[:space:]](#|//)[[:space:]].*` + d.pattern
	if d.but != "" {
		fine += "|" + d.but
	}
	r, skip := regexp.MustCompile(d.pattern), regexp.MustCompile(fine)
	f := finding.WorkFinding{
		Strategy: "security", Kind: finding.Security, Severity: d.level, ID: finding.FindingID("security", name, d.pattern),
		Check: fmt.Sprintf("! grep -E -- %s %s | grep -qvE -- %s", cmdline.Quote(d.pattern), cmdline.Quote("./"+name), cmdline.Quote(fine)),
	}
	for n, text := range lines {
		if !r.MatchString(text) || skip.MatchString(text) {
			continue
		}
		f.Places = append(f.Places, finding.FindingPlace{File: name, Line: n + 1})
		if f.Evidence == "" && !d.hides {
			f.Evidence = truncateRunes(strings.TrimSpace(text), 200)
		}
	}
	if f.Count = len(f.Places); f.Count == 0 {
		return nil
	}
	f.Places = f.Places[:min(f.Count, 20)]
	f.Title, f.Why, f.Minutes = fmt.Sprintf("Remove unsafe code from %s: %s", name, d.what), d.what, finding.EstimateMinutes("security", f.Count)
	if d.hides {
		f.Title = "Take the secret out of " + name + ", and have it replaced"
	}
	return []finding.WorkFinding{f}
}

// addPatch writes a file as a patch that adds it.
func addPatch(b *strings.Builder, name string, lines []string) {
	if len(lines) == 0 || strings.ContainsAny(name, "\"\t\\") {
		return
	}
	fmt.Fprintf(b, "diff --git a/%[1]s b/%[1]s\nnew file mode 100644\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1,%[2]d @@\n", name, len(lines))
	for _, text := range lines {
		b.WriteString("+" + strings.TrimSuffix(text, "\r") + "\n")
	}
}

// value matches strings in the form of a secret.
var value = pattern.LazyRegexp(`[A-Za-z0-9+/=_.~-]{12,}`)

// leakedSecretFinding makes a finding of a secret. It contains the text before the secret in its line, and
// no part of the secret.
func (s *SourceTree) leakedSecretFinding(l leak.LeakedSecret) (finding.WorkFinding, bool) {
	lines := s.texts[l.File]
	if l.Line < 1 || l.Line > len(lines) || !isSafeInCheck(l.File) {
		return finding.WorkFinding{}, false
	}
	text := lines[l.Line-1]
	begin, _ := 0, 0
	for _, m := range value().FindAllStringIndex(text, -1) {
		if m[1] >= l.Column {
			begin = m[0]
			break
		}
	}
	before := strings.TrimLeft(text[:begin], " \t")
	if r := []rune(before); len(r) > 40 {
		before = string(r[len(r)-40:])
	}
	check := fmt.Sprintf("! grep -qE -- %s %s", cmdline.Quote(spaceTolerantPattern(before)+"[A-Za-z0-9+/=_.~-]{12,}"), cmdline.Quote("./"+l.File))
	switch {
	case strings.Contains(text, "PRIVATE KEY"):
		check, before = fmt.Sprintf("! grep -q 'PRIVATE KEY' %s", cmdline.Quote("./"+l.File)), "PRIVATE KEY"
	case before == "" || !isSafeInCheck(before):
		check = "! test -e " + cmdline.Quote("./"+l.File)
	}
	f := finding.WorkFinding{
		ID: finding.FindingID("security", l.File, l.Rule, before), Strategy: "security", Kind: finding.Security, Severity: nexus.PriorityCritical,
		Title:   fmt.Sprintf("Take the secret out of %s, and have it replaced", l.File),
		Why:     fmt.Sprintf("it looks like a secret (%s): %s", l.Rule, l.Kind),
		Minutes: finding.EstimateMinutes("security", 1), Places: []finding.FindingPlace{{File: l.File, Line: l.Line}}, Check: check,
	}
	if stack.ServesTests(l.File) {
		f.Severity = nexus.PriorityHigh
	}
	f.Why = truncateRunes(strings.Join(strings.Fields(f.Why), " "), 200)
	return f, true
}

// spaceTolerantPattern returns a pattern of grep -E for a line in which each space may be several.
func spaceTolerantPattern(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == ' ':
			b.WriteString("[[:space:]]+")
		case strings.ContainsRune(`.[](){}*+?^$|/`, r):
			b.WriteString("[" + string(r) + "]")
		default:
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "[^]", `\^`)
}
