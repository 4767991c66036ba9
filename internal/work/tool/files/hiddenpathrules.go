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

// maxInspected limits the size of a file whose content is inspected, in bytes.
const maxInspected = 1 << 20

const (
	maxLook = 256 << 20 // most bytes of all inspected files
	maxWalk = 5_000_000 // entries of a tree
)

// HiddenPathRules define which files are hidden. The zero value hides the package's defaults.
type HiddenPathRules struct {
	Show []string // patterns of paths that people made visible to agents
	// the rules of .nexusignore in a version that agents cannot change; nil: those in the tree
	// now
	Kept   *ignore.IgnoreSet
	masker *secret.Masker // nil: one is made for each search
}

// WithMasker returns the rules prepared for many single files.
func (r HiddenPathRules) WithMasker() HiddenPathRules {
	r.masker = secret.NewMasker(nil)
	return r
}

func (r HiddenPathRules) secretMasker() *secret.Masker {
	if r.masker != nil {
		return r.masker
	}
	return secret.NewMasker(nil)
}

// HiddenFile is a file or directory that is hidden, with the reason.
type HiddenFile struct{ Name, Why string }

// String describes the file, the reason, and how to make it visible.
func (f HiddenFile) String() string {
	if f.Why == WhyIgnored {
		return fmt.Sprintf("%s is hidden from agents: %s", f.Name, f.Why)
	}
	return fmt.Sprintf("%s is hidden from agents: %s. The user of Nexus can show it with policy.show = [%q] in their own configuration", f.Name, f.Why, f.Name)
}

// IsSecret reports whether it is hidden because of its content.
func (f HiddenFile) IsSecret() bool { return f.Why != WhyIgnored }

const (
	byName = "its name suggests secrets"

	// WhyIgnored is the reason for a file in .nexusignore.
	WhyIgnored = ".nexusignore hides it from agents"
)

// isShown reports whether people made a file visible to agents.
func (r HiddenPathRules) isShown(name string) bool {
	return pathkind.MatchesShowPattern(r.Show, name)
}

// NameReason returns why a file is hidden by its name alone, or "".
func (r HiddenPathRules) NameReason(name string) string {
	if pathkind.ProtectionOf(name, false) == pathkind.MaySecret && !r.isShown(name) {
		return byName
	}
	return ""
}

// Read returns why an open file is hidden by its content, or "", and resets the file to its
// beginning.
func (r HiddenPathRules) Read(name string, f io.ReadSeeker, size int64) string {
	if !isSecretDataFile(name) || size > maxInspected || r.isShown(name) {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, maxInspected))
	if _, again := f.Seek(0, io.SeekStart); err != nil || again != nil {
		return ""
	}
	return r.secretReason(r.secretMasker(), name, text)
}

// Text returns why a file with such a text is hidden, or "".
func (r HiddenPathRules) Text(name string, text []byte) string {
	if !isSecretDataFile(name) {
		return ""
	}
	return r.secretReason(r.secretMasker(), name, text)
}

func (r HiddenPathRules) secretReason(m *secret.Masker, name string, text []byte) string {
	kind, line, found := m.FindCertainKey(text)
	if !found || r.isShown(name) {
		return ""
	}
	return fmt.Sprintf("line %d holds %s", line, kind)
}

// isSecretDataFile reports whether a file is a data file, in which people store keys, and neither
// an example nor test data. Keys in code and in prose are masked in the output: programs need
// the code.
func isSecretDataFile(name string) bool {
	if pathkind.IsExampleFile(name) || pathkind.IsTestDataFile(name) {
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

// isSettingsFile reports whether files of this name are often committed without secrets, and read
// by programs that are built there.
func isSettingsFile(name string) bool {
	base := strings.ToLower(path.Base(name))
	return base == ".env" || strings.HasPrefix(base, ".env.") || base == ".envrc" || base == ".npmrc" || base == ".pypirc"
}

// HiddenFileSearchResult is the result of searching a whole tree.
type HiddenFileSearchResult struct {
	Files  []HiddenFile // files that commands may not open, in order
	Values []string     // secrets in them that are masked in all output
	Cut    bool         // the tree was too large to search completely

	shows map[string]bool // directories that contain a visible file
}

// markVisible records a visible file.
func (f *HiddenFileSearchResult) markVisible(name string) {
	for dir := path.Dir(name); !f.shows[dir]; dir = path.Dir(dir) {
		f.shows[dir] = true
	}
}

// HiddenPaths returns the hidden files, as whole directories if all files in them are hidden.
func (f HiddenFileSearchResult) HiddenPaths() []HiddenFile {
	var all []HiddenFile
	for _, file := range f.Files {
		for dir := path.Dir(file.Name); !f.shows[dir] && dir != "."; dir = path.Dir(dir) {
			file.Name = dir
		}
		if n := len(all) - 1; n < 0 || all[n].Name != file.Name {
			all = append(all, file)
		} else if file.IsSecret() {
			all[n].Why = file.Why
		}
	}
	return all
}

// FindHidden searches a tree. It follows no links.
func (r HiddenPathRules) FindHidden(root *os.Root) HiddenFileSearchResult {
	all := HiddenFileSearchResult{shows: map[string]bool{}}
	m, looked, walked := r.secretMasker(), int64(0), 0
	r.walkTree(root, func(name string, d fs.DirEntry, kept bool) (enter, more bool) {
		walked++
		more = walked < maxWalk
		all.Cut = !more
		switch {
		case kept && (d.IsDir() || d.Type().IsRegular()):
			all.Files = append(all.Files, HiddenFile{name, WhyIgnored})
			return false, more
		case !d.Type().IsRegular():
			if !d.IsDir() {
				all.markVisible(name)
			}
			return true, more
		}
		why := r.NameReason(name)
		if why == "" && (!isSecretDataFile(name) || looked > maxLook) {
			all.markVisible(name)
			return true, more
		}
		text := readForSecrets(root, name)
		looked += int64(len(text))
		if why == "" {
			why = r.secretReason(m, name, text)
		} else if isSettingsFile(name) && len(text) < maxInspected && hasNoSecrets(m, text) {
			all.markVisible(name)
			return true, more // programs of the project read it; agents still do not see it
		}
		if why != "" {
			all.Files = append(all.Files, HiddenFile{name, why})
			all.Values = append(all.Values, secret.SecretValues(text)...)
		} else {
			all.markVisible(name)
		}
		return true, more
	})
	slices.Sort(all.Values)
	all.Values = slices.Compact(all.Values)
	return all
}

// hasNoSecrets reports whether settings contain no secret.
func hasNoSecrets(m *secret.Masker, text []byte) bool {
	return len(secret.SecretValues(text)) == 0 && bytes.Equal(m.Mask(text), text)
}

// readForSecrets returns the beginning of a regular file, nil if it cannot be read. It does
// not block on a pipe.
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
