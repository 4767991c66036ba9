package foreign_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

const polkaTask = "# Task: Do it\n\n**Type:** feature\n\n## Description\n\nDo it.\n"

// TestNothingVanishes holds that a part of a folder that is there and cannot be read
// is an error: what is left of the plan would be taken for all of it.
func TestNothingVanishes(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := errors.Join(os.MkdirAll(outside, 0o755), os.WriteFile(filepath.Join(outside, "b.md"), []byte(polkaTask), 0o600)); err != nil {
		t.Fatal(err)
	}
	second := filepath.Join("tasks", "pending", "b.md")
	for name, c := range map[string]struct {
		spoil func(dir string) error
		want  string
	}{
		"whole":                  {func(string) error { return nil }, ""},
		"link to a file outside": {func(dir string) error { return os.Symlink(filepath.Join(outside, "b.md"), filepath.Join(dir, second)) }, "b.md"},
		"link to a folder outside": {func(dir string) error {
			return os.Symlink(outside, filepath.Join(dir, "tasks", "completed"))
		}, "completed"},
		"link to nothing": {func(dir string) error { return os.Symlink("nothing", filepath.Join(dir, second)) }, "b.md"},
		"folder":          {func(dir string) error { return os.Mkdir(filepath.Join(dir, second), 0o755) }, "b.md"},
		"pipe":            {func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, second), 0o600) }, "b.md"},
		"too many": {func(dir string) error {
			var err error
			for i := range 5001 {
				err = errors.Join(err, os.WriteFile(filepath.Join(dir, "tasks", "pending", fmt.Sprintf("c%d.md", i)), nil, 0o600))
			}
			return err
		}, "5000 files"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := errors.Join(
				os.MkdirAll(filepath.Join(dir, "tasks", "pending"), 0o755),
				os.WriteFile(filepath.Join(dir, "tasks", "pending", "a.md"), []byte(polkaTask), 0o600),
				c.spoil(dir)); err != nil {
				t.Fatal(err)
			}
			_, s, err := foreign.RecogniseFormat(foreign.NewFolderSource(dir))
			if err == nil {
				_, err = foreign.ReadPlan(t.Context(), s, foreign.Polka, "", nexus.TaskSizeLimits{})
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestLinksInside holds that links within the folder are read.
func TestLinksInside(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(
		os.MkdirAll(filepath.Join(dir, "specs", "001-a"), 0o755),
		os.WriteFile(filepath.Join(dir, "tasks-of-a.md"), []byte("# Tasks: A\n\n## Phase 1\n\n- [ ] T001 Do a thing in a.go\n"), 0o600),
		os.Symlink("../../tasks-of-a.md", filepath.Join(dir, "specs", "001-a", "tasks.md"))); err != nil {
		t.Fatal(err)
	}
	f, s, err := foreign.RecogniseFormat(foreign.NewFolderSource(dir))
	if err != nil || f != foreign.SpecKit {
		t.Fatal(f, err)
	}
	if i, err := foreign.ReadPlan(t.Context(), s, f, "", nexus.TaskSizeLimits{}); err != nil || len(i.Plan.Tasks) != 1 {
		t.Error(i, err)
	}
}
