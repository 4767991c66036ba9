package modelscmd_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/modelscmd"
)

func command(c *console.Console) *cobra.Command { return modelscmd.New(c, nil) }

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, modelscmd.New, map[string]*modelscmd.Options{
		"":                        {},
		"openai --service batch":  {Provider: "openai", Service: "batch"},
		"--all":                   {All: true},
		"openai anthropic":        nil,
		"--from http://127.0.0.1": nil,
	})
	clitest.CheckFlags(t, modelscmd.NewRefresh, map[string]*modelscmd.RefreshOptions{"--from http://127.0.0.1:1/": {}, "openai": nil})
}

const list = `{
  "new": {"id": "new", "models": {"small": {"id": "small", "last_updated": "2026-11-30", "limit": {"context": 8000, "output": 2000}, "cost": {"input": 0.5, "output": 1.5}}}},
  "anthropic": {"id": "anthropic", "models": {"claude-haiku-5-5": {"limit": {"context": 5}, "cost": {"input": 0.001, "output": 0.001}}}},
  "google": {"id": "google", "models": {"gemini-3.8-flash": {"cost": {"input": 0.001, "output": 0.001}}}},
  "other": {"id": "other", "models": {
    "large": {"limit": {"context": 100000}, "cost": {"input": 2, "output": 6, "cache_read": 0.2}}, "free": {"cost": {"input": 0, "output": 0}}, "bad": 7}}
}`

func serve(t *testing.T, text string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestModels lists models without a key: the built-in table, then what the public list adds to it,
// then what the user set.
func TestModels(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Now = func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }
	u.Expect(0, []string{"anthropic/claude-haiku-5-5\t1000000\t128000\t0.1\t0.5\t0.01\t\tcurated 20", "!refreshed"}, command)
	u.Expect(0, []string{"anthropic/claude-sonnet-5-5\t1000000\t128000\t1\t5\t0.05", "deepseek/deepseek-v4-flash\t1000000\t?\t?\t?\t?"}, command, "--service", "batch")
	u.Expect(2, []string{"batch, flex, priority"}, command, "--service", "gold")

	u.Env["NEXUS_MODELS_FAST"] = "new/small"
	u.ExpectMatch(0, []string{`new/small\t\?\t\?\t\?\t\?\t\?\tfast, balanced, strong\t$`}, command)
	u.Expect(0, []string{`"price": null`}, command, "--json")

	u.Env["NEXUS_MODELS_LIST"] = serve(t, list)
	u.ExpectMatch(0, []string{"^5 models from http://127.0.0.1", "1 entr(y|ies) could not be read"}, command, "refresh")
	if info, err := os.Stat(filepath.Join(u.Home, ".cache/nexus/models.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the stored list: %v, %v", info, err)
	}
	u.Expect(0, []string{`"same": true`}, command, "refresh", "--json")
	u.Expect(0, []string{
		"new/small\t8000\t2000\t0.5\t1.5\t0.5\tfast, balanced, strong\trefreshed 2026-11-30", "anthropic/claude-haiku-5-5\t1000000\t128000\t0.1\t", "!other/",
	}, command)
	u.Expect(0, []string{"other/large\t100000\t?\t2\t6\t0.2\t\trefreshed", "other/free\t?\t?\t?\t?\t?\t\trefreshed"}, command, "--all")
	u.ExpectMatch(0, []string{`^  "left": 2`, `"models": 5`}, command, "--json")

	u.Expect(1, []string{"fetch the list of models from http://127.0.0.1:1", "Runs continue without it"}, command, "refresh", "--from", "http://127.0.0.1:1/api.json")
	u.Expect(2, []string{"on the way prices could be changed"}, command, "refresh", "--from", "http://models.dev/api.json")
	u.Expect(1, []string{`"code": "provider_failed"`}, command, "refresh", "--from", serve(t, "<html>sign in</html>"), "--json")
	u.Expect(0, []string{"new/small\t8000"}, command)

	u.Expect(2, []string{`there is no provider "nobody"`}, command, "nobody")
	u.Expect(2, []string{"ANTHROPIC_API_KEY"}, command, "anthropic")
	u.Env["OPENAI_API_KEY"], u.Env["OPENAI_BASE_URL"] = "scripted", "http://127.0.0.1:1/v1"
	u.Expect(1, []string{"ask openai for its models"}, command, "openai")

	mine := filepath.Join(u.Home, ".config/nexus/config.toml")
	if err := os.MkdirAll(filepath.Dir(mine), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, []byte("pricing.\"new/small\" = { input = 7, output = 8 }\npricing.\"anthropic/claude-haiku-5-5\" = { input = 9, output = 9 }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.Expect(0, []string{"new/small\t8000\t2000\t7\t8\t7\tfast, balanced, strong\tconfig", "anthropic/claude-haiku-5-5\t1000000\t128000\t9\t9\t9\t\tconfig"}, command)
	u.Write(map[string]string{"nexus.toml": "models.list = \"https://prices.example.com/\"\n"})
	u.Expect(2, []string{"models.list"}, command, "refresh")
}
