package stack

import (
	"io/fs"
	"path"
	"strings"
)

// Hosts are where the tools of a language fetch packages: a preset that people
// name in network.presets.
type Hosts struct {
	Name  string
	Hosts []string
}

// Server is a language server that may be there.
type Server struct {
	Name     string
	Commands [][]string // the first whose program is there is used
	Ends     []string   // of the names of files that it knows
	Watch    []string   // names of further files that it goes by
	Options  string     // JSON that it begins with
}

// Environment is what the tools of a language find in theirs, as NAME=VALUE where
// nothing else is said.
type Environment struct {
	Keeps   []string // names of the user's that choose a toolchain: commands have them too
	Sets    []string // for every command: they keep tools from the network, from asking, and to English
	Private []string // where the user's home is out of sight; {home} stands for the one in its place
	Offline []string // where there is no network: clients of registries fail at once, and say why
	// Proxied are for where there is a proxy, for tools that read none of the usual
	// variables; {url}, {host} and {port} stand for it.
	Proxied   []string
	Trusts    []string        // names of the user's that say which certificates are trusted
	Unreached []string        // patterns of what clients print that found no network
	Adds      []string        // behind what the user's variable of that name says
	Shows     []UserDirectory // directories of the user's that commands see, and are told of
	Roots     []string        // programs whose installation, the directory around that of their file, commands see
	// Caches are directories that Nexus keeps for the gates of a tree, each below one
	// for all: what runs there may have written them.
	Caches []Cache
	Gates  func(tree fs.FS) []string // for the gates of a tree
	// Online is for where the first of the stack's hosts is reached. Private says
	// that what the user has fetched is seen and not written. Value is a variable as
	// it would be otherwise.
	Online func(value func(name string) string, private bool) []string
	// HomeBins are directories of the home whose bin is on PATH, and in which lie
	// other things than a toolchain: commands see the bin alone.
	HomeBins []string
}

// Cache is a directory, and the variable that names it to a tool.
type Cache struct {
	Dir string
	Var string
}

// Environments returns what the tools of all languages find in theirs, but
// for what a tree or a network decides.
func Environments() Environment {
	var all Environment
	for _, s := range All() {
		e := s.Environment
		all.Keeps, all.Sets, all.Private = append(all.Keeps, e.Keeps...), append(all.Sets, e.Sets...), append(all.Private, e.Private...)
		all.Offline, all.Proxied = append(all.Offline, e.Offline...), append(all.Proxied, e.Proxied...)
		all.Trusts, all.Unreached = append(all.Trusts, e.Trusts...), append(all.Unreached, e.Unreached...)
		all.Adds, all.Shows = append(all.Adds, e.Adds...), append(all.Shows, e.Shows...)
		all.Roots, all.HomeBins = append(all.Roots, e.Roots...), append(all.HomeBins, e.HomeBins...)
	}
	return all
}

// UserDirectory is a directory of the user's: a toolchain, or what is fetched once for
// all projects.
type UserDirectory struct {
	Var string   // tells commands where it is
	At  []string // where it is, with variables of the user's in front, such as $HOME; the first whose variable is set
}

// Dir returns where the directory is, empty where that cannot be told. Of a list
// of directories the first one counts.
func (s UserDirectory) Dir(env func(name string) string) string {
	for _, at := range s.At {
		name, below, _ := strings.Cut(strings.TrimPrefix(at, "$"), "/")
		if dir, _, _ := strings.Cut(env(name), ":"); dir != "" {
			return path.Join(dir, below)
		}
	}
	return ""
}

// IsWritten reports whether tools write a file, and people do not: a lock file.
func IsWritten(base string) bool {
	base = strings.ToLower(base)
	for _, s := range All() {
		for _, name := range s.Written {
			if name == base {
				return true
			}
		}
	}
	return false
}
