package stack

// ScriptFile is a file that names commands which people run.
type ScriptFile struct {
	Files   []string                   // the first one that is there
	Run     string                     // what starts one of its commands
	Instead [][2]string                // another file, and what starts them where it lies beside
	Names   func(text string) []string // of the commands, in order of the file where it has one
}

// ScriptFiles returns the files of all stacks that name commands.
func ScriptFiles() []ScriptFile {
	var all []ScriptFile
	for _, s := range All() {
		all = append(all, rows(s.Offers)...)
	}
	return all
}

// DependencyDir is a directory in which a package manager put what a tree needs, and which
// a checkout of the same files is given.
type DependencyDir struct {
	Dir  string // its name, and its parents' where that matters
	With string // a file in it that tells it from others of that name; empty: any is meant
	// Copies says that it is copied: programs in it look for the project from
	// where they lie, and through a link they would find the working tree's.
	Copies bool
}

// Handle is something that keeps a runner from exiting, as its output names it.
type Handle struct {
	What, File, Line, Column string
}

// Handles returns what the runners of all stacks say is still open.
func Handles(lines []string) []Handle {
	var all []Handle
	for _, s := range All() {
		if s.Handles != nil {
			all = append(all, s.Handles(lines)...)
		}
	}
	return all
}

// HandleName says in words what a kind of handle is, empty for one that no stack
// knows.
func HandleName(kind string) string {
	for _, s := range All() {
		if s.HandleName != nil {
			if name := s.HandleName(kind); name != "" {
				return name
			}
		}
	}
	return ""
}
