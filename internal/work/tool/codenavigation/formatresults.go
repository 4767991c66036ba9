package codenavigation

import (
	"context"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/lsp"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

const (
	maxShown = 300 // positions, symbols or findings
	maxWidth = 200 // most bytes of a line
)

// lookupResultFormatter formats a server's results for the model. It reads the lines of code itself,
// with the agent's rights: a server may name any file.
type lookupResultFormatter struct {
	tree  *files.AgentTree
	texts map[string][]string // lines of the files that were read
}

// readableLines returns the lines of a file that agents may read.
func (p *lookupResultFormatter) readableLines(name string) ([]string, error) {
	if lines, ok := p.texts[name]; ok {
		return lines, nil
	}
	tree := p.tree.TreeForPath(name)
	clean, err := tree.CleanPath(name, false)
	if err != nil {
		return nil, err
	}
	text, err := tree.Text(clean)
	if err != nil {
		return nil, err
	}
	p.texts[name] = strings.Split(text, "\n")
	return p.texts[name], nil
}

func (p *lookupResultFormatter) lineText(name string, n int) string {
	lines, err := p.readableLines(name)
	if err != nil || n < 0 || n >= len(lines) {
		return ""
	}
	return shortenLine(strings.TrimSpace(lines[n]))
}

// shortenLine returns the beginning of a server's text as one line.
func shortenLine(text string) string {
	text = strings.Join(strings.Fields(sanitize.StripTerminalControls(text)), " ")
	if len(text) > maxWidth {
		text = strings.ToValidUTF8(text[:maxWidth], "") + "..."
	}
	return text
}

func (p *lookupResultFormatter) formatList(n int, one func(b *strings.Builder, i int)) string {
	if n == 0 {
		return "[nothing found]"
	}
	var b strings.Builder
	for i := range min(n, maxShown) {
		one(&b, i)
	}
	if n > maxShown {
		fmt.Fprintf(&b, "[%d more]\n", n-maxShown)
	}
	return b.String()
}

func (p *lookupResultFormatter) formatPlaces(all []lsp.FileTextRange) string {
	return p.formatList(len(all), func(b *strings.Builder, i int) {
		at := all[i]
		tree := p.tree.TreeForPath(at.Name)
		if !lsp.IsInside(at.Name) && !tree.IsCache() {
			fmt.Fprintf(b, "%s:%d: [outside the worktree]\n", shortenLine(at.Name), at.Range.Start.Line+1)
			return
		}
		if _, err := tree.CleanPath(at.Name, false); err != nil {
			b.WriteString("[in a file that is hidden from agents]\n")
			return
		}
		fmt.Fprintf(b, "%s:%d: %s\n", shortenLine(at.Name), at.Range.Start.Line+1, p.lineText(at.Name, at.Range.Start.Line))
	})
}

// Limits of the definitions that are shown.
const (
	maxBodies = 3   // declarations with their code
	maxBody   = 200 // most lines of each
)

// formatDeclarations shows declarations, the first of them with the comment above and the whole code, up
// to a limit that it mentions.
func (l *lspSession) formatDeclarations(ctx context.Context, p *lookupResultFormatter, all []lsp.FileTextRange) string {
	var b strings.Builder
	for i, at := range all {
		if i == maxBodies || !lsp.IsInside(at.Name) {
			return b.String() + p.formatPlaces(all[i:])
		}
		b.WriteString(p.formatPlaces([]lsp.FileTextRange{at}))
		if lines, err := p.readableLines(at.Name); err == nil && at.Range.Start.Line < len(lines) && at.Range.Start.Line >= 0 {
			from, to := files.DeclarationRange(lines, at.Range.Start.Line, l.lastDeclarationLine(ctx, at))
			b.WriteString(formatExcerpt(at.Name, lines, from, to))
		}
	}
	if len(all) == 0 {
		return p.formatPlaces(nil)
	}
	return b.String()
}

// lastDeclarationLine returns the last line of the declaration at a position, -1 if the server does not report
// it.
func (l *lspSession) lastDeclarationLine(ctx context.Context, at lsp.FileTextRange) int {
	if !l.server.readsFile(at.Name) {
		return -1
	}
	if _, err := l.sendFile(ctx, at.Name); err != nil {
		return -1
	}
	all, err := l.session.DocumentSymbols(ctx, at.Name)
	if err != nil {
		return -1
	}
	last := -1
	for _, s := range all { // the innermost that begins there
		if s.Range.Start.Line == at.Range.Start.Line && (last < 0 || s.Range.End.Line < last) {
			last = s.Range.End.Line
		}
	}
	return last
}

// formatExcerpt formats the lines from to to of a file, or returns "" for a single line, which the
// result shows already.
func formatExcerpt(name string, lines []string, from, to int) string {
	if to-from < 2 {
		return ""
	}
	end := min(to, from+maxBody)
	text := fmt.Sprintf("lines %d-%d:\n%s\n", from+1, end, strings.Join(lines[from:end], "\n"))
	if end < to {
		text += fmt.Sprintf("[%d lines are shown, it ends at line %d; read_file %s with offset %d shows the rest]\n", maxBody, to, name, end+1)
	}
	return text
}

func (p *lookupResultFormatter) formatOutline(all []lsp.DeclaredSymbol) string {
	return p.formatList(len(all), func(b *strings.Builder, i int) {
		s := all[i]
		fmt.Fprintf(b, "%s%d-%d %s %s", strings.Repeat("  ", s.Depth), s.Range.Start.Line+1, s.Range.End.Line+1, s.Kind, shortenLine(s.Symbol))
		if s.Detail != "" {
			b.WriteString(" " + shortenLine(s.Detail))
		}
		b.WriteByte('\n')
	})
}

func (p *lookupResultFormatter) formatSymbols(all []lsp.DeclaredSymbol) string {
	return p.formatList(len(all), func(b *strings.Builder, i int) {
		s := all[i]
		fmt.Fprintf(b, "%s:%d: %s %s", shortenLine(s.Name), s.Range.Start.Line+1, s.Kind, shortenLine(s.Symbol))
		if s.Of != "" {
			b.WriteString(" in " + shortenLine(s.Of))
		}
		b.WriteByte('\n')
	})
}

func (p *lookupResultFormatter) formatDiagnostics(name string, all []lsp.Diagnostic) string {
	if len(all) == 0 {
		return "[no diagnostics]"
	}
	return p.formatList(len(all), func(b *strings.Builder, i int) {
		d := all[i]
		fmt.Fprintf(b, "%s:%d: %s: %s\n", name, d.Range.Start.Line+1, severityName(d.Severity), shortenLine(d.Message))
	})
}

func severityName(n int) string {
	switch n {
	case 2:
		return "warning"
	case 3:
		return "information"
	case 4:
		return "hint"
	default:
		return "error"
	}
}

func (p *lookupResultFormatter) formatActions(all []lsp.CodeAction) string {
	return p.formatList(len(all), func(b *strings.Builder, i int) {
		fmt.Fprintf(b, "%d %s (%s)\n", i+1, shortenLine(all[i].Title), shortenLine(all[i].Kind))
	})
}
