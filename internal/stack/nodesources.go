package stack

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
)

// nodeSources describes how files of JavaScript and TypeScript depend on each other.
func nodeSources() []SourceDependencyRules {
	return []SourceDependencyRules{{
		Name: "node", Mine: isNode, Test: isNodeTest,
		Uses: func(tree fs.FS, have map[string]bool) func(string) ([]string, bool) {
			return func(file string) ([]string, bool) {
				return importedNodeFiles(gosource.ReadRegularFile(tree, file), file, have)
			}
		},
	}}
}

func nodeEndings() []string {
	return []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"}
}

func isNode(file string) bool {
	base := path.Base(file)
	return slices.Contains(nodeEndings(), path.Ext(base)) && !strings.Contains(base, ".config.") && !strings.HasPrefix(base, ".")
}

func isNodeTest(file string) bool {
	if !isNode(file) {
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

// importedNodeFiles follows the relative imports of a file. An alias may refer to any file; a bare name
// refers to an installed package.
func importedNodeFiles(text, file string, have map[string]bool) (files []string, sure bool) {
	named := regexp.MustCompile(`(?:\bfrom|\bimport|\brequire|\bimport\s*\(|\brequire\s*\()\s*\(?\s*["'` + "`" + `]([^"'` + "`" + `\n]+)["'` + "`" + `]`)
	dynamic := regexp.MustCompile(`\b(?:import|require)\s*\(\s*[^"'\s)]`)
	sure = !dynamic.MatchString(text)
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		name, _, _ := strings.Cut(m[1], "?")
		switch {
		case strings.Contains(name, "${"), strings.HasPrefix(name, "@/"), strings.ContainsAny(name[:min(1, len(name))], "~#/"):
			sure = false
			continue
		case !strings.HasPrefix(name, "."):
			continue
		}
		at := path.Join(path.Dir(file), name)
		names := []string{at}
		for _, end := range nodeEndings() {
			names = append(names, at+end, path.Join(at, "index"+end), strings.TrimSuffix(at, path.Ext(at))+end)
		}
		if f, ok := firstMatch(names, func(n string) bool { return have[n] }); ok {
			files = append(files, f)
		}
	}
	return files, sure
}
