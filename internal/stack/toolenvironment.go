package stack

import (
	"io/fs"
	"path"
	"strings"
)

// RegistryHosts are the servers from which the tools of a language fetch packages: a preset that users
// name in network.allow.
type RegistryHosts struct {
	Name  string
	Hosts []string
}

// LanguageServer is a language server that may be installed.
type LanguageServer struct {
	Name     string
	Commands [][]string // the first one whose program exists is used
	Ends     []string   // endings of the file names that it supports
	Watch    []string   // names of further files that it depends on
	Options  string     // its initialization options, as JSON
}

// ToolEnvironment describes the environment of a language's tools, as NAME=VALUE unless a field
// says otherwise.
type ToolEnvironment struct {
	Keeps   []string // names of the user's variables that choose a toolchain; commands receive them too
	Sets    []string // for every command: no network access, no prompts, English output
	Private []string // where the user's home is hidden; {home} is replaced by the directory in its place
	Offline []string // where there is no network: registry clients fail at once and print why
	// Proxied applies behind a proxy, for tools that read none of the usual variables. {url},
	// {host} and {port} are replaced by those of the proxy.
	Proxied   []string
	Trusts    []string            // names of the user's variables that choose the trusted certificates
	Unreached []string            // patterns of the output of clients that found no network
	Adds      []string            // appended to the user's variable of that name
	Shows     []UserToolDirectory // the user's directories that commands can read, with variables that name them
	Roots     []string            // programs whose installation commands can read: the directory above the program's
	// Caches are directories that Nexus keeps for the gates of a tree, each below one common
	// directory: commands that run there may have written them.
	Caches []CacheDirectory
	Gates  func(tree fs.FS) []string // for the gates of a tree
	// Online applies where the first of the stack's hosts can be reached. Private is true if
	// the user's fetched packages can be read but not written. Value returns a variable as it
	// would be otherwise.
	Online func(value func(name string) string, private bool) []string
	// HomeBins lists directories of the home whose bin is on PATH and which contain more than a
	// toolchain: commands see only bin.
	HomeBins []string
}

// CacheDirectory is a directory, and the variable that passes its path to a tool.
type CacheDirectory struct {
	Dir string
	Var string
}

// MergedEnvironment returns the merged environment of the tools of all languages, without the parts
// that depend on a tree or on the network.
func MergedEnvironment() ToolEnvironment {
	var all ToolEnvironment
	for _, s := range AllStacks() {
		e := s.Environment
		all.Keeps, all.Sets, all.Private = append(all.Keeps, e.Keeps...), append(all.Sets, e.Sets...), append(all.Private, e.Private...)
		all.Offline, all.Proxied = append(all.Offline, e.Offline...), append(all.Proxied, e.Proxied...)
		all.Trusts, all.Unreached = append(all.Trusts, e.Trusts...), append(all.Unreached, e.Unreached...)
		all.Adds, all.Shows = append(all.Adds, e.Adds...), append(all.Shows, e.Shows...)
		all.Roots, all.HomeBins = append(all.Roots, e.Roots...), append(all.HomeBins, e.HomeBins...)
	}
	return all
}

// UserToolDirectory is a directory of the user: a toolchain, or a cache of packages that all
// projects share.
type UserToolDirectory struct {
	Var string   // variable that passes the path to commands
	At  []string // its path, with a variable in front, such as $HOME; the first whose variable is set
}

// Resolve returns the path of the directory, "" if it is unknown. Of a list of directories the
// first one counts.
func (s UserToolDirectory) Resolve(env func(name string) string) string {
	for _, at := range s.At {
		name, below, _ := strings.Cut(strings.TrimPrefix(at, "$"), "/")
		if dir, _, _ := strings.Cut(env(name), ":"); dir != "" {
			return path.Join(dir, below)
		}
	}
	return ""
}

// IsToolWrittenFile reports whether a file is written by tools and not by people: a lock file.
func IsToolWrittenFile(base string) bool {
	base = strings.ToLower(base)
	for _, s := range AllStacks() {
		for _, name := range s.Written {
			if name == base {
				return true
			}
		}
	}
	return false
}
