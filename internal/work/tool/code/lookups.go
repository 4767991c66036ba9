package code

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

// ask sends a request to a running server that knows the current files.
func (l *lspSession) ask(ctx context.Context, o codeRequest) (tool.Output, error) {
	p := &resultWriter{tree: l.lookup.set.Tree(), texts: map[string][]string{}}
	if o.Path == "" && o.Op == "symbols" {
		return l.find(ctx, p, o.Name)
	}
	if o.Path == "" && o.Op == "definition" {
		if all, err := l.depended(ctx, o.Name); err != nil || len(all) > 0 {
			return tool.Output{Text: p.places(all)}, err
		}
	}
	at, err := l.place(ctx, p, &o)
	if err != nil {
		return tool.Output{}, err
	}
	switch o.Op {
	case "symbols":
		all, err := l.session.Symbols(ctx, o.Path)
		return tool.Output{Text: p.outline(all)}, err
	case "definition":
		all, err := l.session.Definition(ctx, o.Path, at)
		return tool.Output{Text: l.bodies(ctx, p, all)}, err
	case "references":
		all, err := l.session.References(ctx, o.Path, at)
		return tool.Output{Text: p.places(all)}, err
	case "diagnostics":
		all, err := l.session.Diagnostics(ctx, o.Path)
		return tool.Output{Text: p.diagnostics(o.Path, all)}, err
	case "rename":
		if o.To == "" {
			return tool.Output{}, errors.New("give the new name as to")
		}
		changes, err := l.session.Rename(ctx, o.Path, at, o.To)
		if err != nil {
			return tool.Output{}, err
		}
		return l.write(changes)
	case "actions":
		return l.act(ctx, p, o)
	default:
		return tool.Output{}, fmt.Errorf("no operation %q", o.Op)
	}
}

// place opens the file of a request, and returns the position of the requested name in it.
func (l *lspSession) place(ctx context.Context, p *resultWriter, o *codeRequest) (lsp.Position, error) {
	var at lsp.Position
	needs := o.Op == "definition" || o.Op == "references" || o.Op == "rename"
	if needs && o.Name == "" {
		return at, errors.New("give the name as name")
	}
	if o.Path == "" {
		found, err := l.declared(ctx, p, *o)
		if err != nil {
			return at, err
		}
		if o.Path = found.Name; !l.server.knows(o.Path) {
			return at, fmt.Errorf("it is declared in %s; give path and line", o.Path)
		}
		o.Line = found.Range.Start.Line + 1
	}
	if _, err := l.lookup.set.Tree().Clean(o.Path, false); err != nil {
		return at, err
	}
	text, err := l.sendFile(ctx, o.Path)
	if err != nil || !needs {
		return at, err
	}
	lines := strings.Split(text, "\n")
	p.texts[o.Path] = lines
	if o.Line == 0 {
		if at, ok := l.declares(ctx, o.Path, o.Name, lines); ok {
			return at, nil
		}
		for i, line := range lines {
			if from := word(line, last(o.Name)); from >= 0 {
				return lsp.Position{Line: i, Char: l.session.Char(line, from)}, nil
			}
		}
		return at, fmt.Errorf("%s is not in %s", o.Name, o.Path)
	}
	if o.Line < 1 || o.Line > len(lines) {
		return at, fmt.Errorf("%s has %d lines", o.Path, len(lines))
	}
	line := lines[o.Line-1]
	from := word(line, last(o.Name))
	if from < 0 {
		return at, fmt.Errorf("%s is not on line %d of %s: %s", last(o.Name), o.Line, o.Path, line)
	}
	return lsp.Position{Line: o.Line - 1, Char: l.session.Char(line, from)}, nil
}

// sendFile sends the text of a file to the server, and returns the text.
func (l *lspSession) sendFile(ctx context.Context, name string) (string, error) {
	text, err := l.lookup.set.Tree().Text(name)
	if err != nil {
		return "", err
	}
	return text, l.session.OpenFile(ctx, name, language(name), text)
}

// declares returns the position at which a file declares a name.
func (l *lspSession) declares(ctx context.Context, file, name string, lines []string) (lsp.Position, bool) {
	all, err := l.session.Symbols(ctx, file)
	if err != nil {
		return lsp.Position{}, false
	}
	for _, s := range all {
		if !called(s, name) {
			continue
		}
		for i := s.Range.Start.Line; i <= s.Range.End.Line && i < len(lines) && i >= 0; i++ {
			if from := word(lines[i], last(name)); from >= 0 {
				return lsp.Position{Line: i, Char: l.session.Char(lines[i], from)}, true
			}
		}
	}
	return lsp.Position{}, false
}

// declared returns the only declaration of a name in the tree.
func (l *lspSession) declared(ctx context.Context, p *resultWriter, o codeRequest) (lsp.Place, error) {
	all, err := l.named(ctx, last(o.Name))
	if err != nil {
		return lsp.Place{}, err
	}
	all = slices.DeleteFunc(all, func(s lsp.Symbol) bool { return !called(s, o.Name) })
	switch len(all) {
	case 0:
		return lsp.Place{}, fmt.Errorf("nothing here is called %s; give path and line", o.Name)
	case 1:
		return all[0].Place, nil
	default:
		return lsp.Place{}, fmt.Errorf("%d things are called %s; give the path of one:\n%s", len(all), o.Name, p.named(all))
	}
}

