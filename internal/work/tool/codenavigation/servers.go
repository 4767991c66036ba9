package codenavigation

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// LanguageServerProgram is a language server that may be installed.
type LanguageServerProgram struct {
	Name     string
	Commands [][]string // the first whose program is installed is used
	Ends     []string   // extensions of the files that it knows
	Watch    []string   // names of further files that affect it
	Options  string     // JSON with its initial options
	Timeout  time.Duration
}

// builtinServers returns the built-in servers, in the order in which they are preferred for a
// file.
func builtinServers() []LanguageServerProgram {
	var all []LanguageServerProgram
	for _, one := range stack.AllStacks() {
		for _, x := range one.Servers {
			all = append(all, LanguageServerProgram{Name: x.Name, Commands: x.Commands, Ends: x.Ends, Watch: x.Watch, Options: x.Options})
		}
	}
	return append(all,
		LanguageServerProgram{Name: "lua", Commands: [][]string{{"lua-language-server"}}, Ends: []string{".lua"}},
		LanguageServerProgram{Name: "zls", Commands: [][]string{{"zls"}}, Ends: []string{".zig"}},
	)
}

// ConfiguredServers returns the built-in servers with their configuration, and the configured additional
// ones.
func ConfiguredServers(own map[string]config.LanguageServerSettings) []LanguageServerProgram {
	all := builtinServers()
	names := make([]string, 0, len(own))
	for name := range own {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		i := slices.IndexFunc(all, func(s LanguageServerProgram) bool { return s.Name == name })
		if i < 0 {
			all, i = append(all, LanguageServerProgram{Name: name}), len(all)
		}
		l := own[name]
		if len(l.Command) > 0 {
			all[i].Commands = [][]string{l.Command}
		}
		if len(l.Extensions) > 0 {
			all[i].Ends = l.Extensions
			for j := range all { // a file has one server, the configured one
				if j != i && own[all[j].Name].Extensions == nil {
					all[j].Ends = slices.DeleteFunc(slices.Clone(all[j].Ends), func(end string) bool { return slices.Contains(l.Extensions, end) })
				}
			}
		}
		if l.Off {
			all[i].Commands = nil
		}
	}
	return all
}

// CommandLine returns the command line of the server on a machine with this environment, nil if
// none of its programs is installed.
func (s LanguageServerProgram) CommandLine(vars []string) []string {
	for _, c := range s.Commands {
		if len(c) > 0 && FindOnPath(vars, c[0]) != "" {
			return c
		}
	}
	return nil
}

// readsFile reports whether the server reads a file.
func (s LanguageServerProgram) readsFile(name string) bool {
	return slices.ContainsFunc(s.Ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

func (s LanguageServerProgram) watchesFile(name string) bool {
	return s.readsFile(name) || slices.Contains(s.Watch, path.Base(name))
}

func (s LanguageServerProgram) initOptions() json.RawMessage {
	if s.Options == "" {
		return nil
	}
	return json.RawMessage(s.Options)
}

// FindOnPath returns the path of a program on the PATH of an environment, or "".
func FindOnPath(vars []string, program string) string {
	if filepath.IsAbs(program) {
		return executablePath(program)
	}
	if strings.Contains(program, "/") {
		return ""
	}
	for _, v := range slices.Backward(vars) {
		dirs, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(dirs) {
			if at := filepath.Join(dir, program); filepath.IsAbs(at) && executablePath(at) != "" {
				return at
			}
		}
		break
	}
	return ""
}

func executablePath(at string) string {
	if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
		return at
	}
	return ""
}

const maxLooked = 5_000 // files that are examined to find the languages of a tree

// CountExtensions returns the number of files per extension in a tree, among those that are
// examined.
func CountExtensions(root *os.Root, hidden files.HiddenPathRules) map[string]int {
	ends, n := map[string]int{}, 0
	// an unreadable tree has no files
	_ = hidden.WalkUnignored(root, ".", func(name string, d fs.DirEntry) bool {
		if !d.IsDir() {
			n++
			ends[path.Ext(name)]++
		}
		return n < maxLooked
	})
	return ends
}

// languageID returns the protocol's word for the language of a file.
func languageID(name string) string {
	end := strings.TrimPrefix(path.Ext(name), ".")
	for _, l := range [][]string{
		{"typescript", "ts", "mts", "cts"},
		{"typescriptreact", "tsx"},
		{"javascript", "js", "mjs", "cjs"},
		{"javascriptreact", "jsx"},
		{"python", "py", "pyi"},
		{"rust", "rs"},
		{"cpp", "cc", "cpp", "cxx", "hh", "hpp", "hxx"},
		{"c", "h"},
		{"ruby", "rb"},
		{"shellscript", "sh", "bash"},
	} {
		if slices.Contains(l[1:], end) {
			return l[0]
		}
	}
	return end
}
