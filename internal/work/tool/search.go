package tool

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/work/tool/ignore"
)

const (
	maxHits     = 200 // lines that a search gives
	maxPerFile  = 50
	maxHitWidth = 300
	maxSearched = 2 << 20 // bytes of a file that is searched
	searchTime  = 30 * time.Second
)

type search struct {
	Pattern, Path, Glob string
	Literal             bool
	IgnoreCase          bool `json:"ignore_case"`
}

// hit is one line that matches.
type hit struct {
	file string
	line int
	text string
}

func searchCode(e Env) Tool {
	return Tool{
		Name: "search_code",
		Description: "Search file contents by regular expression (or literal); gives path:line:text. " +
			"path is a file or directory, glob filters file names. Skips what git ignores.",
		Schema: json.RawMessage(`{"type":"object","properties":{"pattern":{"type":"string","minLength":1,"maxLength":1000},"path":{"type":"string"},` +
			`"glob":{"type":"string"},"literal":{"type":"boolean"},"ignore_case":{"type":"boolean"}},` +
			`"required":["pattern"],"additionalProperties":false}`),
		ReadOnly: true,
		Run: func(ctx context.Context, input json.RawMessage) (Output, error) {
			in, err := decode[search](input)
			if err != nil {
				return Output{}, err
			}
			if in.Path, err = e.clean(in.Path, false); err != nil {
				return Output{}, err
			}
			text, err := e.search(ctx, in)
			return Output{Text: text}, err
		},
	}
}

func (e Env) search(ctx context.Context, in search) (string, error) {
	expr := in.Pattern
	if in.Literal {
		expr = regexp.QuoteMeta(expr)
	}
	if in.IgnoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return "", fmt.Errorf("%w; set literal to search for the text as it is", err)
	}
	if err := badGlob(in.Glob); err != nil {
		return "", err
	}
	info, err := e.Root.Stat(in.Path)
	if err != nil {
		return "", e.explain(in.Path, err)
	}
	hits, all, err := e.ripgrep(ctx, expr, in, info.IsDir())
	if err != nil && ctx.Err() == nil {
		hits, all, err = e.scan(ctx, re, in, info.IsDir())
	}
	if err != nil {
		return "", err
	}
	return shown(hits, all), nil
}

func shown(hits []hit, all bool) string {
	if len(hits) == 0 {
		return "[no match]"
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	var b strings.Builder
	n := 0
	for _, h := range hits {
		if n == maxHits || b.Len() > maxResult-1000 {
			break
		}
		n++
		fmt.Fprintf(&b, "%s:%d:%s\n", h.file, h.line, h.text)
	}
	if left := len(hits) - n; left > 0 || !all {
		fmt.Fprintf(&b, "[more than these %d; narrow the pattern, path or glob]\n", n)
	}
	return b.String()
}

// cutLine makes a matching line short enough to show.
func cutLine(text string) string {
	text = strings.TrimRight(text, "\r\n")
	if len(text) > maxHitWidth {
		return strings.ToValidUTF8(text[:maxHitWidth], "") + "..."
	}
	return text
}

// errNoRipgrep says that ripgrep cannot answer, so the files are read here.
var errNoRipgrep = errors.New("no ripgrep")

// ripgrep searches in the box with the tree read-only. What it leaves out is
// what [Env.scan] leaves out.
func (e Env) ripgrep(ctx context.Context, expr string, in search, dir bool) (hits []hit, all bool, err error) {
	if e.Box == nil || !dir {
		return nil, false, errNoRipgrep
	}
	args := []string{
		"rg", "--no-config", "--no-messages", "--no-heading", "--with-filename", "--line-number", "--color=never", "--null", "--hidden",
		"--no-require-git", "--no-ignore-parent", "--no-ignore-global", "--no-ignore-dot", "--no-ignore-exclude", "--glob=!.git",
		"--max-count=" + strconv.Itoa(maxPerFile), "--max-filesize=" + strconv.Itoa(maxSearched),
		"--max-columns=4000", "--max-columns-preview", "-e", expr, "--", ".",
	}
	if in.Path != "." { // the rules above it count, and above the tree the box shows nothing
		if !e.Box.Hides() {
			return nil, false, errNoRipgrep
		}
		args = slices.DeleteFunc(args, func(a string) bool { return a == "--no-ignore-parent" })
		args[len(args)-1] = "./" + in.Path
	}
	c := e.command(args, searchTime)
	c.Readable = append([]string{e.Dir}, e.Readable...)
	c.Merge, c.Cap = false, 4<<20
	r, err := e.Box.Run(ctx, c)
	if err != nil || r.Exit > 1 || r.Exit < 0 || r.Cut {
		return nil, false, cmp.Or(err, errNoRipgrep)
	}
	for text := range strings.Lines(string(r.Stdout)) {
		file, rest, ok := strings.Cut(text, "\x00")
		number, found, ok2 := strings.Cut(rest, ":")
		n, err := strconv.Atoi(number)
		if !ok || !ok2 || err != nil {
			continue // it says that a file turned out to be binary
		}
		file = filepath.ToSlash(path.Clean(file))
		if fits(in.Glob, in.Path, file) && e.readable(file) {
			hits = append(hits, hit{file, n, cutLine(found)})
		}
	}
	return hits, true, nil
}

// readable reports whether the model may see what is in a file.
func (e Env) readable(name string) bool {
	_, err := e.clean(name, false)
	return err == nil
}

// scan searches by reading the files here.
func (e Env) scan(ctx context.Context, re *regexp.Regexp, in search, dir bool) (hits []hit, all bool, err error) {
	if !dir {
		hits, err = e.scanFile(in.Path, re)
		return hits, len(hits) < maxPerFile, err
	}
	all = true
	err = ignore.Walk(e.Root, in.Path, func(name string, d fs.DirEntry) bool {
		if !d.Type().IsRegular() || !fits(in.Glob, in.Path, name) || !e.readable(name) {
			return ctx.Err() == nil
		}
		found, err := e.scanFile(name, re)
		if err == nil {
			hits = append(hits, found...)
		}
		all = len(hits) <= maxHits
		return all && ctx.Err() == nil
	})
	return hits, all, errors.Join(err, context.Cause(ctx))
}

func (e Env) scanFile(name string, re *regexp.Regexp) ([]hit, error) {
	f, info, err := e.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info.Size() > maxSearched {
		return nil, fmt.Errorf("%s has %d bytes, too many to search", name, info.Size())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSearched))
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return nil, err
	}
	var hits []hit
	r := bufio.NewReaderSize(bytes.NewReader(data), 64<<10)
	for n := 1; len(hits) < maxPerFile; n++ {
		text, err := r.ReadString('\n')
		if text != "" && re.MatchString(strings.TrimRight(text, "\n")) {
			hits = append(hits, hit{name, n, cutLine(text)})
		}
		if err != nil {
			break
		}
	}
	return hits, nil
}
