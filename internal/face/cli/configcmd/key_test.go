package configcmd_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/configcmd"
)

func TestKeyFlags(t *testing.T) {
	o, err := clitest.ParseOptions(t, configcmd.NewKeySet, "openai", "--keyring")
	if err != nil || o.Provider != "openai" || !o.Keyring {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := clitest.ParseOptions(t, configcmd.NewKeySet, "anthropic", "zebra"); err == nil {
		t.Error("a key is taken from the command line")
	}
}

// TestKeys holds that keys are kept in a file that only the user can read, and never printed.
func TestKeys(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Expect(0, []string{"no provider has a key"}, command, "key", "list")
	u.In = "zebra-7781-plum-90210-quartz-wxyz\n"
	u.ExpectMatch(0, []string{"the key of anthropic is stored in .*keys.toml", "!zebra"}, command, "key", "set", "anthropic")
	dir := filepath.Join(u.Home, ".config/nexus")
	file := filepath.Join(dir, "keys.toml")
	for path, mode := range map[string]os.FileMode{dir: 0o700, file: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	u.ExpectMatch(0, []string{`anthropic.*file.*\.\.\.wxyz`, "!zebra"}, command, "key", "list")
	u.Env["OPENAI_API_KEY"] = "short"
	u.Expect(0, []string{`"provider": "openai"`, `"source": "environment"`, "!short"}, command, "key", "list", "--json")

	change := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	change(file, 0o644)
	u.Expect(2, []string{"others may read or change it: its mode is 0644", "chmod 600"}, command, "key", "list")
	change(file, 0o600)
	change(dir, 0o755)
	u.Expect(2, []string{"chmod 700"}, command, "key", "list")
	change(dir, 0o700)
	u.ExpectMatch(0, []string{"removed the key of .* from the file"}, command, "key", "remove", "anthropic")
	u.Expect(2, []string{`there is no key of "anthropic"`}, command, "key", "remove", "anthropic")
	u.Expect(2, []string{"not a valid name of a provider"}, command, "key", "set", "../x")
	u.In = ""
	u.Expect(2, []string{"it is empty"}, command, "key", "set", "openai")
}
