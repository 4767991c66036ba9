package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// removedExample returns a name that a removed setting had.
func removedExample(r config.RemovedSetting) string {
	return strings.ReplaceAll(r.Name, "*", "reviewer")
}

func TestRemovedSettingsWarn(t *testing.T) {
	want, _, err := config.LoadSources(sources(t, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range config.RemovedSettings() {
		name := removedExample(r)
		// Any value: also one that the setting never took.
		for _, value := range []string{"1", "'7 parrots'", "{a = 1}"} {
			for where, s := range map[string]config.SettingSources{
				"config.toml:1": sources(t, name+" = "+value+"\n", ""),
				"nexus.toml:1":  sources(t, "", name+" = "+value+"\n"),
			} {
				c, _, err := config.LoadSources(s)
				if err != nil {
					t.Errorf("%s = %s in %s: %v", name, value, where, err)
					continue
				}
				if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], where) || !strings.Contains(c.Warnings[0], r.Reason) || !strings.Contains(c.Warnings[0], r.Instead) {
					t.Errorf("%s = %s in %s: warnings %q", name, value, where, c.Warnings)
				}
				if c.Warnings = nil; !cmp.Equal(c, want) {
					t.Errorf("%s = %s in %s changes a setting", name, value, where)
				}
			}
		}
		s := sources(t, "", "")
		s.Environ = []string{variableOf(name) + "=1"}
		if c, _, err := config.LoadSources(s); err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "environment: "+variableOf(name)) {
			t.Errorf("%s: %v, warnings %q", variableOf(name), err, c.Warnings)
		}
		if _, _, err := config.FindKey(name); err == nil || !strings.Contains(err.Error(), "no longer a setting") {
			t.Errorf("nexus config set %s: %v", name, err)
		}
	}
}

func TestRemovedSettingsAreGone(t *testing.T) {
	var names []string
	for _, k := range config.MemberKeys() {
		names = append(names, k.Name)
	}
	for _, r := range config.RemovedSettings() {
		if slices.Contains(names, r.Name) || strings.Contains(config.ReferencePage(), "`"+r.Name+"`") {
			t.Errorf("%s is a setting, and listed as removed", r.Name)
		}
		if r.Reason == "" || r.Instead == "" {
			t.Errorf("%s has no reason, or nothing instead", r.Name)
		}
	}
	for _, file := range settingTexts(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range config.RemovedSettings() {
			name := strings.TrimSuffix(r.Name, ".*")
			if i := indexOfSetting(string(data), name); i >= 0 {
				t.Errorf("%s:%d names the removed setting %s", file, 1+strings.Count(string(data)[:i], "\n"), name)
			}
		}
	}
}

// settingTexts returns the files that tell people about settings: documents, help, and the code's messages.
func settingTexts(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"docs/*.md", "docs/cli/*.md", "docs/decisions/*.md", "internal/face/cli/console/help/*.txt", "internal/decide/*/*.go", "internal/work/*/*.go", "internal/face/cli/*/*.go", "internal/nexus/*.go"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "..", filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		all = append(all, slices.DeleteFunc(found, func(name string) bool { return strings.HasSuffix(name, "_test.go") })...)
	}
	return all
}

// indexOfSetting returns where a text names a setting or its variable, or -1. File names such as plan.files.md
// and fields such as x.plan.files are not names of settings.
func indexOfSetting(text, name string) int {
	for _, one := range []string{name, variableOf(name)} {
		for from := 0; ; {
			i := strings.Index(text[from:], one)
			if i < 0 {
				break
			}
			i += from
			from = i + len(one)
			if (i == 0 || !isSettingByte(text[i-1])) && (from == len(text) || !isSettingByte(text[from]) || text[from] == '.' && (from+1 == len(text) || !isSettingByte(text[from+1]))) {
				return i
			}
		}
	}
	return -1
}

func isSettingByte(b byte) bool {
	return b == '.' || b == '_' || b == '-' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

func variableOf(name string) string {
	return "NEXUS_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name))
}
