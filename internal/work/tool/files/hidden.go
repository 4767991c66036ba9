package files

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

// maxInspected is how many bytes a file has that is looked into.
const maxInspected = 1 << 20

const (
	maxLook = 256 << 20 // bytes of all of them
	maxWalk = 5_000_000 // entries of a tree
)

// HiddenRules say what is hidden. The zero value hides what the package says.
type HiddenRules struct {
	Show   []string       // patterns of paths that people let agents see
	Kept   *ignore.Set    // what .nexusignore says, where agents cannot change it; nil: what it says in the tree now
	masker *secret.Masker // nil: one is made for each look
}

// Ready returns the rules for many looks at single files.
func (r HiddenRules) Ready() HiddenRules {
	r.masker = secret.New(nil)
	return r
}

func (r HiddenRules) shapes() *secret.Masker {
	if r.masker != nil {
		return r.masker
	}
	return secret.New(nil)
}

// HiddenFile is one file or directory that is hidden, and why.
type HiddenFile struct{ Name, Why string }

// String says what is hidden, why, and who can change that.
func (f HiddenFile) String() string {
	if f.Why == WhyIgnored {
		return fmt.Sprintf("%s is hidden from agents: %s", f.Name, f.Why)
	}
	return fmt.Sprintf("%s is hidden from agents: %s. The user of Nexus can show it with policy.show = [%q] in their own configuration", f.Name, f.Why, f.Name)
}

// Secret reports whether it is hidden for what it holds.
func (f HiddenFile) Secret() bool { return f.Why != WhyIgnored }

const (
	byName = "its name suggests secrets"

	// WhyIgnored says why a file that .nexusignore names is hidden.
	WhyIgnored = ".nexusignore hides it from agents"
)

// shown reports whether people let agents see a file.
func (r HiddenRules) shown(name string) bool {
	return pathkind.Shown(r.Show, name)
}

// Name says why a file is hidden by its name alone, nothing where it is not.
func (r HiddenRules) Name(name string) string {
	if pathkind.Protected(name, false) == pathkind.MaySecret && !r.shown(name) {
		return byName
	}
	return ""
}

// Read says why an open file is hidden by what is in it, nothing where it is
// not, and leaves the file at its beginning.
func (r HiddenRules) Read(name string, f io.ReadSeeker, size int64) string {
	if !holdsSecrets(name) || size > maxInspected || r.shown(name) {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, maxInspected))
	if _, again := f.Seek(0, io.SeekStart); err != nil || again != nil {
		return ""
	}
	return r.text(r.shapes(), name, text)
}

// Text says why a file with such a text is hidden, nothing where it is not.
func (r HiddenRules) Text(name string, text []byte) string {
	if !holdsSecrets(name) {
		return ""
	}
	return r.text(r.shapes(), name, text)
}

func (r HiddenRules) text(m *secret.Masker, name string, text []byte) string {
	kind, line, found := m.FindCertainKey(text)
	if !found || r.shown(name) {
		return ""
	}
	return fmt.Sprintf("line %d holds %s", line, kind)
}

// holdsSecrets reports whether a file is one of data, in which people keep keys, and
// neither shows what one looks like nor is something that tests work with. Keys
// in code and in prose are masked where they are shown: programs need the code.
func holdsSecrets(name string) bool {
	if pathkind.Example(name) || pathkind.Fixture(name) {
		return false
	}
	base := strings.ToLower(path.Base(name))
	switch strings.TrimPrefix(path.Ext(base), ".") {
	case "json", "yaml", "yml", "toml", "ini", "cfg", "conf", "config", "properties", "xml", "env", "pem", "key", "txt", "csv", "tfvars", "pub", "crt", "cer", "asc", "secret", "plist", "sql", "http", "rest":
		return base != "package-lock.json"
	case "":
		return base != "makefile" && base != "dockerfile"
	}
	return strings.HasPrefix(base, ".") && strings.Count(base, ".") == 1 || strings.HasPrefix(base, ".env")
}

// isSettings reports whether a file of this name is often kept in repositories
// with nothing secret in it, and read by programs that are built there.
func isSettings(name string) bool {
	base := strings.ToLower(path.Base(name))
	return base == ".env" || strings.HasPrefix(base, ".env.") || base == ".envrc" || base == ".npmrc" || base == ".pypirc"
}

// HiddenFound is what a look at a whole tree came to.
type HiddenFound struct {
	Files  []HiddenFile // that commands may not open, in order
	Values []string     // secrets in them that are masked wherever they are shown
	Cut    bool         // the tree was too large to look at all of it

	shows map[string]bool // directories with something below that is not hidden
}

// show notes that something is not hidden.
func (f *HiddenFound) show(name string) {
	for dir := path.Dir(name); !f.shows[dir]; dir = path.Dir(dir) {
		f.shows[dir] = true
	}
}

// Cover returns what is hidden as whole directories where all in them is.
func (f HiddenFound) Cover() []HiddenFile {
	var all []HiddenFile
	for _, file := range f.Files {
		for dir := path.Dir(file.Name); !f.shows[dir] && dir != "."; dir = path.Dir(dir) {
			file.Name = dir
		}
		if n := len(all) - 1; n < 0 || all[n].Name != file.Name {
			all = append(all, file)
		} else if file.Secret() {
			all[n].Why = file.Why
		}
	}
	return all
}

// Look goes through a tree. Without links it follows none.
func (r HiddenRules) Look(root *os.Root) HiddenFound {
	all := HiddenFound{shows: map[string]bool{}}
	m, looked, walked := r.shapes(), int64(0), 0
	r.walkAll(root, func(name string, d fs.DirEntry, kept bool) (enter, more bool) {
		walked++
		more = walked < maxWalk
		all.Cut = !more
		switch {
		case kept && (d.IsDir() || d.Type().IsRegular()):
			all.Files = append(all.Files, HiddenFile{name, WhyIgnored})
			return false, more
		case !d.Type().IsRegular():
			if !d.IsDir() {
				all.show(name)
			}
			return true, more
		}
		why := r.Name(name)
		if why == "" && (!holdsSecrets(name) || looked > maxLook) {
			all.show(name)
			return true, more
		}
		text := readForSecrets(root, name)
		looked += int64(len(text))
		if why == "" {
			why = r.text(m, name, text)
		} else if isSettings(name) && len(text) < maxInspected && harmlessText(m, text) {
			all.show(name)
			return true, more // programs of the project read it; it is shown to nobody all the same
		}
		if why != "" {
			all.Files = append(all.Files, HiddenFile{name, why})
			all.Values = append(all.Values, secret.Values(text)...)
		} else {
			all.show(name)
		}
		return true, more
	})
	slices.Sort(all.Values)
	all.Values = slices.Compact(all.Values)
	return all
}

// harmlessText reports whether settings hold nothing that is to be kept.
func harmlessText(m *secret.Masker, text []byte) bool {
	return len(secret.Values(text)) == 0 && bytes.Equal(m.Mask(text), text)
}

// readForSecrets returns the beginning of a regular file, nothing where it cannot be
// read. It waits for no pipe.
func readForSecrets(root *os.Root, name string) []byte {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxInspected {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(f, maxInspected))
	return text
}
