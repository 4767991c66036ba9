package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxHits     = 200  // lines in a search result
	maxPerFile  = 50   // lines in a search result per file
	maxKept     = 5000 // lines that are collected
	maxRest     = 20   // files that are named for the lines that are not shown
	maxHitWidth = 300
	maxSearched = 2 << 20 // largest file that is searched, in bytes
	searchTime  = 30 * time.Second
	fewFiles    = 50        // number of files that are read faster than ripgrep starts
	maxNames    = 512 << 10 // bytes of file names per call of ripgrep
	maxOutput   = 8 << 20
)

// SearchQuery describes a search.
type SearchQuery struct {
	Pattern, Path, Glob string
	Literal             bool
	IgnoreCase          bool `json:"ignore_case"`
}

// TreeSearcher searches a tree.
type TreeSearcher struct {
	Tree *AgentTree
	// Run runs a program on the tree, without write access, with a limit of time and of output.
	// Exit 1 is no error. Nil: ripgrep is not used.
	Run func(ctx context.Context, args []string, limit time.Duration, most int64) ([]byte, error)
	few int // number of files that are read faster than ripgrep starts; 0 means 50
}

// searchMatchLine is one line that matches.
type searchMatchLine struct {
	file string
	line int
	text string
}

// compilePattern returns the query's regular expression.
func (q SearchQuery) compilePattern() (string, *regexp.Regexp, error) {
	expr := q.Pattern
	if q.Literal {
		expr = regexp.QuoteMeta(expr)
	}
	if q.IgnoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return "", nil, fmt.Errorf("%w; set literal to search for the text as it is", err)
	}
	return expr, re, nil
}

// SearchText searches a text instead of a tree.
func SearchText(text string, q SearchQuery) (string, error) {
	_, re, err := q.compilePattern()
	if err != nil {
		return "", err
	}
	f := matchCollector{}
	f.collectMatches("", text, re)
	return f.String(), nil
}

// Search shows the lines that match.
func (s TreeSearcher) Search(ctx context.Context, q SearchQuery) (string, error) {
	expr, re, err := q.compilePattern()
	if err != nil {
		return "", err
	}
	if q.Path, err = s.Tree.CleanPath(q.Path, false); err != nil {
		return "", err
	}
	if err := checkGlob(q.Glob); err != nil {
		return "", err
	}
	info, err := s.Tree.Root.Stat(q.Path)
	if err != nil {
		return "", s.Tree.ExplainOpenError(q.Path, err)
	}
	f := matchCollector{}
	if !info.IsDir() {
		err := s.searchFile(&f, q.Path, re)
		return f.String(), err
	}
	ctx, stop := context.WithTimeoutCause(ctx, searchTime, errSearchTime)
	defer stop()
	names, skipped, err := s.searchableFiles(ctx, q)
	if err != nil {
		return "", s.Tree.ExplainOpenError(q.Path, err)
	}
	if worth, err := s.filesWithMatches(ctx, expr, names); err == nil {
		names = worth
	}
	for _, name := range names {
		if f.more || ctx.Err() != nil {
			break
		}
		_ = s.searchFile(&f, name, re) // an unreadable file has no match
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errSearchTime) {
		return "", cause
	}
	f.more = f.more || ctx.Err() != nil
	text := f.String()
	if more := skipped.String(); more != "" {
		text = strings.TrimSuffix(text, "\n") + more
	}
	return text, nil
}

// skippedFiles describes the files that a search skipped.
type skippedFiles struct {
	secret int      // hidden files
	large  []string // names of the first files that are too large
	more   int      // number of further ones
}

// String returns a line for each reason, without a newline at the end.
func (u skippedFiles) String() string {
	text := ""
	if u.secret > 0 {
		text += fmt.Sprintf("\n[not searched, because their names suggest secrets: %d]", u.secret)
	}
	if len(u.large) > 0 {
		text += fmt.Sprintf("\n[not searched, larger than %d MiB: %s", maxSearched>>20, strings.Join(u.large, ", "))
		if u.more > 0 {
			text += fmt.Sprintf(" and %d more", u.more)
		}
		text += "]"
	}
	return text
}

// searchableFiles returns the files to search, in the order of a walk, and the skipped ones.
func (s TreeSearcher) searchableFiles(ctx context.Context, q SearchQuery) (names []string, skipped skippedFiles, _ error) {
	err := s.Tree.Hidden.WalkUnignored(s.Tree.Root, q.Path, func(name string, d fs.DirEntry) bool {
		switch {
		case !d.Type().IsRegular() || !matchesGlob(q.Glob, q.Path, name):
		case s.Tree.Hidden.NameReason(name) != "":
			skipped.secret++
		case s.Tree.checkAccessByName(name, false) != nil:
		case !isLarge(d):
			names = append(names, name)
		case len(skipped.large) < maxRest:
			skipped.large = append(skipped.large, name)
		default:
			skipped.more++
		}
		return ctx.Err() == nil
	})
	return names, skipped, err
}

