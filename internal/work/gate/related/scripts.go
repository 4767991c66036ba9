package related

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// scripts are JavaScript and TypeScript.
type scripts struct{ *survey }

func scriptEndings() []string {
	return []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"}
}

func (scripts) mine(file string) bool {
	return slices.Contains(scriptEndings(), path.Ext(file)) && !strings.Contains(path.Base(file), ".config.") && !strings.HasPrefix(path.Base(file), ".")
}

func (l scripts) test(file string) bool {
	if !l.mine(file) {
		return false
	}
	stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
	for _, mark := range []string{".test", ".spec", "-test", "_test"} {
		if strings.HasSuffix(stem, mark) {
			return true
		}
	}
	dir := "/" + path.Dir(file) + "/"
	return strings.HasPrefix(stem, "test-") || stem == "test" || strings.Contains(dir, "/test/") || strings.Contains(dir, "/__tests__/")
}

// uses follows what is named from the file's own place. What is named by an
// alias may be anything; what is named bare was installed.
func (l scripts) uses(file string, have map[string]bool) (files []string, sure bool) {
	text := l.read(file)
	named := regexp.MustCompile(`(?:\bfrom|\bimport|\brequire|\bimport\s*\(|\brequire\s*\()\s*\(?\s*["'` + "`" + `]([^"'` + "`" + `\n]+)["'` + "`" + `]`)
	dynamic := regexp.MustCompile(`\b(?:import|require)\s*\(\s*[^"'\s)]`)
	sure = !dynamic.MatchString(text)
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		name, _, _ := strings.Cut(m[1], "?")
		switch {
		case strings.Contains(name, "${"), strings.HasPrefix(name, "@/"), strings.HasPrefix(name, "~"), strings.HasPrefix(name, "#"), strings.HasPrefix(name, "/"):
			sure = false
			continue
		case !strings.HasPrefix(name, "."):
			continue
		}
		at := path.Join(path.Dir(file), name)
		names := []string{at}
		for _, end := range scriptEndings() {
			names = append(names, at+end, path.Join(at, "index"+end), strings.TrimSuffix(at, path.Ext(at))+end)
		}
		if f, ok := first(have, names...); ok {
			files = append(files, f)
		}
	}
	return files, sure
}
