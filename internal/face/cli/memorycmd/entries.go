package memorycmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
)

// memoryEntryRow is a memory entry with its state.
type memoryEntryRow struct {
	memoryentry.MemoryEntry

	Standing memoryentry.EntryFreshness `json:"standing"`         // of its files, compared with the checked-out commit
	Changed  string                     `json:"changed,omitzero"` // file that makes it stale or gone
	Told     int                        `json:"told"`             // times that it was given to an agent
	Last     time.Time                  `json:"last,omitzero"`    // the last such time
	Path     string                     `json:"path"`             // of its file
	Shared   bool                       `json:"shared"`           // it is in the repository
}

// repoMemory is the memory of a repository as opened by a command.
type repoMemory struct {
	place    *app.Repository
	settings config.Config
	book     *memory.MemoryEntryRetriever
	kept     []memory.StoredMemoryEntry
	problems []memory.InvalidMemoryEntry
	uses     map[string]memoryentry.EntryUsage
	now      func(path string) string
	merged   func(commit string) bool // reports whether the checked-out commit contains it
}

// openMemory reads the memory, after the proposals of all runs are written. The caller closes the
// repository.
func openMemory(ctx context.Context, a *console.Console) (*repoMemory, error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return nil, err
	}
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return nil, err
	}
	book := a.MemoryRetriever(p, settings)
	s := &repoMemory{place: p, settings: settings, book: book}
	if err := book.LearnFromNewRuns(ctx); err != nil {
		a.Say("the proposals of runs are not up to date: %s", err)
	}
	if err := s.readEntries(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return s, nil
}

