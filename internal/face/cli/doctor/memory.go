package doctor

import (
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/codedoc"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
)

// checkMemory checks the memory entries for agents: files that cannot be read, and approved
// entries about deleted files. Neither blocks a run.
func (l *inspection) checkMemory(ctx context.Context) {
	if l.Run || !l.includesAny("memory") {
		return
	}
	kept, problems, err := memory.MemoryEntryStore{Repo: l.place.Repo.Work, State: l.place.State}.LoadEntries()
	if err != nil {
		l.add(Check{Name: "memory", State: Notice, Detail: err.Error(), Hint: "Make its files readable."})
		return
	}
	var all []Check
	notice := func(detail, hint string) {
		all = append(all, Check{Name: "memory", State: Notice, Detail: view.EscapeForTerminal(detail), Hint: view.EscapeForTerminal(hint)})
	}
	for _, p := range problems {
		notice(p.File+": "+p.Why, p.Hint)
	}
	_, wrong, err := codedoc.DocStore{Top: l.place.Repo.Work}.LoadDocuments()
	for _, p := range wrong {
		notice(p.Err.Error(), "nexus docs list says more. nexus docs refresh "+p.Name+" --force writes it again.")
	}
	if err == nil {
		err = l.checkOutdatedMemoryEntries(ctx, kept, notice)
	}
	if err != nil {
		notice(err.Error(), "Check the repository with git fsck.")
	}
	if len(all) == 0 && len(kept) > 0 {
		all = []Check{{Name: "memory", State: Fine, Detail: view.CountWithNoun(len(kept), "episode")}}
	}
	l.add(all...)
}

// checkOutdatedMemoryEntries reports approved entries about deleted files.
func (l *inspection) checkOutdatedMemoryEntries(ctx context.Context, kept []memory.StoredMemoryEntry, notice func(detail, hint string)) error {
	head, _, err := l.place.Repo.Head(ctx)
	if err != nil || len(kept) == 0 {
		return nil //nolint:nilerr // the check of the branch says so
	}
	now, err := memory.FileBlobsAt(ctx, l.place.Repo, head, kept)
	if err != nil {
		return err
	}
	for _, k := range kept {
		if is, file := k.CheckFreshness(now); is == memoryentry.Gone && k.State == memoryentry.Approved {
			notice(fmt.Sprintf("%s is about %s, which is gone: agents do not see it", k.ID, file), "nexus memory gc removes it.")
		}
	}
	return nil
}
