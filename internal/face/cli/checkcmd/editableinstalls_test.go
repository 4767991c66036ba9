package checkcmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEditable(t *testing.T) {
	from, to := t.TempDir(), "/copy"
	env := filepath.Join(from, ".venv")
	site := filepath.Join(env, "lib", "python3.11", "site-packages")
	for name, text := range map[string]string{
		"pk.pth":                       "# ours\n" + from + "/src\nimport os\n/usr/lib/other\n" + from + "/../beside\nrelative\n",
		"again.pth":                    from + "/src/\n",
		"__editable___two_finder.py":   "MAPPING: dict[str, str] = {'two': '" + from + "/lib/two', 'x': '/opt/x'}\n",
		"other.py":                     "'" + from + "/no/where'\n",
		"distutils-precedence.pth":     "import os; os.environ\n",
		"__editable__.three-1.0.0.pth": from + "\n",
	} {
		if err := os.MkdirAll(site, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(site, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"PYTHONPATH=/copy:/copy/src:/copy/lib"}
	for name, got := range map[string][]string{
		"lent":   editableInstalls(from, to, []string{filepath.Join(from, "node_modules"), env}, ""),
		"active": editableInstalls(from, to, nil, env),
		"both":   editableInstalls(from, to, []string{env}, env),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := editableInstalls(from, to, nil, ""); got != nil {
		t.Errorf("%v of nothing", got)
	}
}
