package gocachecmd_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/gocachecmd"
)

func TestGocache(t *testing.T) {
	o, err := clitest.ParseOptions(t, gocachecmd.New, "--own", "a", "--shared", "b", "--shared", "c,d")
	if err != nil || o.Cache.Own != "a" || strings.Join(o.Cache.Shared, " ") != "b c,d" || o.Cache.Now == nil {
		t.Errorf("%+v, %v", o, err)
	}
	clitest.CheckFlags(t, gocachecmd.New, map[string]*gocachecmd.Options{"--own=": nil, "put": nil})
	u := clitest.NewUser(t, nil)
	u.In = `{"ID":1,"Command":"close"}` + "\n"
	u.Expect(0, []string{`"KnownCommands"`, `"get"`, `{"ID":1`}, func(c *console.Console) *cobra.Command { return gocachecmd.New(c, nil) }, "--own", t.TempDir())
}
