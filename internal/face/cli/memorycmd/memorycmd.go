// Package memorycmd implements the commands that show the memory of a repository, and let a
// person approve or forget entries.
package memorycmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
)

// Commands returns the commands.
func Commands(a *console.Console) []*cobra.Command {
	return []*cobra.Command{a.ParentCommand("memory", "show the lessons learned here, and decide which of them agents see",
		listCommand(a), showCommand(a), approveCommand(a), forgetCommand(a), gcCommand(a))}
}

// episodeRow is a memory entry with its state.
type episodeRow struct {
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
	book     *memory.EpisodeRetriever
	kept     []memory.StoredEpisode
	problems []memory.EpisodeProblem
	uses     map[string]memoryentry.EntryUse
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
	if err := s.readEpisodes(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return s, nil
}

func (s *repoMemory) readEpisodes(ctx context.Context) (err error) {
	if s.kept, s.problems, err = s.book.LoadEpisodes(); err != nil {
		return err
	}
	if s.uses, err = s.book.Record.CountEpisodeUses(ctx); err != nil {
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

func (s *repoMemory) newRow(k memory.StoredEpisode) episodeRow {
	r := episodeRow{MemoryEntry: k.MemoryEntry, Path: k.Path, Shared: k.Shared, Told: s.uses[k.ID].Hits, Last: s.uses[k.ID].Last}
	r.Standing, r.Changed = k.CheckFreshness(s.now)
	here := func(o memoryentry.EntryOrigin) bool { return o.Commit == "" || s.merged(o.Commit) }
	if r.Standing != memoryentry.Fresh && len(k.From) > 0 && !slices.ContainsFunc(k.From, here) {
		r.Standing, r.Changed = memoryentry.Unmerged, ""
	}
	return r
}

// findEpisode returns the entry with that name.
func (s *repoMemory) findEpisode(name string) (memory.StoredEpisode, error) {
	return memory.FindEpisode(s.kept, name)
}

// episodeFilter selects the listed entries.
type episodeFilter struct{ state, kind, file string }

func (f episodeFilter) checkValues() error {
	if f.state != "" && !slices.Contains(memoryentry.ApprovalStates(), memoryentry.ApprovalState(f.state)) {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("there is no state %q", f.state),
			Hint: "The states are proposed, approved and forgotten.",
		}
	}
	if f.kind != "" && !slices.Contains(memoryentry.Kinds(), memoryentry.Kind(f.kind)) {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("there is no kind %q", f.kind),
			Hint: "The kinds are decision, pattern, gotcha, fix and review.",
		}
	}
	return nil
}

func (f episodeFilter) matches(k memory.StoredEpisode) bool {
	state := k.State == memoryentry.ApprovalState(f.state) || f.state == "" && k.State != memoryentry.Forgotten
	below := strings.TrimSuffix(f.file, "/") + "/"
	file := f.file == "" || slices.ContainsFunc(k.FilePaths(), func(p string) bool { return p == f.file || strings.HasPrefix(p, below) })
	return state && file && (f.kind == "" || k.Kind == memoryentry.Kind(f.kind))
}

// episodeList is the JSON output of `memory list`.
type episodeList struct {
	Episodes []episodeRow            `json:"episodes"`
	Problems []memory.EpisodeProblem `json:"problems"` // files that are not valid entries
}

func listCommand(a *console.Console) *cobra.Command {
	var f episodeFilter
	c := a.Command("list [flags]",
		"list the episodes: approved, proposed and out of date", func(ctx context.Context, _ []string) error {
			if err := f.checkValues(); err != nil {
				return err
			}
			s, err := openMemory(ctx, a)
			if err != nil {
				return err
			}
			defer s.place.Close()
			l := episodeList{Episodes: []episodeRow{}, Problems: append([]memory.EpisodeProblem{}, s.problems...)}
			for _, k := range s.kept {
				if f.matches(k) {
					l.Episodes = append(l.Episodes, s.newRow(k))
				}
			}
			if err := a.Answer(l, func(st view.Style) string { return drawEpisodes(st, l) }); err != nil || len(l.Problems) == 0 {
				return err
			}
			return console.ExitError(console.CodeFailed)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	flags := c.Flags()
	flags.StringVar(&f.state, "state", "",
		"list only those in this `STATE`: proposed, approved or forgotten; the default is all but forgotten ones")
	flags.StringVar(&f.kind, "kind", "", "list only those of this `KIND`: decision, pattern, gotcha, fix or review")
	flags.StringVar(&f.file, "file", "", "list only those about this `PATH` from the root of the repository, a file or a directory")
	a.JSONFlag(c)
	return c
}

func drawEpisodes(s view.Style, l episodeList) string {
	var b strings.Builder
	if len(l.Episodes) == 0 {
		b.WriteString("there are no episodes here\n")
	} else {
		rows := make([][]string, len(l.Episodes))
		for i, r := range l.Episodes {
			rows[i] = []string{drawState(s, r), view.Clean(r.ID), r.Learned.String(), view.FormatNumber(int64(r.Told)), filesText(r), view.Clean(r.FirstLine())}
		}
		b.WriteString(view.DrawTable(s, []string{"state", "id", "learned", "told", "about", "text"}, rows))
	}
	for _, p := range l.Problems {
		fmt.Fprintf(&b, "%s %s: %s\n", s.Bad("not read:"), view.Clean(p.File), view.Clean(p.Why))
		if p.Hint != "" {
			fmt.Fprintf(&b, "  %s\n", view.Clean(p.Hint))
		}
	}
	return b.String()
}

// drawState draws the state of an entry: entries that are not fresh are given to no agent.
func drawState(s view.Style, r episodeRow) string {
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
func filesText(r episodeRow) string {
	if len(r.Files) == 0 {
		return "-"
	}
	text := view.Clean(r.Files[0].Path)
	if more := len(r.Files) - 1; more > 0 {
		text += fmt.Sprintf(" +%d", more)
	}
	return text
}

func showCommand(a *console.Console) *cobra.Command {
	c := a.Command("show ID [--json]",
		"print an episode: its text, where it comes from, and whether its files changed", func(ctx context.Context, args []string) error {
			s, err := openMemory(ctx, a)
			if err != nil {
				return err
			}
			defer s.place.Close()
			k, err := s.findEpisode(args[0])
			if err != nil {
				return err
			}
			r := s.newRow(k)
			return a.Answer(r, func(st view.Style) string { return drawDetail(st, r) })
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	a.JSONFlag(c)
	return c
}

func drawDetail(s view.Style, r episodeRow) string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-9s %s\n", name, view.Clean(text))
		}
	}
	fmt.Fprintf(&b, "%s  %s\n", s.Bold(view.Clean(r.ID)), drawState(s, r))
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
		line("told", fmt.Sprintf("%s, last on %s", view.Count(r.Told, "time"), r.Last.UTC().Format(time.DateOnly)))
	}
	b.WriteString("\n")
	for text := range strings.Lines(r.Text) {
		b.WriteString(view.Clean(strings.TrimRight(text, "\n")) + "\n")
	}
	return b.String()
}

// memoryChange is the JSON output of commands that change the memory.
type memoryChange struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Path    string `json:"path,omitzero"` // its new path
	Renewed bool   `json:"renewed,omitzero"`
}

func approveCommand(a *console.Console) *cobra.Command {
	lasting := false
	c := a.Command("approve ID... [--json]",
		"let agents see an episode: its file moves into the repository", func(ctx context.Context, args []string) error {
			var done []memoryChange
			err := changeEpisodes(ctx, a, args, func(s *repoMemory, k memory.StoredEpisode) error {
				to, renewed, err := s.book.Approve(ctx, k, s.newRow(k).Standing, lasting, s.now)
				if err == nil {
					done = append(done, memoryChange{ID: k.ID, State: string(memoryentry.Approved), Path: to.Path, Renewed: renewed})
				}
				return err
			})
			if err != nil {
				return err
			}
			return a.Answer(map[string][]memoryChange{"episodes": done}, func(view.Style) string {
				var b strings.Builder
				for _, d := range done {
					fmt.Fprintf(&b, "%s is approved: %s\n", view.Clean(d.ID), view.Clean(d.Path))
					if d.Renewed {
						b.WriteString("Its files had changed; the approval is for the files as they are committed now.\n")
					}
				}
				return b.String() + "Agents see it from now on. Commit the file to share it.\n"
			})
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, -1)
	c.Flags().BoolVar(&lasting, "lasting", false, "keep it when its files change, as long as they exist")
	a.JSONFlag(c)
	return c
}

func forgetCommand(a *console.Console) *cobra.Command {
	c := a.Command("forget ID... [--json]",
		"remove an episode, and do not propose it again here", func(ctx context.Context, args []string) error {
			var done []memoryChange
			shared := false
			err := changeEpisodes(ctx, a, args, func(s *repoMemory, k memory.StoredEpisode) error {
				shared = shared || k.Shared
				done = append(done, memoryChange{ID: k.ID, State: string(memoryentry.Forgotten)})
				return s.book.Forget(ctx, k)
			})
			if err != nil {
				return err
			}
			return a.Answer(map[string][]memoryChange{"episodes": done}, func(view.Style) string {
				var b strings.Builder
				for _, d := range done {
					fmt.Fprintf(&b, "%s is forgotten\n", view.Clean(d.ID))
				}
				if shared {
					b.WriteString("Its file is removed from " + memoryentry.Dir + ". Commit that to share it.\n")
				}
				return b.String()
			})
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, -1)
	a.JSONFlag(c)
	return c
}

// changeEpisodes applies a function to the named entries, all of which must exist. It is refused inside a
// sandbox, because approved entries go into agents' prompts.
func changeEpisodes(ctx context.Context, a *console.Console, names []string, do func(*repoMemory, memory.StoredEpisode) error) error {
	if err := refuseInSandbox(a); err != nil {
		return err
	}
	s, err := openMemory(ctx, a)
	if err != nil {
		return err
	}
	defer s.place.Close()
	var all []memory.StoredEpisode
	for _, name := range names {
		k, err := s.findEpisode(name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(o memory.StoredEpisode) bool { return o.ID == k.ID }) {
			all = append(all, k)
		}
	}
	for _, k := range all {
		if err := do(s, k); err != nil {
			return err
		}
	}
	return nil
}

func refuseInSandbox(a *console.Console) error {
	if a.Env(sandbox.Mark) == "" {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeForbidden, Message: "agents may not edit the memory",
		Hint: "When you submit, put facts for the next agent into learned.",
	}
}

// removedEpisode is an entry that gc removes, with the reason.
type removedEpisode struct {
	ID   string `json:"id"`
	Path string `json:"path"`
	Why  string `json:"why"`
}

func gcCommand(a *console.Console) *cobra.Command {
	dry := false
	c := a.Command("gc [--dry-run] [--json]",
		"remove episodes about deleted files, and those that were not approved or needed for a long time", func(ctx context.Context, _ []string) error {
			if err := refuseInSandbox(a); err != nil {
				return err
			}
			s, err := openMemory(ctx, a)
			if err != nil {
				return err
			}
			defer s.place.Close()
			gone, err := s.removeUseless(ctx, a.Now(), dry)
			if err != nil {
				return err
			}
			return a.Answer(map[string]any{"removed": gone, "dry_run": dry}, func(st view.Style) string { return drawRemoved(st, gone, dry) })
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Flags().BoolVar(&dry, "dry-run", false, "only list what would be removed")
	a.JSONFlag(c)
	return c
}

// removeUseless removes entries that are no longer useful. A lesson that is learned again is proposed
// again, unless it was forgotten.
func (s *repoMemory) removeUseless(ctx context.Context, now time.Time, dry bool) ([]removedEpisode, error) {
	days := func(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
	keep := memoryentry.RetentionPeriods{Proposals: days(s.settings.Memory.Proposals), Unused: days(s.settings.Memory.Unused)}
	gone := []removedEpisode{}
	for _, k := range s.kept {
		r := s.newRow(k)
		why := memoryentry.ExpiryReason(memoryentry.EntryCandidate{MemoryEntry: k.MemoryEntry, Hits: r.Told, Used: r.Last}, r.Standing, r.Changed, keep, now)
		if why == "" {
			continue
		}
		gone = append(gone, removedEpisode{k.ID, k.Path, why})
		if dry {
			continue
		}
		if err := s.book.Remove(ctx, k); err != nil {
			return gone, err
		}
	}
	return gone, nil
}

func drawRemoved(s view.Style, gone []removedEpisode, dry bool) string {
	if len(gone) == 0 {
		return "nothing to remove\n"
	}
	rows := make([][]string, len(gone))
	word := "removed"
	if dry {
		word = "would be removed"
	}
	for i, g := range gone {
		rows[i] = []string{word, view.Clean(g.ID), view.Clean(g.Why)}
	}
	return view.DrawTable(s, []string{"", "id", "why"}, rows)
}
