package discover

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// isAuxiliaryFile reports whether a file is no part of a project's public code: a test, a test
// helper, an example, or a benchmark. Repetition is normal there, and documentation is not
// required.
func isAuxiliaryFile(name string) bool {
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if stack.ServesTests(name) || strings.HasPrefix(stem, "bench_") ||
		strings.HasSuffix(stem, ".bench") || strings.HasSuffix(stem, "_bench") || strings.HasSuffix(stem, "Benchmark") {
		return true
	}
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		switch strings.TrimSuffix(dir, "s") {
		case "bench", "benche", "benchmark", "example", "demo", "sample":
			return true
		}
	}
	return false
}

var (
	rustModule  = regexp.MustCompile(`^\s*(pub )?mod (\w+);`)
	rustExport  = regexp.MustCompile(`^\s*pub use (?:(?:crate|self)::)?(\w+)`)
	procMacro   = regexp.MustCompile(`^\s*proc-macro\s*=\s*true`)
	mainPackage = regexp.MustCompile(`^package main\b`)
)

// unreachableFiles returns a function that reports whether the public names of a file are
// unreachable for others: programs, and private modules of Rust.
func (s *SourceTree) unreachableFiles(ctx context.Context) (func(name string) bool, error) {
	// Rust modules as paths without an extension, and directories of packages
	hidden := map[string]bool{}
	for _, f := range s.files {
		base, ending := path.Base(f.path), path.Ext(f.path)
		if ending != ".rs" && ending != ".go" && !stack.IsManifest(base) {
			continue
		}
		lines, err := s.readTextLines(ctx, f.path)
		if err != nil {
			return nil, err
		}
		switch {
		case ending == ".go":
			if slices.ContainsFunc(lines, mainPackage.MatchString) {
				hidden[strings.TrimSuffix(f.path, ending)] = true
			}
		case ending == ".rs":
			for _, module := range privateModules(f.path, lines) {
				hidden[module] = true
			}
		case slices.ContainsFunc(lines, procMacro.MatchString):
			hidden[path.Join(path.Dir(f.path), "src")] = true
		}
	}
	return func(name string) bool {
		for at := strings.TrimSuffix(name, path.Ext(name)); at != "." && at != "/"; at = path.Dir(at) {
			if hidden[at] {
				return true
			}
		}
		return false
	}, nil
}

// privateModules returns the private modules that a Rust file declares.
func privateModules(name string, lines []string) []string {
	dir := strings.TrimSuffix(name, ".rs")
	if slices.Contains([]string{"lib.rs", "main.rs", "mod.rs"}, path.Base(name)) {
		dir = path.Dir(name)
	}
	exported := map[string]bool{}
	for _, text := range lines {
		if m := rustExport.FindStringSubmatch(text); m != nil {
			exported[m[1]] = true
		}
	}
	var all []string
	for _, text := range lines {
		if m := rustModule.FindStringSubmatch(text); m != nil && m[1] == "" && !exported[m[2]] {
			all = append(all, path.Join(dir, m[2]))
		}
	}
	return all
}
