package code

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

// resultWriter formats a server's results for the model. It reads the lines of code itself,
// with the agent's rights: a server may name any file.
type resultWriter struct {
	tree  *files.Tree
	texts map[string][]string // lines of the files that were read
}

// lines returns the lines of a file that agents may read.
func (p *resultWriter) lines(name string) ([]string, error) {
	if lines, ok := p.texts[name]; ok {
		return lines, nil
	}
	tree := p.tree.At(name)
	clean, err := tree.Clean(name, false)
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

func (p *resultWriter) line(name string, n int) string {
	lines, err := p.lines(name)
	if err != nil || n < 0 || n >= len(lines) {
		return ""
	}
	return short(strings.TrimSpace(lines[n]))
}

// short returns the beginning of a server's text as one line.
func short(text string) string {
	text = strings.Join(strings.Fields(sanitize.Terminal(text)), " ")
	if len(text) > maxWidth {
		text = strings.ToValidUTF8(text[:maxWidth], "") + "..."
	}
	return text
}

func (p *resultWriter) list(n int, one func(b *strings.Builder, i int)) string {
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

func (p *resultWriter) places(all []lsp.Place) string {
	return p.list(len(all), func(b *strings.Builder, i int) {
		at := all[i]
		tree := p.tree.At(at.Name)
		if !lsp.IsInside(at.Name) && !tree.Apart() {
			fmt.Fprintf(b, "%s:%d: [outside the worktree]\n", short(at.Name), at.Range.Start.Line+1)
			return
		}
		if _, err := tree.Clean(at.Name, false); err != nil {
			b.WriteString("[in a file that is hidden from agents]\n")
			return
		}
		fmt.Fprintf(b, "%s:%d: %s\n", short(at.Name), at.Range.Start.Line+1, p.line(at.Name, at.Range.Start.Line))
	})
}

// Limits of the definitions that are shown.
const (
	maxBodies = 3   // declarations with their code
	maxBody   = 200 // most lines of each
)

// bodies shows declarations, the first of them with the comment above and the whole code, up
// to a limit that it mentions.
func (l *lspSession) bodies(ctx context.Context, p *resultWriter, all []lsp.Place) string {
	var b strings.Builder
	for i, at := range all {
		if i == maxBodies || !lsp.IsInside(at.Name) {
			return b.String() + p.places(all[i:])
		}
		b.WriteString(p.places([]lsp.Place{at}))
		if lines, err := p.lines(at.Name); err == nil && at.Range.Start.Line < len(lines) && at.Range.Start.Line >= 0 {
			from, to := files.Body(lines, at.Range.Start.Line, l.end(ctx, at))
			b.WriteString(excerpt(at.Name, lines, from, to))
		}
	}
	if len(all) == 0 {
		return p.places(nil)
	}
	return b.String()
}

// end returns the last line of the declaration at a position, -1 if the server does not report
// it.
func (l *lspSession) end(ctx context.Context, at lsp.Place) int {
	if !l.server.knows(at.Name) {
		return -1
	}
	if _, err := l.sendFile(ctx, at.Name); err != nil {
		return -1
	}
	all, err := l.session.Symbols(ctx, at.Name)
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

// excerpt shows lines of a file, or "" if it is a single line.
func excerpt(name string, lines []string, from, to int) string {
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

func (p *resultWriter) outline(all []lsp.Symbol) string {
	return p.list(len(all), func(b *strings.Builder, i int) {
		s := all[i]
		fmt.Fprintf(b, "%s%d-%d %s %s", strings.Repeat("  ", s.Depth), s.Range.Start.Line+1, s.Range.End.Line+1, s.Kind, short(s.Symbol))
		if s.Detail != "" {
			b.WriteString(" " + short(s.Detail))
		}
		b.WriteByte('\n')
	})
}

func (p *resultWriter) named(all []lsp.Symbol) string {
	return p.list(len(all), func(b *strings.Builder, i int) {
		s := all[i]
		fmt.Fprintf(b, "%s:%d: %s %s", short(s.Name), s.Range.Start.Line+1, s.Kind, short(s.Symbol))
		if s.Of != "" {
			b.WriteString(" in " + short(s.Of))
		}
		b.WriteByte('\n')
	})
}

func (p *resultWriter) diagnostics(name string, all []lsp.Diagnostic) string {
	if len(all) == 0 {
		return "[no diagnostics]"
	}
	return p.list(len(all), func(b *strings.Builder, i int) {
		d := all[i]
		fmt.Fprintf(b, "%s:%d: %s: %s\n", name, d.Range.Start.Line+1, severity(d.Severity), short(d.Message))
	})
}

func severity(n int) string {
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

func (p *resultWriter) actions(all []lsp.Action) string {
	return p.list(len(all), func(b *strings.Builder, i int) {
		fmt.Fprintf(b, "%d %s (%s)\n", i+1, short(all[i].Title), short(all[i].Kind))
	})
}
