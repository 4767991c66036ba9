package democmd_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/democmd"
)

func build(c *console.Console, run func(context.Context, *democmd.Options) error) *cobra.Command {
	return democmd.New(c, nil, run)
}

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, build, map[string]*democmd.Options{
		"":                     {Keep: true},
		"genesis --slow":       {Genesis: true, Keep: true, Slow: true},
		"--rm --dir d":         {Dir: "d"},
		"--watch":              {Watch: true, Keep: true},
		"--serve --ask":        {Serve: true, Ask: true, Keep: true},
		"exodus":               nil,
		"genesis --ask":        nil,
		"genesis twice":        nil,
		"--keep --rm":          nil,
		"--watch --serve":      nil,
		"--watch --rm":         nil,
		"--serve --json":       nil,
		"--watch --json":       nil,
		"--keep=false --dir d": {Dir: "d"},
	})
}

// TestDemoNeedsItsDirectory refuses a directory that holds something else, and leaves it alone.
func TestDemoNeedsItsDirectory(t *testing.T) {
	u := clitest.NewUser(t, nil)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	u.Expect(2, []string{"make a directory for the sample"}, func(c *console.Console) *cobra.Command { return build(c, nil) }, "--dir", dir)
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}
