package code

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sorting"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/code/shape"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

const (
	maxRead   = 20_000 // files that are looked through
	maxWrite  = 200    // files that are changed at once
	grepTime  = time.Minute
	grepBytes = 16 << 20 // of what ast-grep says
)

// shapes says who looks for code by its shape.
type shapes struct {
	golang bool   // there is Go
	grep   string // the program ast-grep; empty: none
}

// hit is a line of code that has a shape.
type hit struct {
	name string
	line int
	text string
}

// shape looks for code by its shape, and puts other code in its place where that
// is asked for.
func (d *lookup) shape(ctx context.Context, o order) (tool.Output, error) {
	if o.Name == "" {
		return tool.Output{}, errors.New("give the pattern of the code as name")
	}
	var golang, others []string
	tree := d.set.Tree()
	if info, err := tree.Root.Stat(o.Path); err != nil {
		return tool.Output{}, tree.Explain(o.Path, err)
	} else if !info.IsDir() {
		golang, others = split(golang, others, o.Path)
	} else if err := tree.Hidden.Walk(tree.Root, o.Path, func(name string, e fs.DirEntry) bool {
		if _, err := tree.Clean(name, false); err == nil && e.Type().IsRegular() {
			golang, others = split(golang, others, name)
		}
		return len(golang)+len(others) < maxRead && ctx.Err() == nil
	}); err != nil {
		return tool.Output{}, err
	}
	hits, writes, err := d.golang(ctx, o, golang)
	if wrong, ok := errors.AsType[*patternError](err); d.shapes.grep != "" && len(others) > 0 && len(hits) == 0 && (err == nil || ok) { // it may be code of another language
		if hits, writes, err = d.grep(ctx, o, others); err == nil && len(hits) == 0 && ok {
			err = wrong
		}
	}
	if err != nil {
		return tool.Output{}, err
	}
	if o.Op == "search" {
		return tool.Output{Text: d.hits(hits)}, nil
	}
	if len(writes) == 0 {
		return tool.Output{}, errors.New("no code matches; nothing was changed")
	}
	text, err := tree.Rewrite(writes)
	if err != nil {
		return tool.Output{}, err
	}
	return tool.Output{Text: fmt.Sprintf("%d changed in %d files\n%s", len(hits), len(writes), text), Changed: true}, nil
}

func split(golang, others []string, name string) (a, b []string) {
	if path.Ext(name) == ".go" {
		return append(golang, name), others
	}
	return golang, append(others, name)
}

func (d *lookup) hits(all []hit) string {
	p := &page{}
	return p.list(len(all), func(b *strings.Builder, i int) {
		fmt.Fprintf(b, "%s:%d: %s\n", all[i].name, all[i].line, short(all[i].text))
	})
}

// patternError says that a pattern is no Go.
type patternError struct{ error }

// golang looks through files of Go.
func (d *lookup) golang(ctx context.Context, o order, names []string) (hits []hit, writes []files.Rewrite, err error) {
	if len(names) == 0 {
		return nil, nil, nil
	}
	p, err := shape.Parse(o.Name)
	if err != nil {
		return nil, nil, &patternError{err}
	}
	tree := d.set.Tree()
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		text, err := tree.Text(name)
		if err != nil {
			continue // what cannot be read has no shape
		}
		found, err := p.Find(text)
		if err != nil || len(found) == 0 { // it does not parse
			continue
		}
		if o.Op == "search" {
			for _, m := range found {
				hits = append(hits, hit{name, m.Line, text[m.From:m.To]})
			}
			continue
		}
		after, n, err := p.Replace(text, o.To)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		if after != text {
			writes = append(writes, files.Rewrite{Name: name, Old: text, New: after})
			hits = append(hits, make([]hit, n)...)
		}
		if len(writes) > maxWrite {
			return nil, nil, fmt.Errorf("more than %d files match; give a path", maxWrite)
		}
	}
	return hits, writes, nil
}

// grepped is a match as ast-grep tells it.
type grepped struct {
	Text  string `json:"text"`
	File  string `json:"file"`
	Range struct {
		Bytes span `json:"byteOffset"`
		Start struct {
			Line int `json:"line"`
		} `json:"start"`
	} `json:"range"`
	New     *string `json:"replacement"`
	Instead span    `json:"replacementOffsets"`
}

type span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// grep lets ast-grep look, in the sandbox. What it would change is written here.
func (d *lookup) grep(ctx context.Context, o order, names []string) (hits []hit, writes []files.Rewrite, err error) {
	args := []string{d.shapes.grep, "run", "--pattern", o.Name, "--json=compact", "--color=never"}
	if o.Op == "replace" {
		args = append(args, "--rewrite", o.To)
	}
	r, err := d.env.Box.Run(ctx, sandbox.Command{
		Args: append(args, "--", o.Path), Dir: d.env.Dir, Env: d.env.Vars, Readable: append([]string{d.env.Dir}, d.env.Readable...),
		Timeout: grepTime, Cap: grepBytes, Mark: d.env.Mark, Hidden: d.set.Secrets(),
	})
	var all []grepped
	switch {
	case err != nil:
		return nil, nil, err
	case r.TimedOut || r.Cut:
		return nil, nil, errors.New("ast-grep found too much; give a path, or a narrower pattern")
	case json.Unmarshal(r.Stdout, &all) != nil:
		return nil, nil, fmt.Errorf("ast-grep: exit %d: %s", r.Exit, short(string(r.Stderr)))
	}
	sorting.By(all, func(a, b grepped) int { return strings.Compare(a.File, b.File) })
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(g grepped) bool { return g.File != all[0].File })
		if n < 0 {
			n = len(all)
		}
		name := path.Clean(all[0].File)
		if !slices.Contains(names, name) { // it has rules of its own for what it looks through
			all = all[n:]
			continue
		}
		if o.Op == "search" {
			for _, g := range all[:n] {
				hits = append(hits, hit{name, g.Range.Start.Line + 1, g.Text})
			}
		} else {
			w, did, err := d.instead(name, all[:n])
			if err != nil {
				return nil, nil, err
			}
			writes, hits = append(writes, w), append(hits, make([]hit, did)...)
		}
		if all = all[n:]; len(writes) > maxWrite {
			return nil, nil, fmt.Errorf("more than %d files match; give a path", maxWrite)
		}
	}
	return hits, writes, nil
}

// instead returns a file with other code in the place of matches that lie in no
// other one.
func (d *lookup) instead(name string, all []grepped) (files.Rewrite, int, error) {
	text, err := d.set.Tree().Text(name)
	if err != nil {
		return files.Rewrite{}, 0, err
	}
	sorting.By(all, func(a, b grepped) int { return a.Instead.Start - b.Instead.Start })
	var b strings.Builder
	at, n := 0, 0
	for _, g := range all {
		if g.New == nil || g.Instead.Start < at {
			continue
		}
		if g.Instead.End < g.Instead.Start || g.Instead.End > len(text) || g.Range.Bytes.End > len(text) || g.Range.Bytes.Start < 0 || g.Range.Bytes.Start > g.Range.Bytes.End || text[g.Range.Bytes.Start:g.Range.Bytes.End] != g.Text {
			return files.Rewrite{}, 0, fmt.Errorf("%s has changed since ast-grep read it; it was not changed", name)
		}
		b.WriteString(text[at:g.Instead.Start])
		b.WriteString(*g.New)
		at, n = g.Instead.End, n+1
	}
	b.WriteString(text[at:])
	return files.Rewrite{Name: name, Old: text, New: b.String()}, n, nil
}
