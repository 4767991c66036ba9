package codenavigation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/sys/lsp"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// answerFromSyncedServer sends a request to a running server that knows the current files.
func (l *lspSession) answerFromSyncedServer(ctx context.Context, o codeToolInput) (tool.CallOutput, error) {
	p := &lookupResultFormatter{tree: l.lookup.set.AgentTree(), texts: map[string][]string{}}
	if o.Path == "" && o.Op == "symbols" {
		return l.answerSymbolSearch(ctx, p, o.Name)
	}
	if o.Path == "" && o.Op == "definition" {
		if all, err := l.dependencyDeclarations(ctx, o.Name); err != nil || len(all) > 0 {
			return tool.CallOutput{Text: p.formatPlaces(all)}, err
		}
	}
	at, err := l.namePosition(ctx, p, &o)
	if err != nil {
		return tool.CallOutput{}, err
	}
	switch o.Op {
	case "symbols":
		all, err := l.session.DocumentSymbols(ctx, o.Path)
		return tool.CallOutput{Text: p.formatOutline(all)}, err
	case "definition":
		all, err := l.session.FindDefinition(ctx, o.Path, at)
		return tool.CallOutput{Text: l.formatDeclarations(ctx, p, all)}, err
	case "references":
		all, err := l.session.FindReferences(ctx, o.Path, at)
		return tool.CallOutput{Text: p.formatPlaces(all)}, err
	case "diagnostics":
		all, err := l.session.FileDiagnostics(ctx, o.Path)
		return tool.CallOutput{Text: p.formatDiagnostics(o.Path, all)}, err
	case "rename":
		if o.To == "" {
			return tool.CallOutput{}, errors.New("give the new name as to")
		}
		changes, err := l.session.RenameSymbol(ctx, o.Path, at, o.To)
		if err != nil {
			return tool.CallOutput{}, err
		}
		return l.writeChanges(changes)
	case "actions":
		return l.runCodeAction(ctx, p, o)
	default:
		return tool.CallOutput{}, fmt.Errorf("no operation %q", o.Op)
	}
}

// namePosition opens the file of a request, and returns the position of the requested name in it.
func (l *lspSession) namePosition(ctx context.Context, p *lookupResultFormatter, o *codeToolInput) (lsp.Position, error) {
	var at lsp.Position
	needs := o.Op == "definition" || o.Op == "references" || o.Op == "rename"
	if needs && o.Name == "" {
		return at, errors.New("give the name as name")
	}
	if o.Path == "" {
		found, err := l.uniqueDeclaration(ctx, p, *o)
		if err != nil {
			return at, err
		}
		if o.Path = found.Name; !l.server.readsFile(o.Path) {
			return at, fmt.Errorf("it is declared in %s; give path and line", o.Path)
		}
		o.Line = found.Range.Start.Line + 1
	}
	if _, err := l.lookup.set.AgentTree().CleanPath(o.Path, false); err != nil {
		return at, err
	}
	text, err := l.sendFile(ctx, o.Path)
	if err != nil || !needs {
		return at, err
	}
	lines := strings.Split(text, "\n")
	p.texts[o.Path] = lines
	if o.Line == 0 {
		if at, ok := l.declarationInFile(ctx, o.Path, o.Name, lines); ok {
			return at, nil
		}
		for i, line := range lines {
			if from := findWholeWord(line, lastNamePart(o.Name)); from >= 0 {
				return lsp.Position{Line: i, Char: l.session.CharOffset(line, from)}, nil
			}
		}
		return at, fmt.Errorf("%s is not in %s", o.Name, o.Path)
	}
	if o.Line < 1 || o.Line > len(lines) {
		return at, fmt.Errorf("%s has %d lines", o.Path, len(lines))
	}
	line := lines[o.Line-1]
	from := findWholeWord(line, lastNamePart(o.Name))
	if from < 0 {
		return at, fmt.Errorf("%s is not on line %d of %s: %s", lastNamePart(o.Name), o.Line, o.Path, line)
	}
	return lsp.Position{Line: o.Line - 1, Char: l.session.CharOffset(line, from)}, nil
}

// sendFile sends the text of a file to the server, and returns the text.
func (l *lspSession) sendFile(ctx context.Context, name string) (string, error) {
	text, err := l.lookup.set.AgentTree().Text(name)
	if err != nil {
		return "", err
	}
	return text, l.session.OpenFile(ctx, name, languageID(name), text)
}

