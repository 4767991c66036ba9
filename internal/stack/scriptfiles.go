package stack

// ScriptFile is a file that defines commands for people to run.
type ScriptFile struct {
	Files   []string                   // the first one that exists
	Run     string                     // starts one of its commands
	Instead [][2]string                // another file, and the words that start the commands if it is beside
	Names   func(text string) []string // names of the commands, in the order of the file if it has one
}

// ScriptFiles returns the files of all stacks that define commands.
func ScriptFiles() []ScriptFile {
	var all []ScriptFile
	for _, s := range AllStacks() {
		all = append(all, rowsOfPart(s.Offers)...)
	}
	return all
}

// DependencyDir is a directory in which a package manager installed the dependencies of a tree.
// A checkout of the same files receives it.
type DependencyDir struct {
	Dir  string // its name, with its parents if they matter
	With string // a file in it that identifies it; empty: any directory of that name
	// Copies is true if the directory must be copied: programs in it find the project by their
	// own path, and through a link they would find the working tree's.
	Copies bool
}

// OpenHandle is an open resource that keeps a runner from exiting, as its output names it.
type OpenHandle struct {
	What, File, Line, Column string
}

// OpenHandles returns the open resources that the runners of all stacks report.
func OpenHandles(lines []string) []OpenHandle {
	var all []OpenHandle
	for _, s := range AllStacks() {
		if s.Handles != nil {
			all = append(all, s.Handles(lines)...)
		}
	}
	return all
}

// HandleKindText describes a kind of handle in words, "" if no stack knows it.
func HandleKindText(kind string) string {
	for _, s := range AllStacks() {
		if s.HandleName != nil {
			if name := s.HandleName(kind); name != "" {
				return name
			}
		}
	}
	return ""
}
