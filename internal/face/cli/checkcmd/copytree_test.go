package checkcmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestLend lends what package managers made, by links or, where programs look
// for the project from where they lie, as copies; never what is tracked.
func TestLend(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	gittest.WriteFiles(t, from, map[string]string{
		"node_modules/dep/index.js": "", ".venv/pyvenv.cfg": "", "web/node_modules/dep/x": "",
		"php/vendor/composer/installed.json": "", "php/vendor/autoload.php": "<?php", "php/vendor/acme/a/node_modules/x": "",
		"rails/vendor/bundle/ruby/3.1.0/gems/a/x": "", "rails/.bundle/config": "BUNDLE_PATH: vendor/bundle\n", "rails/.bundle/plugin/x": "",
		"kept/vendor/composer/installed.json": "new", "other/vendor/lib.js": "", "gone/node_modules/x": "", ".git/node_modules/x": "",
		"go/vendor/modules.txt": "", "bundle/ruby/x": "",
	})
	gittest.WriteFiles(t, to, map[string]string{"web/a": "", "php/a": "", "rails/vendor/.keep": "", "kept/vendor/composer/installed.json": "old", "other/a": "", "go/a": "", "bundle/a": ""})
	var got []string
	for _, name := range lendInstalled(from, to) {
		rel, _ := filepath.Rel(from, name)
		got = append(got, rel)
	}
	if d := cmp.Diff([]string{".venv", "go/vendor", "node_modules", "php/vendor", "rails/.bundle", "rails/vendor/bundle", "web/node_modules"}, got); d != "" {
		t.Error(d)
	}
	for name, link := range map[string]bool{
		"node_modules/dep": true, "web/node_modules/dep": true, "go/vendor/modules.txt": true, "rails/vendor/bundle/ruby": true,
		"php/vendor/autoload.php": false, "php/vendor/acme/a/node_modules/x": false, "rails/.bundle/config": false,
	} {
		info, err := os.Lstat(filepath.Join(to, name))
		if err != nil || info.Mode()&os.ModeSymlink != 0 != link {
			t.Errorf("%s is a link: %v, %v", name, !link, err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(to, "kept/vendor/composer/installed.json")); string(data) != "old" {
		t.Error("what is tracked was written over", err)
	}
}

// TestInstalled changes when packages are installed, and with nothing else.
func TestInstalled(t *testing.T) {
	dir := t.TempDir()
	gittest.WriteFiles(t, dir, map[string]string{"a.js": "", "web/b.js": ""})
	none := installedFingerprint(dir)
	for _, name := range []string{"node_modules/dep/x", "web/node_modules/.package-lock.json", ".venv/pyvenv.cfg", ".venv/lib/python3.12/site-packages/p/x"} {
		before := installedFingerprint(dir)
		gittest.WriteFiles(t, dir, map[string]string{name: ""})
		if installedFingerprint(dir) == before {
			t.Errorf("%s changes nothing", name)
		}
	}
	before := installedFingerprint(dir)
	gittest.WriteFiles(t, dir, map[string]string{"a.js": "new", "web/c.js": ""})
	if got := installedFingerprint(dir); got != before || got == none {
		t.Errorf("files of the tree change it: %s", got)
	}
}