// declarationInFile returns the position at which a file declares a name.
func (l *lspSession) declarationInFile(ctx context.Context, file, name string, lines []string) (lsp.Position, bool) {
	all, err := l.session.DocumentSymbols(ctx, file)
	if err != nil {
		return lsp.Position{}, false
	}
	for _, s := range all {
		if !hasName(s, name) {
			continue
		}
		for i := s.Range.Start.Line; i <= s.Range.End.Line && i < len(lines) && i >= 0; i++ {
			if from := findWholeWord(lines[i], lastNamePart(name)); from >= 0 {
				return lsp.Position{Line: i, Char: l.session.CharOffset(lines[i], from)}, true
			}
		}
	}
	return lsp.Position{}, false
}

// uniqueDeclaration returns the only declaration of a name in the tree.
func (l *lspSession) uniqueDeclaration(ctx context.Context, p *lookupResultFormatter, o codeToolInput) (lsp.FileTextRange, error) {
	all, err := l.symbolsInTree(ctx, lastNamePart(o.Name))
	if err != nil {
		return lsp.FileTextRange{}, err
	}
	all = slices.DeleteFunc(all, func(s lsp.DeclaredSymbol) bool { return !hasName(s, o.Name) })
	switch len(all) {
	case 0:
		return lsp.FileTextRange{}, fmt.Errorf("nothing here is called %s; give path and line", o.Name)
	case 1:
		return all[0].FileTextRange, nil
	default:
		return lsp.FileTextRange{}, fmt.Errorf("%d things are called %s; give the path of one:\n%s", len(all), o.Name, p.formatSymbols(all))
	}
}

// dependencyDeclarations returns the declarations in dependencies of a name that the tree does not declare.
func (l *lspSession) dependencyDeclarations(ctx context.Context, name string) ([]lsp.FileTextRange, error) {
	all, err := l.findSymbols(ctx, name)
	if err != nil {
		return nil, err
	}
	var places []lsp.FileTextRange
	for _, s := range all {
		switch {
		case !hasName(s, name):
		case lsp.IsInside(s.Name):
			return nil, nil
		case l.lookup.set.AgentTree().TreeForPath(s.Name).IsCache():
			places = append(places, s.FileTextRange)
		}
	}
	return places, nil
}

// symbolsInTree returns the declarations in the tree with a name like this.
func (l *lspSession) symbolsInTree(ctx context.Context, name string) ([]lsp.DeclaredSymbol, error) {
	all, err := l.findSymbols(ctx, name)
	tree := l.lookup.set.AgentTree()
	return slices.DeleteFunc(all, func(s lsp.DeclaredSymbol) bool {
		if !lsp.IsInside(s.Name) {
			return true
		}
		_, hidden := tree.CleanPath(s.Name, false)
		return hidden != nil
	}), err
}

// findSymbols returns the declarations with a name like this, wherever the server searches.
func (l *lspSession) findSymbols(ctx context.Context, name string) ([]lsp.DeclaredSymbol, error) {
	if len(l.session.OpenFileNames()) == 0 { // some servers search nothing before that
		if err := l.openAnyFile(ctx); err != nil {
			return nil, err
		}
	}
	return l.session.FindSymbols(ctx, name)
}

// openAnyFile opens any file that the server knows.
func (l *lspSession) openAnyFile(ctx context.Context) error {
	tree := l.lookup.set.AgentTree()
	var name string
	// without a file nothing is found
	_ = tree.Hidden.WalkUnignored(tree.Root, ".", func(n string, d fs.DirEntry) bool {
		if !d.IsDir() && l.server.readsFile(n) {
			if _, err := tree.CleanPath(n, false); err == nil {
				name = n
			}
		}
		return name == ""
	})
	if name == "" {
		return nil
	}
	_, err := l.sendFile(ctx, name)
	return err
}