// isLarge reports whether a file is too large to be searched, however little of it is on the
// disk.
func isLarge(d fs.DirEntry) bool {
	info, err := d.Info()
	return err == nil && info.Size() > maxSearched
}

// matchCollector collects the lines that match.
type matchCollector struct {
	hits  []searchMatchLine
	files []string       // files that have matches, in order
	count map[string]int // number of matches of each file
	more  bool           // there may be others
}

// collectMatches searches a text. Of a file with more than a few hits the rest is only counted.
func (f *matchCollector) collectMatches(name, text string, re *regexp.Regexp) {
	n, line := 0, 0
	for l := range strings.Lines(text) {
		line++
		if !re.MatchString(strings.TrimSuffix(l, "\n")) {
			continue
		}
		if n++; n <= maxPerFile || name == "" {
			f.hits = append(f.hits, searchMatchLine{name, line, truncateLine(l)})
		}
		if len(f.hits) >= maxKept {
			f.more = true
			break
		}
	}
	if n == 0 {
		return
	}
	if f.count == nil {
		f.count = map[string]int{}
	}
	f.files = append(f.files, name)
	f.count[name] = n
}

// String returns the first hits, and the files of the others.
func (f *matchCollector) String() string {
	if len(f.hits) == 0 {
		if f.more {
			return "[no match so far; narrow the path or glob]"
		}
		return "[no match]"
	}
	var b strings.Builder
	shown := map[string]int{}
	n := 0
	for _, h := range f.hits {
		if n == maxHits || b.Len() > MaxAnswer-3000 {
			break
		}
		n++
		shown[h.file]++
		if h.file != "" {
			b.WriteString(h.file + ":")
		}
		fmt.Fprintf(&b, "%d:%s\n", h.line, h.text)
	}
	var rest []string
	total := 0
	for _, file := range f.files {
		total += f.count[file]
		if left := f.count[file] - shown[file]; left > 0 && len(rest) < maxRest {
			rest = append(rest, strings.TrimSpace(fmt.Sprintf("%s %d", file, left)))
		}
	}
	if total > n || f.more {
		least := ""
		if f.more {
			least = "at least "
		}
		fmt.Fprintf(&b, "[%d of %s%d matches in %d files; narrow the pattern, path or glob. Not shown: %s]\n", n, least, total, len(f.files), strings.Join(rest, ", "))
	}
	return b.String()
}

// truncateLine shortens a matching line.
func truncateLine(text string) string {
	text = strings.TrimRight(text, "\r\n")
	if len(text) > maxHitWidth {
		return strings.ToValidUTF8(text[:maxHitWidth], "") + "..."
	}
	return text
}

var (
	errNoRipgrep  = errors.New("no ripgrep")
	errSearchTime = errors.New("the search took too long")
)

// filesWithMatches returns the files that are worth reading, according to ripgrep. Their matches are
// determined by [TreeSearcher.searchFile], so that the results are the same without it.
func (s TreeSearcher) filesWithMatches(ctx context.Context, expr string, names []string) ([]string, error) {
	if s.Run == nil || len(names) < cmp.Or(s.few, fewFiles) {
		return nil, errNoRipgrep
	}
	pattern, err := ripgrepPattern(expr)
	if err != nil {
		return nil, err
	}
	named, all := map[string]bool{}, names
	for len(names) > 0 {
		args := []string{
			"rg", "--no-config", "--no-messages", "--no-ignore", "--files-with-matches", "--color=never", "--null",
			"--max-filesize=" + strconv.Itoa(maxSearched), "-e", pattern, "--",
		}
		size := 0
		for len(names) > 0 && size < maxNames {
			args = append(args, "./"+names[0])
			size += len(names[0]) + 11 // the name and its pointer
			names = names[1:]
		}
		out, err := s.Run(ctx, args, searchTime, maxOutput)
		if err != nil {
			return nil, err
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			named[strings.TrimPrefix(name, "./")] = true
		}
	}
	return slices.DeleteFunc(all, func(name string) bool { return !named[name] }), nil
}

// searchFile searches a file. A binary file has no match.
func (s TreeSearcher) searchFile(f *matchCollector, name string, re *regexp.Regexp) error {
	file, info, err := s.Tree.openReadableFile(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if info.Size() > maxSearched {
		return fmt.Errorf("%s has %d bytes, too many to search", name, info.Size())
	}
	data, err := io.ReadAll(io.LimitReader(file, maxSearched))
	if err != nil {
		return err
	}
	if plain, _, err := decodeText(data); err == nil {
		f.collectMatches(s.Tree.displayName(name), plain, re)
	}
	return nil
}
