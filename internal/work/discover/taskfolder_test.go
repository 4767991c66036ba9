package discover

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
)

// TestOldTasksGo and what people put beside them stays, however old it is.
func TestOldTasksGo(t *testing.T) {
	repo := t.TempDir()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	put := func(name, text string, at time.Time) {
		t.Helper()
		file := filepath.Join(repo, "tasks", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	theirs := []string{"completed/README.md", "completed/.gitkeep", "completed/figures.csv", "logs/notes.txt"}
	for _, name := range theirs {
		put(name, "mine\n", now.Add(-time.Hour*24*365))
	}
	for n := range keptTasks {
		put(fmt.Sprintf("completed/t%03d.md", n), "# Old\n", now.Add(-time.Hour))
		put(fmt.Sprintf("logs/t%03d.log", n), "done\n", now.Add(-time.Hour))
	}
	put("pending/new.md", "# Do it\n\nAll of it.\n", now)
	f := TaskFolder{Repo: repo, Dir: "tasks"}
	all, wrong, err := f.readPendingTasks()
	if err != nil || len(wrong) > 0 || len(all) != 1 {
		t.Fatal(all, wrong, err)
	}
	done, err := f.MoveToCompleted([]backlogitem.BacklogItem{{ID: "x", Finding: folderTaskFindingID(all[0]), State: backlogitem.Done}}, now)
	if err != nil || len(done) != 1 {
		t.Fatal(done, err)
	}
	for _, name := range append(theirs, "completed/new.md", "logs/new.log", "completed/t000.md", fmt.Sprintf("completed/t%03d.md", keptTasks-2)) {
		if _, err := os.Stat(filepath.Join(repo, "tasks", name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{fmt.Sprintf("completed/t%03d.md", keptTasks-1), fmt.Sprintf("logs/t%03d.log", keptTasks-1)} {
		if _, err := os.Stat(filepath.Join(repo, "tasks", name)); err == nil {
			t.Errorf("%s is there yet", name)
		}
	}
}
