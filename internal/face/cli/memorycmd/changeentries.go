package memorycmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
)

// memoryChange is the JSON output of commands that change the memory.
type memoryChange struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Path    string `json:"path,omitzero"` // its new path
	Renewed bool   `json:"renewed,omitzero"`
}

// approveEntries lets agents see the entries.
func approveEntries(ctx context.Context, o *ApproveOptions) error {
	var done []memoryChange
	err := changeEntries(ctx, o.Console, o.Entries, func(s *repoMemory, k memory.StoredMemoryEntry) error {
		to, renewed, err := s.book.ApproveEntry(ctx, k, s.newRow(k).Standing, o.Lasting, s.now)
		if err == nil {
			done = append(done, memoryChange{ID: k.ID, State: string(memoryentry.Approved), Path: to.Path, Renewed: renewed})
		}
		return err
	})
	if err != nil {
		return err
	}
	return o.Console.Answer(map[string][]memoryChange{"episodes": done}, func(view.OutputStyle) string {
		var b strings.Builder
		for _, d := range done {
			fmt.Fprintf(&b, "%s is approved: %s\n", view.EscapeForTerminal(d.ID), view.EscapeForTerminal(d.Path))
			if d.Renewed {
				b.WriteString("Its files had changed; the approval is for the files as they are committed now.\n")
			}
		}
		return b.String() + "Agents see it from now on. Commit the file to share it.\n"
	})
}

// forgetEntries removes the entries for good.
func forgetEntries(ctx context.Context, o *ForgetOptions) error {
	var done []memoryChange
	shared := false
	err := changeEntries(ctx, o.Console, o.Entries, func(s *repoMemory, k memory.StoredMemoryEntry) error {
		shared = shared || k.Shared
		done = append(done, memoryChange{ID: k.ID, State: string(memoryentry.Forgotten)})
		return s.book.Forget(ctx, k)
	})
	if err != nil {
		return err
	}
	return o.Console.Answer(map[string][]memoryChange{"episodes": done}, func(view.OutputStyle) string {
		var b strings.Builder
		for _, d := range done {
			fmt.Fprintf(&b, "%s is forgotten\n", view.EscapeForTerminal(d.ID))
		}
		if shared {
			b.WriteString("Its file is removed from " + memoryentry.Dir + ". Commit that to share it.\n")
		}
		return b.String()
	})
}

// changeEntries applies a function to the named entries, all of which must exist. It is refused inside a
// sandbox, because approved entries go into agents' prompts.
func changeEntries(ctx context.Context, a *console.Console, names []string, do func(*repoMemory, memory.StoredMemoryEntry) error) error {
	if err := refuseInSandbox(a); err != nil {
		return err
	}
	s, err := openMemory(ctx, a)
	if err != nil {
		return err
	}
	defer s.place.Close()
	var all []memory.StoredMemoryEntry
	for _, name := range names {
		k, err := s.findEntry(name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(o memory.StoredMemoryEntry) bool { return o.ID == k.ID }) {
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

// removedEntry is an entry that gc removes, with the reason.
type removedEntry struct {
	ID   string `json:"id"`
	Path string `json:"path"`
	Why  string `json:"why"`
}

// removeUselessEntries removes what is no longer useful, or lists it with DryRun.
func removeUselessEntries(ctx context.Context, o *GcOptions) error {
	if err := refuseInSandbox(o.Console); err != nil {
		return err
	}
	s, err := openMemory(ctx, o.Console)
	if err != nil {
		return err
	}
	defer s.place.Close()
	gone, err := s.removeUseless(ctx, o.Console.Now(), o.DryRun)
	if err != nil {
		return err
	}
	return o.Console.Answer(map[string]any{"removed": gone, "dry_run": o.DryRun},
		func(st view.OutputStyle) string { return drawRemoved(st, gone, o.DryRun) })
}

// How long the memory keeps what nobody uses. A proposal that nobody approved in a quarter is not missed; an
// episode that no task needed in a year speaks about code of another time.
const (
	proposalAge = 90 * 24 * time.Hour
	unusedAge   = 365 * 24 * time.Hour
)

// removeUseless removes entries that are no longer useful. A lesson that is learned again is proposed
// again, unless it was forgotten.
func (s *repoMemory) removeUseless(ctx context.Context, now time.Time, dry bool) ([]removedEntry, error) {
	keep := memoryentry.RetentionPeriods{Proposals: proposalAge, Unused: unusedAge}
	gone := []removedEntry{}
	for _, k := range s.kept {
		r := s.newRow(k)
		why := memoryentry.ExpiryReason(memoryentry.EntryCandidate{MemoryEntry: k.MemoryEntry, Hits: r.Told, Used: r.Last}, r.Standing, r.Changed, keep, now)
		if why == "" {
			continue
		}
		gone = append(gone, removedEntry{k.ID, k.Path, why})
		if dry {
			continue
		}
		if err := s.book.Remove(ctx, k); err != nil {
			return gone, err
		}
	}
	return gone, nil
}

func drawRemoved(s view.OutputStyle, gone []removedEntry, dry bool) string {
	if len(gone) == 0 {
		return "nothing to remove\n"
	}
	rows := make([][]string, len(gone))
	word := "removed"
	if dry {
		word = "would be removed"
	}
	for i, g := range gone {
		rows[i] = []string{word, view.EscapeForTerminal(g.ID), view.EscapeForTerminal(g.Why)}
	}
	return view.DrawTable(s, []string{"", "id", "why"}, rows)
}