func (s *repoMemory) readEntries(ctx context.Context) (err error) {
	if s.kept, s.problems, err = s.book.LoadEntries(); err != nil {
		return err
	}
	if s.uses, err = s.book.Record.CountEntryUses(ctx); err != nil {
		return err
	}
	head, _, err := s.place.Repo.Head(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	s.merged = func(commit string) bool {
		is, ok := known[commit]
		if !ok {
			_, err := s.place.Repo.Run(ctx, "merge-base", "--is-ancestor", commit, head)
			is = err == nil
			known[commit] = is
		}
		return is
	}
	s.now, err = memory.FileBlobsAt(ctx, s.place.Repo, head, s.kept)
	return err
}

func (s *repoMemory) newRow(k memory.StoredMemoryEntry) memoryEntryRow {
	r := memoryEntryRow{MemoryEntry: k.MemoryEntry, Path: k.Path, Shared: k.Shared, Told: s.uses[k.ID].Hits, Last: s.uses[k.ID].Last}
	r.Standing, r.Changed = k.CheckFreshness(s.now)
	here := func(o memoryentry.EntryOrigin) bool { return o.Commit == "" || s.merged(o.Commit) }
	if r.Standing != memoryentry.Fresh && len(k.From) > 0 && !slices.ContainsFunc(k.From, here) {
		r.Standing, r.Changed = memoryentry.Unmerged, ""
	}
	return r
}

// findEntry returns the entry with that name.
func (s *repoMemory) findEntry(name string) (memory.StoredMemoryEntry, error) {
	return memory.FindEntry(s.kept, name)
}

// matches reports whether an entry is listed.
func (o *Options) matches(k memory.StoredMemoryEntry) bool {
	state := k.State == o.State || o.State == "" && k.State != memoryentry.Forgotten
	below := strings.TrimSuffix(o.File, "/") + "/"
	file := o.File == "" || slices.ContainsFunc(k.FilePaths(), func(p string) bool { return p == o.File || strings.HasPrefix(p, below) })
	return state && file && (o.Kind == "" || k.Kind == o.Kind)
}

// memoryEntryList is the JSON output of the entries.
type memoryEntryList struct {
	Episodes []memoryEntryRow            `json:"episodes"`
	Problems []memory.InvalidMemoryEntry `json:"problems"` // files that are not valid entries
}

// listEntries lists the entries that the options select.
func listEntries(ctx context.Context, o *Options) (*memoryEntryList, error) {
	s, err := openMemory(ctx, o.Console)
	if err != nil {
		return nil, err
	}
	defer s.place.Close()
	l := &memoryEntryList{Episodes: []memoryEntryRow{}, Problems: append([]memory.InvalidMemoryEntry{}, s.problems...)}
	for _, k := range s.kept {
		if o.matches(k) {
			l.Episodes = append(l.Episodes, s.newRow(k))
		}
	}
	return l, nil
}

func drawEntries(s view.OutputStyle, l memoryEntryList) string {
	var b strings.Builder
	if len(l.Episodes) == 0 {
		b.WriteString("there are no episodes here\n")
	} else {
		rows := make([][]string, len(l.Episodes))
		for i, r := range l.Episodes {
			rows[i] = []string{drawState(s, r), view.EscapeForTerminal(r.ID), r.Learned.String(), view.FormatNumber(int64(r.Told)), filesText(r), view.EscapeForTerminal(r.FirstLine())}
		}
		b.WriteString(view.DrawTable(s, []string{"state", "id", "learned", "told", "about", "text"}, rows))
	}
	for _, p := range l.Problems {
		fmt.Fprintf(&b, "%s %s: %s\n", s.Bad("not read:"), view.EscapeForTerminal(p.File), view.EscapeForTerminal(p.Why))
		if p.Hint != "" {
			fmt.Fprintf(&b, "  %s\n", view.EscapeForTerminal(p.Hint))
		}
	}
	return b.String()
}

// drawState draws the state of an entry: entries that are not fresh are given to no agent.
func drawState(s view.OutputStyle, r memoryEntryRow) string {
	switch {
	case r.State == memoryentry.Forgotten:
		return s.Dim(string(r.State))
	case r.Standing != memoryentry.Fresh:
		return s.Warn(string(r.State) + ", " + string(r.Standing))
	case r.State == memoryentry.Approved:
		return s.Good(string(r.State))
	}
	return s.Warn(string(r.State))
}

// filesText names the first file of an entry, and the number of others.
func filesText(r memoryEntryRow) string {
	if len(r.Files) == 0 {
		return "-"
	}
	text := view.EscapeForTerminal(r.Files[0].Path)
	if more := len(r.Files) - 1; more > 0 {
		text += fmt.Sprintf(" +%d", more)
	}
	return text
}

// showEntry prints an entry.
func showEntry(ctx context.Context, o *ShowOptions) error {
	s, err := openMemory(ctx, o.Console)
	if err != nil {
		return err
	}
	defer s.place.Close()
	k, err := s.findEntry(o.Entry)
	if err != nil {
		return err
	}
	r := s.newRow(k)
	return o.Console.Answer(r, func(st view.OutputStyle) string { return drawDetail(st, r) })
}

func drawDetail(s view.OutputStyle, r memoryEntryRow) string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-9s %s\n", name, view.EscapeForTerminal(text))
		}
	}
	fmt.Fprintf(&b, "%s  %s\n", s.Bold(view.EscapeForTerminal(r.ID)), drawState(s, r))
	line("file", r.Path)
	line("learned", r.Learned.String())
	for _, o := range r.From {
		line("from", strings.TrimSpace(fmt.Sprintf("run %s, task %s, commit %.10s", o.Run, o.Task, o.Commit)))
	}
	for _, f := range r.Files {
		text := f.Path
		if f.Path == r.Changed {
			text += map[memoryentry.EntryFreshness]string{memoryentry.Stale: " (changed since)", memoryentry.Gone: " (deleted since)"}[r.Standing]
		}
		line("about", text)
	}
	line("symbols", strings.Join(r.Symbols, ", "))
	if r.Told > 0 {
		line("told", fmt.Sprintf("%s, last on %s", view.CountWithNoun(r.Told, "time"), r.Last.UTC().Format(time.DateOnly)))
	}
	b.WriteString("\n")
	for text := range strings.Lines(r.Text) {
		b.WriteString(view.EscapeForTerminal(strings.TrimRight(text, "\n")) + "\n")
	}
	return b.String()
}
