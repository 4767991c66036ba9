package discover

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/missingdocs"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// findMissingDocumentation finds undocumented public names and directories, a missing README, and README
// commands that fail.
func findMissingDocumentation(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	found := StrategyResult{Quick: true}
	readme := ""
	within, err := s.unreachableFiles(ctx)
	if err != nil {
		return found, err
	}
	for _, file := range s.files {
		if isReadme(file.path) && (readme == "" || len(file.path) < len(readme)) {
			readme = file.path // the main README.md, not a translation
		}
		d, ok := missingdocs.LanguageOf(file.path)
		if !ok || isAuxiliaryFile(file.path) || within(file.path) || !isSafeInCheck(file.path) {
			continue
		}
		lines, err := s.readTextLines(ctx, file.path)
		if err != nil {
			return found, err
		}
		if f, ok := undescribedNamesFinding(d, file.path, lines); ok {
			found.Findings = append(found.Findings, f)
		}
	}
	silent, err := s.undescribedDirectories(ctx)
	if err != nil {
		return found, err
	}
	found.Findings = append(found.Findings, silent...)
	if readme == "" {
		if len(s.files) > 2 {
			found.Findings = append(found.Findings, discoveredwork.WorkFinding{
				ID: discoveredwork.FindingID("documentation", "README"), Strategy: "documentation", Kind: discoveredwork.Docs, Severity: nexus.PriorityLow,
				Title: "Write a README.md: what this is, how it is built and used", Why: "there is none", Minutes: 20, Check: "test -s README.md",
			})
		}
		return found, nil
	}
	lines, err := s.readTextLines(ctx, readme)
	if err != nil {
		return found, err
	}
	stale, notes, err := s.failingReadmeCommands(ctx, readme, lines)
	found.Findings, found.Notes = append(found.Findings, stale...), append(found.Notes, notes...)
	return found, err
}

// isReadme reports whether a file is a README.
func isReadme(name string) bool {
	return !strings.Contains(name, "/") && strings.HasPrefix(strings.ToLower(name), "readme")
}

// Limits of the README commands that are run.
const (
	mostCommands = 10
	commandTime  = time.Minute
)

// elsewhere matches commands that fetch, install or never end: they are no test of the README.
var elsewhere = regexp.MustCompile(`\b(?:install|get|clone|curl|wget|npx|docker|podman|brew|apt|apt-get|pip|pipx|sudo|ssh)\b|` +
	`\b(?:serve|server|start|watch|dev|up|login|push|publish|deploy)\b|://|[<>\[\]$…]|\.\.\.`)

// failingReadmeCommands finds README commands that fail when they are run, in the sandbox, and
// only if the policy allows them without asking. Earlier commands of the same block run first.
func (s *SourceTree) failingReadmeCommands(ctx context.Context, readme string, lines []string) (all []discoveredwork.WorkFinding, notes []string, err error) {
	b, err := s.checkOutTree(ctx)
	if err != nil {
		return nil, nil, err
	}
	ran, left := 0, 0
	for _, block := range parseShellBlocks(lines) {
		var before []string
		for _, c := range block {
			if elsewhere.MatchString(c.text) || b.Harmless == nil || !b.Harmless(c.text) || ran == mostCommands {
				left++
				break // later commands may depend on it
			}
			before = append(before, c.text)
			line := strings.Join(before, " && ")
			ran++
			g := gate.QualityGate{Name: "readme: " + line, Args: []string{"sh", "-c", line}, Format: outputparser.Exit, Timeout: commandTime}
			e, printed, err := s.runGate(ctx, g)
			if err != nil {
				return nil, nil, err
			}
			program, _, _ := strings.Cut(c.text, " ")
			gone := e.Exit == 127 && strings.HasPrefix(program, "./")
			if e.State != nexus.Fail && !gone {
				continue
			}
			f := discoveredwork.WorkFinding{
				ID: discoveredwork.FindingID("documentation", readme, c.text), Strategy: "documentation", Kind: discoveredwork.Docs, Severity: nexus.PriorityMedium,
				Title: fmt.Sprintf("Make the command in %s work, or correct it: %s", readme, truncateRunes(c.text, 60)),
				Why:   fmt.Sprintf("it exits with %d", e.Exit), Evidence: truncateRunes(strings.TrimSpace(printed), 400), Minutes: 15,
				Places: []discoveredwork.FindingPlace{{File: readme, Line: c.n}},
				// If the program is missing, the README is at fault, and not the machine.
				Check: fmt.Sprintf("! grep -qF -- %s %s || { %s; } >/dev/null 2>&1 || false",
					scriptcommands.QuoteShellWord(c.text), scriptcommands.QuoteShellWord("./"+readme), line),
				State: nexus.Fail,
			}
			if len(f.Check) <= longestCheck {
				all = append(all, f)
			}
			break
		}
	}
	if left > 0 {
		was := "were"
		if left == 1 {
			was = "was"
		}
		const why = "commands fetch something or do not end, the policy asks about them, or there are too many"
		notes = append(notes, fmt.Sprintf("%s of %s %s not run to the end: %s", pluralCount(left, "block"), readme, was, why))
	}
	return all, notes, nil
}

// readmeCommandLine is a line of code.
type readmeCommandLine struct {
	text string
	n    int // line number, from 1
}

// parseShellBlocks returns the commands of a Markdown text: of its shell blocks, and of console blocks
// the lines after a prompt.
func parseShellBlocks(lines []string) [][]readmeCommandLine {
	var all [][]readmeCommandLine
	var block []readmeCommandLine
	open, console := "", false
	for n, text := range lines {
		text = strings.TrimSpace(text)
		switch {
		case open == "":
			fence := strings.TrimLeft(text, "`")
			if len(text)-len(fence) < 3 {
				continue
			}
			open = text[:len(text)-len(fence)]
			lang, _, _ := strings.Cut(strings.TrimSpace(fence), " ")
			console = lang == "console" || lang == "shell-session"
			if !console && lang != "sh" && lang != "bash" && lang != "shell" {
				open += " other"
			}
			block = nil
		case text == strings.TrimSuffix(open, " other"):
			if len(block) > 0 && !strings.HasSuffix(open, " other") {
				all = append(all, block)
			}
			open = ""
		default:
			command, prompted := strings.CutPrefix(text, "$ ")
			if command = strings.TrimSpace(command); console && !prompted || command == "" || strings.HasPrefix(command, "#") || !isSafeInCheck(command) {
				continue
			}
			block = append(block, readmeCommandLine{text: command, n: n + 1})
		}
	}
	return all
}
