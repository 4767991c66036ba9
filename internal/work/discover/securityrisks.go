package discover

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret/leak"
)

// findSecurityRisks finds secrets, and tracked settings files, which often have some. Dangerous code is found by
// the linters of the project, which know what it excused.
func findSecurityRisks(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	found := StrategyResult{Quick: true}
	var patch strings.Builder
	for _, file := range s.files {
		lines, err := s.readTextLines(ctx, file.path)
		if err != nil {
			return found, err
		}
		if base := path.Base(file.path); isEnvFile(base) && isSafeInCheck(file.path) {
			found.Findings = append(found.Findings, discoveredwork.WorkFinding{
				ID: discoveredwork.FindingID("security", file.path, ".env"), Strategy: "security", Kind: discoveredwork.Security,
				Title: fmt.Sprintf("Stop tracking %s", file.path), Severity: nexus.PriorityCritical, Minutes: discoveredwork.EstimateMinutes("security", 1),
				Why:    "git tracks a file with the settings of one machine, which often contains secrets",
				Places: []discoveredwork.FindingPlace{{File: file.path}}, Check: "! test -e " + scriptcommands.QuoteShellWord(file.path),
			})
			continue
		}
		writeFileAsPatch(&patch, file.path, lines)
	}
	leaks, err := s.leaks.FindAdded(ctx, patch.String())
	if err != nil {
		return found, err
	}
	for _, l := range leaks {
		if f, ok := s.leakedSecretFinding(l); ok {
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
		writeFileAsPatch(&patch, strconv.Itoa(i)+"/evidence", strings.Split(f.Evidence, "\n"))
		writeFileAsPatch(&patch, strconv.Itoa(i)+"/words", []string{f.Title, f.Why, f.Check})
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
	var all []discoveredwork.WorkFinding
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

// writeFileAsPatch writes a file as a patch that adds it.
func writeFileAsPatch(b *strings.Builder, name string, lines []string) {
	if len(lines) == 0 || strings.ContainsAny(name, "\"\t\\") {
		return
	}
	fmt.Fprintf(b, "diff --git a/%[1]s b/%[1]s\nnew file mode 100644\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1,%[2]d @@\n", name, len(lines))
	for _, text := range lines {
		b.WriteString("+" + strings.TrimSuffix(text, "\r") + "\n")
	}
}

// value matches strings in the form of a secret.
var value = regexp.MustCompile(`[A-Za-z0-9+/=_.~-]{12,}`)

// leakedSecretFinding makes a finding of a secret. It contains the text before the secret in its line, and
// no part of the secret.
func (s *SourceTree) leakedSecretFinding(l leak.LeakedSecret) (discoveredwork.WorkFinding, bool) {
	lines := s.texts[l.File]
	if l.Line < 1 || l.Line > len(lines) || !isSafeInCheck(l.File) {
		return discoveredwork.WorkFinding{}, false
	}
	text := lines[l.Line-1]
	begin, _ := 0, 0
	for _, m := range value.FindAllStringIndex(text, -1) {
		if m[1] >= l.Column {
			begin = m[0]
			break
		}
	}
	before := strings.TrimLeft(text[:begin], " \t")
	if r := []rune(before); len(r) > 40 {
		before = string(r[len(r)-40:])
	}
	check := fmt.Sprintf("! grep -qE -- %s %s", scriptcommands.QuoteShellWord(spaceTolerantPattern(before)+"[A-Za-z0-9+/=_.~-]{12,}"), scriptcommands.QuoteShellWord("./"+l.File))
	switch {
	case strings.Contains(text, "PRIVATE KEY"):
		check, before = fmt.Sprintf("! grep -q 'PRIVATE KEY' %s", scriptcommands.QuoteShellWord("./"+l.File)), "PRIVATE KEY"
	case before == "" || !isSafeInCheck(before):
		check = "! test -e " + scriptcommands.QuoteShellWord("./"+l.File)
	}
	f := discoveredwork.WorkFinding{
		ID: discoveredwork.FindingID("security", l.File, l.Rule, before), Strategy: "security", Kind: discoveredwork.Security, Severity: nexus.PriorityCritical,
		Title:   fmt.Sprintf("Take the secret out of %s, and have it replaced", l.File),
		Why:     fmt.Sprintf("it looks like a secret (%s): %s", l.Rule, l.Kind),
		Minutes: discoveredwork.EstimateMinutes("security", 1), Places: []discoveredwork.FindingPlace{{File: l.File, Line: l.Line}}, Check: check,
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
