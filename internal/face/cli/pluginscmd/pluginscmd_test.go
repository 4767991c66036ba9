package pluginscmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/pluginscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/trustcmd"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, pluginscmd.NewList, map[string]*pluginscmd.ListOptions{"": {}, "look": nil})
	clitest.CheckFlags(t, pluginscmd.NewTest, map[string]*pluginscmd.TestOptions{"look": {Name: "look"}, "": nil, "a b": nil})
}

// TestPlugins lists the plugins of a project, and asks them sample questions once they are trusted.
func TestPlugins(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Expect(0, []string{"there are no plugins"}, pluginscmd.New, "list")
	u.Write(map[string]string{
		"nexus.toml": "[plugins.look]\ncommand = [\"sh\", \"look.sh\"]\nkinds = [\"reviewer\"]\nrequired = true\n[plugins.mute]\ncommand = [\"sh\", \"-c\", \"exit 3\"]\nkinds = [\"reviewer\"]\n",
		"look.sh": `read -r hello
echo '{"type":"hello","protocol":1,"name":"look","version":"1.0","kinds":["reviewer"]}'
n=0
while read -r line; do
	n=$((n+1))
	echo '{"type":"answer","id":'$n',"output":{}}'
done
`,
	})
	u.ExpectMatch(0, []string{`^look, reviewer: sh look.sh \(in the sandbox, \d+s, required, new, not run: see nexus trust\)`}, pluginscmd.New, "list")
	u.Expect(0, nil, func(c *console.Console) *cobra.Command { return trustcmd.New(c, nil) }, "--yes")
	u.Expect(0, []string{`"name": "look"`, `"required": true`, `"trust": "trusted"`}, pluginscmd.New, "list", "--json")
	u.Expect(0, []string{"ok     says hello: look 1.0, protocol 1", "ok     answers as a reviewer", "ok     ends when its input does"}, pluginscmd.New, "test", "look")
	u.Expect(0, []string{`"ok": true`, `"plugin": "look"`}, pluginscmd.New, "test", "look", "--json")
	u.Expect(1, []string{"failed says hello"}, pluginscmd.New, "test", "mute")
	u.Expect(2, []string{`there is no plugin "nosuch"`, "nexus plugins list"}, pluginscmd.New, "test", "nosuch")
}
