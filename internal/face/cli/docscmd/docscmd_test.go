package docscmd_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/docscmd"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, docscmd.NewList, map[string]*docscmd.ListOptions{"": {}, "--json": {}, "api": nil, "--force": nil})
	clitest.CheckFlags(t, docscmd.NewRefresh, map[string]*docscmd.RefreshOptions{
		"":                     {},
		"api tests":            {Names: []string{"api", "tests"}},
		"--dry-run --budget 2": {DryRun: true},
		"api --force --json":   {Names: []string{"api"}, Force: true},
		"--budget much":        nil,
		"--all":                nil,
	})
}

func TestOutput(t *testing.T) {
	u := clitest.NewUser(t, map[string]string{
		"greet.go":               "package greet\n\n// Hello greets.\nfunc Hello() string { return \"hello\" }\n",
		".nexus/docs/api.md":     "# Ours\n\nBy hand.\n",
		".nexus/docs/testing.md": "# Not a document that there is.\n",
	})
	u.Expect(0, []string{"document\tstate\tmade\twhy", "architecture\tmissing", "api\town"}, docscmd.New, "list")
	u.Expect(0, []string{`"documents": [`, `"state": "own"`}, docscmd.New, "list", "--json")
	u.Expect(2, []string{`there is no document "nothing"`, "The documents are "}, docscmd.New, "refresh", "nothing")
	u.Expect(2, []string{".nexus/docs/api.md was written or edited by hand", "--force"}, docscmd.New, "refresh", "api")
	u.Expect(2, []string{"list"}, docscmd.New, "lst")

	u.Write(map[string]string{".nexus/docs/tests.md": "---\nfrom: [\n"})
	u.Expect(1, []string{"tests\tunreadable"}, docscmd.New, "list")

	u.Env["NEXUS_MARK"] = "1" // inside a sandbox
	u.Expect(2, []string{"agents may not write the documents"}, docscmd.New, "refresh")
	u.Expect(1, []string{"api\town"}, docscmd.New, "list")
}