// answerSymbolSearch answers a request for a name anywhere.
func (l *lspSession) answerSymbolSearch(ctx context.Context, p *lookupResultFormatter, name string) (tool.CallOutput, error) {
	all, err := l.symbolsInTree(ctx, lastNamePart(name))
	if err != nil {
		return tool.CallOutput{}, err
	}
	slices.SortStableFunc(all, func(a, b lsp.DeclaredSymbol) int { // exact matches first
		return cmp.Compare(matchRank(a, name), matchRank(b, name))
	})
	return tool.CallOutput{Text: p.formatSymbols(all)}, nil
}

func matchRank(s lsp.DeclaredSymbol, name string) int {
	if hasName(s, name) {
		return 0
	}
	return 1
}

// lastNamePart returns the last part of a qualified name.
func lastNamePart(name string) string {
	return name[strings.LastIndexAny(name, ".:#)")+1:]
}

// hasName reports whether a symbol has a name: by the last part of its name, and by the parts
// before that if they are given.
func hasName(s lsp.DeclaredSymbol, name string) bool {
	own := strings.TrimSuffix(s.Symbol, "()")
	if lastNamePart(own) != lastNamePart(name) {
		return false
	}
	plain := func(n string) string { return strings.NewReplacer("(", "", ")", "", "*", "").Replace(n) }
	full := plain(s.Of + "." + own)
	return strings.HasSuffix("."+full, "."+plain(name))
}

// findWholeWord returns the offset of a name in a line as a separate word, -1 if there is none.
func findWholeWord(line, name string) int {
	if name == "" {
		return -1
	}
	from := 0
	letter := func(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for {
		i := strings.Index(line[from:], name)
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(line[:i])
		after, _ := utf8.DecodeRuneInString(line[i+len(name):])
		if !letter(before) && !letter(after) {
			return i
		}
		from = i + len(name)
	}
}

// runCodeAction lists the server's possible changes at a line, or applies one of them.
func (l *lspSession) runCodeAction(ctx context.Context, p *lookupResultFormatter, o codeToolInput) (tool.CallOutput, error) {
	lines, err := p.readableLines(o.Path)
	if err != nil {
		return tool.CallOutput{}, err
	}
	at := lsp.Range{End: lsp.Position{Line: len(lines)}}
	if o.Line > 0 && o.Line <= len(lines) {
		line := lines[o.Line-1]
		at = lsp.Range{Start: lsp.Position{Line: o.Line - 1}, End: lsp.Position{Line: o.Line - 1, Char: l.session.CharOffset(line, len(line))}}
		if from := findWholeWord(line, lastNamePart(o.Name)); from >= 0 {
			at.Start.Char = l.session.CharOffset(line, from)
			at.End.Char = l.session.CharOffset(line, from+len(lastNamePart(o.Name)))
		}
	}
	all, err := l.session.CodeActions(ctx, o.Path, at)
	if err != nil {
		return tool.CallOutput{}, err
	}
	if o.To == "" {
		return tool.CallOutput{Text: p.formatActions(all)}, nil
	}
	for i, a := range all {
		if a.Title != o.To && strconv.Itoa(i+1) != o.To {
			continue
		}
		changes, err := l.session.ResolveAction(ctx, a)
		if err != nil {
			return tool.CallOutput{}, err
		}
		return l.writeChanges(changes)
	}
	return tool.CallOutput{}, fmt.Errorf("there is no %q among them:\n%s", o.To, p.formatActions(all))
}

// writeChanges writes a server's changes, if the role allows them.
func (l *lspSession) writeChanges(changes []lsp.FileTextEdits) (tool.CallOutput, error) {
	var all []files.FileReplacement
	tree := l.lookup.set.AgentTree()
	for _, ch := range changes {
		r := files.FileReplacement{Name: ch.Name, Made: ch.Made}
		if _, err := tree.CleanPath(ch.Name, true); err != nil {
			return tool.CallOutput{}, err
		}
		var err error
		if !ch.Made {
			if r.Old, err = tree.Text(ch.Name); err != nil {
				return tool.CallOutput{}, err
			}
		}
		if r.New, err = ch.Apply(r.Old); err != nil {
			return tool.CallOutput{}, fmt.Errorf("%s: %w", ch.Name, err)
		}
		if r.New != r.Old || ch.Made {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return tool.CallOutput{Text: "[nothing to change]"}, nil
	}
	text, err := tree.RewriteFiles(all)
	if err != nil {
		return tool.CallOutput{}, err
	}
	return tool.CallOutput{Text: text, Changed: true}, nil
}
