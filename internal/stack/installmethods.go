package stack

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// InstallMethod describes how the packages of a lock file are installed beside it.
type InstallMethod struct {
	Name   string
	Family string                 // the stack's name, set by [InstallMethods]; in a directory only one of a family applies
	Lock   string                 // file, or pattern of one, that pins the packages
	Fits   func(text string) bool // checks the lock file's content; nil: any content fits
	Also   []string               // patterns of further files in the directory that affect the installation
	Tools  []string               // programs whose versions matter; the first one installs
	Args   []string               // the install command, frozen: it must not change the lock file
	Away   []string               // added where there is no network
	Env    []string               // of the command
	Out    []string               // directories that it creates beside the lock file
	Bare   bool                   // the file is a manifest and not a lock file: it pins the packages less exactly
	Lent   bool                   // never installed: the user's own directory is lent, if there is one
	Deep   string                 // name of directories that it also creates in the packages of a workspace
	// Manifest names files in the packages of a workspace that also affect the installation.
	// Reduce returns the part of such a file that the installation depends on. Empty: only Also
	// counts.
	Manifest string
	Reduce   func(text string) string
	// Lacks returns the command's objections to the lock file, which it names by its path, from
	// its output; none if it failed for another reason. Renew is the command that writes a new
	// lock file. Nil: unknown.
	Lacks func(at fs.FS, lock, out string) []string
	Renew string
	// Command is the command that people type for the same installation; empty: Args.
	Command string
	Bin     string // directory with programs, put first on the search path of commands
	// Same returns an error that explains why the installed packages differ from those of a
	// lock file with this text. Nil: unknown.
	Same func(at fs.FS, lock string) error
}

// ManualCommand returns the command that people type for the same installation.
func (i InstallMethod) ManualCommand() string { return cmp.Or(i.Command, strings.Join(i.Args, " ")) }

// InstallMethods returns the installation methods. In each family the first one that fits wins.
func InstallMethods() []InstallMethod {
	var all []InstallMethod
	for _, s := range AllStacks() {
		for _, i := range rowsOfPart(s.Installs) {
			i.Family = s.Name
			all = append(all, i)
		}
	}
	return all
}

// containsTextFunc returns a function that reports whether a text contains part.
func containsTextFunc(part string) func(text string) bool {
	return func(text string) bool { return strings.Contains(text, part) }
}

func splitWords(line string) []string { return strings.Fields(line) }

// ProgramsOf returns the first words of a family's commands.
func ProgramsOf(family string) []string {
	for _, s := range AllStacks() {
		if s.Name == family {
			return s.Programs
		}
	}
	return nil
}

// IsProgram reports whether commands of some stack begin with a word.
func IsProgram(name string) bool {
	return slices.ContainsFunc(AllStacks(), func(s Stack) bool { return slices.Contains(s.Programs, name) })
}

// maxInstall is the size of the largest lock file that is read.
const maxInstall = 32 << 20

// ReadLockFile returns the text of a regular file of a tree, or "" if there is none or it is larger
// than maxInstall.
func ReadLockFile(tree fs.FS, name string) string {
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

// readSmallFile reads a file of the user's checkout that affects the installation.
func readSmallFile(tree fs.FS, name ...string) (string, error) {
	text := ReadLockFile(tree, path.Join(name...))
	if text == "" {
		return "", fmt.Errorf("there is no %s", path.Join(name...))
	}
	return text, nil
}

// PackageDownloadCache is the directory below the user's home in which tools store what they fetched. No store
// contains a password: those are in files beside it.
type PackageDownloadCache struct {
	Name  string
	Tools []string // programs that use it
	Home  string   // its path below the home
	From  string   // the user's variable with another path; empty for none
	Below string   // name of Home below the path in Var, for tools that expect the directory above
	Var   string   // variable that passes the path to a command
	Value string   // value of Var, with @ for the directory; empty is the directory
}

// PackageDownloadCaches returns the stores of all tools.
func PackageDownloadCaches() []PackageDownloadCache {
	var all []PackageDownloadCache
	for _, s := range AllStacks() {
		all = append(all, s.Stores...)
	}
	return all
}