// depended returns the declarations in dependencies of a name that the tree does not declare.
func (l *lspSession) depended(ctx context.Context, name string) ([]lsp.Place, error) {
	all, err := l.known(ctx, name)
	if err != nil {
		return nil, err
	}
	var places []lsp.Place
	for _, s := range all {
		switch {
		case !called(s, name):
		case lsp.IsInside(s.Name):
			return nil, nil
		case l.lookup.set.Tree().At(s.Name).Apart():
			places = append(places, s.Place)
		}
	}
	return places, nil
}

// named returns the declarations in the tree with a name like this.
func (l *lspSession) named(ctx context.Context, name string) ([]lsp.Symbol, error) {
	all, err := l.known(ctx, name)
	tree := l.lookup.set.Tree()
	return slices.DeleteFunc(all, func(s lsp.Symbol) bool {
		if !lsp.IsInside(s.Name) {
			return true
		}
		_, hidden := tree.Clean(s.Name, false)
		return hidden != nil
	}), err
}

// known returns the declarations with a name like this, wherever the server searches.
func (l *lspSession) known(ctx context.Context, name string) ([]lsp.Symbol, error) {
	if len(l.session.OpenFiles()) == 0 { // some servers search nothing before that
		if err := l.any(ctx); err != nil {
			return nil, err
		}
	}
	return l.session.Find(ctx, name)
}

// any opens any file that the server knows.
func (l *lspSession) any(ctx context.Context) error {
	tree := l.lookup.set.Tree()
	var name string
	// without a file nothing is found
	_ = tree.Hidden.Walk(tree.Root, ".", func(n string, d fs.DirEntry) bool {
		if !d.IsDir() && l.server.knows(n) {
			if _, err := tree.Clean(n, false); err == nil {
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

// find answers a request for a name anywhere.
func (l *lspSession) find(ctx context.Context, p *resultWriter, name string) (tool.Output, error) {
	all, err := l.named(ctx, last(name))
	if err != nil {
		return tool.Output{}, err
	}
	slices.SortStableFunc(all, func(a, b lsp.Symbol) int { // exact matches first
		return cmp.Compare(far(a, name), far(b, name))
	})
	return tool.Output{Text: p.named(all)}, nil
}

func far(s lsp.Symbol, name string) int {
	if called(s, name) {
		return 0
	}
	return 1
}

// last returns the last part of a qualified name.
func last(name string) string {
	return name[strings.LastIndexAny(name, ".:#)")+1:]
}

// called reports whether a symbol has a name: by the last part of its name, and by the parts
// before that if they are given.
func called(s lsp.Symbol, name string) bool {
	own := strings.TrimSuffix(s.Symbol, "()")
	if last(own) != last(name) {
		return false
	}
	plain := func(n string) string { return strings.NewReplacer("(", "", ")", "", "*", "").Replace(n) }
	full := plain(s.Of + "." + own)
	return strings.HasSuffix("."+full, "."+plain(name))
}

// word returns the offset of a name in a line as a separate word, -1 if there is none.
func word(line, name string) int {
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

// act lists the server's possible changes at a line, or applies one of them.
func (l *lspSession) act(ctx context.Context, p *resultWriter, o codeRequest) (tool.Output, error) {
	lines, err := p.lines(o.Path)
	if err != nil {
		return tool.Output{}, err
	}
	at := lsp.Range{End: lsp.Position{Line: len(lines)}}
	if o.Line > 0 && o.Line <= len(lines) {
		line := lines[o.Line-1]
		at = lsp.Range{Start: lsp.Position{Line: o.Line - 1}, End: lsp.Position{Line: o.Line - 1, Char: l.session.Char(line, len(line))}}
		if from := word(line, last(o.Name)); from >= 0 {
			at.Start.Char = l.session.Char(line, from)
			at.End.Char = l.session.Char(line, from+len(last(o.Name)))
		}
	}
	all, err := l.session.Actions(ctx, o.Path, at)
	if err != nil {
		return tool.Output{}, err
	}
	if o.To == "" {
		return tool.Output{Text: p.actions(all)}, nil
	}
	for i, a := range all {
		if a.Title != o.To && strconv.Itoa(i+1) != o.To {
			continue
		}
		changes, err := l.session.Resolve(ctx, a)
		if err != nil {
			return tool.Output{}, err
		}
		return l.write(changes)
	}
	return tool.Output{}, fmt.Errorf("there is no %q among them:\n%s", o.To, p.actions(all))
}

// write writes a server's changes, if the role allows them.
func (l *lspSession) write(changes []lsp.Change) (tool.Output, error) {
	var all []files.Rewrite
	tree := l.lookup.set.Tree()
	for _, ch := range changes {
		r := files.Rewrite{Name: ch.Name, Made: ch.Made}
		if _, err := tree.Clean(ch.Name, true); err != nil {
			return tool.Output{}, err
		}
		var err error
		if !ch.Made {
			if r.Old, err = tree.Text(ch.Name); err != nil {
				return tool.Output{}, err
			}
		}
		if r.New, err = ch.Apply(r.Old); err != nil {
			return tool.Output{}, fmt.Errorf("%s: %w", ch.Name, err)
		}
		if r.New != r.Old || ch.Made {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return tool.Output{Text: "[nothing to change]"}, nil
	}
	text, err := tree.Rewrite(all)
	if err != nil {
		return tool.Output{}, err
	}
	return tool.Output{Text: text, Changed: true}, nil
}
