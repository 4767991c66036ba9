package stack

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Install is how the packages of one lock file come to be beside it.
type Install struct {
	Name   string
	Family string                 // the stack's name, set by [Installs]; those of one family exclude each other in a directory
	Lock   string                 // file, or pattern of one, that says exactly what is to be installed
	Fits   func(text string) bool // of what the lock file holds; nil: whatever it is
	Also   []string               // further files in the directory that say what is installed, as patterns
	Tools  []string               // programs whose versions matter; the first one installs
	Args   []string               // the install command, frozen: it may not change the lock file
	Away   []string               // added where there is no network
	Env    []string               // of the command
	Out    []string               // directories that it makes beside the lock file
	Bare   bool                   // it is no lock file but a manifest, which says less exactly what is to be installed
	Lent   bool                   // nothing is ever installed: what the user has there is lent, if anything
	Deep   string                 // name of directories that it makes also below, in the packages of a workspace
	// Manifest names files in the packages of a workspace that say, too, what is
	// installed, and Reduce keeps of one what that depends on. Empty: only Also counts.
	Manifest string
	Reduce   func(text string) string
	// Lacks returns what the command has against the lock file, which it names by its
	// path, by what it printed; none where it failed for another reason. Renew is the
	// command that writes the lock file anew. Nil: that is not known.
	Lacks func(at fs.FS, lock, out string) []string
	Renew string
	// Command is what people type to install the same by hand; empty: Args say it.
	Command string
	Bin     string // directory with programs that commands find first
	// Same reports why what lies in a directory, beside a lock file with this text, is
	// not what the lock file names. Nil if that is unknown.
	Same func(at fs.FS, lock string) error
}

// ByHand returns the command that installs the same for people.
func (i Install) ByHand() string { return cmp.Or(i.Command, strings.Join(i.Args, " ")) }

// Installs returns how packages are installed, in each family the one first
// that wins.
func Installs() []Install {
	var all []Install
	for _, s := range All() {
		for _, i := range rows(s.Installs) {
			i.Family = s.Name
			all = append(all, i)
		}
	}
	return all
}

// has returns what reports whether a text holds another.
func has(part string) func(text string) bool {
	return func(text string) bool { return strings.Contains(text, part) }
}

func words(line string) []string { return strings.Fields(line) }

// Programs returns what the commands of a family begin with.
func Programs(family string) []string {
	for _, s := range All() {
		if s.Name == family {
			return s.Programs
		}
	}
	return nil
}

// IsProgram reports whether commands of some stack begin with a word.
func IsProgram(name string) bool {
	return slices.ContainsFunc(All(), func(s Stack) bool { return slices.Contains(s.Programs, name) })
}

// maxInstall is the largest lock file that is read.
const maxInstall = 32 << 20

// ReadLock returns a regular file of a tree, empty where there is none or it is
// larger than [Most].
func ReadLock(tree fs.FS, name string) string {
	name = path.Clean(name)
	info, err := fs.Lstat(tree, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxInstall {
		return ""
	}
	data, err := fs.ReadFile(tree, name)
	if err != nil {
		return ""
	}
	return string(data)
}

// small reads a file of the user's checkout that says what is installed.
func small(tree fs.FS, name ...string) (string, error) {
	text := ReadLock(tree, path.Join(name...))
	if text == "" {
		return "", fmt.Errorf("there is no %s", path.Join(name...))
	}
	return text, nil
}

// Store is where tools keep what they fetched, below the home of their user. None
// holds a password: those lie beside them.
type Store struct {
	Name  string
	Tools []string // programs that use it
	Home  string   // where it is below the home
	From  string   // variable of the user's that says where it is instead; empty for none
	Below string   // name of Home under what Var names, for tools that want the directory around it
	Var   string   // variable that tells a command where it is
	Value string   // of Var, with @ for the directory; empty is the directory
}

// Stores returns where all tools keep what they fetched.
func Stores() []Store {
	var all []Store
	for _, s := range All() {
		all = append(all, s.Stores...)
	}
	return all
}
